// SPDX-License-Identifier: Apache-2.0
#include "core/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace kith {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

void use_huge_pages(void* begin, size_t bytes) {
  if (bytes < 4 * kHugePage) return;
  // Whole pages alone: what stands beside them belongs to others.
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t before = (kPage - at % kPage) % kPage;
  madvise(static_cast<char*>(begin) + before, (bytes - before) / kPage * kPage, MADV_HUGEPAGE);
}

}  // namespace kith
