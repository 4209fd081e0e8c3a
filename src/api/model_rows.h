// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vectors of a trained model as rows to learn from.

#include <string>

#include "data/dataset.h"

namespace kith {

// Those of all its names, or of one column. The file stays mapped as long as they live.
ModelRows model_rows(const std::string& path, const std::string& column);

}  // namespace kith
