// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {

void add_difference(const float* HWY_RESTRICT copy, const float* HWY_RESTRICT base,
                    float* HWY_RESTRICT change, size_t width) {
  for (size_t k = 0; k < width; k += hn::Lanes(f32)) {
    const VF moved = hn::Sub(hn::Load(f32, copy + k), hn::Load(f32, base + k));
    hn::Store(hn::Add(hn::Load(f32, change + k), moved), f32, change + k);
  }
}

// h > 0 or, where nothing moved, 0 / 0: the share of a change that is nothing does not matter.
HWY_INLINE VF earned(VF own, VF all) {
  const VF share = hn::Sqrt(hn::Div(own, all));
  return hn::IfThenElseZero(hn::Gt(all, hn::Zero(f32)), share);
}

void add_earned(const float* HWY_RESTRICT copy, const float* HWY_RESTRICT base,
                float* HWY_RESTRICT change, size_t width, bool one) {
  const float* const h = change + width;
  const VF of_row = earned(hn::Set(f32, copy[width]), hn::Set(f32, base[width] + *h));
  for (size_t k = 0; k < width; k += hn::Lanes(f32)) {
    const VF share = one ? of_row
                         : earned(hn::Load(f32, copy + width + k),
                                  hn::Add(hn::Load(f32, base + width + k), hn::Load(f32, h + k)));
    const VF moved = hn::Sub(hn::Load(f32, copy + k), hn::Load(f32, base + k));
    hn::Store(hn::MulAdd(share, moved, hn::Load(f32, change + k)), f32, change + k);
  }
}

void add_to(const float* HWY_RESTRICT change, float* HWY_RESTRICT base, size_t width) {
  axpy(1.0f, change, base, width);
}

const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith {

HWY_EXPORT(add_difference);
HWY_EXPORT(add_earned);
HWY_EXPORT(add_to);
HWY_EXPORT(name_of_target);

void add_change(const float* copy, const float* base, float* change, size_t width) {
  HWY_DYNAMIC_DISPATCH(add_difference)(copy, base, change, width);
}
void add_earned_change(const float* copy, const float* base, float* change, size_t width,
                       bool one) {
  HWY_DYNAMIC_DISPATCH(add_earned)(copy, base, change, width, one);
}
void add_row(const float* change, float* base, size_t width) {
  HWY_DYNAMIC_DISPATCH(add_to)(change, base, width);
}
const char* instructions_in_use() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

}  // namespace kith
#endif  // HWY_ONCE
