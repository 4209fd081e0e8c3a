// SPDX-License-Identifier: Apache-2.0
#include "api/phrase_pairs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "data/text/word_counter.h"

namespace kith {
namespace {

constexpr size_t kPiece = 1 << 16;  // numbers

// Counts of keys, in a table that grows up to a bound.
class PairTable {
 public:
  explicit PairTable(uint64_t most) : most_(most), slots_(size_t{1} << 12) {}

  // False if there is no room for another key.
  bool add(uint64_t key) {
    Slot& slot = find(key);
    if (slot.count == 0) {
      if (size_ == most_) return false;
      slot.key = key;
      ++size_;
    }
    ++slot.count;
    if (3 * size_ > 2 * slots_.size()) grow();
    return true;
  }
  template <class F>
  void for_each(const F& f) const {
    for (const Slot& slot : slots_) {
      if (slot.count > 0) f(slot.key, slot.count);
    }
  }

 private:
  struct Slot {
    uint64_t key = 0, count = 0;
  };
  Slot& find(uint64_t key) {
    const size_t mask = slots_.size() - 1;
    for (size_t s = mix64(key) & mask;; s = (s + 1) & mask) {
      if (slots_[s].count == 0 || slots_[s].key == key) return slots_[s];
    }
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.count > 0) find(slot.key) = slot;
    }
  }
  const uint64_t most_;
  uint64_t size_ = 0;
  std::vector<Slot> slots_;
};

// One look through the text, for the pairs of one part of several; false if they are too many.
class PartCounter {
 public:
  PartCounter(std::span<const uint64_t> counts, const PhraseOptions& options, uint64_t part,
              uint64_t parts)
      : counts_(counts),
        least_(static_cast<uint64_t>(options.min_count)),
        part_(part),
        parts_(parts),
        table_(static_cast<uint64_t>(options.pairs)) {}

  bool count(const ScratchFile& numbers, const Context& context) {
    uint32_t before = WordCounter::kEnd;
    bool fits = true;
    for_each_piece(numbers, context, [&](std::span<const uint32_t> piece) {
      for (const uint32_t word : piece) {
        fits = fits && add(before, word);
        before = word;
      }
    });
    return fits;
  }
  const PairTable& table() const { return table_; }

 private:
  // A pair is no more frequent than its words.
  bool frequent(uint32_t word) const {
    return word != WordCounter::kEnd && counts_[word] >= least_;
  }
  bool add(uint32_t a, uint32_t b) {
    if (!frequent(a) || !frequent(b)) return true;
    const uint64_t key = WordPair{a, b}.key();
    // The upper bits: the lower ones place a key in the table.
    return (mix64(key) >> 32) % parts_ != part_ || table_.add(key);
  }
  const std::span<const uint64_t> counts_;
  const uint64_t least_, part_, parts_;
  PairTable table_;
};

}  // namespace

double phrase_score(PhraseScore how, double delta, std::span<const uint64_t, 3> counts,
                    uint64_t all) {
  const auto a = static_cast<double>(counts[0]), b = static_cast<double>(counts[1]);
  const auto ab = static_cast<double>(counts[2]), n = static_cast<double>(all);
  if (how == PhraseScore::kWord2phrase) return (ab - delta) * n / (a * b);
  return std::log(ab * n / (a * b)) / -std::log(ab / n);
}

void for_each_piece(const ScratchFile& numbers, const Context& context,
                    const std::function<void(std::span<const uint32_t>)>& f) {
  std::vector<uint32_t> ids(kPiece);
  const uint64_t total = numbers.size() / sizeof(uint32_t);
  for (uint64_t begin = 0; begin < total; begin += kPiece) {
    context.check();
    const auto piece = std::span(ids).first(std::min<uint64_t>(kPiece, total - begin));
    numbers.read(begin * sizeof(uint32_t),
                 {reinterpret_cast<char*>(piece.data()), piece.size_bytes()});
    f(piece);
  }
}

std::vector<ScoredPair> find_pairs(const ScratchFile& numbers, std::span<const uint64_t> counts,
                                   const PhraseOptions& options, const Context& context) {
  const uint64_t all = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  const double delta = options.delta.value_or(static_cast<double>(options.min_count));
  const bool npmi = options.score == PhraseScore::kNpmi;
  const double threshold = options.threshold.value_or(npmi ? 0.5 : 10);
  std::vector<ScoredPair> out;
  uint64_t parts = 1;
  for (uint64_t part = 0; part < parts;) {
    PartCounter counter(counts, options, part, parts);
    if (!counter.count(numbers, context)) {
      parts *= 2;
      part = 0;
      out.clear();
      continue;
    }
    counter.table().for_each([&](uint64_t key, uint64_t count) {
      const WordPair pair{static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)};
      if (count < static_cast<uint64_t>(options.min_count)) return;
      const uint64_t three[]{counts[pair.first], counts[pair.second], count};
      const double score = phrase_score(options.score, delta, three, all);
      if (score > threshold) out.push_back({pair, count, score});
    });
    ++part;
  }
  std::ranges::sort(out, {}, [](const ScoredPair& p) { return p.words.key(); });
  return out;
}

}  // namespace kith
