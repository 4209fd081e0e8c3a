// SPDX-License-Identifier: Apache-2.0
#pragma once
// How well labels of texts are guessed, where a text may have several.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::eval {

// With TP texts that have a label and were given it, FP that were given it and do not have it, FN
// that have it and were not given it:
//
//   precision = TP / (TP + FP)   recall = TP / (TP + FN)   f1 = 2 TP / (2 TP + FP + FN)
//
// of one label, of the sums over all labels (micro), or the mean over labels that occur (macro); 0
// where nothing could be counted.
class LabelScores {
 public:
  explicit LabelScores(size_t labels) : of_(labels) {}
  // The labels of a text, its guesses (each without doubles), the first of which is the likeliest,
  // and how likely its labels are together.
  void add(std::span<const uint32_t> truth, std::span<const uint32_t> guesses, double probability);

  struct Rates {
    double precision = 0, recall = 0, f1 = 0;
  };
  struct Counts {
    uint64_t both = 0, guess = 0, truth = 0;
    Rates rates() const;
  };
  uint64_t texts() const { return texts_; }
  const Counts& of(size_t label) const { return of_[label]; }
  Rates micro() const;
  Rates macro() const;
  double accuracy() const;  // share of texts whose likeliest guess is right
  double exact() const;     // whose guesses are just their labels
  double log_loss() const;  // mean of -log probability

 private:
  std::vector<Counts> of_;
  uint64_t texts_ = 0, right_ = 0, exact_ = 0;
  double surprise_ = 0;
};

}  // namespace kith::eval
