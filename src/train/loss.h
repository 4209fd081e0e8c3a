// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "kith/fields.h"

namespace kith {

// What is asked of scores, for all models that have a choice. The first seven: what a score costs
// where a number was wanted (of them logistic and hinge of classes 0 and 1, kl of counts). bpr:
// what was seen scores above what was not. The last three: an observed value scores above noise.
enum class Loss {
  kSquared,
  kAbsolute,
  kHuber,
  kTukey,
  kLogistic,
  kHinge,
  kKl,
  kBpr,
  kSoftmax,
  kNce,
  kNs,
};

// Of a score against a number.
constexpr bool is_of_numbers(Loss loss) { return loss <= Loss::kKl; }
constexpr bool is_of_classes(Loss loss) { return loss == Loss::kLogistic || loss == Loss::kHinge; }
// Of the difference of two numbers, whatever their mean and scale.
constexpr bool is_of_differences(Loss loss) {
  return is_of_numbers(loss) && !is_of_classes(loss) && loss != Loss::kKl;
}

}  // namespace kith

template <>
struct kith::EnumNames<kith::Loss> {
  static constexpr std::array<std::string_view, 11> names{"squared",  "absolute", "huber", "tukey",
                                                          "logistic", "hinge",    "kl",    "bpr",
                                                          "softmax",  "nce",      "ns"};
};
