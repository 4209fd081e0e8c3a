// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a front end needs from a model of tables beyond models/model.h: rows seen as vectors, and
// what completes them.

#include <span>
#include <vector>

#include "data/table.h"
#include "models/model.h"

namespace kith {

// A row, or part of one, as the model sees it: the vector of each group that is there.
struct SeenRow {
  Matrix vectors;                // groups x dim
  std::vector<uint8_t> present;  // by group
  std::vector<float> bias;       // by group
  std::vector<Feature> bag;      // room to work in
};

class TableModel : public Model {
 public:
  virtual const Encoding& encoding() const = 0;
  virtual uint64_t memory_needed(const Table& table, const Job& job) const = 0;
  // As Model says: trains, or goes on; returns early when the job is cancelled.
  virtual void train(const Table& table, Job& job) = 0;

  // The column that it learned to predict, if it was one; and whether as a number by a score.
  virtual size_t target() const = 0;  // or Encoding::npos
  virtual bool scores_target() const = 0;
  // What the score of a whole row says of such a target, in its own unit.
  virtual double target_value(const SeenRow& row) const = 0;

  // `cells` by group. A group whose cell is missing, or has no known value, is not present.
  // `out` is reused: a table of a million rows asks for no more memory than one.
  virtual void see(CellEncoder& encoder, std::span<const Cell> cells, SeenRow& out) const = 0;
  // What the other groups of the row ask of this one: its value v scores values(group).row(v) .
  // out. One longer than dim if values have biases.
  virtual std::vector<float> context(const SeenRow& row, size_t group) const = 0;
  // The contribution of a pair of groups to the score of the row; 0 if one is not there.
  virtual double pair_score(const SeenRow& row, size_t a, size_t b) const = 0;
  // The vectors of all values of a group: of its names, or of the numbers in Group::values.
  virtual Matrix values(size_t group) const = 0;

  // Adds the values that `table` (read on top of this model's encoding) has beyond it, without
  // training: each gets the mean of what its rows ask for, mapped to where trained values lie.
  // Returns the number of rows behind each new value of each space.
  struct Folded {
    size_t space;
    uint32_t name;
    uint64_t rows;
  };
  virtual std::vector<Folded> fold_in(const Table& table) = 0;
};

}  // namespace kith
