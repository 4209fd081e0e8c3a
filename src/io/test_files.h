// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers of the tests of this folder: a folder that goes away, files, compression, messages.

#include <bzlib.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "core/error.h"
#include "io/file.h"

namespace kith::testing {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kith-io-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

inline std::string put(const std::string& path, std::string_view bytes) {
  // Some file systems wait for the disk when a file is overwritten; a new one is quick.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

inline std::string xz(std::string_view bytes) {
  std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

inline std::string bzip2(std::string_view bytes) {
  auto size = static_cast<unsigned>(bytes.size() + bytes.size() / 100 + 600);
  std::string out(size, '\0');
  EXPECT_EQ(BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(bytes.data()),
                                     static_cast<unsigned>(bytes.size()), 9, 0, 0),
            BZ_OK);
  out.resize(size);
  return out;
}

// Everything a source gives, with its promises checked on the way.
inline std::string drain(const std::string& path) {
  const auto source = open_source(path);
  std::string out;
  double last = -1;
  for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
    EXPECT_LE(piece.size(), size_t{1} << 20);
    out.append(piece.data(), piece.size());
    EXPECT_GE(source->share(), last);
    EXPECT_LE(source->share(), 1.0);
    last = source->share();
  }
  EXPECT_TRUE(source->next().empty()) << "the end is not final";
  return out;
}

struct Failure {
  ErrorKind kind;
  std::string message;
};

// What `work` throws. The test fails if it throws nothing.
template <class Work>
Failure failure_of(const Work& work) {
  try {
    work();
  } catch (const Error& e) {
    return {e.kind(), e.what()};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorKind::kUsage, ""};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

#define EXPECT_FAILURE(statement, expected_kind, part)                    \
  do {                                                                    \
    const auto failure = ::kith::testing::failure_of([&] { statement; }); \
    EXPECT_EQ(failure.kind, expected_kind) << failure.message;            \
    EXPECT_TRUE(::kith::testing::contains(failure.message, part))         \
        << "message: " << failure.message << "\nwithout: " << (part);     \
  } while (false)

}  // namespace kith::testing
