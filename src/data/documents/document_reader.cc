// SPDX-License-Identifier: Apache-2.0
#include "data/documents/document_reader.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "data/holdout.h"
#include "data/labelled/collect_texts.h"
#include "data/text/numbering.h"
#include "data/text/stream_builder.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kHoldoutSeed = 0x646f63756d656e74;
constexpr uint64_t kUsualHoldout = 50000;  // words
constexpr uint64_t kLeastWords = 2000;     // below, there is nothing to spare

LabelledOptions cut(const CorpusOptions& o) {
  LabelledOptions out;
  out.tokens = o.tokens;
  out.max_word = o.max_word;
  out.nfc = o.nfc;
  out.invalid_utf8 = o.invalid_utf8;
  return out;
}

}  // namespace

void DocumentReader::build(const std::vector<uint32_t>& provisional, const Numbering& numbering,
                           DocumentSet& out) const {
  const uint64_t kept = numbering.kept, usual = std::min(kUsualHoldout, kept / 100);
  const uint64_t most = kept < kLeastWords ? 0 : HoldOut::wanted(options_.holdout, kept, usual);
  const HoldOut rule(static_cast<double>(most) / static_cast<double>(kept), kHoldoutSeed);
  out.stream_.reserve(kept + out.names_.size());
  uint64_t place = 0;  // among the kept words
  bool first = true;   // of its document
  for (const uint32_t p : provisional) {
    if (p == WordCounter::kEnd) {
      out.profile_.empty += first;
      out.stream_.push_back(kSentenceEnd);
      out.ends_.push_back(out.stream_.size());
      first = true;
      continue;
    }
    const uint32_t row = numbering.final_numbers[p];
    if (row == StreamBuilder::kDropped) continue;
    if (rule.takes(place++) && !first && out.held_out_.size() < most) {
      out.held_out_.push_back(
          {out.stream_.size(), static_cast<uint32_t>(out.ends_.size()), WordId{row}});
      continue;
    }
    out.stream_.push_back(WordId{row});
    ++out.words_;
    first = false;
  }
}

DocumentSet DocumentReader::read(TextRows& rows) {
  DocumentSet out;
  WordCounter counter;
  CollectedTexts texts = collect_texts(rows, cut(options_), counter, on_read_);
  out.names_ = std::move(texts.names);
  out.notes_ = std::move(texts.notes);
  out.profile_ = {.bytes = texts.bytes,
                  .documents = out.names_.size(),
                  .tokens = texts.tokens,
                  .too_long = texts.too_long,
                  .invalid_utf8 = texts.invalid_utf8};
  if (out.profile_.tokens == 0) {
    throw fault(ErrorKind::kInput, "{}: no words in {}; give a file with a document a line",
                rows.where(), count_of(out.profile_.documents, "document"));
  }
  Numbering numbering = number_words(counter, options_, nullptr);
  out.profile_.types = numbering.types;
  out.profile_.kept = numbering.kept;
  if (numbering.types == 1) {
    throw fault(ErrorKind::kInput,
                "{}: the same word {}, and training needs 2 different ones; give more text",
                rows.where(), count_of(out.profile_.tokens, "time"));
  }
  if (numbering.vocabulary.words.size() < 2) {
    throw fault(ErrorKind::kInput,
                "{}: {} of {} distinct words remain, and training needs 2; --min-count is {}, so "
                "lower it or give more text",
                rows.where(), numbering.vocabulary.words.size(), numbering.types,
                options_.min_count);
  }
  build(texts.words, numbering, out);
  out.vocabulary_ = std::move(numbering.vocabulary);
  return out;
}

}  // namespace kith
