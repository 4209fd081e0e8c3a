// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a trainer says at its safe points, as a person wants to know it: rates, and what is left.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "api/reading.h"
#include "core/job.h"
#include "kith/events.h"
#include "kith/train.h"

namespace kith {

inline double share_done(const Progress& p) {
  return static_cast<double>(p.done) / static_cast<double>(p.total > 0 ? p.total : 1);
}

class TrainingReport {
 public:
  // `size`: units per epoch. The clock of a run that goes on starts with its first report, since
  // what was done before took no time here.
  // `told`: what a held-out loss is told as.
  TrainingReport(Observer* observer, std::string_view unit, uint64_t size, bool resumed,
                 std::function<double(double)> told)
      : observer_(observer), unit_(unit), size_(size), started_(!resumed), told_(std::move(told)) {}

  void update(const Progress& p);

  double loss() const { return loss_; }  // of the last epoch, or of what there was of it
  double epochs_done() const;            // by this run
  TrainingCurve take_curve() { return std::move(curve_); }
  double per_second() const;  // units

 private:
  double epochs() const {
    return size_ ? static_cast<double>(total_) / static_cast<double>(size_) : 0;
  }
  Observer* observer_;
  std::string_view unit_;
  uint64_t size_;
  bool started_;
  std::function<double(double)> told_;
  Stopwatch watch_;
  double seconds_ = 0;  // at the last report
  uint64_t first_done_ = 0, done_ = 0, total_ = 0;
  uint64_t work_ = 0;  // units done by this run, those that were lost again included
  double loss_ = 0;
  std::optional<double> held_out_;
  bool measured_ = true;
  void record(const Progress& p);
  TrainingCurve curve_;
};

}  // namespace kith
