// SPDX-License-Identifier: Apache-2.0
#include "data/text/corpus.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "core/rng.h"
#include "data/test_files.h"

namespace kith {
namespace {

// Words of a rough power law, so that some are frequent, many are rare and counts tie.
std::string generated_text(uint64_t seed, size_t words) {
  static const std::vector<std::string> spaces{" ", "  ", "\t", "\n", "\r\n", "\n\n", " \v", "\f"};
  Rng rng(seed, 0);
  std::string out;
  for (size_t i = 0; i < words; ++i) {
    out += fmt::format("w{}", rng.below(1 + rng.below(1 + rng.below(500))));
    out += i % 7 == 0 ? spaces[rng.below(8)] : " ";
  }
  return out;
}

// The vocabulary and the sentences by the definition, in the simplest way.
struct Expected {
  std::vector<std::pair<std::string, uint64_t>> vocabulary;
  Lines sentences;
};
Expected expected_of(const std::string& text, uint64_t min_count, size_t max_vocab = 0) {
  Expected out;
  const Lines lines = plain_lines(text);
  const auto counts = plain_counts(lines);
  for (const auto& entry : counts) {
    if (entry.second >= min_count) out.vocabulary.push_back(entry);
  }
  // The map has them in order of bytes, and a stable sort keeps that among equals.
  std::stable_sort(out.vocabulary.begin(), out.vocabulary.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (max_vocab > 0 && out.vocabulary.size() > max_vocab) out.vocabulary.resize(max_vocab);
  for (const auto& line : lines) {
    std::vector<std::string> kept;
    for (const auto& word : line) {
      if (std::any_of(out.vocabulary.begin(), out.vocabulary.end(),
                      [&](const auto& entry) { return entry.first == word; })) {
        kept.push_back(word);
      }
    }
    if (!kept.empty()) out.sentences.push_back(kept);
  }
  return out;
}

std::vector<std::pair<std::string, uint64_t>> pairs_of(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string, uint64_t>> out;
  for (size_t i = 0; i < vocabulary.words.size(); ++i) {
    out.emplace_back(vocabulary.words[i], vocabulary.counts[i]);
  }
  return out;
}

void write_gzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), std::ssize(text));
  gzclose(file);
}

std::string zstd_of(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(Corpus, EqualsTheNaiveReading) {
  const TestFolder folder;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::string text = generated_text(seed, 3000);
    if (seed % 2 == 1) text += "last-without-newline";
    const auto path = folder.write("text", text);
    for (const int64_t min_count : {1, 5, 40}) {
      for (const std::optional<int64_t> max_vocab : {std::optional<int64_t>(), {30}}) {
        const Corpus corpus = Corpus::read(
            {path}, {.min_count = min_count, .max_vocab = max_vocab, .holdout = 0}, folder.path());
        const Expected expected = expected_of(text, static_cast<uint64_t>(min_count),
                                              static_cast<size_t>(max_vocab.value_or(0)));
        ASSERT_EQ(pairs_of(corpus.vocabulary()), expected.vocabulary);
        ASSERT_EQ(sentences_of(stream_of(corpus), corpus.vocabulary()), expected.sentences);
        const Lines lines = plain_lines(text);
        EXPECT_EQ(corpus.counts().types, plain_counts(lines).size());
        EXPECT_EQ(corpus.counts().bytes, text.size());
        EXPECT_EQ(corpus.counts().kept, corpus.words());
        EXPECT_TRUE(corpus.held_out().empty());
      }
    }
  }
}

