// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that hold rows of numbers as they stand in memory: where the rows begin and of what type
// the numbers are. The numbers themselves are read by whoever wants them, block by block.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kith {

enum class NumberType { kF16, kF32, kF64, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64 };
size_t bytes_of(NumberType type);

struct NumberLayout {
  NumberType type = NumberType::kF32;
  bool big_endian = false;
  bool by_columns = false;
  uint64_t rows = 0, cols = 0;
  uint64_t offset = 0;                                             // of the first number
  uint64_t bytes() const { return rows * cols * bytes_of(type); }  // of all; was checked
};

// Longer rows are taken for damage.
inline constexpr uint64_t kMaxColumnsOfNumbers = uint64_t{1} << 24;
// As many first bytes say where the rows begin.
inline constexpr size_t kNumberHeader = (size_t{1} << 20) + 64;

// By the first bytes of a file: NumPy's .npy, or idx (the format of the MNIST images, where all
// dimensions but the first are one row). Nothing if it is neither. Error(kInput) for one that is
// not rows of numbers, with how to make it so.
std::optional<NumberLayout> number_layout(std::string_view start, const std::string& where);
bool is_npy(std::string_view start);
bool is_idx(std::string_view start);

// Of a tensor of a safetensors file: the named one, or the only one with two dimensions.
NumberLayout tensor_layout(const std::string& path, const std::string& tensor);

}  // namespace kith
