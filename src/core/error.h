// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors as the engine makes them; what they are is in kith/error.h.

#include <fmt/format.h>

#include <utility>

#include "kith/error.h"

namespace kith {

// throw fault(ErrorKind::kInput, "{}:{}: no number", file, line);
template <class... Args>
Error fault(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  return {kind, fmt::format(text, std::forward<Args>(args)...)};
}

}  // namespace kith
