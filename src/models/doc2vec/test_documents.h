// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: documents in memory.

#include <string>

#include "data/documents/document_reader.h"
#include "data/test_files.h"

namespace kith {

inline DocumentSet documents_of(const std::string& text, double holdout = 0,
                                int64_t min_count = 1) {
  const TestFolder folder;
  CorpusOptions options;
  options.min_count = min_count;
  options.holdout = holdout;
  TextRows rows({folder.write("documents.txt", text)}, "", "", "id", {});
  return DocumentReader(options, {}).read(rows);
}

}  // namespace kith
