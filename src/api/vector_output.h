// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vectors of rows or texts on their way into a file, in the format that its name or the caller
// says. How many there are is known at the end.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "core/vectors.h"
#include "kith/context.h"
#include "kith/vector_format.h"

namespace kith {

class VectorOutput {
 public:
  // Error(kUsage) if no format is said, if two are, or if the file is one of the inputs.
  VectorOutput(std::string output, std::optional<VectorFormat> to,
               const std::vector<std::string>& inputs);
  // Zeros, to be filled. Without a name it gets its number; a name that is taken becomes another.
  std::span<float> add(std::string_view name, size_t cols);
  uint64_t rows() const { return rows_; }
  // All of them as one matrix; what was copied is given up on the way.
  Matrix join(size_t cols);
  // Under the names that were given, whole or not at all.
  void write(Matrix matrix, const Context& context);
  // Vectors under these names, in place of those that were added; where the format allows it none
  // are kept.
  void write(Names names, const Vectors& vectors, const Context& context);

 private:
  static constexpr size_t kPage = 1 << 16;  // rows
  std::string output_;
  std::optional<VectorFormat> format_;
  Names names_;
  size_t rows_ = 0;
  std::vector<Matrix> pages_;
};

}  // namespace kith
