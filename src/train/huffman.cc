// SPDX-License-Identifier: Apache-2.0
#include "train/huffman.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace kith {

void Tree::join(std::span<const uint64_t> counts) {
  const auto labels = static_cast<uint32_t>(counts.size());
  using Open = std::pair<uint64_t, uint32_t>;  // texts below, and the node: ties by number
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  for (uint32_t l = 0; l < labels; ++l) open.emplace(counts[l], l);
  const auto take = [&] {
    const Open out = open.top();
    open.pop();
    return out;
  };
  while (open.size() > 1) {
    const Open left = take(), right = take();
    nodes_.push_back({left.second, right.second});
    open.emplace(left.first + right.first, labels + static_cast<uint32_t>(nodes_.size()) - 1);
  }
}

void Tree::join_as_fasttext(std::span<const uint64_t> counts) {
  constexpr uint64_t kNotYet = 1'000'000'000'000'000;  // the count of a node that is not made
  const size_t labels = counts.size();
  std::vector<uint64_t> of_node(labels - 1, kNotYet);
  size_t leaves = labels, node = 0;  // labels that are left, and the next node
  const auto take = [&](uint64_t& count) {
    // A label with a count that no node has is behind all nodes, and those may be used up.
    const bool leaf = leaves > 0 && (node >= nodes_.size() || counts[leaves - 1] < of_node[node]);
    count += leaf ? counts[leaves - 1] : of_node[node];
    return static_cast<uint32_t>(leaf ? --leaves : labels + node++);
  };
  while (nodes_.size() < labels - 1) {
    uint64_t count = 0;
    const uint32_t left = take(count), right = take(count);
    of_node[nodes_.size()] = count;
    nodes_.push_back({left, right});
  }
}

Tree::Tree(std::span<const uint64_t> counts, Rule rule) {
  const auto labels = static_cast<uint32_t>(counts.size());
  rule == Rule::kFastText ? join_as_fasttext(counts) : join(counts);
  std::vector<Step> up(2 * counts.size());  // to the parent: which node, and on which side
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    up[nodes_[n].left] = {n, false};
    up[nodes_[n].right] = {n, true};
  }
  const auto root = static_cast<uint32_t>(labels + nodes_.size() - 1);
  for (uint32_t l = 0; l < labels; ++l) {
    const size_t begin = steps_.size();
    for (uint32_t at = l; at != root; at = labels + up[at].node) steps_.push_back(up[at]);
    std::reverse(steps_.begin() + static_cast<ptrdiff_t>(begin), steps_.end());
    longest_ = std::max(longest_, steps_.size() - begin);
    offsets_.push_back(static_cast<uint32_t>(steps_.size()));
  }
}

void Tree::probabilities(std::span<const float> right, std::span<float> out) const {
  std::vector<float> of_node(nodes_.size());
  of_node.back() = 1;
  const auto give = [&](uint32_t child, float p) {
    child < out.size() ? out[child] = p : of_node[child - out.size()] = p;
  };
  for (size_t n = nodes_.size(); n-- > 0;) {  // parents come behind their children
    give(nodes_[n].right, of_node[n] * right[n]);
    give(nodes_[n].left, of_node[n] * (1 - right[n]));
  }
}

}  // namespace kith
