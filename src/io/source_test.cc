// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/error.h"
#include "core/rng.h"
#include "core/waiting.h"
#include "io/file.h"
#include "io/posix.h"
#include "io/test_files.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;

// Longer than two pieces, and hardly compressible, so that both sides of a stream are cut.
std::string noise(size_t bytes) {
  Rng rng(7, 0);
  std::string out(bytes, '\0');
  for (char& c : out) c = static_cast<char>(rng.next() >> 56);
  return out;
}

// It would wait for what is typed next.
TEST(Source, ATerminalIsNotAskedAgainAfterItsEnd) {
  const posix::Fd keyboard(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (keyboard.get() < 0 || ::grantpt(keyboard.get()) != 0 || ::unlockpt(keyboard.get()) != 0) {
    GTEST_SKIP() << "there are no terminals here";
  }
  const posix::Fd screen(::open(::ptsname(keyboard.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_GE(screen.get(), 0);
  const std::string typed = "words\n\x04";  // Ctrl-D
  ASSERT_EQ(::write(keyboard.get(), typed.data(), typed.size()), std::ssize(typed));
  Context context(1);
  const Waiting waiting(context);
  const std::jthread gives_up([&](const std::stop_token& stop) {
    for (int i = 0; i < 200 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(50ms);
    context.cancel();
  });
  const auto source = open_source(::ptsname(keyboard.get()));
  const auto words = source->next();
  EXPECT_EQ(std::string(words.begin(), words.end()), "words\n");
  EXPECT_TRUE(source->next().empty());
  EXPECT_TRUE(source->next().empty()) << "and not an Error(kCancelled)";
}

TEST(Source, GivesTheBytesOfAFileWhateverTheCompression) {
  const TempFolder folder;
  for (const std::string& text : {std::string("x"), std::string("two\nlines"), noise(2'500'000),
                                  std::string(5'000'000, 'a')}) {
    EXPECT_EQ(drain(put(folder / "plain", text)), text);
    EXPECT_EQ(drain(put(folder / "gz", gzip(text))), text);
    EXPECT_EQ(drain(put(folder / "zst", zstd(text))), text);
  }
}

TEST(Source, EmptyFilesAreEmpty) {
  const TempFolder folder;
  EXPECT_EQ(drain(put(folder / "plain", "")), "");
  EXPECT_EQ(drain(put(folder / "gz", gzip(""))), "");
  EXPECT_EQ(drain(put(folder / "zst", zstd(""))), "");
  EXPECT_EQ(open_source(folder / "plain")->share(), 1.0);
}

TEST(Source, MembersAndFramesFollowEachOther) {
  const TempFolder folder;
  const std::string big = noise(1'500'000);
  EXPECT_EQ(drain(put(folder / "a", gzip("one ") + gzip("") + gzip(big) + gzip(" two"))),
            "one " + big + " two");
  EXPECT_EQ(drain(put(folder / "b", zstd("one ") + zstd("") + zstd(big) + zstd(" two"))),
            "one " + big + " two");
  // Zeros behind the last member are padding (tapes), as for gzip(1).
  EXPECT_EQ(drain(put(folder / "c", gzip("one") + std::string(2'000'000, '\0'))), "one");
  // A skippable frame in front: 4 bytes of magic, 4 of length, content.
  EXPECT_EQ(drain(put(folder / "d", std::string("\x50\x2a\x4d\x18\x02\0\0\0ab", 10) + zstd("x"))),
            "x");
}

TEST(Source, EveryCutOfACompressedFileIsRefused) {
  const TempFolder folder;
  const std::string text = "the company it keeps\n";
  for (const std::string& whole : {gzip(text), zstd(text), gzip(text) + gzip(text)}) {
    for (size_t n = 2; n < whole.size(); ++n) {
      if (whole.substr(0, n) == gzip(text)) continue;  // a whole first member
      EXPECT_FAILURE(drain(put(folder / "cut", whole.substr(0, n))), ErrorKind::kInput, "cut");
    }
  }
}

TEST(Source, DamageAndGarbageAreRefused) {
  const TempFolder folder;
  std::string damaged = gzip(noise(10'000));
  damaged[5'000] = static_cast<char>(damaged[5'000] ^ 1);
  EXPECT_FAILURE(drain(put(folder / "a", damaged)), ErrorKind::kInput, "gzip data are damaged");
  EXPECT_FAILURE(drain(put(folder / "b", gzip("x") + "garbage")), ErrorKind::kInput, "damaged");
  EXPECT_FAILURE(drain(put(folder / "c", zstd("x") + "garbage")), ErrorKind::kInput, "damaged");
}

TEST(Source, SaysWhatIsWrongWithAPath) {
  const TempFolder folder;
  EXPECT_FAILURE(open_source(folder / "missing.txt"), ErrorKind::kIo,
                 folder / "missing.txt" + ": cannot open: no such file or directory");
  EXPECT_FAILURE(open_source(folder.path()), ErrorKind::kIo, "this is a folder");
}

// Puts a descriptor in the place of standard input for a while.
class AsStandardInput {
 public:
  explicit AsStandardInput(int fd) : saved_(::dup(STDIN_FILENO)) {
    ::dup2(fd, STDIN_FILENO);
    ::close(fd);
  }
  ~AsStandardInput() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  AsStandardInput(const AsStandardInput&) = delete;
  AsStandardInput& operator=(const AsStandardInput&) = delete;

 private:
  int saved_;
};

TEST(Source, ReadsStandardInputFromAPipe) {
  const std::string text = noise(300'000);
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::jthread writer([&bytes, fd = ends[1]] {
      // One byte first: the magic number comes in two pieces.
      EXPECT_EQ(::write(fd, bytes.data(), 1), 1);
      ::usleep(10'000);
      for (size_t i = 1; i < bytes.size();) {
        const ssize_t n = ::write(fd, bytes.data() + i, bytes.size() - i);
        ASSERT_GT(n, 0);
        i += static_cast<size_t>(n);
      }
      ::close(fd);
    });
    const AsStandardInput input(ends[0]);
    EXPECT_EQ(drain("-"), text);
  }
}

// A pipe that stays silent, before its first byte and after it.
TEST(Source, WaitingEndsWhenNobodyWantsTheBytes) {
  const TempFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const std::string_view first : {"", "some bytes"}) {
    const int writer = ::open(path.c_str(), O_RDWR);
    ASSERT_GE(writer, 0);
    ASSERT_EQ(::write(writer, first.data(), first.size()), std::ssize(first));
    Context context(1);
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      context.cancel();
    });
    try {
      const Waiting waiting(context);
      const auto source = open_source(path);
      EXPECT_EQ(std::string(source->next().data(), first.size()), first);
      source->next();
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kCancelled);
    }
    later.join();
    ::close(writer);
    Waiting::check();  // nobody is asked any more
  }
}

TEST(Source, ReadsStandardInputFromAFile) {
  const TempFolder folder;
  const AsStandardInput input(::open(put(folder / "f", "some text").c_str(), O_RDONLY));
  EXPECT_EQ(drain("-"), "some text");
}

TEST(Mapped, ShowsTheBytesAndMoves) {
  const TempFolder folder;
  MappedFile a(put(folder / "a", "hello"));
  MappedFile b(put(folder / "b", "empty not"));
  b = std::move(a);
  const MappedFile c(std::move(b));
  EXPECT_EQ(std::string(c.bytes().data(), c.bytes().size()), "hello");
  EXPECT_EQ(c.path(), folder / "a");
  EXPECT_TRUE(MappedFile(put(folder / "e", "")).bytes().empty());
}

TEST(Mapped, RefusesWhatCannotBeMapped) {
  const TempFolder folder;
  EXPECT_FAILURE(MappedFile(folder / "none"), ErrorKind::kIo, "no such file");
  EXPECT_FAILURE(MappedFile(folder.path()), ErrorKind::kIo, "this is a folder");
  EXPECT_FAILURE(MappedFile("/dev/null"), ErrorKind::kIo, "cannot be mapped");
}

}  // namespace
}  // namespace kith
