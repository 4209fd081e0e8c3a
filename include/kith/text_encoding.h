// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// What the bytes of a text are. A byte-order mark at its start says more than this.
enum class TextEncoding { kUtf8, kLatin1, kWindows1252, kUtf16 };

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::TextEncoding> {
  static constexpr std::array<std::string_view, 4> names{"utf-8", "latin-1", "windows-1252",
                                                         "utf-16"};
};