TEST(Corpus, TheProfileSaysWhatWasRead) {
  const TestFolder folder;
  const auto path =
      folder.write("text", "a b a\r\n\r\nb a b x \xFF\n" + std::string(50, 'y') + " a b");
  const Corpus corpus = Corpus::read({path}, {.min_count = 2, .max_word = 20}, folder.path());
  const CorpusProfile& p = corpus.counts();
  EXPECT_EQ(p.lines, 4u);
  EXPECT_EQ(p.tokens, 11u);
  EXPECT_EQ(p.types, 4u);
  EXPECT_EQ(p.kept, 8u);
  EXPECT_EQ(p.too_long, 1u);
  EXPECT_EQ(p.invalid_utf8, 1u);
  EXPECT_EQ(p.longest_line, 5u);
  EXPECT_EQ(corpus.length(), 8u + 3u);
}

TEST(Corpus, TheSameTextIsTheSameCorpusHoweverItIsStored) {
  const TestFolder folder;
  const std::string text = generated_text(3, 30'000) + "\n";
  const Corpus plain = Corpus::read({folder.write("text", text)}, {}, folder.path());
  ASSERT_FALSE(plain.held_out().empty());

  write_gzip(folder.path() + "/text.gz", text);
  const auto zst = folder.write("text.zst", zstd_of(text));
  const size_t half = text.find('\n', text.size() / 2) + 1;
  const auto first = folder.write("first", text.substr(0, half - 1));  // ends without its newline
  const auto second = folder.write("second", text.substr(half));
  const auto empty = folder.write("empty", "");
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);

  std::string utf16 = "\xFF\xFE";
  for (const char c : text) utf16 += {c, '\0'};

  for (const auto& paths :
       std::vector<std::vector<std::string>>{{folder.path() + "/text.gz"},
                                             {zst},
                                             {empty, first, empty, second, empty},
                                             {folder.write("crlf", crlf)},
                                             {folder.write("mark", "\xEF\xBB\xBF" + text)},
                                             {folder.write("utf16", utf16)}}) {
    const Corpus other = Corpus::read(paths, {}, folder.path());
    EXPECT_EQ(other.fingerprint(), plain.fingerprint()) << paths.front();
    EXPECT_EQ(stream_of(other), stream_of(plain));
    EXPECT_TRUE(std::ranges::equal(other.held_out(), plain.held_out()));
    EXPECT_EQ(pairs_of(other.vocabulary()), pairs_of(plain.vocabulary()));
  }
}

TEST(Corpus, WordsOfTheSameNormalFormAreOne) {
  const TestFolder folder;
  const std::string composed = "caf\xC3\xA9", apart = "cafe\xCC\x81";
  // The first spelling that comes is not the one that is kept.
  const auto both = folder.write("both", apart + " tea " + composed + " tea\n" + apart + " au\n");
  const Corpus corpus = Corpus::read({both}, {.min_count = 2}, folder.path());
  EXPECT_EQ(pairs_of(corpus.vocabulary()),
            (std::vector<std::pair<std::string, uint64_t>>{{composed, 3}, {"tea", 2}}));
  EXPECT_EQ(sentences_of(stream_of(corpus), corpus.vocabulary()),
            (Lines{{composed, "tea", composed, "tea"}, {composed}}));
  EXPECT_EQ(corpus.counts().types, 3u);
  const auto one = folder.write("one", composed + " tea " + composed + " tea\n" + composed + " au");
  EXPECT_EQ(corpus.fingerprint(),
            Corpus::read({one}, {.min_count = 2}, folder.path()).fingerprint());
  const Corpus as_is = Corpus::read({both}, {.min_count = 1, .nfc = false}, folder.path());
  EXPECT_EQ(as_is.vocabulary().words.size(), 4u);
}

