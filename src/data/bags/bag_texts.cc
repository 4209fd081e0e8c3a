// SPDX-License-Identifier: Apache-2.0
// Texts as counts of words.

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "data/bags/raw_bags.h"
#include "data/labelled/collect_texts.h"
#include "data/text/numbering.h"
#include "data/text/stream_builder.h"

namespace kith {
namespace {

// A row for each text, of the words that have a number.
Sparse count_words(const std::vector<uint32_t>& words, const std::vector<uint32_t>& numbers,
                   size_t columns) {
  Sparse out;
  out.columns = static_cast<uint32_t>(columns);
  std::vector<uint32_t> own;
  for (const uint32_t w : words) {
    if (w != WordCounter::kEnd) {
      if (numbers[w] != StreamBuilder::kDropped) own.push_back(numbers[w]);
      continue;
    }
    std::ranges::sort(own);
    for (size_t begin = 0, end = 0; begin < own.size(); begin = end) {
      while (end < own.size() && own[end] == own[begin]) ++end;
      out.column.push_back(own[begin]);
      out.value.push_back(static_cast<float>(std::min<size_t>(end - begin, Bags::kMostOfAWord)));
    }
    out.offsets.push_back(out.column.size());
    own.clear();
  }
  return out;
}

}  // namespace

RawBags read_bag_texts(TextRows& rows, const LabelledOptions& cut, const Names* known,
                       const OnRead& on_read) {
  RawBags out;
  WordCounter counter;
  Vocabulary base;
  if (known) {
    base.words = *known;
    base.counts.assign(known->size(), 0);
    for (size_t w = 0; w < known->size(); ++w) counter.add((*known)[w]);
  }
  CollectedTexts texts = collect_texts(rows, cut, counter, on_read);
  CorpusOptions all;
  all.min_count = 1;
  all.nfc = cut.nfc;
  Numbering numbering = number_words(counter, all, known ? &base : nullptr);
  out.words = std::move(numbering.vocabulary.words);
  out.counts = count_words(texts.words, numbering.final_numbers, out.words.size());
  out.names = std::move(texts.names);
  out.notes = std::move(texts.notes);
  out.profile.bytes = texts.bytes;
  out.profile.tokens = texts.tokens;
  out.profile.types = numbering.types;
  out.profile.too_long = texts.too_long;
  out.profile.invalid_utf8 = texts.invalid_utf8;
  return out;
}

}  // namespace kith
