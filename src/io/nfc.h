// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unicode's normal form C: a letter and its accents as one character where there is one, so that
// both spellings of é are the same bytes. And what else two spellings of a word may differ in.

#include <cstdint>
#include <string>
#include <string_view>

namespace kith {

// True if the text is sure to be in the normal form: it has no marks, no parts of Hangul syllables
// and no character that stands for others. Most text is told by its bytes alone.
bool is_surely_nfc(std::string_view text);

// Text that is not UTF-8 stays as it is.
std::string nfc(std::string_view text);

// Whether a character only says how the emoji before it is drawn, in colour or not. Keyboards write
// it, and the words of a text (--tokens words) are without it.
constexpr bool is_variation_selector(uint32_t code) { return code == 0xFE0E || code == 0xFE0F; }
std::string without_selectors(std::string_view text);

// What `find` has for a word as a user writes it: as it stands, else as texts are read.
template <class Find>
auto find_as_read(std::string_view word, const Find& find) {
  auto found = find(word);
  if (found || is_surely_nfc(word)) return found;
  const std::string form = nfc(word);
  found = find(std::string_view(form));
  return found ? found : find(std::string_view(without_selectors(form)));
}

}  // namespace kith