// Version 0.1 kept both spellings: what a model knows stays, and the text finds it.
TEST(Corpus, TheSpellingOfABaseStays) {
  const TestFolder folder;
  const std::string composed = "caf\xC3\xA9", apart = "cafe\xCC\x81";
  const auto path = folder.write("text", composed + " tea " + apart + "\n");
  Vocabulary base;
  base.words.add(apart);
  base.counts = {7};
  const Corpus corpus = Corpus::read({path}, {.min_count = 1}, folder.path(), &base);
  EXPECT_EQ(pairs_of(corpus.vocabulary()),
            (std::vector<std::pair<std::string, uint64_t>>{{apart, 9}, {"tea", 1}}));
  EXPECT_EQ(sentences_of(stream_of(corpus), corpus.vocabulary()), (Lines{{apart, "tea", apart}}));
  base.words.add(composed);
  base.counts = {7, 7};
  EXPECT_EQ(pairs_of(Corpus::read({path}, {.min_count = 1}, folder.path(), &base).vocabulary()),
            (std::vector<std::pair<std::string, uint64_t>>{{apart, 7}, {composed, 9}, {"tea", 1}}));
}

TEST(Corpus, TheEncodingIsObeyedAndWhatIsNotUtf8IsTold) {
  const TestFolder folder;
  const auto path = folder.write("latin1", "caf\xE9 au lait\n");
  CorpusOptions options{.min_count = 1, .encoding = TextEncoding::kLatin1};
  const Corpus latin = Corpus::read({path}, options, folder.path());
  EXPECT_TRUE(latin.vocabulary().words.find("caf\xC3\xA9"));
  EXPECT_TRUE(latin.profile().notes.empty());
  options.encoding = TextEncoding::kUtf8;
  const auto notes = Corpus::read({path}, options, folder.path()).profile().notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].text,
            "1 word with bytes that are not UTF-8 (the bytes became U+FFFD); if this is not UTF-8, "
            "give its encoding, such as --encoding latin-1");
}

TEST(Corpus, TheFingerprintTellsTextsApart) {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += i % 10 == 9 ? "c\n" : i % 2 == 0 ? "a " : "b ";
  const auto print = [&](const std::string& changed) {
    return Corpus::read({folder.write("text", changed)}, {}, folder.path()).fingerprint();
  };
  const uint64_t original = print(text);
  EXPECT_EQ(original, print(text));
  ASSERT_FALSE(Corpus::read({folder.path() + "/text"}, {}, folder.path()).held_out().empty());
  // Wherever a word changes, in the part held out too, the counts or the order differ.
  for (size_t i = 0; i < text.size(); i += 14) {
    std::string changed = text;
    changed[i] = text[i] == 'a' ? 'b' : 'a';
    ASSERT_NE(print(changed), original) << i;
  }
  // Neighbours that change places leave the counts alone; some of these lines are held out.
  for (size_t line = 0; line < text.size(); line = text.find('\n', line) + 1) {
    std::string swapped = text;
    std::swap(swapped[line], swapped[line + 2]);
    ASSERT_NE(print(swapped), original) << line;
  }
  std::string joined = text;
  joined[text.find('\n')] = ' ';
  EXPECT_NE(print(joined), original);
  std::string renamed = text;
  std::replace(renamed.begin(), renamed.end(), 'a', 'A');
  EXPECT_NE(print(renamed), original);
}

