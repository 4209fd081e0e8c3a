// SPDX-License-Identifier: Apache-2.0
// What unpacks: one class for each library, all of the same shape.

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <new>

#include "core/error.h"
#include "io/raw_input.h"

namespace kith {
namespace {

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

class XzSource final : public ByteSource {
 public:
  explicit XzSource(RawInput input) : input_(std::move(input)) {
    if (::lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  ~XzSource() override { ::lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

  std::span<const char> next() override {
    while (!done_) {
      bool ended = false;
      if (stream_.avail_in == 0) {
        const auto piece = input_.next();
        stream_.next_in = reinterpret_cast<const uint8_t*>(piece.data());
        stream_.avail_in = piece.size();
        ended = piece.empty();
      }
      stream_.next_out = reinterpret_cast<uint8_t*>(out_.data.get());
      stream_.avail_out = out_.size;
      // More streams may follow until it is told that nothing does.
      const lzma_ret code = ::lzma_code(&stream_, ended ? LZMA_FINISH : LZMA_RUN);
      done_ = code == LZMA_STREAM_END;
      if (code == LZMA_BUF_ERROR) cut_off(input_, "xz");
      if (code != LZMA_OK && !done_) fail(code);
      const size_t produced = out_.size - stream_.avail_out;
      if (produced > 0) return {out_.data.get(), produced};
    }
    return {};
  }
  double share() const override { return input_.share(stream_.avail_in); }

 private:
  // xz -9 needs 65 MiB; a header can ask for 4 GiB.
  static constexpr uint64_t kMostMemory = uint64_t{256} << 20;

  [[noreturn]] void fail(lzma_ret code) const {
    if (code == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (code == LZMA_MEMLIMIT_ERROR) {
      throw fault(ErrorKind::kLimit,
                  "{}: unpacking it needs {} MiB of memory, and {} are allowed; unpack it with: "
                  "xz -dk",
                  input_.where(), (::lzma_memusage(&stream_) >> 20) + 1, kMostMemory >> 20);
    }
    damaged(input_, "xz",
            code == LZMA_FORMAT_ERROR    ? "not xz"
            : code == LZMA_OPTIONS_ERROR ? "it asks for what this version does not know"
                                         : "they do not add up");
  }

  RawInput input_;
  Buffer out_{kPiece};
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool done_ = false;
};

class Bzip2Source final : public ByteSource {
 public:
  explicit Bzip2Source(RawInput input) : input_(std::move(input)) { begin_member(); }
  ~Bzip2Source() override { ::BZ2_bzDecompressEnd(&stream_); }
  Bzip2Source(const Bzip2Source&) = delete;
  Bzip2Source& operator=(const Bzip2Source&) = delete;

  std::span<const char> next() override {
    for (;;) {
      bool ended = false;
      if (stream_.avail_in == 0) {
        const auto piece = input_.next();
        // bzip2 does not write through it; the cast is for its C interface.
        stream_.next_in = const_cast<char*>(piece.data());
        stream_.avail_in = static_cast<unsigned>(piece.size());
        ended = piece.empty();
      }
      if (between_members_) {
        if (ended) return {};
        begin_member();
      }
      stream_.next_out = out_.data.get();
      stream_.avail_out = static_cast<unsigned>(out_.size);
      const int code = ::BZ2_bzDecompress(&stream_);
      if (code == BZ_MEM_ERROR) throw std::bad_alloc();
      if (code != BZ_OK && code != BZ_STREAM_END) {
        damaged(input_, "bzip2", code == BZ_DATA_ERROR_MAGIC ? "not bzip2" : "they do not add up");
      }
      between_members_ = code == BZ_STREAM_END;
      const size_t produced = out_.size - stream_.avail_out;
      if (ended && produced == 0 && !between_members_) cut_off(input_, "bzip2");
      if (produced > 0) return {out_.data.get(), produced};
    }
  }
  double share() const override { return input_.share(stream_.avail_in); }

 private:
  void begin_member() {
    const bz_stream before = stream_;
    ::BZ2_bzDecompressEnd(&stream_);  // of the one before, if there was one
    stream_ = {};
    if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    stream_.next_in = before.next_in;
    stream_.avail_in = before.avail_in;
    between_members_ = false;
  }

  RawInput input_;
  Buffer out_{kPiece};
  bz_stream stream_{};
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unpack_gzip(RawInput input) {
  return std::make_unique<GzipSource>(std::move(input));
}
std::unique_ptr<ByteSource> unpack_zstd(RawInput input) {
  return std::make_unique<ZstdSource>(std::move(input));
}
std::unique_ptr<ByteSource> unpack_xz(RawInput input) {
  return std::make_unique<XzSource>(std::move(input));
}
std::unique_ptr<ByteSource> unpack_bzip2(RawInput input) {
  return std::make_unique<Bzip2Source>(std::move(input));
}

}  // namespace kith
