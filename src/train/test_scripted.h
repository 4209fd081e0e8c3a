// SPDX-License-Identifier: Apache-2.0
#pragma once
// A training whose held-out losses are known beforehand. Its only parameter is the number of blocks
// it has been trained for in the run that is on.

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "train/schedule.h"

namespace kith::test {

struct Script {
  std::vector<double> losses;  // before training, and after each epoch
  uint64_t blocks = 1;         // in an epoch
  uint64_t segment = 1;
  bool refit = false;
  RunPlan plan{};
  double first_loss = 100, growth = 1;     // of a block: first_loss + growth * its number
  std::optional<uint64_t> diverges_at{};   // this block gives NaN while the rate is 1
  bool spoils = false;                     // parameters are not finite while the rate is 1
  std::optional<uint64_t> cancels_at{};    // this block cancels the job
  std::optional<uint64_t> converges_at{};  // this epoch ends the run
  bool cancel_scoring = false;             // the first scoring after training is interrupted
};

class ScriptedCourse final : public Course {
 public:
  ScriptedCourse(Script script, RunState& state, Job& job)
      : script_(std::move(script)), state_(state), job_(job) {}

  size_t parameter = 0, best = 0;
  size_t blocks_trained = 0;  // in all runs
  std::vector<Start> starts;
  bool everything = false, finished = false;
  std::vector<double> rates;

  RunPlan plan() const override { return script_.plan; }
  bool refits() const override { return script_.refit; }
  void take_everything() override { everything = true; }
  void start(Start start) override {
    starts.push_back(start);
    parameter = 0;
  }
  void finish() override { finished = true; }
  std::unique_ptr<Trainer> trainer() override { return std::make_unique<Teacher>(*this); }
  bool finite() override { return !script_.spoils || state_.lr_scale < 1; }
  void keep_best() override { best = parameter; }
  void take_best() override { parameter = best; }

 private:
  class Teacher final : public Trainer {
   public:
    explicit Teacher(ScriptedCourse& course) : c_(course) {}
    uint64_t blocks() const override { return c_.script_.blocks; }
    uint64_t segment() const override { return c_.script_.segment; }
    Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
      Learned out{0};
      for (uint64_t b = 0; b < blocks.count && !c_.job_.cancelled(); ++b, ++out.blocks) {
        const uint64_t at = blocks.epoch * c_.script_.blocks + blocks.first + b;
        c_.rates.push_back(rate.at(at));
        if (c_.script_.diverges_at == at && c_.state_.lr_scale == 1) {
          sum.add(std::nan(""), 1);
        } else {
          sum.add(c_.script_.first_loss + c_.script_.growth * static_cast<double>(at), 1);
        }
        ++c_.parameter;
        ++c_.blocks_trained;
        if (c_.script_.cancels_at == at) c_.job_.cancel();
      }
      out.converged = c_.script_.converges_at == blocks.epoch + 1;
      return out;
    }
    std::optional<double> held_out_loss() override {
      if (c_.everything || c_.script_.losses.empty()) return std::nullopt;
      const size_t epoch = c_.parameter / c_.script_.blocks;
      if (epoch > 0 && std::exchange(c_.script_.cancel_scoring, false)) {
        c_.job_.cancel();
        c_.job_.context().check();
      }
      return c_.script_.losses.at(epoch);
    }
    std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
      return {state.block, c_.script_.blocks * static_cast<uint64_t>(c_.script_.plan.epochs)};
    }

   private:
    ScriptedCourse& c_;
  };

  Script script_;
  RunState& state_;
  Job& job_;
};

}  // namespace kith::test
