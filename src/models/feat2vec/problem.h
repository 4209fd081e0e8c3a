// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "data/table/table.h"
#include "models/feat2vec/kernel.h"

namespace kith::feat2vec {

// The settings as they will be used: presets and `auto` worked out for
// a table of so many rows. Error(kUsage) for what cannot
// go together.
Config resolved(const Config& config, const Encoding& encoding, uint64_t rows = 0);

constexpr size_t kMostExact = 4096;  // values of a target that are all scored
// Whether all values of the target are scored, so that none need be drawn. `config` is as given or
// resolved.
bool scores_all(const Config& config, const Encoding& encoding);

// Whether what is held out has to tell how a target that is a number is learned: by the score of
// the row, or by how likely each of its values is. `config` is as given.
inline bool loss_is_open(const Config& config, const Encoding& encoding) {
  return !config.target.empty() && encoding.groups[encoding.group(config.target)].numeric() &&
         !config.loss && !config.paper && config.dim.value_or(1) > 0;
}

// Noise values per true one, where they are drawn.
int noise_values(const Config& config);

// Pair weights before any is learned, groups x groups: the product of the columns' weights, 0 where
// the schema says that two do not interact.
std::vector<float> first_pairs(const Encoding& encoding);

// The groups of each unit. Depends on nothing but columns and settings, so that a unit keeps its
// intercept whatever rows come later.
std::vector<std::vector<uint32_t>> units_of(const Encoding& encoding, const Config& config);

// `config` is resolved. A unit that these rows have no value of is never drawn; Error(kInput) if it
// is the target's. The target's values are left to the model.
Problem make_problem(const Table& table, const Config& config);

}  // namespace kith::feat2vec
