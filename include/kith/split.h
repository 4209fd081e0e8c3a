// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// Which ratings are tested: any; of each user about the same share, never all of them; the last in
// time; of each user the last in time.
enum class SplitBy { kRandom, kUser, kTime, kUserTime };

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::SplitBy> {
  static constexpr std::array<std::string_view, 4> names{"random", "user", "time", "user-time"};
};
