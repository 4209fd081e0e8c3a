// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts that words are made of: runs of characters (n-grams) that have rows of their own, so
// that words which are spelled alike share what they learn, and a word that nobody has seen has a
// vector.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/names.h"
#include "models/parts.h"

namespace kith::words {

struct SubwordSettings {
  int shortest = 0, longest = 0;  // characters, the marks of both ends counted; 0: no parts
  uint64_t buckets = 0;           // parts share rows by their hash; 0: each has its own
  bool operator==(const SubwordSettings&) const = default;
};

// The rows that each word is the mean of: its own, then those of its parts.
struct Bags {
  std::vector<uint64_t> offsets{0};
  std::vector<uint32_t> rows;
  size_t longest = 0;
  double usual = 1;  // rows of a word of the text, on average: how much larger their rate is
  std::span<const uint32_t> of(uint32_t word) const {
    return std::span(rows).subspan(offsets[word], offsets[word + 1] - offsets[word]);
  }
  uint64_t memory() const { return offsets.size() * 8 + rows.size() * 4; }
};

class Subwords {
 public:
  Subwords() = default;
  // Buckets that have rows, rising.
  Subwords(const SubwordSettings& settings, std::vector<uint32_t> buckets)
      : settings_(settings), buckets_(std::move(buckets)) {}
  // Those of the words, and of `before`. Buckets that no part falls into have no row.
  Subwords(const SubwordSettings& settings, const Names& words, const Subwords& before);

  const SubwordSettings& settings() const { return settings_; }
  size_t size() const { return settings_.buckets > 0 ? buckets_.size() : parts_.size(); }
  // Where a row of another list stands in this one.
  std::optional<uint32_t> find(const Subwords& other, uint32_t row) const;
  // The rows of the parts of a word, one for each part; none for a part without a row.
  std::vector<std::optional<uint32_t>> rows_of(std::string_view word) const;
  // Rows are counted from that of the first word on; those of parts stand behind the words. What is
  // usual follows from the counts of the words.
  Bags bags(const Names& words, std::span<const uint64_t> counts = {}) const;
  std::span<const uint32_t> buckets() const { return buckets_; }  // that have rows, rising

  uint64_t memory() const;
  void visit(Parts& parts, const SubwordSettings& settings);

 private:
  std::optional<uint32_t> row_of_bucket(uint32_t bucket) const;

  SubwordSettings settings_;
  std::vector<uint32_t> buckets_;  // by row, rising
  Names parts_;                    // by row
};

}  // namespace kith::words
