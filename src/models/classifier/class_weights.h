// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/names.h"

namespace kith::classifier {

// The weight of each label: none (nothing is returned), "balanced", which gives every label the
// same sum, texts / (labels x texts with it), or a list with commas: "spam=5,ham=1", 1 for what is
// not in it. Error(kUsage) for what cannot be read, or a label that is not there.
std::vector<float> class_weights(const std::string& setting, const Names& labels,
                                 std::span<const uint64_t> counts, uint64_t texts);

}  // namespace kith::classifier
