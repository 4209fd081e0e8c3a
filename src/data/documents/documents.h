// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts that are things of their own: each line, or each row of a table, is a document with a name.
// All of them are in memory, as numbers: 4 bytes a word.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/ids.h"
#include "core/names.h"
#include "data/dataset.h"
#include "data/text/corpus.h"
#include "data/text/corpus_options.h"

namespace kith {

struct DocumentOptions {
  std::string id{};

  static constexpr std::tuple fields{
      field("id", &DocumentOptions::id,
            "the column of the table that names each document; else its number"),
  };
};

struct DocumentsProfile {
  uint64_t bytes = 0, documents = 0;
  uint64_t tokens = 0, types = 0, kept = 0;  // words read; distinct ones; those in the vocabulary
  uint64_t empty = 0;                        // documents without a word that is kept
  uint64_t too_long = 0, invalid_utf8 = 0;
};

class DocumentSet final : public Dataset {
 public:
  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return words_; }
  uint64_t vectors() const override { return names_.size() + vocabulary_.words.size(); }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override;
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const Names& names() const { return names_; }  // of the documents, in their order
  const DocumentsProfile& counts() const { return profile_; }

  // Words to learn from, those of the vocabulary alone, with a kSentenceEnd after each document,
  // be it empty or not.
  std::span<const WordId> stream() const { return stream_; }
  uint64_t words() const { return words_; }
  // The document that a position of the stream belongs to.
  uint32_t document_at(uint64_t position) const;
  // Whether it has no word to learn from.
  bool is_empty(uint32_t document) const {
    return ends_[document] - (document == 0 ? 0 : ends_[document - 1]) == 1;
  }

  // Words that were taken out by a fixed rule, to score a model: which, of which document, and
  // before which position of the stream each stood. No document loses its first word.
  struct HeldOut {
    uint64_t position;
    uint32_t document;
    WordId word;
  };
  std::span<const HeldOut> held_out() const { return held_out_; }

 private:
  friend class DocumentReader;
  Vocabulary vocabulary_;
  Names names_;
  std::vector<WordId> stream_;
  std::vector<uint64_t> ends_;  // of the documents in the stream
  std::vector<HeldOut> held_out_;
  DocumentsProfile profile_;
  std::vector<Note> notes_;
  uint64_t words_ = 0;
};

}  // namespace kith
