// SPDX-License-Identifier: Apache-2.0
#include "train/run.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace kith {
namespace {

constexpr int kRollbacks = 3;

}  // namespace

TrainingRun::TrainingRun(const RunPlan& plan, RunState& state, Trainee& trainee, Job& job)
    : plan_(plan),
      state_(state),
      trainee_(trainee),
      job_(job),
      trainer_(trainee.trainer()),
      note_(plan.note) {}

bool TrainingRun::go() {
  try {
    if (state_.block == 0 && state_.held_out.empty()) begin();
    while (!over()) {
      if (job_.cancelled()) return false;
      try {
        if (state_.unscored) {
          close_epoch({});
        } else {
          segment();
        }
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::kDiverged) throw;
        roll_back(e);
      }
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kCancelled) throw;
    return false;
  }
  keep_the_best();
  return true;
}

uint64_t TrainingRun::total() const {
  const int epochs = plan_.stop_after > 0 ? plan_.stop_after : plan_.epochs;
  return trainer_->blocks() * static_cast<uint64_t>(epochs);
}

Rate TrainingRun::rate() const {
  return {plan_.lr * state_.lr_scale, trainer_->blocks() * static_cast<uint64_t>(plan_.epochs)};
}

bool TrainingRun::over() const {
  if (state_.unscored) return false;
  return state_.block >= total() || state_.converged || stopped_early();
}

void TrainingRun::begin() {
  score_held_out();
  if (plan_.start_counts && plan_.early_stop > 0 && !state_.held_out.empty()) {
    trainee_.keep_best();
  }
}

// Trains up to the next report.
void TrainingRun::segment() {
  const uint64_t blocks = trainer_->blocks();
  const Blocks next{state_.block / blocks, state_.block % blocks,
                    std::min(trainer_->segment(), blocks - state_.block % blocks)};
  const double loss = state_.epoch_loss;
  const uint64_t steps = state_.epoch_steps;
  const double first = state_.first_loss;
  Trainer::Learned learned{};
  try {
    LossSum sum(state_);
    learned = trainer_->learn(next, rate(), sum);
  } catch (...) {  // what was not done does not count
    state_.epoch_loss = loss;
    state_.epoch_steps = steps;
    state_.first_loss = first;
    throw;
  }
  if (!std::isfinite(state_.epoch_loss)) {
    throw fault(ErrorKind::kDiverged, "a value is not finite in epoch {}", next.epoch + 1);
  }
  state_.block += learned.blocks;
  state_.converged = learned.converged;
  if (learned.blocks == 0) return;
  Progress p;
  p.lr = rate().at(next.epoch * blocks + next.first);
  p.epoch = static_cast<int>(next.epoch) + 1;
  if (state_.epoch_steps > 0) {
    p.loss = state_.epoch_loss / static_cast<double>(state_.epoch_steps);
  }
  if (state_.block % blocks == 0) {
    state_.unscored = true;
    close_epoch(p);
  } else {
    report(p);
  }
}

// The part of an epoch's end that may be made up for later: all but the parameters.
void TrainingRun::close_epoch(Progress p) {
  p.epoch = static_cast<int>(state_.block / trainer_->blocks());
  p.epoch_done = true;
  if (!trainee_.finite()) {
    throw fault(ErrorKind::kDiverged, "a value is not finite in epoch {}", p.epoch);
  }
  state_.loss = p.loss =
      state_.epoch_steps > 0 ? state_.epoch_loss / static_cast<double>(state_.epoch_steps) : 0;
  p.held_out = score_held_out();  // it may be cancelled, and then comes again
  check_losses(p.epoch);
  state_.epoch_loss = 0;
  state_.epoch_steps = 0;
  state_.unscored = false;
  if (plan_.early_stop > 0 && state_.held_out.size() >= 2 && best() + 1 == state_.held_out.end()) {
    trainee_.keep_best();
  }
  report(p);
}

