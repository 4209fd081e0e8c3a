// SPDX-License-Identifier: Apache-2.0
// Models of ratings in a file: the part that all of them have.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/ratings_model.h"
#include "models/run_file.h"

namespace kith {
namespace {

void check(const Archive& in, bool good, std::string_view what) {
  if (!good) throw Error(ErrorKind::kInput, "{}: {}; the file is damaged", in.where(), what);
}

std::string shift_name(Axis axis) { return axis == Axis::kUser ? "shift.user" : "shift.item"; }

}  // namespace

void RatingsModel::pack(ArchiveWriter& out, bool checkpoint) const {
  if (!finite()) {
    throw Error(ErrorKind::kDiverged,
                "the vectors hold values that are not finite, so they are not saved; try a larger "
                "--penalty");
  }
  // Settings are shown and written through the same section, which therefore is not const.
  const Section section = const_cast<RatingsModel&>(*this).settings();
  out.metadata["settings"] = to_toml({&section, 1});
  out.metadata["ratings.mean"] = fmt::format("{}", mean_);
  out.metadata["ratings.low"] = fmt::format("{}", low_);
  out.metadata["ratings.high"] = fmt::format("{}", high_);
  out.metadata["ratings.implicit"] = implicit_ ? "1" : "0";
  out.metadata["ratings.user_column"] = user_column_;
  out.metadata["ratings.item_column"] = item_column_;
  kith::pack(state_, checkpoint, out);
  out.add_names("users", users_);
  out.add_names("items", items_);
  out.tensors["user"] = tensor_of(user_);
  out.tensors["item"] = tensor_of(item_);
  if (checkpoint && best_user_.rows() > 0) {
    out.tensors["best.user"] = tensor_of(best_user_);
    out.tensors["best.item"] = tensor_of(best_item_);
  }
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    const Shifts& shifts = shifts_of(axis);
    if (shifts.empty()) continue;
    out.tensors[shift_name(axis) + ".mean"] = tensor_of(std::span<const double>(shifts.mean));
    out.tensors[shift_name(axis) + ".scale"] = tensor_of(std::span<const double>(shifts.scale));
  }
  out.tensors["seen.offsets"] = tensor_of(std::span<const uint64_t>(seen_->offsets));
  out.tensors["seen.items"] = tensor_of(std::span<const uint32_t>(seen_->column));
  out.tensors["seen.ratings"] = tensor_of(std::span<const float>(seen_->value));
}

void RatingsModel::load(const Archive& in) {
  const Section section = settings();
  apply(settings_from_toml_text(in.metadata_at("settings"), in.where()), {&section, 1});
  mean_ = in.number_at<double>("ratings.mean");
  low_ = static_cast<float>(in.number_at<double>("ratings.low"));
  high_ = static_cast<float>(in.number_at<double>("ratings.high"));
  check(in, std::isfinite(mean_) && low_ <= high_, "the range of the ratings makes no sense");
  implicit_ = in.metadata_at("ratings.implicit") == "1";
  user_column_ = in.metadata_at("ratings.user_column");
  item_column_ = in.metadata_at("ratings.item_column");
  read_run(in, state_);
  users_ = in.names("users");
  items_ = in.names("items");
  user_ = in.matrix("user");
  item_ = in.matrix("item");
  check(in,
        user_.rows() == users_.size() && item_.rows() == items_.size() &&
            user_.cols() == item_.cols() && user_.cols() >= 2 && finite(),
        "the vectors do not fit the names");
  dim_ = user_.cols() - 2;
  if (in.has("best.user")) {
    best_user_ = in.matrix("best.user");
    best_item_ = in.matrix("best.item");
    const auto fits = [](const Matrix& a, const Matrix& b) {
      return a.rows() == b.rows() && a.cols() == b.cols() && all_finite(a);
    };
    check(in, fits(best_user_, user_) && fits(best_item_, item_),
          "the best epoch's vectors do not fit");
  }
  for (const Axis axis : {Axis::kUser, Axis::kItem}) load_shifts(in, axis);
  Sparse seen;
  seen.columns = static_cast<uint32_t>(items_.size());
  seen.offsets = in.values<uint64_t>("seen.offsets");
  seen.column = in.values<uint32_t>("seen.items");
  seen.value = in.values<float>("seen.ratings");
  check(in,
        seen.offsets.size() == users_.size() + 1 && seen.offsets.front() == 0 &&
            std::ranges::is_sorted(seen.offsets) && seen.offsets.back() == seen.column.size() &&
            seen.value.size() == seen.column.size() &&
            std::ranges::all_of(seen.column, [&](uint32_t i) { return i < seen.columns; }),
        "the ratings do not fit the names");
  for (uint32_t u = 0; u < seen.rows(); ++u) {
    const auto row = seen.row(u).columns;
    check(in, std::ranges::adjacent_find(row, std::greater_equal<>()) == row.end(),
          "the ratings of a user are not in order");
  }
  seen_ = std::make_shared<Sparse>(std::move(seen));
  name_rows();
}

void RatingsModel::load_shifts(const Archive& in, Axis axis) {
  if (!in.has(shift_name(axis) + ".mean")) return;
  Shifts& shifts = shifts_of(axis);
  shifts.mean = in.values<double>(shift_name(axis) + ".mean");
  shifts.scale = in.values<double>(shift_name(axis) + ".scale");
  const size_t rows = names_of(axis).size();
  // Rows are floats, so these have to fit into one.
  const auto good = [](double x) { return std::abs(x) <= std::numeric_limits<float>::max(); };
  const auto above_0 = [](double x) { return x >= std::numeric_limits<float>::min(); };
  check(in,
        !implicit_ && shifts.mean.size() == rows && shifts.scale.size() == rows &&
            std::ranges::all_of(shifts.mean, good) && std::ranges::all_of(shifts.scale, good) &&
            std::ranges::all_of(shifts.scale, above_0),
        "what was taken out of the ratings does not fit");
  shifts.find_typical();
}

}  // namespace kith
