// SPDX-License-Identifier: Apache-2.0
#include "models/gmm/trainer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/rng.h"
#include "kith/text.h"

namespace kith::gmm {
namespace {

// Numbers of components that may be worse than the best one before no more are tried.
constexpr uint64_t kPatience = 3;
// What a run takes until it stands still, as long as none has told: for the time that is left.
constexpr uint64_t kUsualSweeps = 30;

}  // namespace

GmmTrainer::GmmTrainer(Gmm& model, const MatrixData& data, Job& job)
    : m_(model),
      s_(model.search_),
      job_(job),
      form_(model.form()),
      candidates_(model.candidates(data.rows())),
      points_(data.train(), model.frame_),
      held_out_(data.held_out(), model.frame_),
      rows_(data.rows()) {}

Trainer::Learned GmmTrainer::learn(const Blocks&, const Rate&, LossSum& sum) {
  if (s_.starts < starts()) return {0, !try_start()};
  return {1, sweep(sum)};
}

uint64_t GmmTrainer::starts() const {
  if (count() == 1) return 1;  // there is nothing to choose
  if (m_.config_.restarts) return static_cast<uint64_t>(*m_.config_.restarts);
  return usual_starts(form_, rows_, count(), dims());
}

bool GmmTrainer::try_start() {
  const size_t count = this->count();
  if (count == 1) {
    s_.now = of_one(form_, dims());
    s_.starts = 1;
    return true;
  }
  const uint64_t size = sample_size(form_, rows_, count, dims());
  if (!sample_ || sample_->size() != size) {
    sample_ = std::make_unique<Sample>(points_, dims(), size, job_.seed, job_);
  }
  const uint64_t seed = mix64(job_.seed) + s_.starts;
  const StartPlan plan{form_, m_.config_, *sample_, size == rows_, dims()};
  Tried tried = tried_start(plan, count, seed, job_);
  if (tried.mixture.empty()) {
    if (!s_.best.empty()) return false;
    throw fault(ErrorKind::kInput,
                "only {} differ from one another, fewer than {} components; try --components {}",
                count_of(tried.differ, "row"), count, tried.differ);
  }
  if (s_.start.empty() || is_better(tried.mixture, tried.score, s_.start, s_.start_score)) {
    s_.start = std::move(tried.mixture);
    s_.start_score = tried.score;
  }
  if (++s_.starts == starts()) {
    s_.now = std::exchange(s_.start, {});
    sample_.reset();
  }
  Progress p;  // a checkpoint may be written here, too: nothing is left to do for this start
  p.epoch = static_cast<int>(m_.state().block) + 1;
  p.loss = m_.state().loss;
  std::tie(p.done, p.total) = progress(m_.state());
  job_.on_progress(p);
  return true;
}

// Nothing is changed before all is known: whoever cancels it meanwhile goes on from before.
bool GmmTrainer::sweep(LossSum& sum) {
  Step step = swept(form_, s_.now, points_, job_);
  Gains gains = s_.gains;
  gains.add(score_of(form_, step.objective, rows_, dims()));
  const bool over =
      gains.over(m_.config_.tolerance) || s_.sweeps + 1 >= static_cast<uint64_t>(m_.config_.epochs);
  const double mean = step.objective / static_cast<double>(rows_);
  const double loss = m_.loss_in_units(form_.hard ? mean : -mean);
  const double bic = over ? this->bic(s_.now, loss) : 0;
  s_.gains = std::move(gains);
  s_.seen_loss = loss;
  s_.seen = std::exchange(s_.now, std::move(step.next));
  ++s_.sweeps;
  sum.add(loss * static_cast<double>(rows_), rows_);
  return over && close_candidate(bic);
}

// Schwarz's criterion, of which less is better. That of k-means is of the mixture of equal balls
// that it is the limit of.
double GmmTrainer::bic(const Mixture& mixture, double loss) const {
  const auto n = static_cast<double>(rows_);
  const double twice =
      form_.hard
          ? -2 * (objective_of(form_.soft(), mixture, points_, job_) + n * m_.frame_.log_density)
          : 2 * n * loss;
  return twice + static_cast<double>(free_parameters(form_, mixture.count, dims())) * std::log(n);
}

// The best so far is kept; true if no further number of components is to be tried.
bool GmmTrainer::close_candidate(double bic) {
  const bool better = s_.best.empty() || is_better(s_.seen, -bic, s_.best, -s_.best_bic);
  s_.bics.push_back(bic);
  if (candidates_.size() > 1) {
    const uint64_t number = s_.candidate + 1;
    job_.on_trial({number, candidates_.size(),
                   static_cast<double>(number) / static_cast<double>(candidates_.size()),
                   fmt::format("{}: BIC {:.1f}", count_of(count(), "component"), bic), better});
  }
  if (better) {
    s_.best = s_.seen;
    s_.best_loss = s_.seen_loss;
    s_.best_bic = bic;
  }
  s_.worse = better ? 0 : s_.worse + 1;
  s_.starts = s_.sweeps = 0;
  s_.gains.clear();
  return ++s_.candidate == candidates_.size() || s_.worse >= kPatience;
}

std::optional<double> GmmTrainer::held_out_loss() {
  if (held_out_.size() == 0) return std::nullopt;
  // Before the first sweep one component stands for what needs no learning.
  const bool before = m_.state().block == 0;
  const Mixture one = before ? of_one(form_, dims()) : Mixture();
  const double objective = objective_of(form_, before ? one : s_.seen, held_out_, job_);
  const double mean = objective / static_cast<double>(held_out_.size());
  return m_.loss_in_units(form_.hard ? mean : -mean);
}

std::pair<uint64_t, uint64_t> GmmTrainer::progress(const RunState& state) const {
  const uint64_t left = s_.worse >= kPatience ? 0 : candidates_.size() - s_.candidate;
  const uint64_t before = state.block - s_.sweeps;  // for the candidates that are done with
  const uint64_t most = static_cast<uint64_t>(m_.config_.epochs);
  const uint64_t usual =
      std::min(most, s_.candidate > 0 ? before / s_.candidate + 1 : kUsualSweeps);
  const uint64_t now = left > 0 ? std::max(usual, s_.sweeps + 1) + (left - 1) * usual : 0;
  return {state.block * rows_, std::max(state.block, before + now) * rows_};
}

}  // namespace kith::gmm
