// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unicode's normal form C: a letter and its accents as one character where there is one, so that
// both spellings of é are the same bytes.

#include <string>
#include <string_view>

namespace kith {

// True if the text is sure to be in the normal form: it has no marks, no parts of Hangul syllables
// and no character that stands for others. Most text is told by its bytes alone.
bool is_surely_nfc(std::string_view text);

// Text that is not UTF-8 stays as it is.
std::string nfc(std::string_view text);

}  // namespace kith
