// SPDX-License-Identifier: Apache-2.0
#pragma once
// Huffman's tree over labels or words: frequent ones are near the root. Each inner node decides,
// with a row of its own, between two sides; a label is as likely as all decisions on its way.

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

class Tree {
 public:
  Tree() = default;
  // Which of equally frequent ones are joined first: the lower numbers, or as fastText's buildTree
  // does, which also takes the labels from the last to the first, whatever their counts are.
  enum class Rule { kOwn, kFastText };
  explicit Tree(std::span<const uint64_t> counts, Rule rule = Rule::kOwn);  // at least two labels

  struct Step {
    uint32_t node;  // inner nodes are numbered from 0
    bool right;
  };
  std::span<const Step> path(uint32_t label) const {
    return std::span(steps_).subspan(offsets_[label], offsets_[label + 1] - offsets_[label]);
  }
  size_t longest() const { return longest_; }  // path
  // From the probability of `right` at each node that of each label.
  void probabilities(std::span<const float> right, std::span<float> out) const;

 private:
  std::vector<uint32_t> offsets_{0};
  std::vector<Step> steps_;
  struct Node {
    uint32_t left, right;  // a label, or the number of labels + that of a node before
  };
  std::vector<Node> nodes_;  // the root last
  size_t longest_ = 0;

  void join(std::span<const uint64_t> counts);
  void join_as_fasttext(std::span<const uint64_t> counts);
};

}  // namespace kith
