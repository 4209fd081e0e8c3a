// SPDX-License-Identifier: Apache-2.0
#pragma once
// From words as they were counted to those of the vocabulary.

#include <cstdint>
#include <vector>

#include "data/text/corpus.h"
#include "data/text/word_counter.h"

namespace kith {

struct Numbering {
  Vocabulary vocabulary;
  std::vector<uint32_t> final_numbers;  // by provisional number; StreamBuilder::kDropped for none
  uint64_t kept = 0, types = 0;         // words of the text in the vocabulary; distinct words
};

// Words of the base, which may be null, are the counter's first and keep their numbers. Words that
// are the same in normal form C are one, if the options say so: this looks at distinct words only,
// so that it costs nothing where the text is read. The counter may get words more.
Numbering number_words(WordCounter& counter, const CorpusOptions& options, const Vocabulary* base);

}  // namespace kith
