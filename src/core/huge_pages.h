// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace kith {

// Asks for huge pages where a large table will be: places at random in it cost a miss of the page
// tables each without them. To be called before the memory is first written; says nothing if there
// are none.
void use_huge_pages(void* begin, size_t bytes);

// A vector of n elements whose memory is asked for like that.
template <class V>
void resize_huge(V& v, size_t n) {
  v.reserve(n);
  use_huge_pages(v.data(), n * sizeof(*v.data()));
  v.resize(n);
}

}  // namespace kith
