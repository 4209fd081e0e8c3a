// SPDX-License-Identifier: Apache-2.0
#include "train/schedule.h"

#include <utility>

namespace kith {
namespace {

// The state of a run that begins anew; what the run before it measured stands.
RunState afresh(const RunState& before) {
  RunState out;
  out.lr_scale = before.lr_scale;
  if (before.refit) {
    out.refit = before.refit;
    out.held_out = before.held_out;
    out.kept = before.kept;
  }
  return out;
}

// A rollback resets the state as well as the parameters.
class Restarting final : public Trainee {
 public:
  Restarting(Course& course, RunState& state) : course_(course), state_(state) {}
  std::unique_ptr<Trainer> trainer() override { return course_.trainer(); }
  bool finite() override { return course_.finite(); }
  void keep_best() override { course_.keep_best(); }
  void take_best() override { course_.take_best(); }
  void restart() override {
    state_ = afresh(state_);
    course_.restart();
    state_.started = true;
  }

 private:
  Course& course_;
  RunState& state_;
};

RunPlan second_plan(RunPlan plan, const RunState& state) {
  plan.note = plan.early_stop > 0
                  ? "now training again with what was held out, for the best number of epochs"
                  : "now training again with what was held out, for as many epochs";
  plan.early_stop = 0;
  plan.stop_after = static_cast<int>(*state.refit);
  return plan;
}

// Where a run starts may take some work, too, and be cancelled: then it starts there again.
void start(Course& course, RunState& state, Start from) {
  if (state.started) return;
  course.start(from);
  state.started = true;
}

bool go(Course& course, RunState& state, Job& job) {
  Restarting trainee(course, state);
  if (!state.refit) {  // and no checkpoint of the second run
    start(course, state, Start::kFirst);
    if (!TrainingRun(course.plan(), state, trainee, job).go()) return false;
    if (!course.refits()) {
      course.finish();
      return true;
    }
    if (state.held_out.empty() || state.kept.value_or(0) >= state.held_out.size()) {
      throw fault(
          ErrorKind::kInput,
          "the checkpoint lacks the held-out losses of its epochs; start over without --resume");
    }
    state.refit = state.kept.value_or(state.held_out.size() - 1);
    state = afresh(state);
  }
  course.take_everything();
  start(course, state, *state.refit > 0 ? Start::kAgain : Start::kNothing);
  if (*state.refit > 0 &&
      !TrainingRun(second_plan(course.plan(), state), state, trainee, job).go()) {
    return false;
  }
  course.finish();
  return true;
}

}  // namespace

bool train(Course& course, RunState& state, Job& job) {
  try {
    return state.finished = go(course, state, job);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kCancelled) throw;
    return false;
  }
}

}  // namespace kith
