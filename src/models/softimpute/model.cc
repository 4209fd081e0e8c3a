// SPDX-License-Identifier: Apache-2.0
#include "models/softimpute/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
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

// A penalty that is given is used, whatever the held-out error says on the way to it.
RunPlan SoftImpute::plan() const {
  return {.epochs = epochs(),
          .early_stop = shrinks() || last_ == 0 ? config_.early_stop : 0,
          .start_counts = true};
}

// The singular vectors of the first run are where the second one starts, with the penalty that was
// best: the problem is convex, so the way there does not matter. shrink is a way, and goes it
// again.
void SoftImpute::start(const Ratings& ratings, Start start, const Job& job) {
  if (start != Start::kAgain || shrinks()) {
    start_anew(ratings, job);
    if (start != Start::kFirst && !shrinks()) penalty_ = top_;
    return;
  }
  const Matrix user = std::move(f_.user), item = std::move(f_.item);
  const size_t rank = rank_;
  begin(ratings, user.cols() - 2);
  rank_ = rank;
  for (const auto& [from, to] : {std::pair{&user, &f_.user}, std::pair{&item, &f_.item}}) {
    for (size_t r = 0; r < to->rows(); ++r) {
      std::copy_n(from->row(r).begin(), rank, to->row(r).begin());
    }
  }
  state_.block = (*state_.refit - 1) * blocks();
}

void SoftImpute::start_anew(const Ratings& ratings, const Job& job) {
  const size_t most = std::min(ratings.users().size(), ratings.items().size());
  begin(ratings, std::min(most, static_cast<size_t>(config_.dim)));
  sweeps_ =
      config_.method.value_or(most >= kLarge ? Method::kAls : Method::kImpute) == Method::kAls;
  Residual residual(ratings.train());
  square_ = residual.update(f_.user, f_.item, f_.mean, job);
  top_ = largest_singular_value(residual.by_user(), job);
  last_ = config_.penalty.value_or(0);
  if (shrinks()) {
    const double share = largest_share(ratings.train());
    step_ = config_.step.value_or(1.2 / share);
    penalty_ = config_.penalty.value_or(5 * top_ / share);
    dual_.clear();
  } else if (!config_.penalty && ratings.held_out().size() == 0) {
    // A penalty as large as noise can be would drown much that is no noise; half of it predicts
    // best (README.md).
    last_ = noise_level(residual.by_user(), job.seed, job) / 2;
  }
}

int SoftImpute::epochs() const { return config_.epochs.value_or(shrinks() ? 500 : 60); }

double SoftImpute::penalty_of(uint64_t epoch) const {
  const double here = top_ * std::pow(config_.decay, static_cast<double>(epoch + 1));
  // A penalty that was given is reached, however few epochs there are.
  const bool last = epoch + 1 == static_cast<uint64_t>(epochs());
  return last && last_ > 0 ? last_ : std::max(here, last_);
}

std::unique_ptr<Trainer> SoftImpute::trainer(const Ratings& ratings, Job& job) {
  return std::make_unique<SoftTrainer>(*this, ratings, job);
}

void SoftImpute::finish(const Ratings& ratings, const Job& job) {
  if (config_.debias && rank_ > 0) {
    debias(ratings.train(), f_.mean, rank_, f_.user, f_.item, job);
  }
  compact();
  set_fold_in(state_.loss);
  // The row that folding in gives is then the one that training gave.
  if (!shrinks()) user_penalty_ = item_penalty_ = penalty_;
  dual_.clear();
}

uint64_t SoftImpute::memory(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const auto dim = static_cast<size_t>(config_.dim);
  // The rows and the best ones if there are any; blocks of vectors while they are decomposed, three
  // of users and five of items at a time.
  const uint64_t copies = config_.early_stop > 0 && ratings.held_out().size() > 0 ? 2 : 1;
  const uint64_t blocks = 3 * ratings.users().size() + 5 * ratings.items().size();
  const uint64_t tables = 4 * (rows * copies * padded(dim + 2) + blocks * padded(dim + 5));
  // The residual in two orders, each with the ratings; so Y.
  const uint64_t entry = shrinks() ? 44 : 24;
  return tables + (ratings.train().size() + ratings.held_out().size()) * entry + rows * 64 +
         memory_of_all(ratings);
}

void SoftImpute::visit(Parts& parts) {
  CompletionModel::visit(parts);
  parts.number("softimpute.penalty", penalty_);
  for (const auto& [key, value] :
       {std::pair{"softimpute.top", &top_}, std::pair{"softimpute.last", &last_},
        std::pair{"softimpute.step", &step_}, std::pair{"softimpute.square", &square_},
        std::pair{"softimpute.objective", &objective_}}) {
    parts.number(key, *value, Use::kRun);
    parts.check(std::isfinite(*value), "a number of the run is not finite");
  }
  parts.check(std::isfinite(penalty_), "the penalty is not finite");
  parts.flag("softimpute.settled", settled_, Use::kRun);
  parts.flag("softimpute.sweeps", sweeps_, Use::kRun);
  parts.values("shrink.y", dual_, parts.loading() ? Parts::kAny : dual_.size(), Use::kRun);
  parts.check(dual_.empty() || dual_.size() == f_.seen->size(),
              "shrink.y does not fit the ratings");
}

std::vector<Fact> SoftImpute::info() const {
  std::vector<Fact> out = CompletionModel::info();
  out.push_back({"penalty", fmt::format("{:g}", penalty_), true});
  return out;
}

ModelInfo info() {
  return model_info<SoftImpute>(
      "softimpute", "users and items of ratings: completion with the least nuclear norm");
}

}  // namespace kith::softimpute
