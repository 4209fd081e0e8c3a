// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

enum class Tokens {
  kSpaces,  // what white space separates is a word, as it stands
  kWords,   // runs of letters, marks and digits (and apostrophes inside), in lower case; emoji
};

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::Tokens> {
  static constexpr std::array<std::string_view, 2> names{"spaces", "words"};
};
