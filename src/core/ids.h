// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kith {

// The row of a word in the vocabulary, most frequent first. A type of its own, so that a word
// cannot be compared with a position by mistake.
enum class WordId : uint32_t {};
constexpr uint32_t row_of(WordId w) { return static_cast<uint32_t>(w); }

// Ends a sentence in a stream of words.
inline constexpr WordId kSentenceEnd{0xffffffff};

}  // namespace kith
