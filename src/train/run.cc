// SPDX-License-Identifier: Apache-2.0
#include "train/run.h"

#include <tuple>
#include <utility>

namespace kith {
namespace {

constexpr int kRollbacks = 3;

}  // namespace

bool TrainRun::run() {
  if (state_.held_out.empty()) begin();
  const int epochs = plan_.stop_after > 0 ? plan_.stop_after : plan_.epochs;
  const uint64_t total = plan_.blocks * static_cast<uint64_t>(epochs);
  while (state_.block < total && !stopped_early_ && !converged_) {
    if (job_.cancelled()) return false;
    try {
      segment();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kDiverged) throw;
      roll_back(e);
    }
  }
  keep_the_best();
  return true;
}

// The end of a run that is watched: back to the best epoch if it was not the last.
void TrainRun::keep_the_best() {
  if (plan_.early_stop == 0 || state_.held_out.size() < 2) return;
  if (best() + 1 == state_.held_out.end()) return;
  take_best();
  state_.kept = static_cast<uint64_t>(best() - state_.held_out.begin());
  Progress report;
  report.epoch = static_cast<int>(*state_.kept);
  report.held_out = *best();
  report.kept = true;
  report.note = stopped_early_ ? "the held-out loss no longer fell" : nullptr;
  std::tie(report.done, report.total) = progress();
  job_.on_progress(report);
}

void TrainRun::begin() {
  score_held_out();
  if (plan_.start_counts && plan_.early_stop > 0 && !state_.held_out.empty()) keep_best();
}

// Trains up to the next safe point and reports it.
void TrainRun::segment() {
  const uint64_t epoch = state_.block / plan_.blocks, first = state_.block % plan_.blocks;
  const uint64_t count = std::min(segment_blocks(), plan_.blocks - first);
  const Sum sum = train(epoch, first, count);
  Progress report;
  report.lr = rate(epoch, first);
  report.epoch = static_cast<int>(epoch) + 1;
  report.loss = sum.steps > 0 ? sum.loss / static_cast<double>(sum.steps) : 0;
  report.epoch_done = first + count == plan_.blocks;
  if (!std::isfinite(sum.loss) || (report.epoch_done && !finite())) {
    throw Error(ErrorKind::kDiverged, "a value is not finite in epoch {}", epoch + 1);
  }
  state_.block += count;
  state_.epoch_loss += sum.loss;
  state_.epoch_steps += sum.steps;
  if (report.epoch_done) {
    state_.loss =
        state_.epoch_steps > 0 ? state_.epoch_loss / static_cast<double>(state_.epoch_steps) : 0;
    state_.epoch_loss = 0;
    state_.epoch_steps = 0;
    report.held_out = score_held_out();
    watch_held_out();
  }
  report.note = std::exchange(note_, nullptr);
  std::tie(report.done, report.total) = progress();
  job_.on_progress(report);
}

std::optional<double> TrainRun::score_held_out() {
  const std::optional<double> loss = held_out_loss();
  if (loss) state_.held_out.push_back(*loss);
  return loss;
}

std::vector<double>::const_iterator TrainRun::best() const {
  const std::vector<double>& losses = state_.held_out;
  return std::min_element(losses.begin() + (plan_.start_counts ? 0 : 1), losses.end());
}

// Early stopping: keeps the best parameters, and stops when patience is over. A start that counts
// only competes at the end: the first epochs away from it may go uphill before they go down.
void TrainRun::watch_held_out() {
  const auto patience = static_cast<size_t>(plan_.early_stop);
  const std::vector<double>& losses = state_.held_out;
  if (patience == 0 || losses.size() < 2) return;
  if (best() + 1 == losses.end()) keep_best();
  const auto after_start = std::min_element(losses.begin() + 1, losses.end());
  const auto since = static_cast<size_t>(losses.end() - after_start) - 1;
  const size_t trained = losses.size() - 1, least = plan_.start_counts ? 2 * patience : 0;
  stopped_early_ = since >= patience && trained >= least;
}

// Back to the last good state with half the rate.
void TrainRun::roll_back(const Error& reason) {
  if (++rollbacks_ > kRollbacks) {
    throw Error(ErrorKind::kDiverged,
                "training diverged ({}) although the learning rate was halved {} times, down to "
                "{:g}; try a smaller --lr",
                reason.what(), kRollbacks, rate(0, 0));
  }
  const double scale = state_.lr_scale / 2;
  if (!job_.restore()) {
    restart();
    begin();
  }
  state_.lr_scale = scale;
  note_ = "a value was not finite: back to the last good state with half the learning rate";
}

}  // namespace kith
