// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kith::cli {

struct WordNetText {
  uint64_t meanings = 0, bytes = 0;
};

// Writes the dictionary WordNet, as Debian installs it, as a text to learn from: one meaning a
// line. Error(kIo) that names the package if it is not there.
WordNetText write_wordnet_text(const std::string& path);

}  // namespace kith::cli
