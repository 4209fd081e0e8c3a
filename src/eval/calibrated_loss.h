// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log loss of probabilities of labels, once they are as sure of themselves as is best for it: a
// model that tells labels apart well and is too sure has a high log loss and few errors. It ranks
// models as their accuracy does, and with less noise, since it is not a count of texts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::eval {

class CalibratedLoss {
 public:
  // `exclusive`: the probabilities of a text are of one label, and sum to 1; else each stands for
  // itself.
  CalibratedLoss(size_t labels, bool exclusive) : labels_(labels), exclusive_(exclusive) {}
  void add(std::span<const float> probabilities, std::span<const uint32_t> truth);

  // The mean over texts of -log of what their labels have, with p^t / sum p^t, or the odds to the
  // power of t, instead of p.
  double at(double t) const;
  double best() const;  // with the best t

 private:
  double loss_of(size_t text, double t) const;
  size_t labels_;
  bool exclusive_;
  std::vector<float> scores_;  // a text behind the other: log p, or log odds
  std::vector<uint64_t> offsets_{0};
  std::vector<uint32_t> truth_;
};

}  // namespace kith::eval
