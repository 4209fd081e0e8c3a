// SPDX-License-Identifier: Apache-2.0
#include "data/text/numbering.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "data/text/stream_builder.h"
#include "io/nfc.h"

namespace kith {
namespace {

using Aliases =
    std::unordered_map<size_t, size_t>;  // number of a word -> number that stands for it

// Counts every word as its normal form. A word of the base that is none (models of version 0.1 have
// such) stays, and stands for its form.
Aliases join_forms(WordCounter& counter, size_t base_size) {
  Aliases out;
  const size_t before = counter.size();
  for (size_t n = 0; n < before; ++n) {
    if (is_surely_nfc(counter.word(n))) continue;
    const std::string form = nfc(counter.word(n));
    if (form == counter.word(n)) continue;
    size_t from = n, to = counter.add(form);
    if (n < base_size && to >= base_size) std::swap(from, to);
    if (const auto other = out.find(to); other != out.end()) to = other->second;
    counter.move_count(from, to);
    out[from] = to;
  }
  return out;
}

// Numbers of the new words to keep, most frequent first, ties in order of bytes.
std::vector<uint32_t> choose_words(const WordCounter& counter, const CorpusOptions& options,
                                   size_t base_size) {
  std::vector<uint32_t> chosen;
  for (size_t n = base_size; n < counter.size(); ++n) {
    if (counter.count_of(n) >= static_cast<uint64_t>(options.min_count)) {
      chosen.push_back(static_cast<uint32_t>(n));
    }
  }
  std::sort(chosen.begin(), chosen.end(), [&](uint32_t a, uint32_t b) {
    const uint64_t count_a = counter.count_of(a), count_b = counter.count_of(b);
    return count_a != count_b ? count_a > count_b : counter.word(a) < counter.word(b);
  });
  if (options.max_vocab) {
    const auto most = static_cast<size_t>(*options.max_vocab);
    chosen.resize(std::min(chosen.size(), most - std::min(most, base_size)));
  }
  return chosen;
}

}  // namespace

Numbering number_words(WordCounter& counter, const CorpusOptions& options, const Vocabulary* base) {
  const size_t base_size = base ? base->words.size() : 0;
  const Aliases aliases = options.nfc ? join_forms(counter, base_size) : Aliases();
  const std::vector<uint32_t> chosen = choose_words(counter, options, base_size);
  Numbering out;
  out.final_numbers.assign(counter.size(), StreamBuilder::kDropped);
  out.vocabulary.words.reserve(base_size + chosen.size());
  const auto keep = [&](size_t number, uint64_t count_before) {
    out.final_numbers[number] = out.vocabulary.words.add(counter.word(number));
    out.vocabulary.counts.push_back(count_before + counter.count_of(number));
    out.kept += counter.count_of(number);
  };
  for (size_t n = 0; n < base_size; ++n) keep(n, base->counts[n]);
  for (const uint32_t n : chosen) keep(n, 0);
  for (const auto& [from, to] : aliases) out.final_numbers[from] = out.final_numbers[to];
  for (size_t n = 0; n < counter.size(); ++n) out.types += counter.count_of(n) > 0;
  return out;
}

}  // namespace kith
