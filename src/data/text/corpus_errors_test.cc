// SPDX-License-Identifier: Apache-2.0
// Bad and extreme input: each is one clear sentence, or works in little memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "core/error.h"
#include "data/test_files.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

namespace kith {
namespace {

class CorpusErrors : public testing::Test {
 protected:
  std::string error(const std::string& text, const CorpusOptions& options = {}) {
    const auto path = folder_.write("text", text);
    std::string message =
        message_of(ErrorKind::kInput, [&] { Corpus::read({path}, options, folder_.path()); });
    EXPECT_EQ(message.rfind(path + ":", 0), 0u) << "no place: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message.substr(std::min(message.size(), path.size()));
  }
  void expect_part(const std::string& part, const std::string& message) {
    EXPECT_PRED_FORMAT2(testing::IsSubstring, part, message);
  }
  TestFolder folder_;
};

TEST_F(CorpusErrors, TextWithoutWords) {
  expect_part(": no words in 0 bytes; ", error(""));
  expect_part(": no words in 6 bytes; ", error(" \n\r\n\t\n"));
  expect_part(": no words in 0 bytes; ", error("\xEF\xBB\xBF"));
  expect_part(": no words in 5 bytes; ", error("... -", {.tokens = Tokens::kWords}));
}

TEST_F(CorpusErrors, OnlyRareWords) {
  const std::string message = error("a b c a b a\n", {.min_count = 4});
  expect_part(": 0 of 3 distinct words remain", message);
  expect_part("the most frequent occurs 3 times and --min-count is 4", message);
  expect_part("lower --min-count", message);
}

TEST_F(CorpusErrors, FewerThanTwoWords) {
  expect_part(": the same word 8 times, and training needs 2 different ones; give more text",
              error("a a a a a a a a"));
  expect_part(": 1 of 2 distinct words remain", error("a a a b", {.min_count = 2}));
  expect_part(": 1 of 2 distinct words remain", error("a a b b", {.min_count = 1, .max_vocab = 1}));
}

TEST_F(CorpusErrors, EveryWordDropped) {
  expect_part(": all 2 words were dropped (2 over 3 bytes, 0 not UTF-8)",
              error("long words", {.max_word = 3}));
  expect_part("(0 over 1000 bytes, 1 not UTF-8)",
              error("\xFF", {.invalid_utf8 = InvalidUtf8::kDrop}));
}

// Of text that nobody has cut into words no word is frequent, and the remedy is another.
TEST_F(CorpusErrors, TextWithoutSpaces) {
  const std::string text = "我们今天去公园散步，天气很好。\n";
  expect_part("and --min-count is 5; much of the text is Chinese", error(text));
  expect_part("0 not UTF-8); much of the text is Chinese", error(text, {.max_word = 9}));
}

TEST_F(CorpusErrors, NothingInCommonWithTheBase) {
  Vocabulary base;
  base.words.add("x");
  base.words.add("y");
  base.counts = {1, 1};
  const auto path = folder_.write("text", "a b c\n");
  expect_part("0 of 3 distinct words remain", message_of(ErrorKind::kInput, [&] {
                Corpus::read({path}, {}, folder_.path(), &base);
              }));
}

TEST_F(CorpusErrors, EncodingsAreNamedWithTheFileTheyAreIn) {
  using namespace std::string_literals;
  const auto good = folder_.write("good", "a b a b a b a b a b\n");
  const auto nul = folder_.write("nul", "a\nb\0"s);
  expect_part(nul + ":2: NUL byte at byte 3; ", message_of(ErrorKind::kInput, [&] {
                Corpus::read({good, nul}, {}, folder_.path());
              }));
  expect_part(": this is UTF-32 text", error("\xFF\xFE\0\0h\0\0\0"s));
  expect_part(":2: not UTF-8 at byte 3 ",
              error("ok\n\xE9\n", {.invalid_utf8 = InvalidUtf8::kError}));
}

TEST_F(CorpusErrors, AMissingLastFileIsToldBeforeTheFirstIsRead) {
  const auto good = folder_.write("good", std::string(100 << 20, ' '));
  bool read = false;
  const auto on_read = [&](uint64_t, double) { read = true; };
  for (const std::string& bad : {folder_.path() + "/missing", folder_.path()}) {
    expect_part(bad, message_of(ErrorKind::kIo, [&] {
                  Corpus::read({good, bad}, {}, folder_.path(), nullptr, on_read);
                }));
    EXPECT_FALSE(read);
  }
  expect_part("no text was given",
              message_of(ErrorKind::kUsage, [&] { Corpus::read({}, {}, folder_.path()); }));
}

TEST_F(CorpusErrors, ADamagedArchiveIsAnError) {
  const auto path = folder_.write("text.gz", "\x1f\x8b\x08 this is no gzip data");
  expect_part(path,
              message_of(ErrorKind::kInput, [&] { Corpus::read({path}, {}, folder_.path()); }));
}

TEST_F(CorpusErrors, AScratchFolderThatIsNotThereIsAnError) {
  const auto path = folder_.write("text", "a b\n");
  const std::string missing = folder_.path() + "/missing";
  expect_part(missing, message_of(ErrorKind::kIo, [&] { Corpus::read({path}, {}, missing); }));
}

struct LongText {
  std::string block;
  int blocks;
  std::string tail;  // behind the blocks
};

// In a process of its own: reads a generated text from a pipe and returns the growth of its
// largest resident size, in MB.
int megabytes_to_read(const std::string& folder, const LongText& text,
                      const std::function<bool(const Corpus&)>& is_right) {
  const pid_t child = fork();
  if (child == 0) {
    int ends[2];
    if (pipe(ends) != 0) _exit(250);
    std::jthread writer([&] {
      for (int i = 0; i <= text.blocks; ++i) {
        const std::string& part = i < text.blocks ? text.block : text.tail;
        for (size_t done = 0; done < part.size();) {
          const auto n = write(ends[1], part.data() + done, part.size() - done);
          if (n <= 0) _exit(251);
          done += static_cast<size_t>(n);
        }
      }
      close(ends[1]);
    });
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    try {
      const Corpus corpus = Corpus::read({fmt::format("/dev/fd/{}", ends[0])}, {}, folder);
      if (!is_right(corpus)) _exit(252);
    } catch (...) {
      _exit(253);
    }
    getrusage(RUSAGE_SELF, &after);
    _exit(static_cast<int>(std::min(249L, (after.ru_maxrss - before.ru_maxrss) / 1024)));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

TEST_F(CorpusErrors, ALongLineCostsNoMemory) {
  std::string block;
  for (int i = 0; i < 50'000; ++i) block += fmt::format("{:015} ", i % 1000);
  const int blocks = kSanitized ? 10 : 250;  // 0.8 MB each
  const uint64_t words = 50'000 * static_cast<uint64_t>(blocks);
  const int grown =
      megabytes_to_read(folder_.path(), {block, blocks, ""}, [&](const Corpus& corpus) {
        return corpus.counts().kept == words && corpus.counts().lines == 1 &&
               corpus.counts().longest_line == words && corpus.vocabulary().words.size() == 1000;
      });
  EXPECT_LT(grown, kSanitized ? 250 : 40);
}

TEST_F(CorpusErrors, ALongWordCostsNoMemory) {
  const LongText text{std::string(1 << 20, 'x'), kSanitized ? 20 : 200, " a b a b a b a b a b"};
  const int grown = megabytes_to_read(folder_.path(), text, [](const Corpus& corpus) {
    return corpus.counts().too_long == 1 && corpus.counts().tokens == 11 &&
           corpus.vocabulary().words.size() == 2;
  });
  EXPECT_LT(grown, kSanitized ? 250 : 40);
}

}  // namespace
}  // namespace kith
