// SPDX-License-Identifier: Apache-2.0
// Rows that move as an optimiser says. A window is trained on copies, with steps of length one, so
// what a copy moved by is minus a gradient of its row; then the row takes one step along the sum of
// them. A word that stands twice in a window has two copies: one row would be read after the first
// of two long steps. Included once per SIMD target, by kernel.cc alone.

#if defined(KITH_WORDS_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_WORDS_STEPS_INL_H_
#undef KITH_WORDS_STEPS_INL_H_
#else
#define KITH_WORDS_STEPS_INL_H_
#endif

#include <algorithm>

#include "models/words/kernel.h"
#include "models/words/rows-inl.h"
#include "train/optimise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::words::HWY_NAMESPACE {

using kith::HWY_NAMESPACE::axpy;
using kith::HWY_NAMESPACE::optimise;

class StepRows {
 public:
  static constexpr bool kBags = false, kWhole = true, kSteps = true;
  StepRows(SharedRows base, Optimiser optimiser, Rows state, float lr, Copies& copies)
      : base_(base), optimiser_(optimiser), state_(state), step_{.lr = lr}, copies_(copies) {}

  void begin_window(size_t /*centre*/) { copies_.clear(); }

  RowOverlay::Copy at(uint32_t id, size_t /*position*/ = 0) {
    const size_t place = copies_.add(id);
    float* const now = copies_.now.view().row(place);
    std::copy_n(base_.row(id), width(), now);
    std::copy_n(now, width(), copies_.before.view().row(place));
    return {now, base_.at(id).energy};
  }

  void end_window() {
    switch (optimiser_) {
      case Optimiser::kMomentum:
        return step<Optimiser::kMomentum>();
      case Optimiser::kNesterov:
        return step<Optimiser::kNesterov>();
      case Optimiser::kAdaGrad:
        return step<Optimiser::kAdaGrad>();
      case Optimiser::kAdam:
        return step<Optimiser::kAdam>();
      case Optimiser::kSgd:
      case Optimiser::kRowAdaGrad:  // these have no state: the kernel takes their steps itself
        return;
    }
  }

  void prefetch(uint32_t id) const { base_.prefetch(id); }

 private:
  size_t width() const { return base_.table.rows.stride; }

  template <Optimiser kOptimiser>
  void step() {
    for (size_t place = 0; place < copies_.size(); ++place) add_gradient(place);
    for (size_t place = 0; place < copies_.size(); ++place) {
      const auto id = static_cast<size_t>(copies_.key(place));
      if (copies_.first(id) != place) continue;
      optimise<kOptimiser>(base_.table.rows.row(id), state_.row(id), width(),
                           copies_.before.view().row(place), 1, 0, step_);
    }
  }

  // Leaves the gradient in the place of the row before, that of a word in its first one.
  void add_gradient(size_t place) {
    float* const gradient = copies_.before.view().row(place);
    const float* const now = copies_.now.view().row(place);
    for (size_t k = 0; k < width(); ++k) gradient[k] -= now[k];
    const size_t first = copies_.first(copies_.key(place));
    if (first != place) axpy(1, gradient, copies_.before.view().row(first), width());
  }

  SharedRows base_;
  const Optimiser optimiser_;
  const Rows state_;
  const Step step_;
  Copies& copies_;
};

}  // namespace kith::words::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
