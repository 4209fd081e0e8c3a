// SPDX-License-Identifier: Apache-2.0
// Any bytes as text: both tokenizers with every policy, in pieces of a size taken from the input,
// and then the whole corpus with its promises. The first byte chooses; the rest is the text.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "data/text/corpus.h"
#include "data/text/tokenizer.h"

namespace {

using namespace kith;

// What a tokenizer makes of a text, or the message it stops with.
std::vector<std::string> words_of(std::span<const char> text, const CorpusOptions& options,
                                  size_t piece) {
  std::vector<std::string> out;
  const auto tokenizer = make_tokenizer(options, [&](std::span<const std::string_view> words) {
    for (const auto word : words) {
      if (word.size() > static_cast<size_t>(options.max_word)) abort();
      out.emplace_back(word);
    }
  });
  try {
    tokenizer->begin_file("text");
    for (size_t i = 0; i < text.size(); i += piece) {
      tokenizer->feed(text.subspan(i, std::min(piece, text.size() - i)));
    }
    tokenizer->end_file();
  } catch (const Error&) {
    out.assign(1, "error");
  }
  return out;
}

void check_corpus(std::span<const char> text, const CorpusOptions& options) {
  static const std::string folder = std::filesystem::temp_directory_path().string();
  std::string path = folder + "/kith-fuzz-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) abort();
  close(fd);
  try {
    const Corpus corpus = Corpus::read({path}, options, folder);
    std::vector<WordId> stream(corpus.length());
    corpus.read(0, stream);
    uint64_t words = 0;
    for (const auto ids : {std::span<const WordId>(stream), corpus.held_out()}) {
      for (const WordId id : ids) {
        if (id == kSentenceEnd) continue;
        if (row_of(id) >= corpus.vocabulary().words.size()) abort();
        ++words;
      }
    }
    if (words != corpus.profile().size + corpus.profile().held_out) abort();
  } catch (const Error&) {
  }
  unlink(path.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const char> text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const CorpusOptions options{.tokens = data[0] & 1 ? Tokens::kWords : Tokens::kSpaces,
                              .min_count = 1 + (data[0] >> 1 & 1),
                              .max_word = data[0] & 4 ? 5 : 1000,
                              .invalid_utf8 = static_cast<InvalidUtf8>(data[0] / 8 % 3)};
  // Where the pieces end must not matter.
  if (words_of(text, options, 1 + data[0] / 32) != words_of(text, options, SIZE_MAX)) abort();
  check_corpus(text, options);
  return 0;
}
