// SPDX-License-Identifier: Apache-2.0
#pragma once
// Capabilities beside those of capabilities.h: the vector of a text is inferred, or the mean of the
// rows that a classifier has for it, and not put together from the vectors of its words.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/names.h"
#include "kith/tokens.h"

namespace kith {

// Finds the vectors of texts, with buffers of its own: one for each call and thread.
struct TextInferrer {
  virtual ~TextInferrer() = default;
  virtual size_t dim() const = 0;
  // From the numbers of its words that are known, in their order. The same words give the same
  // vector. False, and zeros, if there are none.
  virtual bool infer(std::span<const uint32_t> words, std::span<float> out) = 0;
};

struct InfersTexts {
  static constexpr std::string_view kWhat = "have vectors of documents";
  virtual ~InfersTexts() = default;
  virtual const Names& text_words() const = 0;
  // What a word is where the settings of the training do not say.
  virtual Tokens usual_tokens() const { return Tokens::kSpaces; }
  virtual std::unique_ptr<TextInferrer> inferrer() const = 0;
};

struct AveragesTexts {
  static constexpr std::string_view kWhat = "classify texts";
  virtual ~AveragesTexts() = default;
  virtual size_t text_dim() const = 0;
  // Of words numbered as Classifies wants them. False, and zeros, for a text without a row.
  virtual bool average(std::span<const uint32_t> words, std::span<float> out) const = 0;
};

}  // namespace kith
