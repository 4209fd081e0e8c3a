// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

enum class VectorFormat {
  kWord2vecBin,
  kWord2vecText,
  kGlove,
  kFastTextBin,
  kNpy,
  kCsv,
  kSafetensors
};

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::VectorFormat> {
  static constexpr std::array<std::string_view, 7> names{
      "word2vec-bin", "word2vec-text", "glove", "fasttext-bin", "npy", "csv", "safetensors"};
};
