// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// How a is to b as c is to ? is answered.
enum class AnalogyRule {
  kAdd,  // 3CosAdd: argmax cos(x, b - a + c), unit vectors
  kMul,  // 3CosMul: argmax cos'(x,b) cos'(x,c) / (cos'(x,a) + 1e-3), cos' = (1 + cos) / 2
};

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::AnalogyRule> {
  static constexpr std::array<std::string_view, 2> names{"add", "mul"};
};