TEST(Corpus, ReadsAPipe) {
  const TestFolder folder;
  const std::string text = generated_text(5, 100'000);  // more than a pipe holds
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::jthread writer([&] {
    for (size_t done = 0; done < text.size();) {
      const auto n = write(ends[1], text.data() + done, text.size() - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    close(ends[1]);
  });
  const Corpus piped = Corpus::read({fmt::format("/dev/fd/{}", ends[0])}, {}, folder.path());
  const Corpus plain = Corpus::read({folder.write("text", text)}, {}, folder.path());
  EXPECT_EQ(piped.fingerprint(), plain.fingerprint());
  close(ends[0]);
}

TEST(Corpus, ReportsProgressOverAllFiles) {
  const TestFolder folder;
  std::string text;
  while (text.size() < 40u << 20) text += "some words that come again and again\n";
  const auto path = folder.write("text", text);
  uint64_t last_bytes = 0;
  double last_share = 0;
  int calls = 0;
  Corpus::read({path, path}, {}, folder.path(), nullptr, [&](uint64_t bytes, double share) {
    EXPECT_GT(bytes, last_bytes);
    EXPECT_GT(share, last_share);
    EXPECT_LE(share, 1.0);
    EXPECT_NEAR(share, static_cast<double>(bytes) / (2.0 * static_cast<double>(text.size())), 0.03);
    last_bytes = bytes;
    last_share = share;
    ++calls;
  });
  EXPECT_EQ(calls, 5);  // 80 MiB, every 16
}

Vocabulary small_vocabulary() {
  Vocabulary base;
  for (const char* const word : {"zebra", "unseen", "the", "two words"}) base.words.add(word);
  base.counts = {7, 100, 5, 1};
  return base;
}

TEST(Corpus, ABaseVocabularyStaysInFrontAndIsAlwaysKept) {
  const TestFolder folder;
  const auto path = folder.write("text", "the the cat zebra dog dog dog cat rare the\n");
  const Vocabulary base = small_vocabulary();
  const Corpus corpus = Corpus::read({path}, {.min_count = 2}, folder.path(), &base);
  const std::vector<std::pair<std::string, uint64_t>> expected{
      {"zebra", 8}, {"unseen", 100}, {"the", 8}, {"two words", 1}, {"dog", 3}, {"cat", 2}};
  EXPECT_EQ(pairs_of(corpus.vocabulary()), expected);
  EXPECT_EQ(corpus.counts().kept, 9u);
  EXPECT_EQ(corpus.counts().types, 5u);
  EXPECT_EQ(sentences_of(stream_of(corpus), corpus.vocabulary()),
            (Lines{{"the", "the", "cat", "zebra", "dog", "dog", "dog", "cat", "the"}}));
}

TEST(Corpus, TheFingerprintCoversWhatABaseBrings) {
  const TestFolder folder;
  const auto path = folder.write("text", "the the cat zebra dog dog dog cat rare the\n");
  const auto fingerprint = [&](const Vocabulary& base) {
    return Corpus::read({path}, {.min_count = 2}, folder.path(), &base).fingerprint();
  };
  const uint64_t first = fingerprint(small_vocabulary());
  EXPECT_EQ(fingerprint(small_vocabulary()), first);
  Vocabulary counted = small_vocabulary();
  ++counted.counts[1];
  EXPECT_NE(fingerprint(counted), first) << "noise is drawn by the counts";
  Vocabulary named = small_vocabulary();
  named.words.add("more");
  named.counts.push_back(1);
  EXPECT_NE(fingerprint(named), first);
}

TEST(Corpus, MaxVocabCountsTheBaseButNeverDropsIt) {
  const TestFolder folder;
  const auto path = folder.write("text", "the the cat zebra dog dog dog cat rare the\n");
  const Vocabulary base = small_vocabulary();
  const auto size = [&](std::optional<int64_t> max_vocab) {
    return Corpus::read({path}, {.min_count = 1, .max_vocab = max_vocab}, folder.path(), &base)
        .vocabulary()
        .words.size();
  };
  EXPECT_EQ(size(std::nullopt), 7u);
  EXPECT_EQ(size(5), 5u);
  EXPECT_EQ(size(4), 4u);
  EXPECT_EQ(size(1), 4u);
}

TEST(Corpus, PositionsAreReadFromSeveralThreads) {
  const TestFolder folder;
  const Corpus corpus =
      Corpus::read({folder.write("text", generated_text(9, 50'000))}, {}, folder.path());
  const std::vector<WordId> whole = stream_of(corpus);
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Rng rng(t, 0);
      for (int i = 0; i < 300; ++i) {
        std::vector<WordId> part(rng.below(1000));
        const uint64_t begin = rng.below(static_cast<uint32_t>(whole.size() - part.size()));
        corpus.read(begin, part);
        EXPECT_TRUE(std::ranges::equal(part, std::span(whole).subspan(begin, part.size())));
      }
    });
  }
}

}  // namespace
}  // namespace kith
