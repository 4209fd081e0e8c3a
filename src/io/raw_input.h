// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file or pipe as its bytes come, before anything is unpacked. Private to src/io.

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/waiting.h"
#include "io/file.h"
#include "io/posix.h"

namespace kith {

inline constexpr size_t kPiece = size_t{1} << 20;

// Bytes that are not set to zero first: they are about to be overwritten.
struct Buffer {
  explicit Buffer(size_t n) : data(std::make_unique_for_overwrite<char[]>(n)), size(n) {}
  std::span<char> span() const { return {data.get(), size}; }
  std::unique_ptr<char[]> data;
  size_t size;
};

class RawInput {
 public:
  explicit RawInput(const std::string& path)
      : where_(path == "-" ? "standard input" : path), fd_(posix::open_to_read(path)) {
    struct stat info;
    if (::fstat(fd_.get(), &info) == 0 && S_ISREG(info.st_mode)) {
      const off_t start = ::lseek(fd_.get(), 0, SEEK_CUR);  // standard input may be half read
      size_ = std::max<int64_t>(0, info.st_size - std::max<off_t>(0, start));
      ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    }
  }

  // Fills the buffer up to `least` bytes or the end without giving any away.
  std::string_view peek(size_t least) {
    while (ahead_ < least) {
      const size_t n = read(buffer_.span().subspan(ahead_));
      if (n == 0) break;
      ahead_ += n;
    }
    return {buffer_.data.get(), ahead_};
  }

  // The next piece, valid until the next call; empty at the end.
  std::span<const char> next() {
    if (ahead_ == 0 && !ended_) ahead_ = read(buffer_.span());
    const size_t n = std::exchange(ahead_, 0);
    ended_ = n == 0;  // a terminal says "end" once; asking again would wait for more
    given_ += n;
    return {buffer_.data.get(), n};
  }

  double share(uint64_t unused = 0) const {
    if (size_ < 0) return -1;
    if (ended_ || size_ == 0) return 1;
    return std::min(1.0, static_cast<double>(given_ - unused) / static_cast<double>(size_));
  }
  const std::string& where() const { return where_; }

 private:
  static constexpr int kPatience = 100;  // milliseconds between looks whether anybody waits

  // A pipe or a terminal may keep us waiting.
  size_t read(std::span<char> out) {
    Waiting::check();
    struct pollfd coming {
      fd_.get(), POLLIN, 0
    };
    for (int n = 0; size_ < 0 && (n == 0 || (n < 0 && errno == EINTR));) {
      n = ::poll(&coming, 1, kPatience);
      Waiting::check();
    }
    return posix::read_some(fd_.get(), out, where_);
  }

  std::string where_;
  posix::Fd fd_;
  Buffer buffer_{kPiece};
  size_t ahead_ = 0;    // bytes read that next() has not given yet
  uint64_t given_ = 0;  // bytes that next() has given
  int64_t size_ = -1;   // of the file, or -1 when unknown
  bool ended_ = false;
};

// What a packed file holds: any number of members, frames or streams, one behind the other.
std::unique_ptr<ByteSource> unpack_gzip(RawInput input);  // RFC 1952
std::unique_ptr<ByteSource> unpack_zstd(RawInput input);  // RFC 8878
std::unique_ptr<ByteSource> unpack_xz(RawInput input);    // tukaani.org/xz/xz-file-format.txt
std::unique_ptr<ByteSource> unpack_bzip2(RawInput input);

}  // namespace kith
