// SPDX-License-Identifier: Apache-2.0
#pragma once
// Documents as counts of words, in memory: 8 bytes for each word that a document has. Where the
// words stood in the document is not known.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/names.h"
#include "data/dataset.h"
#include "data/labelled/labelled_options.h"
#include "data/sparse.h"

namespace kith {

struct BagsProfile {
  uint64_t bytes = 0, documents = 0;
  uint64_t tokens = 0, types = 0;  // words read; distinct ones
  uint64_t kept = 0;               // words of the text whose kind is kept, held-out ones included
  uint64_t empty = 0;              // documents without a word that is kept
  uint64_t too_long = 0, invalid_utf8 = 0;
  // What each filter took away, in their order.
  struct Filtered {
    std::string by;  // "--min-df 5"
    uint64_t types = 0, tokens = 0;
  };
  std::vector<Filtered> filtered;
  uint64_t from_files = 0;  // sources that are counts already
};

// What a model knows when new documents are read for it: words keep their numbers, and those that
// it does not know are left out and counted.
struct KnownBags {
  Names words;
  LabelledOptions cut;  // how the text that it learned from became words
};

class Bags final : public Dataset {
 public:
  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return words_to_learn_; }
  uint64_t vectors() const override { return names_.size() + words_.size(); }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override;
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override;

  // Documents x words; values are whole numbers from 1 to kMostOfAWord. Both have a row for every
  // document: that of one that is held out is empty in the first, and those of the others are
  // empty in the second.
  const Sparse& train() const { return train_; }
  const Sparse& held_out() const { return held_out_; }
  const Names& words() const { return words_; }  // the vocabulary: columns of both
  const Names& names() const { return names_; }  // of all documents: rows of both
  // How often each word stands in train(); 0 for one that only others have.
  std::span<const uint64_t> word_counts() const { return word_counts_; }
  uint64_t tokens() const { return words_to_learn_; }  // the sum of train()
  uint64_t held_out_tokens() const { return words_held_out_; }
  uint64_t held_out_documents() const { return documents_held_out_; }
  const BagsProfile& counts() const { return profile_; }

  static constexpr uint32_t kMostOfAWord = 1 << 24;  // what a float counts to without a gap

  // Of counts as they are, for tests and conversions: nothing is filtered.
  Bags(Names words, Names names, Sparse counts);
  // Takes documents out by a fixed rule (data/holdout.h), `usual` of them if no number was asked
  // for. None is taken that has no words, nor so many that nothing is left.
  void hold_out(std::optional<double> setting, uint64_t usual = 0);

 private:
  friend class BagReader;
  void count();
  Sparse train_, held_out_;
  Names words_, names_;
  std::vector<uint64_t> word_counts_;
  BagsProfile profile_;
  std::vector<Note> notes_;
  uint64_t words_to_learn_ = 0, words_held_out_ = 0, documents_held_out_ = 0;
};

}  // namespace kith
