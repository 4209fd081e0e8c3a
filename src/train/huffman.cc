// SPDX-License-Identifier: Apache-2.0
#include "train/huffman.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace kith {

Tree::Tree(std::span<const uint64_t> counts) {
  const auto labels = static_cast<uint32_t>(counts.size());
  using Open = std::pair<uint64_t, uint32_t>;  // texts below, and the node: ties by number
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  for (uint32_t l = 0; l < labels; ++l) open.emplace(counts[l], l);
  std::vector<Step> up(2 * counts.size());  // to the parent: which node, and on which side
  const auto take = [&](bool right) {
    const Open out = open.top();
    open.pop();
    up[out.second] = {static_cast<uint32_t>(nodes_.size()), right};
    return out;
  };
  while (open.size() > 1) {
    const Open left = take(false), right = take(true);
    nodes_.push_back({left.second, right.second});
    open.emplace(left.first + right.first, labels + static_cast<uint32_t>(nodes_.size()) - 1);
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
