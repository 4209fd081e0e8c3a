// SPDX-License-Identifier: Apache-2.0
// Measures what one core can do at most: float multiply-adds per second in the widest vectors
// Highway finds at run time. Prints one JSON object. The best of several short runs, in CPU time,
// because a neighbour on the machine can only slow it down.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peak.cc"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

HWY_BEFORE_NAMESPACE();
namespace kith::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve chains: enough to hide a latency of 4 to 6 cycles on two units. Every value tends to 1
// (x = x * 0.999 + 0.001), so nothing overflows or becomes denormal.
double multiply_adds(size_t rounds, float* sink) {
  const hn::ScalableTag<float> f32;
  const auto scale = hn::Set(f32, 0.999f);
  const auto shift = hn::Set(f32, 0.001f);
  auto a = hn::Set(f32, *sink), b = a, c = a, d = a, e = a, f = a;
  auto g = a, h = a, i = a, j = a, k = a, l = a;
  for (size_t r = 0; r < rounds; ++r) {
    a = hn::MulAdd(a, scale, shift);
    b = hn::MulAdd(b, scale, shift);
    c = hn::MulAdd(c, scale, shift);
    d = hn::MulAdd(d, scale, shift);
    e = hn::MulAdd(e, scale, shift);
    f = hn::MulAdd(f, scale, shift);
    g = hn::MulAdd(g, scale, shift);
    h = hn::MulAdd(h, scale, shift);
    i = hn::MulAdd(i, scale, shift);
    j = hn::MulAdd(j, scale, shift);
    k = hn::MulAdd(k, scale, shift);
    l = hn::MulAdd(l, scale, shift);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(a, b), hn::Add(c, d)),
      hn::Add(hn::Add(hn::Add(e, f), hn::Add(g, h)), hn::Add(hn::Add(i, j), hn::Add(k, l))));
  *sink = hn::GetLane(hn::SumOfLanes(f32, sum));
  return 2.0 * 12 * static_cast<double>(hn::Lanes(f32)) * static_cast<double>(rounds);
}
int64_t target_name() { return HWY_TARGET; }

}  // namespace kith::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith {
HWY_EXPORT(multiply_adds);
HWY_EXPORT(target_name);

double multiply_adds(size_t rounds, float* sink) {
  return HWY_DYNAMIC_DISPATCH(multiply_adds)(rounds, sink);
}
const char* target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(target_name)()); }
}  // namespace kith

namespace {
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
}  // namespace

int main() {
  double best = 0;
  float sink = 0.5f;
  for (int run = 0; run < 20; ++run) {
    const double start = cpu_seconds();
    const double flops = kith::multiply_adds(10'000'000, &sink);
    best = std::max(best, flops / (cpu_seconds() - start));
  }
  // Using the result keeps the compiler from dropping the work.
  std::printf("{\"gflops\": %.1f, \"target\": \"%s\", \"sum\": %g}\n", best / 1e9, kith::target(),
              sink);
  return 0;
}
#endif
