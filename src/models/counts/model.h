// SPDX-License-Identifier: Apache-2.0
#pragma once
// What models of counts share: words with two vectors each, and a run in which the two tables are
// working rows of the model's own until it is finished.

#include <memory>
#include <vector>

#include "data/counts/counts.h"
#include "models/capabilities.h"
#include "models/model.h"

namespace kith {

class CountsModel : public Learns<Counts>, public HasVectors, public CountsWords {
 public:
  std::vector<VectorGroup> vectors(Side side) const override;
  std::span<const uint64_t> word_counts() const override { return counts_; }

  // Read by tests.
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }

 protected:
  CountsModel() = default;
  virtual RunPlan plan() const = 0;
  // Where the tables start; the words are taken.
  virtual void start(uint64_t seed) = 0;
  virtual std::unique_ptr<Trainer> trainer(const Counts& counts, Job& job) = 0;
  // Makes the working rows vectors.
  virtual void finish(const Context& context) = 0;

  bool learn(const Counts& counts, Job& job) final;
  // Words, their counts, and the tables, `cols` wide.
  void visit_words(Parts& parts);
  void visit_tables(Parts& parts, size_t cols);
  std::vector<Fact> facts() const;  // of the words and the run
  static uint64_t memory_of_words(const Counts& counts);

  uint64_t rows_ = 0;  // words
  Names names_;
  std::vector<uint64_t> counts_;
  Matrix input_, output_;
  bool working_ = false;

 private:
  class OwnCourse;
};

}  // namespace kith
