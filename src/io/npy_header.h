// SPDX-License-Identifier: Apache-2.0
#pragma once
// The header of NumPy's .npy. Private to src/io.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

inline constexpr size_t kMaxNpyHeader = size_t{1} << 20;

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// The dictionary behind magic, version and length. Error(kInput) if it is not understood.
NpyHeader read_npy_header(std::string_view text, std::string_view where);

}  // namespace kith
