// SPDX-License-Identifier: Apache-2.0
#include "models/lda/layout.h"

#include "core/error.h"

namespace kith::lda {

uint64_t Layout::longest_document() const {
  uint64_t out = 0;
  for (size_t d = 0; d + 1 < documents.size(); ++d) {
    out = std::max(out, documents[d + 1] - documents[d]);
  }
  return out;
}

Layout layout_of(const Sparse& counts) {
  Layout out;
  out.words.assign(counts.columns + size_t{1}, 0);
  for (uint64_t i = 0; i < counts.size(); ++i) {
    out.words[counts.column[i] + 1] += static_cast<uint64_t>(counts.value[i]);
  }
  for (uint32_t w = 0; w < counts.columns; ++w) out.words[w + 1] += out.words[w];
  const uint64_t tokens = out.words.back();
  if (tokens > kMostTokens) {
    throw fault(ErrorKind::kLimit,
                "there are {} words in all documents, and lda takes up to {}; leave out the most "
                "frequent ones with --max-df or --stop-words",
                tokens, kMostTokens);
  }
  out.place.resize(tokens);
  out.documents.reserve(counts.rows() + size_t{1});
  std::vector<uint64_t> next(out.words.begin(), out.words.end() - 1);
  uint64_t t = 0;
  for (uint32_t d = 0; d < counts.rows(); ++d) {
    const Sparse::Row row = counts.row(d);
    for (size_t i = 0; i < row.size(); ++i) {
      for (auto n = static_cast<uint64_t>(row.values[i]); n > 0; --n) {
        out.place[t++] = static_cast<uint32_t>(next[row.columns[i]]++);
      }
    }
    out.documents.push_back(t);
  }
  return out;
}

std::vector<Shard> shards_of(std::span<const uint64_t> offsets, uint64_t tokens, uint64_t split) {
  std::vector<Shard> out;
  const auto rows = static_cast<uint32_t>(offsets.size() - 1);
  uint32_t first = 0;
  for (uint32_t r = 0; r < rows; ++r) {
    const uint64_t length = offsets[r + 1] - offsets[r];
    if (length > split) {
      if (r > first) out.push_back({first, r, offsets[first], offsets[r]});
      for (uint64_t at = offsets[r]; at < offsets[r + 1]; at += split) {
        out.push_back({r, r + 1, at, std::min(at + split, offsets[r + 1])});
      }
      first = r + 1;
    } else if (offsets[r + 1] - offsets[first] >= tokens) {
      out.push_back({first, r + 1, offsets[first], offsets[r + 1]});
      first = r + 1;
    }
  }
  if (first < rows) out.push_back({first, rows, offsets[first], offsets[rows]});
  return out;
}

}  // namespace kith::lda
