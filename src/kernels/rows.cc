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

void add_to(const float* HWY_RESTRICT change, float* HWY_RESTRICT base, size_t width) {
  axpy(1.0f, change, base, width);
}

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith {

HWY_EXPORT(add_difference);
HWY_EXPORT(add_to);

void add_change(const float* copy, const float* base, float* change, size_t width) {
  HWY_DYNAMIC_DISPATCH(add_difference)(copy, base, change, width);
}
void add_row(const float* change, float* base, size_t width) {
  HWY_DYNAMIC_DISPATCH(add_to)(change, base, width);
}

}  // namespace kith
#endif  // HWY_ONCE
