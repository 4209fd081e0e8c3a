// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts with labels: lines with words such as __label__spam in them, as fastText has them, or a
// column of texts and a column of labels of a table. All of them are in memory, as numbers: 4 bytes
// a word.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/names.h"
#include "data/dataset.h"
#include "data/labelled/labelled_options.h"
#include "data/text/corpus.h"

namespace kith {

// Stands for one or more words in a row that are not in the vocabulary: what is on its two sides
// are no neighbours.
inline constexpr uint32_t kUnknownWord = 0xffffffff;

// Texts as numbers of words, each with one label or more.
struct Documents {
  std::vector<uint64_t> word_offsets{0}, label_offsets{0};
  std::vector<uint32_t> words, labels;
  std::vector<float> weights;  // empty: all count the same

  size_t size() const { return word_offsets.size() - 1; }
  std::span<const uint32_t> words_of(size_t i) const {
    return std::span(words).subspan(word_offsets[i], word_offsets[i + 1] - word_offsets[i]);
  }
  std::span<const uint32_t> labels_of(size_t i) const {
    return std::span(labels).subspan(label_offsets[i], label_offsets[i + 1] - label_offsets[i]);
  }
  float weight(size_t i) const { return weights.empty() ? 1.0f : weights[i]; }
  void add(std::span<const uint32_t> words, std::span<const uint32_t> labels, float weight);
  uint64_t bytes() const;
};

// How texts are read that a model is asked about: as those that it learned from.
struct LabelledForm {
  LabelColumns columns;
  LabelledOptions options;
};
// The numbers by which a model knows the words of a text.
using NumberWords =
    std::function<void(std::span<const std::string_view> words, std::vector<uint32_t>& out)>;
struct KnownLabels {
  Names words, labels;
  LabelledForm form;
  NumberWords numbering{};  // empty: where they stand among `words`
};

struct LabelledProfile {
  uint64_t bytes = 0, texts = 0;
  uint64_t tokens = 0, types = 0;  // words read; distinct ones
  uint64_t unlabelled = 0, empty = 0;
  uint64_t too_long = 0, invalid_utf8 = 0;
  uint64_t several = 0;  // texts with more than one label
};

class Labelled final : public Dataset {
 public:
  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return train_.size(); }
  uint64_t vectors() const override { return vocabulary_.words.size(); }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override;
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  // The most frequent first. Read on top of a model: the model's, then those that it lacks.
  const Names& labels() const { return labels_; }
  std::vector<uint64_t> label_counts() const;  // texts to learn from that have each
  const Documents& train() const { return train_; }
  const Documents& held_out() const { return held_out_; }
  // What is held out comes from a file of its own, and is never learned from.
  bool validated() const { return !form_.options.validation.empty(); }
  const LabelledForm& form() const { return form_; }
  const LabelledProfile& counts() const { return profile_; }

 private:
  friend class LabelledReader;
  Vocabulary vocabulary_;
  Names labels_;
  Documents train_, held_out_;
  LabelledForm form_;
  LabelledProfile profile_;
  std::vector<Note> notes_;
};

}  // namespace kith
