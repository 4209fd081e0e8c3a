// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "data/text/corpus.h"

namespace kith {

// A corpus of the given text, every word kept.
inline Corpus corpus_of(const std::string& text, int64_t min_count = 1, int64_t holdout = 0,
                        const Vocabulary* base = nullptr) {
  std::string path = "/tmp/kith_corpus_XXXXXX";
  const int fd = mkstemp(path.data());
  close(fd);
  std::ofstream(path) << text;
  CorpusOptions options;
  options.min_count = min_count;
  options.holdout = holdout;
  Corpus corpus = Corpus::read({path}, options, "/tmp", base);
  unlink(path.c_str());
  return corpus;
}

}  // namespace kith
