// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a training run tells while it goes.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "data/corpus.h"
#include "models/model.h"
#include "terminal.h"
#include "train.h"

namespace kith::cli {

// "read    100 MB ...": a label in a column of its own, then a sentence.
std::string labelled(std::string_view label, std::string_view text);

// What is in the text, and what of it will be used.
void report_corpus(const Corpus& corpus, const TrainPlan& plan, double seconds, Status& status);

// Says what the first file looks like, and whether another way to split it would suit it.
void report_choice(const std::string& path, const ModelInfo& chosen, const CorpusOptions& options,
                   Status& status);

// Turns the reports of a trainer into lines, and keeps what the summary needs.
class TrainReport {
 public:
  // `resumed`: the first report starts the clock, since what was done before took no time here.
  TrainReport(Status& status, std::string_view unit, uint64_t size, bool resumed);
  void update(const Progress& p);

  double loss() const;  // mean over the last epoch, or over what there was of it
  std::optional<double> first_held_out() const { return first_held_out_; }
  std::optional<double> held_out() const { return held_out_; }
  double epochs_done() const;  // by this run
  double per_second() const;   // units

 private:
  double epochs() const {
    return size_ ? static_cast<double>(total_) / static_cast<double>(size_) : 0;
  }
  using Clock = std::chrono::steady_clock;
  std::string text_of(const Progress& p) const;
  void add_loss(const Progress& p);

  Status& status_;
  std::string_view unit_;
  uint64_t size_;  // units per epoch
  bool started_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  uint64_t first_done_ = 0, done_ = 0, total_ = 0;
  bool kept_ = false;  // nothing is held out any more
  uint64_t work_ = 0;  // units done by this run, those that were lost again included
  double loss_sum_ = 0, loss_weight_ = 0, epoch_loss_ = 0;
  std::optional<double> first_held_out_, held_out_;
};

// Looks at what training left: Error(kDiverged) if a number is not finite; says so if a vector is
// zero, and shows what three frequent words are near to.
void self_check(const Model& model, uint64_t seed, int threads, Status& status);

}  // namespace kith::cli
