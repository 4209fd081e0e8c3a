// SPDX-License-Identifier: Apache-2.0
#include "models/ratings_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/run_file.h"

namespace kith {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += double{a[k]} * b[k];
  return sum;
}

void check(const Archive& in, bool good, std::string_view what) {
  if (!good) throw Error(ErrorKind::kInput, "{}: {}; the file is damaged", in.where(), what);
}

Matrix grown(const Matrix& m, size_t rows, size_t one_at) {
  Matrix out(rows, m.cols());
  for (size_t r = 0; r < rows; ++r) {
    if (r < m.rows()) {
      std::ranges::copy(m.row(r), out.row(r).begin());
    } else {
      out.row(r)[one_at] = 1;
    }
  }
  return out;
}

}  // namespace

void RatingsModel::start_without_rows(const Ratings& ratings, size_t dim) {
  users_ = ratings.users();
  items_ = ratings.items();
  user_column_ = ratings.profile().user_column;
  item_column_ = ratings.profile().item_column;
  low_ = ratings.low();
  high_ = ratings.high();
  implicit_ = ratings.implicit();
  mean_ = 0;
  dim_ = dim;
  user_ = Matrix();
  item_ = Matrix();
  name_rows();
}

void RatingsModel::start(const Ratings& ratings, size_t dim) {
  start_without_rows(ratings, dim);
  user_ = grown(Matrix(0, dim + 2), users_.size(), dim + 1);
  item_ = grown(Matrix(0, dim + 2), items_.size(), dim);
}

void RatingsModel::name_rows() {
  names_ = Names();
  for (const Axis axis : {Axis::kItem, Axis::kUser}) {
    const Names& from = names_of(axis);
    for (size_t i = 0; i < from.size(); ++i) {
      names_.add(fmt::format("{}={}", column_of(axis), from[i]));
    }
  }
  count_rows();
}

void RatingsModel::count_rows() {
  counts_.assign(names_.size(), 0);
  for (const uint32_t i : seen_->column) ++counts_[i];
  for (uint32_t u = 0; u < seen_->rows(); ++u) counts_[items_.size() + u] = seen_->row(u).size();
}

void RatingsModel::reopen() {
  throw Error(ErrorKind::kUsage,
              "a model of ratings takes new ratings with kith update, or is trained anew on all");
}

double RatingsModel::predict(uint32_t user, uint32_t item) const {
  std::vector<float> p, q;
  return predict(scoring_row(Axis::kUser, user, p), scoring_row(Axis::kItem, item, q));
}

std::span<const float> RatingsModel::scoring_row(Axis axis, uint32_t number,
                                                 std::vector<float>&) const {
  return rows_of(axis).row(number);
}

double RatingsModel::predict(std::span<const float> user, std::span<const float> item) const {
  const double score = mean_ + dot(user, item);
  return implicit_ ? score : std::clamp<double>(score, low_, high_);
}

std::optional<double> RatingsModel::deviation(std::span<const float>,
                                              std::span<const float>) const {
  return std::nullopt;
}

std::vector<double> RatingsModel::gram(Axis axis) const {
  const Matrix& m = rows_of(axis);
  const size_t d = dim();
  std::vector<double> out(d * d, 0.0);
  for (size_t r = 0; r < m.rows(); ++r) {
    const auto row = m.row(r);
    for (size_t i = 0; i < d; ++i) {
      for (size_t j = 0; j <= i; ++j) out[i * d + j] += double{row[i]} * row[j];
    }
  }
  return out;
}

std::vector<float> RatingsModel::fold_in(Axis axis, Sparse::Row ratings) const {
  const Axis other = axis == Axis::kUser ? Axis::kItem : Axis::kUser;
  RowProblem problem = row_problem(axis, ratings.size());
  problem.dim = dim();
  problem.own = axis == Axis::kUser ? dim() : dim() + 1;
  std::vector<double> all;
  if (problem.unobserved > 0) {
    if (gram_.empty()) all = gram(other);
    problem.gram = gram_.empty() ? all : gram_;
  }
  return solve_row(problem, rows_of(other), mean_, ratings);
}

RatingsModel::Updated RatingsModel::update(const Ratings& more) {
  Updated out;
  out.new_users = more.users().size() - users_.size();
  out.new_items = more.items().size() - items_.size();
  const size_t known_items = items_.size();
  users_ = more.users();
  items_ = more.items();
  auto all = std::make_shared<Sparse>(merged(*seen_, more.train()));
  user_ = grown(user_, users_.size(), dim() + 1);
  item_ = grown(item_, items_.size(), dim());
  seen_ = all;
  const Sparse fresh = transposed(more.train());
  const Sparse by_item = transposed(*all);
  const bool implicit = row_problem(Axis::kUser, 0).unobserved > 0;
  // New users first, from the items that are known; then new items, from the users; then the users
  // that rated new items once more.
  const auto solve_users = [&](bool only_with_new_items) {
    if (implicit) gram_ = gram(Axis::kItem);
    for (uint32_t u = 0; u < more.train().rows(); ++u) {
      const Sparse::Row row = more.train().row(u);
      const bool concerned =
          only_with_new_items
              ? std::ranges::any_of(row.columns, [&](uint32_t i) { return i >= known_items; })
              : row.size() > 0;
      if (!concerned) continue;
      std::ranges::copy(fold_in(Axis::kUser, all->row(u)), user_.row(u).begin());
      ++out.solved;
    }
  };
  solve_users(false);
  if (implicit) gram_ = gram(Axis::kUser);
  for (auto i = static_cast<uint32_t>(known_items); i < items_.size(); ++i) {
    if (fresh.row(i).size() == 0) continue;
    std::ranges::copy(fold_in(Axis::kItem, by_item.row(i)), item_.row(i).begin());
    ++out.solved;
  }
  if (out.new_items > 0) solve_users(true);
  gram_.clear();
  name_rows();
  return out;
}

Matrix RatingsModel::vectors(Side side) const {
  if (side != Side::kInput) {
    throw Error(ErrorKind::kUsage,
                "a model of ratings has one vector for each user and item; ask with --vectors "
                "input");
  }
  Matrix out(items_.size() + users_.size(), std::max<size_t>(1, dim()));
  for (size_t r = 0; r < out.rows(); ++r) {
    const auto row = r < items_.size() ? item_.row(r) : user_.row(r - items_.size());
    std::copy_n(row.begin(), dim(), out.row(r).begin());
  }
  return out;
}

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

std::vector<Fact> RatingsModel::info() const {
  std::vector<Fact> out{{"users", fmt::format("{}", users_.size())},
                        {"items", fmt::format("{}", items_.size())},
                        {"ratings", fmt::format("{}", seen_->size())},
                        {"feedback", implicit_ ? "implicit" : "explicit"},
                        {"range", fmt::format("{:g} to {:g}", low_, high_)},
                        {"dim", fmt::format("{}", dim())}};
  add_facts(state_, out);
  return out;
}

}  // namespace kith
