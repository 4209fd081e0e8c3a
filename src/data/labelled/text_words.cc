// SPDX-License-Identifier: Apache-2.0
#include "data/labelled/text_words.h"

#include <utility>

#include "io/nfc.h"

namespace kith {
namespace {

CorpusOptions corpus_options(const LabelledOptions& o) {
  CorpusOptions out;
  out.tokens = o.tokens;
  out.max_word = o.max_word;
  out.invalid_utf8 = o.invalid_utf8;
  return out;
}

}  // namespace

TextWords::TextWords(const LabelledOptions& options, std::string name)
    : nfc_(options.nfc), tokenizer_(make_tokenizer(corpus_options(options), [this](auto batch) {
        words_.clear();
        for (const std::string_view word : batch) {
          if (!word.empty()) words_.push_back(word);  // an empty one ends a line
        }
        if (!words_.empty()) (*take_)(words_);
      })) {
  tokenizer_->begin_file(std::move(name));
}

void TextWords::for_each(std::string_view text, const Take& f) {
  take_ = &f;
  tokenizer_->feed({text.data(), text.size()});
  tokenizer_->feed(std::string_view("\n"));
}

void TextWords::find(std::string_view text, const Names& vocabulary, std::vector<uint32_t>& out) {
  out.clear();
  for_each(text, [&](std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      const auto at =
          nfc_ && !is_surely_nfc(word) ? vocabulary.find(nfc(word)) : vocabulary.find(word);
      if (at) {
        out.push_back(*at);
      } else if (out.empty() || out.back() != kUnknownWord) {
        out.push_back(kUnknownWord);
      }
    }
  });
}

void TextWords::find(std::string_view text, const NumberWords& numbering,
                     std::vector<uint32_t>& out) {
  std::vector<std::string> kept;  // words outlive the call that brings them
  for_each(text, [&](std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      kept.push_back(nfc_ && !is_surely_nfc(word) ? nfc(word) : std::string(word));
    }
  });
  numbering(std::vector<std::string_view>(kept.begin(), kept.end()), out);
}

}  // namespace kith
