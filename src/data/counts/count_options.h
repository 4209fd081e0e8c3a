// SPDX-License-Identifier: Apache-2.0
#pragma once
// What counts as standing together.

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "kith/fields.h"

namespace kith {

enum class CountWithin { kWindow, kLine };
enum class CountDirection { kBoth, kLeft, kRight };
// What a pair at distance d counts in a window of n words: 1 / d, (n - d + 1) / n, or 1.
enum class CountWeight { kHarmonic, kLinear, kFlat };

struct CountOptions {
  CountWithin within = CountWithin::kWindow;
  int window = 10;
  CountDirection direction = CountDirection::kBoth;
  CountWeight weight = CountWeight::kHarmonic;
  int64_t count_memory = 1024;

  static constexpr std::tuple fields{
      field("within", &CountOptions::within,
            "words stand together within a window of words; or on a line (with --paragraphs: in a "
            "paragraph), where every pair counts 1"),
      field("window", &CountOptions::window, "words on each side that are looked at")
          .between(1, 1000),
      field("direction", &CountOptions::direction,
            "look at words on both sides, or only to the left or to the right"),
      field("weight", &CountOptions::weight,
            "in a window of n words, a pair d apart counts 1/d, (n-d+1)/n, or 1"),
      field(
          "count-memory", &CountOptions::count_memory,
          "MB to count in, for all threads; what does not fit goes to disk. The counts come on top")
          .between(16, 1e7),
  };
};

}  // namespace kith

template <>
struct kith::EnumNames<kith::CountWithin> {
  static constexpr std::array<std::string_view, 2> names{"window", "line"};
};
template <>
struct kith::EnumNames<kith::CountDirection> {
  static constexpr std::array<std::string_view, 3> names{"both", "left", "right"};
};
template <>
struct kith::EnumNames<kith::CountWeight> {
  static constexpr std::array<std::string_view, 3> names{"harmonic", "linear", "flat"};
};
