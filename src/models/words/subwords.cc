// SPDX-License-Identifier: Apache-2.0
#include "models/words/subwords.h"

#include <algorithm>
#include <functional>

#include "data/ngrams.h"
#include "io/fasttext_bin.h"

namespace kith::words {
namespace {

constexpr std::string_view kLineEnd = "</s>";  // fastText's word for it, which has no letters

template <class F>
void for_each_part(const SubwordSettings& settings, std::string_view word, const F& f) {
  if (settings.longest == 0 || word == kLineEnd) return;
  for_each_ngram(word, static_cast<size_t>(std::max(1, settings.shortest)),
                 static_cast<size_t>(settings.longest), f);
}

}  // namespace

Subwords::Subwords(const SubwordSettings& settings, const Names& words, const Subwords& before)
    : settings_(settings) {
  if (settings.buckets == 0) {
    parts_ = before.parts_;
    for (size_t w = 0; w < words.size(); ++w) {
      for_each_part(settings, words[w], [&](std::string_view part) { parts_.add(part); });
    }
    return;
  }
  std::vector<bool> used(settings.buckets);
  for (const uint32_t b : before.buckets_) used[b] = true;
  for (size_t w = 0; w < words.size(); ++w) {
    for_each_part(settings, words[w], [&](std::string_view part) {
      used[fasttext_hash(part) % settings.buckets] = true;
    });
  }
  for (uint64_t b = 0; b < settings.buckets; ++b) {
    if (used[b]) buckets_.push_back(static_cast<uint32_t>(b));
  }
}

std::optional<uint32_t> Subwords::row_of_bucket(uint32_t bucket) const {
  const auto at = std::ranges::lower_bound(buckets_, bucket);
  if (at == buckets_.end() || *at != bucket) return std::nullopt;
  return static_cast<uint32_t>(at - buckets_.begin());
}

std::optional<uint32_t> Subwords::find(const Subwords& other, uint32_t row) const {
  return settings_.buckets > 0 ? row_of_bucket(other.buckets_[row])
                               : parts_.find(other.parts_[row]);
}

std::vector<std::optional<uint32_t>> Subwords::rows_of(std::string_view word) const {
  std::vector<std::optional<uint32_t>> out;
  for_each_part(settings_, word, [&](std::string_view part) {
    out.push_back(settings_.buckets > 0 ? row_of_bucket(static_cast<uint32_t>(fasttext_hash(part) %
                                                                              settings_.buckets))
                                        : parts_.find(part));
  });
  return out;
}

Bags Subwords::bags(const Names& words, std::span<const uint64_t> counts) const {
  Bags out;
  double rows = 0, total = 0;
  for (uint32_t w = 0; w < words.size(); ++w) {
    out.rows.push_back(w);
    for (const auto row : rows_of(words[w])) {
      if (row) out.rows.push_back(static_cast<uint32_t>(words.size()) + *row);
    }
    out.offsets.push_back(out.rows.size());
    out.longest = std::max<size_t>(out.longest, out.of(w).size());
    if (counts.empty()) continue;
    rows += static_cast<double>(counts[w]) * static_cast<double>(out.of(w).size());
    total += static_cast<double>(counts[w]);
  }
  if (total > 0) out.usual = rows / total;
  out.rows.shrink_to_fit();
  return out;
}

uint64_t Subwords::memory() const {
  return 4 * buckets_.size() + parts_.bytes().size() + 16 * parts_.size();
}

void Subwords::visit(Parts& parts, const SubwordSettings& settings) {
  settings_ = settings;
  if (settings_.buckets == 0) return parts.names("subwords", parts_);
  parts.values("subwords.buckets", buckets_, Parts::kAny, Use::kFixed);
  parts.check(std::ranges::adjacent_find(buckets_, std::greater_equal()) == buckets_.end() &&
                  (buckets_.empty() || buckets_.back() < settings_.buckets),
              "the buckets of its subwords are not in order");
}

}  // namespace kith::words
