// SPDX-License-Identifier: Apache-2.0
#include "io/fasttext_input.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "core/error.h"
#include "io/fasttext_bin.h"
#include "io/file.h"

namespace kith {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr size_t kChunkFloats = size_t{1} << 20;
constexpr size_t kCentroids = 256;
// So many values may stand behind a byte of codes; fastText takes 2 unless told otherwise. Without
// a limit a small file could become a huge table.
constexpr int32_t kMaxWidth = 64;

// The size of the file if it stands on a disk and is not packed.
std::optional<uint64_t> plain_size(const std::string& path) {
  std::error_code ignored;
  if (path == "-" || !std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (!is_fasttext_bin({bytes.data(), bytes.size()})) return std::nullopt;
  return bytes.size();
}

// Rows as they come, those left out that are to be. Their number is believed if `trusted`.
class RowCollector {
 public:
  RowCollector(const std::string& where, const FastTextTable& table, bool trusted)
      : where_(where),
        table_(table),
        kept_(table.rows - table.dropped.size()),
        per_chunk_(trusted ? kept_ : std::max<size_t>(1, kChunkFloats / padded(table.dim))) {}

  void add(std::span<const float> row) {
    const uint64_t at = seen_++;
    if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) {
      throw fault(ErrorKind::kInput,
                  "{}: row {} of {} has values that are not finite; only finite ones can be used",
                  where_, at + 1, table_.title);
    }
    if (at - added_ < table_.dropped.size() && table_.dropped[at - added_] == at) return;
    const size_t within = added_++ % per_chunk_;
    if (within == 0) chunks_.emplace_back(per_chunk_, table_.dim);
    std::ranges::copy(row, chunks_.back().row(within).begin());
  }

  Matrix finish() {
    if (per_chunk_ == kept_ && kept_ > 0) return std::move(chunks_[0]);
    Matrix out(kept_, table_.dim);
    for (size_t r = 0; r < kept_; ++r) {
      Matrix& chunk = chunks_[r / per_chunk_];
      const size_t within = r % per_chunk_;
      std::ranges::copy(chunk.row(within), out.row(r).begin());
      if (within + 1 == per_chunk_) chunk = Matrix();  // at most one chunk is there twice
    }
    return out;
  }

 private:
  const std::string& where_;
  const FastTextTable& table_;
  uint64_t kept_, per_chunk_;
  uint64_t seen_ = 0, added_ = 0;
  std::vector<Matrix> chunks_;
};

void take_shape(FastTextInput& in, const FastTextTable& table) {
  const auto rows = in.number<int64_t>(table.title);
  const auto cols = in.number<int64_t>(table.title);
  if (rows < 0 || cols < 0 || static_cast<uint64_t>(rows) != table.rows ||
      static_cast<uint64_t>(cols) != table.dim) {
    throw fault(ErrorKind::kInput,
                "{}: {} must have {} x {} values as the dictionary and the settings say; found {} "
                "x {}; the file is damaged",
                in.where(), table.title, table.rows, table.dim, rows, cols);
  }
}

// Vectors are cut into parts of `width` values, the last one of what is left. Each part is one of
// 256 centroids, so a byte says which (Jegou et al. 2011, product quantisation).
struct Codebook {
  size_t dim = 0, parts = 0, width = 0;
  std::vector<float> centroids;  // a part behind the other

  void decode(const char* codes, float scale, std::span<float> out) const {
    for (size_t p = 0; p < parts; ++p) {
      const size_t first = p * width;
      const size_t values = std::min(width, dim - first);
      const size_t code = static_cast<uint8_t>(codes[p]);
      const float* const centroid = centroids.data() + first * kCentroids + code * values;
      for (size_t i = 0; i < values; ++i) out[first + i] = scale * centroid[i];
    }
  }
};

Codebook take_codebook(FastTextInput& in, uint64_t expected_dim, std::string_view title) {
  const auto dim = in.number<int32_t>(title);
  const auto parts = in.number<int32_t>(title);
  const auto width = in.number<int32_t>(title);
  const auto last = in.number<int32_t>(title);
  const bool sound = dim > 0 && static_cast<uint64_t>(dim) == expected_dim && width > 0 &&
                     width <= kMaxWidth && parts == (dim - 1) / width + 1 &&
                     last == (dim - 1) % width + 1;
  if (!sound) {
    throw fault(ErrorKind::kInput,
                "{}: {}: codes for {} values in {} parts of {}, the last of {}; {} values were "
                "expected, and parts of at most {}",
                in.where(), title, dim, parts, width, last, expected_dim, kMaxWidth);
  }
  Codebook book{expected_dim, static_cast<size_t>(parts), static_cast<size_t>(width), {}};
  const std::string bytes = in.bytes(expected_dim * kCentroids * sizeof(float), title);
  book.centroids.resize(bytes.size() / sizeof(float));
  std::memcpy(book.centroids.data(), bytes.data(), bytes.size());
  return book;
}

}  // namespace

