// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON as commands print it: one object a line, keys in the order they were given.

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "kith/text.h"
#include "terminal.h"

namespace kith::cli {

using Json = nlohmann::ordered_json;

inline std::string dumped(const Json& value) {
  // Names may come from a file that is not UTF-8.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

inline void put_json(const Json& value) { put_text(dumped(value)); }

// Scores are floats: digits beyond the sixth are noise. What is not finite becomes null.
inline Json score(double x) {
  if (!std::isfinite(x)) return nullptr;
  return std::round(x * 1e6) / 1e6;
}

}  // namespace kith::cli
