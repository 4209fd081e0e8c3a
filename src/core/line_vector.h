// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace kith {

// What one worker writes and another reads must be so far apart: processors fetch lines of 64 bytes
// in pairs.
inline constexpr size_t kCacheLine = 128;

// Gives each vector cache lines of its own. Buffers of two workers that share a line make both
// wait for it at every write: word2vec lost a tenth of its speed on two threads that way.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT: as the standard wants it
  T* allocate(size_t n) {
    const size_t bytes = (n * sizeof(T) + kCacheLine - 1) / kCacheLine * kCacheLine;
    return static_cast<T*>(::operator new (bytes, std::align_val_t{kCacheLine}));
  }
  void deallocate(T* p, size_t) { ::operator delete (p, std::align_val_t{kCacheLine}); }
  bool operator==(const LineAllocator&) const { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace kith
