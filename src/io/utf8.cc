// SPDX-License-Identifier: Apache-2.0
#include "io/utf8.h"

#include <utf8proc.h>

#include <algorithm>

namespace kith {
namespace {

constexpr size_t kMostShown = 40;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Length of the character at the start, or 0 if it is none.
size_t character(std::string_view text) {
  if (static_cast<unsigned char>(text[0]) < 0x80) return 1;
  utf8proc_int32_t code;
  const auto n = ::utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                    static_cast<utf8proc_ssize_t>(text.size()), &code);
  return n > 0 ? static_cast<size_t>(n) : 0;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  size_t i = 0;
  while (i < text.size() && out.size() < kMostShown) {
    const size_t n = character(text.substr(i));
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f;
    out += n == 0 || control ? kReplacement : text.substr(i, n);
    i += std::max<size_t>(1, n);
  }
  if (i < text.size()) out += "...";
  return out;
}

bool repair_utf8(std::string_view text, std::string& repaired) {
  size_t good = 0;
  while (good < text.size()) {
    const size_t n = character(text.substr(good));
    if (n == 0) break;
    good += n;
  }
  if (good == text.size()) return false;
  repaired = text.substr(0, good);
  for (size_t i = good; i < text.size();) {
    const size_t n = character(text.substr(i));
    repaired += n == 0 ? kReplacement : text.substr(i, n);
    i += std::max<size_t>(1, n);
  }
  return true;
}

}  // namespace kith
