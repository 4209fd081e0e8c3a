// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace kith {

// A quick hash for short strings in hash tables (wyhash's folding multiply, eight bytes a step).
// Never stored in a file: files carry XXH3.
inline uint64_t hash_bytes(std::string_view s) {
  const auto fold = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t h = s.size() * 0x9e3779b97f4a7c15;
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = fold(h ^ word, 0xa0761d6478bd642f);
  }
  uint64_t word = 0;
  std::memcpy(&word, p, left);
  return fold(h ^ word ^ 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3);
}

}  // namespace kith
