// SPDX-License-Identifier: Apache-2.0
#pragma once
// The hot loop: rows of a table in, moved vectors out. See README.md in this folder for the
// equations.
//
// A step takes one row x and one unit (a group, or several that are sampled together). With
// c = sum over the other groups j of a_j phi_j (a: pair weights), the score of a value v of the
// unit is phi(v) . c, plus what does not depend on v. The true value and k noise values are scored,
// the loss gives each a slope d_v, and then
//
//   phi(v) moves along   d_v c
//   phi_j  moves along   a_j sum over v of d_v phi(v)   (nce and ns: and the slopes of the rest)
//
// A phi is a bag of rows of one table; a row takes its share by its weight in the bag.

#include <cstdint>
#include <span>
#include <vector>

#include "core/line_vector.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "data/table/table.h"
#include "models/feat2vec/config.h"
#include "train/alias.h"
#include "train/optimiser.h"
#include "train/overlay.h"

namespace kith::feat2vec {

// Groups that noise replaces together; nearly always one.
struct Unit {
  std::vector<uint32_t> groups;
  double probability = 0;  // Q1
  AliasSampler noise;      // Q2
  std::vector<float> log_noise;
  // Every value that rows have, if all of them are scored and none is drawn: the exact softmax.
  std::vector<uint32_t> all;
  // Of several groups: the entity of each, by tuple; and the tuple of each row.
  std::vector<uint32_t> tuples;
  std::vector<uint32_t> of_row;
};

// All that stays as it is while a model trains.
struct Problem {
  const Table* table = nullptr;
  size_t groups = 0;
  size_t dim = 0;       // of phi
  bool biases = false;  // column `dim` of a row is the value's bias
  size_t width = 0;     // of the parameters of a row, padded
  Loss loss = Loss::kSoftmax;
  Loss head = Loss::kSquared;  // of the target, if it is a number (or two classes)
  int negatives = 20;
  float dropout = 0;
  Optimiser optimiser = Optimiser::kRowAdaGrad;
  Step step;
  float l2 = 0;               // of the sum over all rows of their squares, beside that of losses
  std::vector<float> rarity;  // by row: a step that holds it has this share of its l2; none: no l2
  bool uniform = true;        // all pair weights are 1 and stay so
  bool learn_pairs = false;
  Intercepts intercepts = Intercepts::kGroup;
  std::vector<Unit> units;
  std::vector<uint32_t> unit_of;     // by group; kNoRow for one that is never replaced
  AliasSampler choose;               // Q1 over units, and `units.size()` for the head
  uint32_t target = kNoRow;          // the group of a head: no context of anything
  bool apart = false;                // a bias has a sum of squares of its own, behind its row's
  std::vector<float> target_values;  // by entity of the target, standardised
  Matrix means;                      // by row: where l2 draws it; empty: to 0
};

// The few parameters that are no rows: pair weights (groups x groups), then an intercept for each
// unit and one for the head, then as many sums of squared slopes.
struct Dense {
  float* values;
  size_t groups, units;
  float& pair(size_t i, size_t j) const { return values[i * groups + j]; }
  float& intercept(size_t unit) const { return values[groups * groups + unit]; }
  float& squares(float& of) const { return values[size() + static_cast<size_t>(&of - values)]; }
  size_t size() const { return groups * groups + units + 1; }
};

// One step, drawn or given outright.
struct Example {
  const uint32_t* row = nullptr;  // entities, by group
  uint32_t unit = 0;              // units.size() for the head
  uint32_t entity = 0;            // of the unit
  std::vector<uint32_t> noise;    // entities
  std::vector<uint8_t> keep;      // by group: whether it takes part as context
};

// Buffers of one worker.
struct alignas(kCacheLine) Scratch {
  explicit Scratch(const Problem& problem);
  Matrix phi;         // of the contexts, by group
  Matrix candidates;  // of values that are no single row
  Matrix sums;        // c, gradients
  Matrix logits;      // slopes, and steps
  LineVector<float*> rows;
  LineVector<uint8_t> present;
  std::vector<Example> ahead;
};

struct Tally {
  double loss = 0;
  uint64_t steps = 0, pairs = 0;  // pairs: of a row and a noise value
  Tally& operator+=(const Tally& other) {
    loss += other.loss;
    steps += other.steps;
    pairs += other.pairs;
    return *this;
  }
};

// Draws unit, noise and context for a row; false if the row has nothing to learn from.
// `index` is the row's number in the table, for units of several groups.
bool draw(const Problem& problem, const uint32_t* row, uint64_t index, Rng& rng, Example& out);

// Trains rows order(0) .. order(count - 1). Other threads may be moving the same rows (Hogwild).
struct Work {
  std::span<const uint64_t> rows;
  float lr;
  Rng rng;
};
Tally train_block(const Problem& problem, Work& work, Rows table, Dense dense, Scratch& scratch);
Tally train_block(const Problem& problem, Work& work, RowOverlay& table, Dense dense,
                  Scratch& scratch);

// One step, or with lr = 0 its loss.
double train_example(const Problem& problem, const Example& example, float lr, Rows table,
                     Dense dense, Scratch& scratch);

// out = sum of weight * row over a bag, `width` floats.
void add_bag(std::span<const Feature> bag, ConstRows table, size_t width, float* out);

}  // namespace kith::feat2vec
