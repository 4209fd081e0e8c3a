// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a row of parameters moves along its gradient, and the state that it has for that. Where all
// steps are of one kind, the state stands behind the parameters, in the same padded row, so that a
// sparse step touches one place in memory:
//
// clang-format off
//   sgd         x -= lr g
//   momentum    v = beta v - lr g;  x += v                         (the heavy ball)
//   nesterov    v = beta v - lr g;  x += beta v - lr g             (x is the point looked ahead to)
//   adagrad     h += g^2;  x -= lr g / (sqrt(h) + delta)
//   adam        m = beta m + (1 - beta) g;  h = gamma h + (1 - gamma) g^2;
//               x -= lr m' / (sqrt(h') + delta)  with  m' = m / (1 - beta^t),  h' = h / (1 - gamma^t),
//               t the steps of the row (Kingma and Ba 2015)
//   adagrad-row adagrad with one h for the row: h += mean g^2
// clang-format on
//
// Rows that a step does not touch do not move: momentum and averages stand still with them.

#include <array>
#include <cstddef>
#include <string_view>

#include "core/matrix.h"
#include "kith/fields.h"

namespace kith {

enum class Optimiser { kSgd, kMomentum, kNesterov, kAdaGrad, kAdam, kRowAdaGrad };

struct Step {
  float lr = 0.1f;
  float beta = 0.9f;
  float gamma = 0.999f;
  float delta = 1e-8f;
  float l2 = 0;  // the gradient gains l2 * x
};

// Steps that go on in the direction of those before: each gradient moves its row some ten times.
constexpr bool keeps_going(Optimiser optimiser) {
  return optimiser == Optimiser::kMomentum || optimiser == Optimiser::kNesterov ||
         optimiser == Optimiser::kAdam;
}

// Floats that stand behind `width` (padded) parameters, a multiple of kRowPad.
constexpr size_t state_width(Optimiser optimiser, size_t width) {
  switch (optimiser) {
    case Optimiser::kSgd:
      return 0;
    case Optimiser::kMomentum:
    case Optimiser::kNesterov:
    case Optimiser::kAdaGrad:
      return width;
    case Optimiser::kAdam:
      return 2 * width + kRowPad;
    case Optimiser::kRowAdaGrad:
      return kRowPad;
  }
  return 0;
}

}  // namespace kith

template <>
struct kith::EnumNames<kith::Optimiser> {
  static constexpr std::array<std::string_view, 6> names{"sgd",     "momentum", "nesterov",
                                                         "adagrad", "adam",     "adagrad-row"};
};
