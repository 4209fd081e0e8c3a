// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "io/posix.h"
#include "io/test_files.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)

TEST(Atomic, ShowsTheFileOnlyWhenItIsWhole) {
  const TempFolder folder;
  const std::string path = put(folder / "model", "old");
  {
    AtomicFile file(path);
    file.write("new ");
    file.write(std::string(3'000'000, 'x'));  // larger than the buffer
    file.write(std::string_view("end"));
    EXPECT_EQ(get(path), "old");
    file.commit();
  }
  EXPECT_EQ(get(path), "new " + std::string(3'000'000, 'x') + "end");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Atomic, NothingRemainsWithoutCommit) {
  const TempFolder folder;
  {
    AtomicFile file(folder / "model");
    file.write(std::string(2'000'000, 'x'));
    file.prepare();
    // Not even a process that is killed now leaves anything, where files may have no name.
    const posix::Fd nameless(::open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600));
    EXPECT_EQ(folder.files(), nameless.get() >= 0 ? 0u : 1u);
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Atomic, AFileMadeByItHasTheUsersUsualRights) {
  const TempFolder folder;
  const mode_t before = ::umask(027);
  AtomicFile file(folder / "model");
  file.commit();
  ::umask(before);
  struct stat info;
  ASSERT_EQ(::stat((folder / "model").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(Atomic, AFileThatIsReplacedKeepsItsRights) {
  const TempFolder folder;
  for (const mode_t mode : {mode_t{0600}, mode_t{0640}, mode_t{0444}}) {
    const std::string path = folder / std::to_string(mode);
    put(path, "old");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    AtomicFile file(path);
    file.write("new");
    file.commit();
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, mode);
  }
}

TEST(Atomic, FollowsALinkAndTakesTheLongestName) {
  const TempFolder folder;
  put(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  AtomicFile linked(folder / "link");
  linked.write("new");
  linked.commit();
  EXPECT_EQ(get(folder / "target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));

  const std::string longest(255, 'n');
  AtomicFile file(folder / longest);
  file.write("x");
  file.commit();
  EXPECT_EQ(get(folder / longest), "x");
}

// The system refuses files beyond `bytes` while one of these lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t signal_;
};

TEST(Atomic, AFailedWriteLeavesTheOldFileWhole) {
  const TempFolder folder;
  const std::string path = put(folder / "model", "old");
  // At the first write beyond the buffer, and at the last one in commit().
  for (const size_t bytes : {size_t{3'000'000}, size_t{500'000}}) {
    const FileSizeLimit limit(100'000);
    EXPECT_FAILURE(
        {
          AtomicFile file(path);
          file.write(std::string(bytes, 'x'));
          file.commit();
        },
        ErrorKind::kIo, path + ": cannot write: file too large");
  }
  EXPECT_EQ(get(path), "old");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Atomic, AFullDiskIsAnErrorWithARemedy) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  EXPECT_FAILURE(
      {
        AtomicFile file("/dev/full");
        file.write("x");
        file.commit();
      },
      ErrorKind::kIo, "no space left on device; free some space or write elsewhere");
  struct stat info;
  ASSERT_EQ(::stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "a device must not be replaced by a file";
}

TEST(Atomic, SaysWhatIsWrongWithAPath) {
  const TempFolder folder;
  EXPECT_FAILURE(AtomicFile(folder.path()), ErrorKind::kIo, "this is a folder");
  EXPECT_FAILURE(AtomicFile(folder / "no/model"), ErrorKind::kIo,
                 "no such file or directory; check the spelling and that the folder is there");
}

TEST(Atomic, AReadOnlyFolderIsAnError) {
  const TempFolder folder;
  ::chmod(folder.path().c_str(), 0500);
  // Root may write anywhere, so it becomes nobody for the moment.
  const bool root = ::geteuid() == 0;
  if (root && ::seteuid(65534) != 0) GTEST_SKIP() << "root that cannot be anybody else";
  EXPECT_FAILURE(AtomicFile(folder / "model"), ErrorKind::kIo, "permission denied; ask for");
  EXPECT_FAILURE(ScratchFile(folder.path()), ErrorKind::kIo, "permission denied; ask for");
  EXPECT_TRUE(!root || ::seteuid(0) == 0);
  ::chmod(folder.path().c_str(), 0700);
}

TEST(Scratch, GivesBackWhatWasAppended) {
  const TempFolder folder;
  ScratchFile file(folder.path());
  constexpr uint32_t kWords = 1'000'000;
  for (uint32_t i = 0; i < kWords; ++i) {
    file.append({reinterpret_cast<const char*>(&i), sizeof i});
  }
  file.flush();
  EXPECT_EQ(file.size(), uint64_t{kWords} * 4);
  EXPECT_EQ(folder.files(), 0u) << "a scratch file must have no name";

  // Four threads read disjoint and common parts at once.
  std::vector<std::jthread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&file, t] {
      std::vector<uint32_t> words(1000);
      for (uint32_t first = t; first + 1000 <= kWords; first += 7919) {
        file.read(uint64_t{first} * 4, {reinterpret_cast<char*>(words.data()), 4000});
        for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(words[i], first + i);
      }
    });
  }
}

TEST(Scratch, RefusesToReadBehindTheEnd) {
  const TempFolder folder;
  ScratchFile file(folder.path());
  file.append(std::string("abcd"));
  char out[5];
  EXPECT_FAILURE(file.read(0, {out, 4}), ErrorKind::kIo, "asked for 4 bytes");  // not flushed
  file.flush();
  file.read(1, {out, 3});
  EXPECT_EQ(std::string(out, 3), "bcd");
  EXPECT_FAILURE(file.read(1, {out, 4}), ErrorKind::kIo, folder.path());
  EXPECT_FAILURE(file.read(UINT64_MAX, {out, 2}), ErrorKind::kIo, folder.path());
}

TEST(Scratch, NamesTheFolderInItsErrors) {
  const TempFolder folder;
  EXPECT_FAILURE(ScratchFile(folder / "none"), ErrorKind::kIo,
                 folder / "none: cannot make a scratch file");
  ScratchFile file(folder.path());
  const FileSizeLimit limit(100'000);
  EXPECT_FAILURE(file.append(std::string(2'000'000, 'x')), ErrorKind::kIo, folder.path());
}

}  // namespace
}  // namespace kith