FastTextInput::FastTextInput(VectorInput& input) : input_(input), left_(plain_size(input.path())) {}

std::string_view FastTextInput::take(size_t n, std::string_view what) {
  const std::string_view out = input_.take(n);
  if (out.size() < n) {
    throw fault(ErrorKind::kInput, "{}: the file ends inside {} ({} of {} bytes); it is cut off",
                where(), what, out.size(), n);
  }
  if (left_) *left_ -= std::min<uint64_t>(n, *left_);  // a file may grow while it is read
  return out;
}

bool FastTextInput::flag(std::string_view what) {
  const auto byte = number<uint8_t>(what);
  if (byte > 1) {
    throw fault(ErrorKind::kInput, "{}: {} must be 0 or 1; found {}; the file is damaged", where(),
                what, byte);
  }
  return byte == 1;
}

std::string FastTextInput::word(int32_t entry) {
  std::string_view ahead = input_.peek(1).substr(0, kMaxFastTextName + 1);
  size_t end = ahead.find('\0');
  if (end == std::string_view::npos) {
    ahead = input_.peek(kMaxFastTextName + 1).substr(0, kMaxFastTextName + 1);
    end = ahead.find('\0');
  }
  if (end == std::string_view::npos) {
    throw fault(ErrorKind::kInput,
                "{}: entry {} of the dictionary does not end within {} bytes; the file is cut off "
                "or damaged",
                where(), entry, ahead.size());
  }
  return std::string(take(end + 1, "the dictionary").substr(0, end));
}

std::string FastTextInput::bytes(uint64_t n, std::string_view what) {
  expect(n, 1, what);
  std::string out;
  if (left_) out.reserve(n);
  while (out.size() < n) out += take(std::min<uint64_t>(kPieceBytes, n - out.size()), what);
  return out;
}

void FastTextInput::expect(uint64_t n, uint64_t each, std::string_view what) const {
  if (!left_ || n <= *left_ / each) return;
  throw fault(ErrorKind::kInput,
              "{}: {} claims {} x {} bytes but {} are left; the file is cut off or damaged",
              where(), what, n, each, *left_);
}

void FastTextInput::expect_end() {
  if (input_.peek(1).empty()) return;
  throw fault(ErrorKind::kInput, "{}: bytes follow the end of the model; the file is damaged",
              where());
}

Matrix take_dense(FastTextInput& in, const FastTextTable& table) {
  take_shape(in, table);
  const size_t row_bytes = table.dim * sizeof(float);
  in.expect(table.rows, row_bytes, table.title);
  RowCollector rows(in.where(), table, in.knows_size());
  std::vector<float> row(table.dim);
  for (uint64_t r = 0; r < table.rows; ++r) {
    std::memcpy(row.data(), in.take(row_bytes, table.title).data(), row_bytes);
    rows.add(row);
  }
  return rows.finish();
}

Matrix take_quantised(FastTextInput& in, const FastTextTable& table) {
  const bool norms = in.flag("whether norms are stored apart");
  take_shape(in, table);
  const auto size = in.number<int32_t>(table.title);
  const auto refuse = [&](size_t parts) {
    throw fault(ErrorKind::kInput,
                "{}: {} has {} bytes of codes for {} rows of {}; the file is damaged", in.where(),
                table.title, size, table.rows, parts);
  };
  if (size < 0) refuse(1);
  const std::string codes = in.bytes(static_cast<uint64_t>(size), table.title);
  const Codebook book = take_codebook(in, table.dim, table.title);
  if (codes.size() / book.parts != table.rows || codes.size() % book.parts != 0) refuse(book.parts);
  std::string norm_codes;
  Codebook norm_book;
  if (norms) {
    norm_codes = in.bytes(table.rows, table.title);
    norm_book = take_codebook(in, 1, table.title);
  }
  RowCollector rows(in.where(), table, true);
  std::vector<float> row(table.dim);
  for (uint64_t r = 0; r < table.rows; ++r) {
    float norm = 1;
    if (norms) norm_book.decode(&norm_codes[r], 1, {&norm, 1});
    book.decode(codes.data() + r * book.parts, norm, row);
    rows.add(row);
  }
  return rows.finish();
}

}  // namespace kith
