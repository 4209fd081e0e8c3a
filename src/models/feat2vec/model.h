// SPDX-License-Identifier: Apache-2.0
#pragma once
// Feat2Vec as a model: its table of vectors, what it consists of, what it answers. How it learns is
// in trainer.cc.

#include <string>
#include <vector>

#include "data/table/table.h"
#include "models/capabilities.h"
#include "models/feat2vec/config.h"
#include "models/feat2vec/kernel.h"
#include "models/model.h"
#include "models/tells_error.h"

namespace kith::feat2vec {

constexpr uint64_t kMapValues = 2000;  // of a vocabulary that its map is learned from, at most

constexpr uint64_t kMostScores = uint64_t{1} << 24;  // of held-out rows, to calibrate by

class Feat2Vec final : public Learns<Table>,
                       public HasVectors,
                       public CompletesRows,
                       public Updates,
                       public Continues,
                       public TellsError {
 public:
  // ModelBase
  Section settings() override { return {"feat2vec", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  Wishes wishes() const override;
  // HasVectors
  std::vector<VectorGroup> vectors(Side side) const override;
  // CompletesRows
  const Encoding& encoding() const override { return encoding_; }
  size_t target() const override;
  bool scores_target() const override { return is_head(*used_.loss); }
  double target_value(const SeenRow& row) const override;
  ClassScores class_scores(const SeenRow& row) const override;
  void see(CellEncoder& encoder, std::span<const Cell> cells, SeenRow& out) const override;
  std::vector<float> context(const SeenRow& row, size_t group) const override;
  double pair_score(const SeenRow& row, size_t a, size_t b) const override;
  Matrix values(size_t group) const override;
  size_t row_dim() const override { return dim(); }
  // Updates, Continues
  std::any known() const override { return encoding_; }
  Updated update(const Dataset& more, const Context& context) override;
  void reopen() override;
  // TellsError
  std::string error_name() const override;
  double error_of(double loss) const override;
  double error_before() const override;
  double error_now() const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& used() const { return used_; }
  const Matrix& theta() const { return theta_; }
  std::span<const float> dense() const { return dense_; }
  uint64_t steps() const { return steps_; }
  uint64_t pairs() const { return pairs_; }

 protected:
  uint64_t memory(const Table& table, const Job& job) const override;
  bool learn(const Table& table, Job& job) override;

 private:
  friend class RowTrainer;
  friend class RowCourse;
  size_t dim() const { return static_cast<size_t>(*used_.dim); }
  size_t biases() const { return *used_.biases ? 1 : 0; }
  size_t width() const { return padded(dim() + biases()); }
  size_t stride() const { return width() + state_width(*used_.optimiser, width()); }
  Dense dense_view() { return {dense_.data(), encoding_.groups.size(), units_}; }
  double pair_weight(size_t a, size_t b) const { return dense_[a * encoding_.groups.size() + b]; }
  // Takes the encoding of the table; rows that are there keep what they learned. Error(kInput) if
  // it does not begin with this model's, Error(kUsage) for settings that cannot change.
  void grow(const Table& table, uint64_t seed);
  void check_extends(const Encoding& more) const;
  // Error(kInput) if a checkpoint is not of these columns and settings.
  void check_goes_on(const Table& table) const;
  void initialise(uint64_t seed);
  void initialise_row(uint64_t seed, size_t row);
  // Files of version 0.1 have rows without adam's count of steps.
  void take_old_rows();
  void clear(SeenRow& row) const;
  void take(size_t group, std::span<const Feature> bag, SeenRow& row) const;
  // A row of a table that was read, the target left out.
  void see_entities(const Table& table, std::span<const uint32_t> row, SeenRow& out) const;
  // By how much scores of the target's values must be multiplied for the held-out rows to be as
  // likely as they can: then what is called 80 % comes true in 80 of 100.
  void calibrate(const Table& table, const Context& context);
  // The score of a row adds up what its values say, and knows their pairs. How likely a number is,
  // each value has a say of its own in, and where they disagree the answer lies between them.
  // Neither is better everywhere, nor is one penalty: after the usual run this tries others, and
  // the run on all rows takes the settings whose guesses are nearest to what is held out.
  void choose_settings(const Table& table, const Job& job);
  struct Way {
    Config config;
    std::string name;
  };
  std::vector<Way> other_ways(const Table& table) const;
  // Mean square of what is wrong with the guesses of a number, over what is held out, in units.
  double squared_error(const Table& table, double unit, const Context& context) const;
  // The target's numbers as the head sees them.
  void scale_target(const Table& table, Problem& problem);
  std::vector<double> class_values(const Group& group, const Entities& entities);
  std::vector<double> number_values(const Entities& entities);
  // The maps that put a mean context where trained values lie; see README.md, "Cold start".
  void learn_maps(const Table& table, const Context& context);
  struct Means {  // by row of theta: the mean context of the rows that hold the value
    Matrix sum;
    std::vector<uint64_t> rows;
  };
  Means mean_contexts(const Table& table, uint64_t most_rows, const Context& context) const;
  std::vector<float> map_input(const Means& means, size_t row) const;
  std::vector<float> mapped(const Matrix& map, std::span<const float> input) const;

  Config config_, used_;  // as given; as worked out for the table
  Encoding encoding_;
  Matrix theta_;              // a row of parameters and its optimiser's state, for every feature
  std::vector<float> dense_;  // see kernel.h
  uint64_t units_ = 0;
  double target_mean_ = 0, target_scale_ = 1;
  std::optional<double> target_low_, target_high_;  // the least and the largest that was seen
  std::optional<double> sharpness_;                 // see calibrate(); of an old file: 1
  // Of a number that is learned by its values: root mean square errors on what was held out.
  std::optional<double> error_before_, error_;
  std::string target_yes_;          // of a target of two values: the one that counts as 1
  std::vector<Matrix> maps_;        // by space; empty for one that has no names
  uint64_t steps_ = 0, pairs_ = 0;  // pairs: of a row and a noise value
  // With choices: B, and before how many epochs of the run it was fitted.
  Matrix effects_;
  uint64_t fitted_ = 0;
  // Rows that came from an earlier run: a restart must not reset them.
  std::vector<uint8_t> learned_;
  bool continued_ = false;  // whether there are such rows
  bool trial_ = false;      // of another model's choose_settings(): a watched run and no more
};

}  // namespace kith::feat2vec
