// SPDX-License-Identifier: Apache-2.0
#include "io/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/utf8.h"

namespace kith {
namespace {

// All characters below U+0300 are what they are, and their bytes are below this one.
constexpr unsigned char kFirstOfMarks = 0xCC;

// Whether a character may change, or may change what stands before it.
bool takes_part(uint32_t code) {
  if (code < 0x300) return false;
  if (code >= 0x1100 && code <= 0x11FF) return true;  // parts of Hangul syllables
  const utf8proc_property_t& p = *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  const bool mark = p.category >= UTF8PROC_CATEGORY_MN && p.category <= UTF8PROC_CATEGORY_ME;
  const bool stands_for_others = p.decomp_type == 0 && p.decomp_seqindex != UINT16_MAX;
  return mark || stands_for_others;
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  const auto may_matter = [](char c) { return static_cast<unsigned char>(c) >= kFirstOfMarks; };
  auto at = std::ranges::find_if(text, may_matter);
  while (at != text.end()) {
    const Utf8Char c = decode_utf8({at, text.end()});
    if (c.state == Utf8Char::kValid && takes_part(c.code)) return false;
    at = std::find_if(at + c.length, text.end(), may_matter);
  }
  return true;
}

std::string nfc(std::string_view text) {
  if (is_surely_nfc(text)) return std::string(text);
  utf8proc_uint8_t* out = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), std::ssize(text), &out,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(out, std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) return std::string(text);  // not UTF-8
  return {reinterpret_cast<const char*>(out), static_cast<size_t>(size)};
}

std::string without_selectors(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    const bool left_out = c.state == Utf8Char::kValid && is_variation_selector(c.code);
    if (!left_out) out += text.substr(0, c.length);
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace kith
