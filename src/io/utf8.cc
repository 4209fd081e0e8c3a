// SPDX-License-Identifier: Apache-2.0
#include "io/utf8.h"

#include "core/utf8.h"

namespace kith {
namespace {

constexpr size_t kMostShown = 40;

// Appends the character at the front of `text`, or U+FFFD for a bad one; returns its length.
size_t append_repaired(std::string_view text, std::string& out) {
  const Utf8Char c = decode_utf8(text);
  out += c.state == Utf8Char::kValid ? text.substr(0, c.length) : kReplacement;
  return c.length;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  size_t i = 0;
  while (i < text.size() && out.size() < kMostShown) {
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f;
    if (control) out += kReplacement;
    i += control ? 1 : append_repaired(text.substr(i), out);
  }
  if (i < text.size()) out += "...";
  return out;
}

bool repair_utf8(std::string_view text, std::string& repaired) {
  const size_t good = find_invalid_utf8(text);
  if (good == std::string_view::npos) return false;
  repaired = text.substr(0, good);
  for (size_t i = good; i < text.size();) i += append_repaired(text.substr(i), repaired);
  return true;
}

}  // namespace kith
