// SPDX-License-Identifier: Apache-2.0
#include "eval/coherence.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/parallel.h"

namespace kith::eval {
namespace {

constexpr size_t kMost = 32;  // words of a topic: bits of a mask
constexpr uint32_t kCheckEvery = 4096;

// Which words of which topics a word is.
struct Place {
  uint32_t topic, slot;
};

struct Pairs {
  std::vector<uint64_t> together;  // topic x slot x slot
  uint64_t& at(size_t topic, size_t a, size_t b) {
    return together[(topic * kMost + a) * kMost + b];
  }
};

Pairs count_pairs(std::span<const std::vector<uint32_t>> topics, const Sparse& documents,
                  const Context& context) {
  std::vector<std::vector<Place>> places(documents.columns);
  for (uint32_t t = 0; t < topics.size(); ++t) {
    for (uint32_t s = 0; s < topics[t].size(); ++s) places[topics[t][s]].push_back({t, s});
  }
  Pairs out{std::vector<uint64_t>(topics.size() * kMost * kMost, 0)};
  std::vector<uint32_t> masks(topics.size(), 0), touched;
  for (uint32_t d = 0; d < documents.rows(); ++d) {
    if (d % kCheckEvery == 0) context.check();
    for (const uint32_t word : documents.row(d).columns) {
      for (const Place& p : places[word]) {
        if (masks[p.topic] == 0) touched.push_back(p.topic);
        masks[p.topic] |= uint32_t{1} << p.slot;
      }
    }
    for (const uint32_t t : touched) {
      for (uint32_t a = masks[t]; a != 0; a &= a - 1) {
        const auto first = static_cast<size_t>(std::countr_zero(a));
        for (uint32_t b = a; b != 0; b &= b - 1) {
          ++out.at(t, first, static_cast<size_t>(std::countr_zero(b)));
        }
      }
      masks[t] = 0;
    }
    touched.clear();
  }
  return out;
}

double npmi(uint64_t both, uint64_t a, uint64_t b, uint64_t documents) {
  if (both == 0) return -1;
  if (both == documents) return 0;  // they are everywhere, which says nothing
  const double n = static_cast<double>(documents), together = static_cast<double>(both) / n;
  const double apart = static_cast<double>(a) / n * (static_cast<double>(b) / n);
  return std::log(together / apart) / -std::log(together);
}

}  // namespace

std::vector<std::vector<uint32_t>> top_words(const Matrix& words, size_t top) {
  // One pass over the rows, with a short list for each topic: the table is large.
  using Scored = std::pair<float, uint32_t>;
  std::vector<std::vector<Scored>> best(words.cols());
  const auto before = [](const Scored& a, const Scored& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  for (uint32_t w = 0; w < words.rows(); ++w) {
    const auto row = words.row(w);
    for (size_t k = 0; k < row.size(); ++k) {
      std::vector<Scored>& list = best[k];
      if (list.size() == top && !(row[k] > list.back().first)) continue;
      const Scored own{row[k], w};
      list.insert(std::ranges::upper_bound(list, own, before), own);
      if (list.size() > top) list.pop_back();
    }
  }
  std::vector<std::vector<uint32_t>> out(words.cols());
  for (size_t k = 0; k < best.size(); ++k) {
    for (const Scored& s : best[k]) out[k].push_back(s.second);
  }
  return out;
}

std::vector<double> coherence(std::span<const std::vector<uint32_t>> topics,
                              const Sparse& documents, const Context& context) {
  Pairs pairs = count_pairs(topics, documents, context);
  uint64_t all = 0;
  for (uint32_t d = 0; d < documents.rows(); ++d) all += documents.row(d).size() > 0;
  std::vector<double> out;
  for (size_t t = 0; t < topics.size(); ++t) {
    double sum = 0;
    uint64_t n = 0;
    for (size_t a = 0; a < topics[t].size(); ++a) {
      for (size_t b = a + 1; b < topics[t].size(); ++b) {
        const uint64_t with_a = pairs.at(t, a, a), with_b = pairs.at(t, b, b);
        if (with_a == 0 || with_b == 0) continue;
        sum += npmi(pairs.at(t, a, b), with_a, with_b, all);
        ++n;
      }
    }
    out.push_back(n == 0 ? 0 : sum / static_cast<double>(n));
  }
  return out;
}

double diversity(std::span<const std::vector<uint32_t>> topics) {
  std::vector<uint32_t> all;
  for (const auto& words : topics) all.insert(all.end(), words.begin(), words.end());
  if (all.empty()) return 0;
  std::ranges::sort(all);
  uint64_t alone = 0;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end] == all[begin]) ++end;
    alone += end - begin == 1;
  }
  return static_cast<double>(alone) / static_cast<double>(all.size());
}

}  // namespace kith::eval
