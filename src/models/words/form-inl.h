// SPDX-License-Identifier: Apache-2.0
// Contexts that are seen through a bilinear form: the score of x and y is x'By = <B'x, y>, so a
// window is trained on B'x in the place of x, and what moved it goes on to x and to B. Included
// once per SIMD target, by kernel.cc alone.

#if defined(KITH_WORDS_FORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_WORDS_FORM_INL_H_
#undef KITH_WORDS_FORM_INL_H_
#else
#define KITH_WORDS_FORM_INL_H_
#endif

#include <algorithm>

#include "models/words/kernel.h"
#include "models/words/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::words::HWY_NAMESPACE {

using kith::HWY_NAMESPACE::axpy;
using kith::HWY_NAMESPACE::dot;

class FormRows {
 public:
  static constexpr bool kBags = false;
  static constexpr bool kForm = true;
  FormRows(SharedRows base, const FormTable& form, size_t stride, Scratch& scratch)
      : base_(base), form_(form), stride_(stride), s_(scratch) {}

  void begin_window() { used_ = 0; }

  // A word that stands twice in a window has one row there, too.
  RowOverlay::Copy at(uint32_t id, size_t /*position*/) {
    size_t slot = 0;
    while (slot < used_ && s_.form_ids[slot] != id) ++slot;
    if (slot == used_) {
      s_.form_ids[used_++] = id;
      float* const now = s_.form_now.view().row(slot);
      map(base_.row(id), now);
      std::copy_n(now, stride_, s_.form_before.view().row(slot));
    }
    return {s_.form_now.view().row(slot), base_.at(id).energy};
  }

  // B'x moved by d, which is a step times the sum of slopes times y. So x moves by B d, and B by
  // the outer product of x and d (Colley 2017), all of the old values.
  void end_window() {
    for (size_t slot = 0; slot < used_; ++slot) move_row(slot);
    if (form_.rate > 0) move_form();
  }

  void prefetch(uint32_t id) const { base_.prefetch(id); }

 private:
  // x + B d, in an order of sums that gives B'x + d to the bit where B is the identity. Leaves the
  // old x in the place of B'x before.
  void move_row(size_t slot) {
    const float* const now = s_.form_now.view().row(slot);
    float* const before = s_.form_before.view().row(slot);
    float* const d = s_.form_move.view().row(slot);
    float* const x = base_.row(s_.form_ids[slot]);
    for (size_t k = 0; k < stride_; ++k) d[k] = now[k] - before[k];
    for (size_t k = 0; k < form_.dim; ++k) {
      const float along =
          form_.full ? dot(form_.rows.row(k), d, stride_) : form_.rows.row(0)[k] * d[k];
      const float old = x[k];
      x[k] = now[k] + ((old - before[k]) + (along - d[k]));
      before[k] = old;
    }
  }

  void move_form() {
    for (size_t slot = 0; slot < used_; ++slot) {
      const float* const x = s_.form_before.view().row(slot);
      const float* const d = s_.form_move.view().row(slot);
      for (size_t k = 0; k < form_.dim; ++k) {
        if (form_.full) {
          axpy(form_.rate * x[k], d, form_.rows.row(k), stride_);
        } else {
          form_.rows.row(0)[k] += form_.rate * x[k] * d[k];
        }
      }
    }
  }

  void map(const float* HWY_RESTRICT x, float* HWY_RESTRICT out) const {
    if (!form_.full) {
      for (size_t k = 0; k < stride_; ++k) out[k] = x[k] * form_.rows.row(0)[k];
      return;
    }
    std::fill_n(out, stride_, 0.0f);
    for (size_t k = 0; k < form_.dim; ++k) axpy(x[k], form_.rows.row(k), out, stride_);
  }

  SharedRows base_;
  const FormTable& form_;
  const size_t stride_;
  Scratch& s_;
  size_t used_ = 0;
};

}  // namespace kith::words::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
