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
    EXPECT_EQ(drain(put(folder / "xz", xz(text))), text);
    EXPECT_EQ(drain(put(folder / "bz2", bzip2(text))), text);
  }
}

TEST(Source, EmptyFilesAreEmpty) {
  const TempFolder folder;
  EXPECT_EQ(drain(put(folder / "plain", "")), "");
  EXPECT_EQ(drain(put(folder / "gz", gzip(""))), "");
  EXPECT_EQ(drain(put(folder / "zst", zstd(""))), "");
  EXPECT_EQ(drain(put(folder / "xz", xz(""))), "");
  EXPECT_EQ(drain(put(folder / "bz2", bzip2(""))), "");
  EXPECT_EQ(open_source(folder / "plain")->share(), 1.0);
}

TEST(Source, MembersAndFramesFollowEachOther) {
  const TempFolder folder;
  const std::string big = noise(1'500'000);
  EXPECT_EQ(drain(put(folder / "a", gzip("one ") + gzip("") + gzip(big) + gzip(" two"))),
            "one " + big + " two");
  EXPECT_EQ(drain(put(folder / "b", zstd("one ") + zstd("") + zstd(big) + zstd(" two"))),
            "one " + big + " two");
  EXPECT_EQ(drain(put(folder / "e", xz("one ") + xz("") + xz(big) + xz(" two"))),
            "one " + big + " two");
  EXPECT_EQ(drain(put(folder / "f", bzip2("one ") + bzip2("") + bzip2(big) + bzip2(" two"))),
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
  for (const auto pack : {gzip, zstd, xz, bzip2}) {
    const std::string whole = pack(text) + pack(text);
    // Four bytes tell bzip2 from text, of the others two do.
    for (size_t n = pack == bzip2 ? 4 : 2; n < whole.size(); ++n) {
      if (whole.substr(0, n) == pack(text)) continue;  // a whole first member
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
  EXPECT_FAILURE(drain(put(folder / "d", xz("x") + "garbage, and more of it")), ErrorKind::kInput,
                 "xz data are damaged");
  EXPECT_FAILURE(drain(put(folder / "e", bzip2("x") + "garbage")), ErrorKind::kInput,
                 "bzip2 data are damaged (not bzip2)");
  for (const auto pack : {xz, bzip2}) {
    damaged = pack(noise(10'000));
    damaged[5'000] = static_cast<char>(damaged[5'000] ^ 1);
    EXPECT_FAILURE(drain(put(folder / "f", damaged)), ErrorKind::kInput, "data are damaged");
  }
}

// A header of 12 bytes, and of a block that it takes a dictionary of 1.5 GiB to unpack.
TEST(Source, AHeaderCannotTakeAllMemory) {
  const TempFolder folder;
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 6);
  options.dict_size = uint32_t{3} << 29;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_block block{};
  block.check = LZMA_CHECK_NONE;
  block.compressed_size = block.uncompressed_size = LZMA_VLI_UNKNOWN;
  block.filters = const_cast<lzma_filter*>(filters);
  ASSERT_EQ(lzma_block_header_size(&block), LZMA_OK);
  std::string bytes(12 + block.header_size, '\0');
  lzma_stream_flags flags{};
  flags.check = LZMA_CHECK_NONE;
  auto* const out = reinterpret_cast<uint8_t*>(bytes.data());
  ASSERT_EQ(lzma_stream_header_encode(&flags, out), LZMA_OK);
  ASSERT_EQ(lzma_block_header_encode(&block, out + 12), LZMA_OK);
  EXPECT_FAILURE(drain(put(folder / "large", bytes + std::string(100, '\1'))), ErrorKind::kLimit,
                 "and 256 are allowed; unpack it with: xz -dk");
}

TEST(Source, WhatHoldsDataButIsNoStreamIsRefusedWithACommand) {
  const TempFolder folder;
  const auto refuse = [&](const std::string& bytes, const std::string& part) {
    EXPECT_FAILURE(drain(put(folder / "a file", bytes)), ErrorKind::kInput, part);
  };
  const std::string quoted = "'" + folder / "a file" + "'";
  const std::string member = "PK\3\4" + std::string(26, '\1');
  refuse(member + "films.csv", "this is a zip archive; unpack it with: unzip " + quoted);
  refuse("PK\5\6" + std::string(18, '\1'), "this is a zip archive");
  refuse(member + "[Content_Types].xml", "this is a workbook; convert it with: libreoffice");
  refuse("7z\xbc\xaf\x27\x1c", "this is a 7z archive; unpack it with: 7z x " + quoted);
  refuse("PAR1\x15\x04",
         "read_parquet(sys.argv[1]).to_csv(sys.argv[1] + '.csv', index=False)\" " + quoted);
}

// What texts may begin with, too.
TEST(Source, TextThatBeginsLikeSomethingElseIsText) {
  const TempFolder folder;
  for (const std::string text :
       {"PAR1,PAR2\n1,2\n", "PAR1", "BZh9,x\n", "BZh", "PK,x\n", "7z,x\n"}) {
    EXPECT_EQ(drain(put(folder / "text", text)), text);
  }
}

TEST(Source, NamesLoseTheEndingOfThePacker) {
  EXPECT_EQ(name_unpacked("a.b/films.csv.gz"), "a.b/films.csv");
  for (const std::string end : {".gz", ".zst", ".zstd", ".xz", ".bz2"}) {
    EXPECT_EQ(name_unpacked("films.csv" + end), "films.csv");
  }
  EXPECT_EQ(name_unpacked("films.csv"), "films.csv");
  EXPECT_EQ(name_unpacked("films"), "films");
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
  for (const std::string& bytes : {text, gzip(text), zstd(text), xz(text), bzip2(text)}) {
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
