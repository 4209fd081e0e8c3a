// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads documents: text -> provisional numbers and counts, then the numbers of the vocabulary.

#include <functional>
#include <string>
#include <vector>

#include "data/documents/documents.h"
#include "data/labelled/text_rows.h"

namespace kith {

class DocumentReader {
 public:
  // `holdout` as in the options; none: as usual.
  DocumentReader(const CorpusOptions& options, std::function<void(uint64_t, double)> on_read)
      : options_(options), on_read_(std::move(on_read)) {}
  DocumentSet read(TextRows& rows);

 private:
  // `provisional`: numbers as words came, with WordCounter::kEnd behind each document.
  void build(const std::vector<uint32_t>& provisional, const struct Numbering& numbering,
             DocumentSet& out) const;

  const CorpusOptions& options_;
  std::function<void(uint64_t, double)> on_read_;
};

}  // namespace kith
