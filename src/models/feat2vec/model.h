// SPDX-License-Identifier: Apache-2.0
#pragma once
// Feat2Vec as a model: its table of vectors, how it is saved, what it answers. How it learns is in
// trainer.cc.

#include <memory>
#include <string>
#include <vector>

#include "models/feat2vec/config.h"
#include "models/feat2vec/kernel.h"
#include "models/table_model.h"
#include "train/run.h"

namespace kith::feat2vec {

struct State : RunState {
  uint64_t steps = 0, pairs = 0;  // pairs: of a row and a noise value
};

class Feat2Vec final : public TableModel {
 public:
  Section settings() override { return {"feat2vec", config_}; }
  bool finished() const override { return state_.finished; }
  void reopen() override;
  void pack(ArchiveWriter& out, bool checkpoint) const override;
  void restore(const Archive& in) override;
  const Names& names() const override { return names_; }
  std::span<const uint64_t> counts() const override { return counts_; }
  Matrix vectors(Side side) const override;
  std::vector<Fact> info() const override;

  const Encoding& encoding() const override { return encoding_; }
  uint64_t memory_needed(const Table& table, const Job& job) const override;
  void train(const Table& table, Job& job) override;
  size_t target() const override;
  bool scores_target() const override { return is_head(used_.loss); }
  double target_value(const SeenRow& row) const override;
  void see(CellEncoder& encoder, std::span<const Cell> cells, SeenRow& out) const override;
  std::vector<float> context(const SeenRow& row, size_t group) const override;
  double pair_score(const SeenRow& row, size_t a, size_t b) const override;
  Matrix values(size_t group) const override;
  std::vector<Folded> fold_in(const Table& table) override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& used() const { return used_; }
  const State& state() const { return state_; }
  const Matrix& theta() const { return theta_; }
  std::span<const float> dense() const { return dense_; }

 private:
  friend class Trainer;
  size_t dim() const { return static_cast<size_t>(used_.dim); }
  size_t width() const { return padded(dim() + used_.biases); }
  size_t stride() const { return width() + state_width(used_.optimiser, width()); }
  Dense dense_view() { return {dense_.data(), encoding_.groups.size(), units_}; }
  double pair_weight(size_t a, size_t b) const { return dense_[a * encoding_.groups.size() + b]; }
  // Takes the encoding of the table; rows that are there keep what they learned.
  void grow(const Table& table, uint64_t seed);
  void initialise(uint64_t seed);
  void initialise_row(uint64_t seed, size_t row);
  void name_rows();
  // The target's numbers as the head sees them.
  void scale_target(const Table& table, Problem& problem);
  // The maps that put a mean context where trained values lie; see README.md, "Cold start".
  void learn_maps(const Table& table);
  struct Means {  // by row of theta: the mean context of the rows that hold the value
    Matrix sum;
    std::vector<uint64_t> rows;
  };
  Means mean_contexts(const Table& table, uint64_t most_rows) const;
  std::vector<float> map_input(const Means& means, size_t row) const;
  std::vector<float> mapped(const Matrix& map, std::span<const float> input) const;
  bool finite() const;

  Config config_, used_;  // as given; as worked out for the table
  Encoding encoding_;
  Names names_;  // of the named rows, "director=Frank Lloyd"
  std::vector<uint64_t> counts_;
  Matrix theta_;              // a row of parameters and its optimiser's state, for every feature
  std::vector<float> dense_;  // see kernel.h
  size_t units_ = 0;
  double target_mean_ = 0, target_scale_ = 1;
  std::string target_yes_;    // of a target of two values: the one that counts as 1
  std::vector<Matrix> maps_;  // by space; empty for one that has no names
  State state_;
  Matrix best_theta_;
  std::vector<float> best_dense_;
  std::vector<uint8_t>
      learned_;  // rows that came from an earlier run: a restart must not reset them
};

}  // namespace kith::feat2vec
