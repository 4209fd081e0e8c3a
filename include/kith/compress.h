// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vectors of a model in fewer bytes, by product quantisation. What comes out is a model file
// like any other, and answers the same questions, nearly the same.

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct CompressOptions {
  int width = 2;
  bool norms = false;
  int64_t seed = 1;

  static constexpr std::tuple fields{
      field("width", &CompressOptions::width,
            "numbers of a vector that share a byte: more make a smaller file and larger errors")
          .between(1, 64),
      field("norms", &CompressOptions::norms,
            "keep the length of each vector in a byte of its own (fastText's qnorm)"),
      field("seed", &CompressOptions::seed, "where the search for centroids begins"),
  };
};

struct Compressed {
  uint64_t bytes_before = 0, bytes = 0;  // of the files
  struct Table {
    std::string name;
    uint64_t rows = 0, dim = 0;
    bool coded = false;  // or left as it is: so few rows that codes would take more bytes
    double error = 0;  // squared distance of all rows from what they were, by their squared length
  };
  std::vector<Table> tables;
};

// Error(kUsage) for a model whose vectors cannot be, or are already.
Compressed compress(const std::string& model, const std::string& output,
                    const CompressOptions& options, const Context& context);

}  // namespace KITH_VISIBLE
