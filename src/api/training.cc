// SPDX-License-Identifier: Apache-2.0
#include "api/training.h"

#include <algorithm>
#include <cmath>

namespace kith {

// A run that starts over, with a smaller rate or on all data, replaces what it does anew.
void TrainingReport::record(const Progress& p) {
  if (p.kept) {
    curve_.kept = p.epoch;
    return;
  }
  if (!p.epoch_done) return;
  std::erase_if(curve_.points, [&](const TrainingCurve::Point& q) {
    return q.refit == p.refit && q.epoch >= p.epoch;
  });
  std::optional<double> held_out;
  if (p.held_out && !p.refit) held_out = told_(*p.held_out);
  curve_.points.push_back({p.epoch, p.loss, held_out, p.refit});
}

void TrainingReport::update(const Progress& p) {
  record(p);
  if (!started_) {
    started_ = true;
    watch_.restart();
    first_done_ = done_ = p.done;
  }
  seconds_ = watch_.seconds();
  // After a rollback, or in a second run, the count begins again; the work does not.
  work_ += p.done >= done_ ? p.done - done_ : p.done;
  done_ = p.done;
  total_ = p.total;
  if (p.held_out) held_out_ = told_(*p.held_out);
  if (!p.kept) loss_ = p.loss;
  if (!observer_) return;
  Training out;
  out.done = p.done;
  out.total = p.total;
  out.epoch = p.epoch;
  out.epochs = static_cast<int>(std::lround(epochs()));
  out.epoch_done = p.epoch_done;
  out.loss = loss_;
  out.lr = p.lr;
  // An epoch that closes without it says that nothing is held out any more.
  if (p.epoch_done) measured_ = p.held_out.has_value();
  if (p.kept || (measured_ && !p.refit)) out.held_out = held_out_;
  out.per_second = per_second();
  if (out.per_second > 0) {
    const double left = static_cast<double>(p.total - std::min(p.done, p.total)) /
                        static_cast<double>(std::max<uint64_t>(1, p.total));
    out.seconds_left = left * epochs() * static_cast<double>(size_) / out.per_second;
  }
  out.unit = unit_;
  if (p.note) out.note = p.note;
  out.kept = p.kept;
  observer_->on(out);
}

double TrainingReport::epochs_done() const {
  if (total_ == 0 || done_ < first_done_) return 0;
  return static_cast<double>(done_ - first_done_) / static_cast<double>(total_) * epochs();
}

double TrainingReport::per_second() const {
  return seconds_ > 0 ? static_cast<double>(work_) / seconds_ : 0;
}

}  // namespace kith
