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
  static constexpr bool kBags = false, kWhole = true, kSteps = false;
  FormRows(SharedRows base, const FormTable& form, size_t stride, Scratch& scratch)
      : base_(base), form_(form), stride_(stride), s_(scratch), copies_(scratch.context_copies) {}

  void begin_window(size_t centre) {
    copies_.clear();
    centre_ = centre;
  }

  // A word that stands twice in a window, in the same relation, has one row there, too.
  RowOverlay::Copy at(uint32_t id, size_t position) {
    const size_t relation = form_.relation(position, centre_);
    const uint64_t key = uint64_t{relation} << 32 | id;
    const size_t place = copies_.first(key);
    float* const now = copies_.now.view().row(place);
    if (place == copies_.size()) {
      copies_.add(key);
      map(relation, base_.row(id), now);
      std::copy_n(now, stride_, copies_.before.view().row(place));
      std::copy_n(base_.row(id), stride_, s_.form_old.view().row(place));
    }
    return {now, base_.at(id).energy};
  }

  // B'x moved by d, which is a step times the sum of slopes times y. So x moves by B d, and B by
  // the outer product of x and d (Colley 2017), all of the old values.
  void end_window() {
    for (size_t place = 0; place < copies_.size(); ++place) move_row(place);
    if (form_.rate > 0) move_forms();
  }

  void prefetch(uint32_t id) const { base_.prefetch(id); }

 private:
  uint32_t id(size_t place) const { return static_cast<uint32_t>(copies_.key(place)); }
  // Row k of the B that a copy was made with.
  float* row_of(size_t relation, size_t k) const {
    return form_.rows.row(relation * form_.rows_of_one() + k);
  }
  size_t relation(size_t place) const { return copies_.key(place) >> 32; }

  // x + B d, in an order of sums that gives B'x + d to the bit where B is the identity.
  void move_row(size_t place) {
    const float* const now = copies_.now.view().row(place);
    const float* const before = copies_.before.view().row(place);
    float* const d = s_.form_move.view().row(place);
    float* const x = base_.row(id(place));
    for (size_t k = 0; k < stride_; ++k) d[k] = now[k] - before[k];
    for (size_t k = 0; k < form_.dim; ++k) {
      const float along = form_.full ? dot(row_of(relation(place), k), d, stride_)
                                     : row_of(relation(place), 0)[k] * d[k];
      x[k] = now[k] + ((x[k] - before[k]) + (along - d[k]));
    }
  }

  void move_forms() {
    for (size_t place = 0; place < copies_.size(); ++place) {
      const float* const x = s_.form_old.view().row(place);
      const float* const d = s_.form_move.view().row(place);
      for (size_t k = 0; k < form_.dim; ++k) {
        if (form_.full) {
          axpy(form_.rate * x[k], d, row_of(relation(place), k), stride_);
        } else {
          row_of(relation(place), 0)[k] += form_.rate * x[k] * d[k];
        }
      }
    }
  }

  void map(size_t relation, const float* HWY_RESTRICT x, float* HWY_RESTRICT out) const {
    if (!form_.full) {
      const float* const b = row_of(relation, 0);
      for (size_t k = 0; k < stride_; ++k) out[k] = x[k] * b[k];
      return;
    }
    std::fill_n(out, stride_, 0.0f);
    for (size_t k = 0; k < form_.dim; ++k) axpy(x[k], row_of(relation, k), out, stride_);
  }

  SharedRows base_;
  const FormTable& form_;
  const size_t stride_;
  Scratch& s_;
  Copies& copies_;
  size_t centre_ = 0;
};

}  // namespace kith::words::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
