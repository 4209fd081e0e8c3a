// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kith::cli {

struct WordNetFile {
  uint64_t meanings = 0, bytes = 0;
};

// Writes the dictionary WordNet, as Debian installs it, as a text to learn from: one meaning a
// line. Error(kIo) that names the package if it is not there.
WordNetFile write_wordnet_text(const std::string& path);
// The same as a table (CSV): words, part of speech, category, what it is a kind of, gloss.
WordNetFile write_wordnet_table(const std::string& path);

}  // namespace kith::cli
