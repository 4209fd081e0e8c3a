// SPDX-License-Identifier: Apache-2.0
#pragma once
// One text at a time as words, or as their numbers in a vocabulary.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.h"
#include "data/labelled/labelled.h"
#include "data/labelled/labelled_options.h"
#include "data/text/tokenizer.h"

namespace kith {

class TextWords {
 public:
  // `name` is what messages call the source of the texts.
  TextWords(const LabelledOptions& options, std::string name);

  // Calls f with the words of a text, some at a time; the views die with the call. Error(kInput)
  // for NUL bytes.
  using Take = std::function<void(std::span<const std::string_view>)>;
  void for_each(std::string_view text, const Take& f);

  // The numbers of its words; kUnknownWord for those that are not known, once for several in a
  // row.
  void find(std::string_view text, const Names& vocabulary, std::vector<uint32_t>& out);
  // Or those that somebody else gives to all of its words.
  void find(std::string_view text, const NumberWords& numbering, std::vector<uint32_t>& out);

  const Tokenizer::Counts& counts() const { return tokenizer_->counts(); }

 private:
  bool nfc_;
  const Take* take_ = nullptr;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<std::string_view> words_;
};

}  // namespace kith
