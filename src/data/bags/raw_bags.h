// SPDX-License-Identifier: Apache-2.0
#pragma once
// Documents as counts of all their words, as sources say them: before anything is left out.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/names.h"
#include "data/bags/bag_options.h"
#include "data/bags/bags.h"
#include "data/labelled/text_rows.h"
#include "data/sparse.h"

namespace kith {

using OnRead = std::function<void(uint64_t bytes, double share)>;

struct RawBags {
  Names words;    // of texts the most frequent first; of files of counts in their order
  Sparse counts;  // documents x words
  Names names;
  BagsProfile profile;
  std::vector<Note> notes;
};

enum class BagFile { kNone, kLdaC, kDocword };
// By the first lines of a file; kNone for a pipe.
BagFile bag_file_at(const std::string& source);

// Files of counts. `vocab`: the file with their words, or "". `known`: words to go in front, which
// the model that asks has. Error(kInput) with file and line for what is no such count.
RawBags read_bag_files(const std::vector<std::string>& sources, const std::string& vocab,
                       const Names* known, const OnRead& on_read);

// Texts; `known` as above.
RawBags read_bag_texts(TextRows& rows, const LabelledOptions& cut, const Names* known,
                       const OnRead& on_read);

// Keeps the words that the options want, and notes what was left out. Error(kInput) that says which
// filter did it if less than two words are left.
void filter(RawBags& bags, const BagOptions& options, bool from_files, std::string_view where);

}  // namespace kith
