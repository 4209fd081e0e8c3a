// SPDX-License-Identifier: Apache-2.0
// When a file and its name reach the disk. A power cut cannot be tried, so what is asked of the
// system is watched: these calls stand before those of the C library for this program.
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "core/test_errors.h"
#include "io/file.h"
#include "io/test_files.h"

namespace {

struct Call {
  enum What { kSyncFile, kSyncFolder, kRename } what;
  ino_t inode;  // of what is synced, or renamed
  off_t size;
};
bool g_watch = false;
bool g_fail = false;  // fsync of a file, as on a broken disk
std::vector<Call> g_calls;

template <class F>
F* next_of(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int fsync(int fd) {
  static const auto next = next_of<int(int)>("fsync");
  struct stat info {};
  ::fstat(fd, &info);
  const bool folder = S_ISDIR(info.st_mode);
  if (g_watch) {
    g_calls.push_back({folder ? Call::kSyncFolder : Call::kSyncFile, info.st_ino, info.st_size});
    if (g_fail && !folder) {
      errno = EIO;
      return -1;
    }
  }
  return next(fd);
}

extern "C" int rename(const char* from, const char* to) noexcept {
  static const auto next = next_of<int(const char*, const char*)>("rename");
  struct stat info {};
  ::stat(from, &info);
  if (g_watch) g_calls.push_back({Call::kRename, info.st_ino, info.st_size});
  return next(from, to);
}

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)

class Sync : public ::testing::Test {
 protected:
  void SetUp() override {
    g_calls.clear();
    g_watch = true;
  }
  void TearDown() override { g_watch = g_fail = false; }
  const TempFolder folder_;
};

ino_t inode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_ino;
}

TEST_F(Sync, TheBytesAreOnTheDiskBeforeTheNameAndTheNameAtTheEnd) {
  const std::string target = folder_ / "model";
  AtomicFile file(target);
  file.write(std::string(3'000'000, 'x'));
  file.write("the end");
  EXPECT_TRUE(g_calls.empty());
  file.commit();
  ASSERT_EQ(g_calls.size(), 3u);
  const ino_t inode = inode_of(target);
  EXPECT_EQ(g_calls[0].what, Call::kSyncFile);
  EXPECT_EQ(g_calls[0].inode, inode);
  EXPECT_EQ(g_calls[0].size, 3'000'007);
  EXPECT_EQ(g_calls[1].what, Call::kRename);
  EXPECT_EQ(g_calls[1].inode, inode);
  EXPECT_EQ(g_calls[2].what, Call::kSyncFolder);
  EXPECT_EQ(g_calls[2].inode, inode_of(folder_.path()));
}

TEST_F(Sync, ADiskThatDoesNotTakeTheBytesLeavesTheOldFile) {
  const std::string target = put(folder_ / "model", "old");
  {
    AtomicFile file(target);
    file.write("new");
    g_fail = true;
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "to the disk",
                        message_of(ErrorKind::kIo, [&] { file.commit(); }));
  }
  EXPECT_EQ(get(target), "old");
  for (const Call& call : g_calls) EXPECT_NE(call.what, Call::kRename);
}

}  // namespace
}  // namespace kith
