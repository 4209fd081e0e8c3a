// SPDX-License-Identifier: Apache-2.0
// Streams of bytes: plain, gzip (RFC 1952, any number of members) and zstd (any number of frames).

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "core/error.h"
#include "core/waiting.h"
#include "io/file.h"
#include "io/posix.h"

namespace kith {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr int kPatience = 100;  // milliseconds between looks whether anybody still waits

// Bytes that are not set to zero first: they are about to be overwritten.
struct Buffer {
  explicit Buffer(size_t n) : data(std::make_unique_for_overwrite<char[]>(n)), size(n) {}
  std::span<char> span() const { return {data.get(), size}; }
  std::unique_ptr<char[]> data;
  size_t size;
};

// The file itself, before decompression.
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

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(RawInput input) : input_(std::move(input)) {}
  std::span<const char> next() override { return input_.next(); }
  double share() const override { return input_.share(); }

 private:
  RawInput input_;
};

[[noreturn]] void cut_off(const RawInput& input, const char* format) {
  throw fault(ErrorKind::kInput,
              "{}: the {} data end too early; the file is cut off, so fetch or make it again",
              input.where(), format);
}

[[noreturn]] void damaged(const RawInput& input, const char* format, const char* detail) {
  throw fault(ErrorKind::kInput,
              "{}: the {} data are damaged ({}); check the file, and fetch or make it again",
              input.where(), format, detail);
}

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(RawInput input) : input_(std::move(input)) {
    // 15: the largest window; + 16: gzip with its checksum, nothing else.
    if (::inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { ::inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::span<const char> next() override {
    for (;;) {
      const bool ended = !refill();
      if (between_members_) {
        if (ended) return {};
        if (!begin_member()) continue;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data.get());
      stream_.avail_out = static_cast<uInt>(out_.size);
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      const size_t produced = out_.size - stream_.avail_out;
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        damaged(input_, "gzip", stream_.msg ? stream_.msg : "not gzip");
      } else if (ended && produced == 0) {
        cut_off(input_, "gzip");
      }
      if (produced > 0) return {out_.data.get(), produced};
    }
  }
  double share() const override { return input_.share(stream_.avail_in); }

 private:
  // False at the end of the file with nothing left.
  bool refill() {
    if (stream_.avail_in > 0) return true;
    const auto piece = input_.next();
    // zlib does not write through it; the cast is for its C interface.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    return !piece.empty();
  }

  // Zeros between and after members are padding, as for gzip(1). False if there was only padding.
  bool begin_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    ::inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  RawInput input_;
  Buffer out_{kPiece};
  z_stream stream_{};
  bool between_members_ = false;
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(RawInput input) : input_(std::move(input)), stream_(::ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  std::span<const char> next() override {
    for (;;) {
      bool ended = false;
      if (in_.pos == in_.size) {
        const auto piece = input_.next();
        in_ = {piece.data(), piece.size(), 0};
        ended = piece.empty();
      }
      if (ended && between_frames_) return {};
      ZSTD_outBuffer out{out_.data.get(), out_.size, 0};
      const size_t code = ::ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (::ZSTD_isError(code)) damaged(input_, "zstd", ::ZSTD_getErrorName(code));
      between_frames_ = code == 0;
      if (ended && out.pos == 0 && !between_frames_) cut_off(input_, "zstd");
      if (out.pos > 0) return {out_.data.get(), out.pos};
    }
  }
  double share() const override { return input_.share(in_.size - in_.pos); }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
  };
  RawInput input_;
  Buffer out_{kPiece};
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool between_frames_ = false;
};

// A file that ends inside the magic number counts too: it is cut off, not text.
bool begins_with(std::string_view bytes, std::string_view magic) {
  const size_t n = std::min(bytes.size(), magic.size());
  return n >= 2 && bytes.substr(0, n) == magic.substr(0, n);
}

bool is_zstd(std::string_view bytes) {
  if (begins_with(bytes, "\x28\xb5\x2f\xfd")) return true;
  // A skippable frame in front, as parallel compressors write.
  return bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  RawInput input(path);
  const std::string_view start = input.peek(4);
  if (begins_with(start, "\x1f\x8b")) return std::make_unique<GzipSource>(std::move(input));
  if (is_zstd(start)) return std::make_unique<ZstdSource>(std::move(input));
  return std::make_unique<PlainSource>(std::move(input));
}

}  // namespace kith
