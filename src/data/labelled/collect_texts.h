// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts that are things of their own, as they come: their names, and their words by the numbers
// that a counter gives them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/names.h"
#include "data/labelled/labelled_options.h"
#include "data/labelled/text_rows.h"
#include "data/text/word_counter.h"

namespace kith {

struct CollectedTexts {
  Names names;                  // as the table has them, else their numbers from 1
  std::vector<uint32_t> words;  // WordCounter::kEnd behind each text, be it empty or not
  uint64_t bytes = 0, tokens = 0, too_long = 0, invalid_utf8 = 0;
  std::vector<Note> notes;
};

// Counts all words. `on_read` may be empty. Error(kInput) for two texts of one name.
CollectedTexts collect_texts(TextRows& rows, const LabelledOptions& cut, WordCounter& counter,
                             const std::function<void(uint64_t, double)>& on_read);

}  // namespace kith
