// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kith {

// The first n bytes at p, 0 <= n <= 8, as they would lie in a uint64_t filled up with zeros. Reads
// no byte beyond; without the call that memcpy of a variable length is.
inline uint64_t load_bytes(const char* p, size_t n) {
  uint64_t out = 0;
  if constexpr (std::endian::native != std::endian::little) {
    std::memcpy(&out, p, n);
    return out;
  }
  if (n == 8) {
    std::memcpy(&out, p, 8);
    return out;
  }
  if (n >= 4) {  // two loads that overlap agree where they do
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + n - 4, 4);
    return low | static_cast<uint64_t>(high) << (8 * (n - 4));
  }
  if (n == 0) return 0;
  const auto byte = [&](size_t i) {
    return static_cast<uint64_t>(static_cast<uint8_t>(p[i])) << 8 * i;
  };
  return byte(0) | byte(n / 2) | byte(n - 1);
}

// wyhash's folding multiply: every bit of both factors reaches every bit of the result.
inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// A quick hash for short strings, eight bytes a step. It decides which ratings are held out and
// what fingerprint data have, so it never changes; hash tables use it too.
inline uint64_t stable_hash(std::string_view s) {
  uint64_t h = s.size() * 0x9e3779b97f4a7c15;
  const char* p = s.data();
  size_t left = s.size();
  for (; left > 8; p += 8, left -= 8) {
    h = fold_multiply(h ^ load_bytes(p, 8), 0xa0761d6478bd642f);
  }
  return fold_multiply(h ^ load_bytes(p, left) ^ 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3);
}

}  // namespace kith
