// SPDX-License-Identifier: Apache-2.0
#include "train/run.h"

#include <tuple>
#include <utility>

namespace kith {
namespace {

constexpr int kRollbacks = 3;

}  // namespace

bool TrainRun::run() {
  if (state_.held_out.empty()) score_held_out();
  const uint64_t total = plan_.blocks * static_cast<uint64_t>(plan_.epochs);
  while (state_.block < total && !stopped_early_) {
    if (job_.cancelled()) return false;
    try {
      segment();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kDiverged) throw;
      roll_back(e);
    }
  }
  return true;
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

// Early stopping: keeps the best parameters and puts them back when patience is over.
void TrainRun::watch_held_out() {
  const auto patience = static_cast<size_t>(plan_.early_stop);
  const std::vector<double>& losses = state_.held_out;
  if (patience == 0 || losses.size() < 2) return;
  const auto best = std::min_element(losses.begin() + 1, losses.end());
  const auto since = static_cast<size_t>(losses.end() - best) - 1;
  if (since == 0) {
    keep_best();
  } else if (since >= patience) {
    take_best();
    stopped_early_ = true;
    note_ = "the held-out loss no longer falls; stopped early with the best epoch's vectors";
  }
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
    score_held_out();
  }
  state_.lr_scale = scale;
  note_ = "a value was not finite: back to the last good state with half the learning rate";
}

}  // namespace kith
