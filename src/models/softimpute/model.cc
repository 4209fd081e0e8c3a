// SPDX-License-Identifier: Apache-2.0
#include "models/softimpute/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/softimpute/trainer.h"
#include "train/noise_level.h"

namespace kith::softimpute {
namespace {

constexpr uint64_t kLarge = 2000;  // users and items from which on als is the cheaper method

// The largest share of a row or a column that is known. A step of 2 is always safe; where entries
// are spread evenly, 2 / share is.
double largest_share(const Sparse& a) {
  std::vector<uint64_t> counts(a.columns, 0);
  for (const uint32_t c : a.column) ++counts[c];
  uint64_t row = 0, column = 0;
  for (uint32_t r = 0; r < a.rows(); ++r) row = std::max<uint64_t>(row, a.row(r).size());
  if (!counts.empty()) column = *std::ranges::max_element(counts);
  return std::max(static_cast<double>(row) / a.columns, static_cast<double>(column) / a.rows());
}

}  // namespace

void SoftImpute::initialise(const Ratings& ratings, const Job& job) {
  want_explicit(ratings, "softimpute");
  const size_t most = std::min(ratings.users().size(), ratings.items().size());
  begin(ratings, std::min(most, static_cast<size_t>(config_.dim)));
  sweeps_ = config_.method == Method::kAls || (config_.method == Method::kAuto && most >= kLarge);
  Residual residual(ratings.train());
  square_ = residual.update(user_, item_, mean_, job);
  top_ = largest_singular_value(residual.by_user(), job);
  last_ = config_.penalty;
  if (shrinks()) {
    const double share = largest_share(ratings.train());
    step_ = config_.step > 0 ? config_.step : 1.2 / share;
    penalty_ = config_.penalty > 0 ? config_.penalty : 5 * top_ / share;
    dual_.clear();
  } else if (last_ == 0 && ratings.held_out().size() == 0) {
    // A penalty as large as noise can be would drown much that is no noise; half of it predicts
    // best (README.md).
    last_ = noise_level(residual.by_user(), job.seed, job) / 2;
  }
}

// The singular vectors of the first run are where the second one starts, with the lambda that was
// best: the problem is convex, so the way there does not matter. shrink is a way, and goes it
// again.
void SoftImpute::initialise_refit(const Ratings& whole, const Job& job) {
  if (shrinks() || state_.refit == 0) {
    initialise(whole, job);
    penalty_ = shrinks() ? penalty_ : top_;
    return;
  }
  const Matrix user = std::move(user_), item = std::move(item_);
  const size_t rank = rank_;
  begin(whole, user.cols() - 2);
  rank_ = rank;
  for (const auto& [from, to] : {std::pair{&user, &user_}, std::pair{&item, &item_}}) {
    for (size_t r = 0; r < to->rows(); ++r) {
      std::copy_n(from->row(r).begin(), rank, to->row(r).begin());
    }
  }
  state_.block = (state_.refit - 1) * blocks();
}

int SoftImpute::epochs() const {
  return config_.epochs > 0 ? config_.epochs : shrinks() ? 500 : 60;
}

double SoftImpute::penalty_of(uint64_t epoch) const {
  const double here = top_ * std::pow(config_.decay, static_cast<double>(epoch + 1));
  // A lambda that was given is reached, however few epochs there are.
  const bool last = epoch + 1 == static_cast<uint64_t>(epochs());
  return last && last_ > 0 ? last_ : std::max(here, last_);
}

bool SoftImpute::run(const Ratings& ratings, Job& job) {
  return Trainer(*this, ratings, job).run();
}

void SoftImpute::finish(const Ratings& ratings, const Job& job) {
  if (config_.debias && rank_ > 0) debias(ratings.train(), mean_, rank_, user_, item_, job);
  compact();
  set_fold_in(state_.loss);
  // The row that folding in gives is then the one that training gave.
  if (!shrinks()) user_penalty_ = item_penalty_ = penalty_;
  dual_.clear();
}

uint64_t SoftImpute::memory_needed(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const auto dim = static_cast<size_t>(config_.dim);
  // The rows and the best ones; three blocks while they are decomposed.
  const uint64_t tables = rows * 4 * (2 * padded(dim + 2) + 3 * padded(dim + 5));
  // The residual in two orders, each with the ratings; so Y.
  const uint64_t entry = shrinks() ? 52 : 32;
  return tables + (ratings.train().size() + ratings.held_out().size()) * entry + rows * 32 +
         (uint64_t{8} << 20);
}

void SoftImpute::pack(ArchiveWriter& out, bool checkpoint) const {
  CompletionModel::pack(out, checkpoint);
  const auto put = [&](const char* key, double value) {
    out.metadata[key] = fmt::format("{}", value);
  };
  put("softimpute.penalty", penalty_);
  if (!checkpoint) return;
  put("softimpute.top", top_);
  put("softimpute.last", last_);
  put("softimpute.step", step_);
  put("softimpute.square", square_);
  put("softimpute.objective", objective_);
  put("softimpute.settled", settled_);
  put("softimpute.sweeps", sweeps_);
  if (!dual_.empty()) out.tensors["shrink.y"] = tensor_of(std::span<const float>(dual_));
}

void SoftImpute::restore(const Archive& in) {
  SoftImpute other;
  other.read(in);
  const auto read = [&](const char* key) {
    const auto value = in.number_at<double>(key);
    if (!std::isfinite(value)) {
      throw Error(ErrorKind::kInput, "{}: {} is not finite; the file is damaged", in.where(), key);
    }
    return value;
  };
  other.penalty_ = read("softimpute.penalty");
  if (in.metadata().contains("softimpute.top")) {
    other.top_ = read("softimpute.top");
    other.last_ = read("softimpute.last");
    other.step_ = read("softimpute.step");
    other.square_ = read("softimpute.square");
    other.objective_ = read("softimpute.objective");
    other.settled_ = read("softimpute.settled") != 0;
    other.sweeps_ = read("softimpute.sweeps") != 0;
  }
  if (in.has("shrink.y")) {
    other.dual_ = in.values<float>("shrink.y");
    const bool good = other.dual_.size() == other.seen_->size() &&
                      std::ranges::all_of(other.dual_, [](float y) { return std::isfinite(y); });
    if (!good) {
      throw Error(ErrorKind::kInput, "{}: shrink.y does not fit the ratings; the file is damaged",
                  in.where());
    }
  }
  *this = std::move(other);
}

std::vector<Fact> SoftImpute::info() const {
  std::vector<Fact> out = CompletionModel::info();
  out.push_back({"penalty", fmt::format("{:g}", penalty_)});
  return out;
}

ModelInfo info() {
  return {"softimpute", "users and items of ratings: completion with the least nuclear norm",
          InputKind::kRatings,
          []() -> std::unique_ptr<Model> { return std::make_unique<SoftImpute>(); }};
}

}  // namespace kith::softimpute
