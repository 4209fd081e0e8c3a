// SPDX-License-Identifier: Apache-2.0
#pragma once
// New data in a model, without training.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kith/context.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct UpdateReport {
  uint64_t units = 0;  // rows or ratings that were read
  std::string unit;    // "row"
  struct Added {
    std::string column, id;
    uint64_t rows = 0;  // that speak of it
  };
  std::vector<Added> added;
  uint64_t solved = 0;  // vectors that were computed
};

// All or nothing: if it fails, the model is what it was.
UpdateReport update(Model& model, const std::vector<std::string>& sources,
                    std::span<const Setting> reading, const Context& context,
                    Observer* observer = nullptr);

}  // namespace KITH_VISIBLE
