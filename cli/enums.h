// SPDX-License-Identifier: Apache-2.0
#pragma once
// How enums of layers that know no settings are spelt on the command line.

#include <array>
#include <string_view>

#include "config/fields.h"
#include "io/vector_files.h"
#include "query/analogy.h"

template <>
struct kith::EnumNames<kith::AnalogyRule> {
  static constexpr std::array<std::string_view, 2> names{"add", "mul"};
};

template <>
struct kith::EnumNames<kith::VectorFormat> {
  static constexpr std::array<std::string_view, 6> names{
      "word2vec-bin", "word2vec-text", "glove", "npy", "csv", "safetensors"};
};
