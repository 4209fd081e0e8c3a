// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dictionary WordNet as data to try things on: small, in English, on every Debian system.

#include <cstdint>
#include <string>

#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct WordNetFile {
  uint64_t meanings = 0, bytes = 0;
};

inline constexpr const char* kWordNetFolder = "/usr/share/wordnet";  // of Debian's wordnet-base

// Writes WordNet as a text to learn from: one meaning a line. Error(kIo) that names the package if
// it is not there.
WordNetFile write_wordnet_text(const std::string& path, const std::string& folder = kWordNetFolder);
// The same as a table (CSV): words, part of speech, category, what it is a kind of, gloss.
WordNetFile write_wordnet_table(const std::string& path,
                                const std::string& folder = kWordNetFolder);

}  // namespace KITH_VISIBLE
