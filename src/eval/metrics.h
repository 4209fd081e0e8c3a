// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers that say how good: one home for each.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::eval {

// Of guesses at numbers.
class Errors {
 public:
  void add(double guess, double truth);
  uint64_t size() const { return n_; }
  double rmse() const;  // the root of the mean square
  double mae() const;   // the mean size

 private:
  double squares_ = 0, sizes_ = 0;
  uint64_t n_ = 0;
};

// The same, and the middle one: keeps them all.
class AllErrors : public Errors {
 public:
  void add(double guess, double truth);
  double median() const;
  double r2() const;  // 1 - mean square / variance of the truth; NaN if that is constant

 private:
  std::vector<double> sizes_;
  double mean_ = 0, spread_ = 0;  // of the truth; spread_: its squares about the mean, summed
};

// How far what is said to be likely is from what comes true:
//
//   error = sum over ten bins b of p of share of b * |share of b that was right - mean p in b|
class Calibration {
 public:
  void add(double p, bool right);
  double error() const;

 private:
  static constexpr size_t kBins = 10;
  struct Bin {
    uint64_t right = 0;
    double p = 0;
  };
  Bin bins_[kBins];
  uint64_t n_ = 0;
};

// Of guesses at one of so many values, each with its probability. With p_v that of value v:
//
//   accuracy = share where the likeliest is the truth     log_loss = mean of -log p_truth
//   macro_f1 = mean over the values that were true or guessed of 2 TP / (2 TP + FP + FN)
//   calibration_error = that of the likeliest's p
//   auc (two values) = chance that p of the one is higher where it is true; ties count half
class Classes {
 public:
  static constexpr size_t kFew = 10;  // values, at most, for count()
  explicit Classes(size_t values)
      : values_(values), of_(values), counts_(values <= kFew ? values * values : 0) {}
  void add(std::span<const double> probabilities, uint32_t truth);
  uint64_t size() const { return n_; }
  double accuracy() const;
  double log_loss() const;
  double macro_f1() const;
  double calibration_error() const { return calibration_.error(); }
  double auc() const;  // NaN unless both of two values were true
  // How often a value (of few) was taken for another.
  uint64_t count(size_t truth, size_t guess) const { return counts_[truth * values_ + guess]; }

 private:
  struct Of {
    uint64_t truth = 0, guess = 0, both = 0;
  };
  size_t values_;
  std::vector<Of> of_;            // by value
  std::vector<uint64_t> counts_;  // by truth and guess
  Calibration calibration_;
  double surprise_ = 0;
  uint64_t n_ = 0, right_ = 0;
  std::vector<double> of_first_[2];  // p of the first of two values, where it is true and not
};

// What a place in a list is worth, from 1 for the first (rank 0): 1 / log2(rank + 2).
double discount(double rank);

// Where a score would stand among others, from 0: behind those above it, and behind half of its
// equals. `skip` (by place; may be empty) leaves some out.
struct Placed {
  double rank;
  size_t candidates;  // it included
};
Placed place_of(std::span<const float> scores, size_t truth, std::span<const uint8_t> skip);

// Where right answers stood in lists of answers. With R right answers to a question, of ranks r
// (from 0) among so many candidates, and h_i = 1 if place i holds one, for the first k = top
// places:
//
//   recall = sum h_i / R         ndcg = sum h_i discount(i) / sum_{i < min(k, R)} discount(i)
//   map = sum h_i (h_0 + ... + h_i) / (i + 1) / min(k, R)          each the mean over questions,
//   mrr = mean of 1 / (r + 1)    mpr = mean of r / candidates      hits(k) = share with r < k
//   median_rank, from 1                                            each over right answers.
class Ranking {
 public:
  explicit Ranking(size_t top = 10) : top_(top) {}
  // `ranks` rising; those beyond what was looked at may be missing of the `right` ones.
  void add(std::span<const double> ranks, size_t right, size_t candidates);
  uint64_t questions() const { return questions_; }
  size_t top() const { return top_; }
  double recall() const;
  double ndcg() const;
  double map() const;
  double mrr() const;
  double mpr() const;
  double hits(size_t k) const;
  double median_rank() const;

 private:
  size_t top_;
  uint64_t questions_ = 0;
  double recall_ = 0, ndcg_ = 0, map_ = 0, mrr_ = 0, mpr_ = 0;
  std::vector<double> ranks_;
};

// Spearman's rank correlation, mean ranks for ties. NaN if either side is constant.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace kith::eval