// A loss far above its start is no result, finite or not. Of steps that have a length: samples of a
// posterior go up and down.
void TrainingRun::check_losses(int epoch) const {
  if (plan_.lr == 0) return;
  const auto check = [&](double loss, double start, const char* which) {
    constexpr double kFar =
        10;  // times as much; one more for data that are met exactly at the start
    if (loss <= kFar * std::abs(start) + 1) return;
    throw fault(ErrorKind::kDiverged, "the {} is {:.4g} after epoch {} and was {:.4g} at the start",
                which, loss, epoch, start);
  };
  if (state_.first_loss != 0) check(state_.loss, state_.first_loss, "loss");
  if (state_.held_out.size() > 1) {
    check(state_.held_out.back(), state_.held_out.front(), "held-out loss");
  }
}

void TrainingRun::report(Progress p) {
  p.note = std::exchange(note_, nullptr);
  p.refit = state_.refit.has_value();
  std::tie(p.done, p.total) = trainer_->progress(state_);
  if (plan_.stop_after > 0) {
    p.total =
        p.total / static_cast<uint64_t>(plan_.epochs) * static_cast<uint64_t>(plan_.stop_after);
  }
  job_.on_progress(p);
}

std::optional<double> TrainingRun::score_held_out() {
  const std::optional<double> loss = trainer_->held_out_loss();
  if (loss) state_.held_out.push_back(*loss);
  return loss;
}

std::vector<double>::const_iterator TrainingRun::best() const {
  const std::vector<double>& losses = state_.held_out;
  return std::min_element(losses.begin() + (plan_.start_counts ? 0 : 1), losses.end());
}

// When patience is over. A start that counts only competes at the end: the first epochs away from
// it may go uphill before they go down.
bool TrainingRun::stopped_early() const {
  const auto patience = static_cast<size_t>(plan_.early_stop);
  const std::vector<double>& losses = state_.held_out;
  if (patience == 0 || losses.size() < 2) return false;
  const auto after_start = std::min_element(losses.begin() + 1, losses.end());
  const auto since = static_cast<size_t>(losses.end() - after_start) - 1;
  const size_t uphill = plan_.start_counts ? 2 * patience : 0;
  const size_t least = std::max(uphill, static_cast<size_t>(plan_.least));
  return since >= patience && losses.size() - 1 >= least;
}

// The end of a run that is watched: back to the best epoch if it was not the last.
void TrainingRun::keep_the_best() {
  if (plan_.early_stop == 0 || state_.held_out.size() < 2) return;
  if (best() + 1 == state_.held_out.end()) return;
  trainee_.take_best();
  state_.kept = static_cast<uint64_t>(best() - state_.held_out.begin());
  Progress p;
  p.epoch = static_cast<int>(*state_.kept);
  p.held_out = *best();
  p.kept = true;
  p.note = stopped_early() ? "the held-out loss no longer fell" : nullptr;
  std::tie(p.done, p.total) = trainer_->progress(state_);
  job_.on_progress(p);
}

// Back to the start with half the rate. A checkpoint would be nearer, but may have been on its way
// out already, and what comes out must not depend on when it was written.
void TrainingRun::roll_back(const Error& reason) {
  if (plan_.lr == 0) throw fault(ErrorKind::kDiverged, "training diverged ({})", reason.what());
  const auto so_far = std::lround(-std::log2(state_.lr_scale));
  if (so_far >= kRollbacks) {
    throw fault(ErrorKind::kDiverged,
                "training diverged ({}) although the learning rate was halved {} times, down to "
                "{:g}; try a smaller --lr",
                reason.what(), kRollbacks, rate().at(0));
  }
  const double scale = state_.lr_scale / 2;
  trainee_.restart();
  state_.lr_scale = scale;
  trainer_ = trainee_.trainer();
  begin();
  note_ = "training diverged: starting over with half the learning rate";
}

}  // namespace kith
