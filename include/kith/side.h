// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// Which vectors of a model that has two for each name: those of the name itself, those of the name
// as a neighbour, or their sum.
enum class Side { kInput, kOutput, kSum };
// What is taken where nobody says which.
inline constexpr std::string_view kUsualSide = "what suits the model";

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::Side> {
  static constexpr std::array<std::string_view, 3> names{"input", "output", "sum"};
};
