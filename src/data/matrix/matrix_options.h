// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a user can say about rows of numbers.

#include <optional>
#include <string>
#include <tuple>

#include "kith/fields.h"

namespace kith {

struct MatrixOptions {
  std::string id{};
  std::string ignore{};
  std::string tensor{};
  std::string of{};

  static constexpr std::tuple fields{
      field("id", &MatrixOptions::id, "the column of a table that names each row"),
      field("ignore", &MatrixOptions::ignore,
            "columns of a table to leave out, with commas; may be given again")
          .adding_up(),
      field("tensor", &MatrixOptions::tensor,
            "of a safetensors file with several: the matrix to read"),
      field("of", &MatrixOptions::of,
            "of a model with vectors of several kinds: those of this column, such as word or user; "
            "all of them by default"),
  };
};

struct MatrixUse {
  std::optional<double> holdout{};

  static constexpr std::tuple fields{
      field("holdout", &MatrixUse::holdout,
            "rows to hold out to score the model: a share of them, or a number; 0 for none")
          .between(0, 1e12)
          .automatic("what the model wants"),
  };
};

}  // namespace kith
