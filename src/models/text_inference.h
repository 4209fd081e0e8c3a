// SPDX-License-Identifier: Apache-2.0
#pragma once
// A capability beside those of capabilities.h: the vector of a text is inferred, not put together
// from the vectors of its words.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/names.h"

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
  virtual std::unique_ptr<TextInferrer> inferrer() const = 0;
};

}  // namespace kith
