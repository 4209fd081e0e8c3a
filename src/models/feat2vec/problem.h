// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "data/table.h"
#include "models/feat2vec/kernel.h"

namespace kith::feat2vec {

// The settings as they will be used: presets and `auto` worked out for
// a table of so many rows. Error(kUsage) for what cannot
// go together.
Config resolved(const Config& config, const Encoding& encoding, uint64_t rows = 0);

// Pair weights before any is learned, groups x groups: the product of the columns' weights, 0 where
// the schema says that two do not interact.
std::vector<float> first_pairs(const Encoding& encoding);

// `config` is resolved. The target's values are left to the model.
Problem make_problem(const Table& table, const Config& config);

}  // namespace kith::feat2vec
