// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kith {

// The finaliser of SplitMix64: a bijection that scatters neighbouring inputs.
inline constexpr uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Counter-based random numbers: the n-th draw of a stream is a pure function of
// (seed, stream, n), so results do not depend on who draws first. Numbers are taken from the
// high bits, which a multiplication scatters best.
class Rng {
 public:
  Rng(uint64_t seed, uint64_t stream)
      : state_(mix64(seed + 0x632be59bd9b4e019) ^ mix64(stream + kStep)) {}
  uint64_t next() { return mix64(state_ += kStep); }
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }  // [0, 1)
  // In [0, n). The bias is below n / 2^32.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  uint64_t state_;
};

}  // namespace kith
