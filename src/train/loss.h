// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kith {

// What a score costs where a number was wanted. The last three: of classes 0 and 1, and of counts.
enum class NumberLoss { kSquared, kAbsolute, kHuber, kTukey, kLogistic, kHinge, kKl };

}  // namespace kith
