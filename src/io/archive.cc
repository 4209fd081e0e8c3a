// SPDX-License-Identifier: Apache-2.0
#include "io/archive.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "core/error.h"
#include "io/archive_header.h"
#include "io/quantised.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little endian");

constexpr size_t kAlignment = 64;  // of the start of the data
// In the order of DType.
constexpr std::string_view kTypeNames[] = {"F32", "F64", "U8", "I32", "U32", "I64", "U64"};
constexpr std::string_view kNoDigits = "0000000000000000";
// Quotes inside JSON texts carry a backslash, so this stands nowhere but at the entry itself.
constexpr std::string_view kChecksumKey = "\"checksum\":\"";

// XXH3-64 over pieces.
class Hasher {
 public:
  Hasher() : state_(::XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    ::XXH3_64bits_reset(state_.get());
  }
  void add(std::string_view bytes) {
    ::XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }
  std::string digits() const { return fmt::format("{:016x}", ::XXH3_64bits_digest(state_.get())); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { ::XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

size_t total_bytes(const Tensor& t) { return t.rows * t.row_bytes; }

// Wider elements first: then each tensor starts at a multiple of its element's size, so that a
// mapped file can be used in place by readers in other languages.
std::vector<std::pair<std::string, Tensor>> in_file_order(
    const std::map<std::string, Tensor>& tensors) {
  std::vector<std::pair<std::string, Tensor>> out(tensors.begin(), tensors.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return bytes_of(a.second.dtype) > bytes_of(b.second.dtype);
  });
  return out;
}

// Length and header as the file begins, the checksum's digits still zeros.
std::string header_of(std::map<std::string, std::string> metadata,
                      const std::vector<std::pair<std::string, Tensor>>& tensors) {
  metadata["checksum"] = kNoDigits;
  std::string json = "{\"__metadata__\":{";
  for (const auto& [key, value] : metadata) {
    if (json.back() != '{') json += ',';
    json += json_text(key) + ':' + json_text(value);
  }
  json += '}';
  uint64_t offset = 0;
  for (const auto& [name, t] : tensors) {
    json += fmt::format(",{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        json_text(name), name_of(t.dtype), fmt::join(t.shape, ","), offset,
                        offset + total_bytes(t));
    offset += total_bytes(t);
  }
  json += '}';
  const uint64_t length = (8 + json.size() + kAlignment - 1) / kAlignment * kAlignment - 8;
  json.resize(length, ' ');
  std::string header(8, '\0');
  std::memcpy(header.data(), &length, 8);
  return header + json;
}

// Gives the bytes of a tensor in pieces to `take(std::string_view)`.
template <class Take>
void for_each_piece(const Tensor& t, const Take& take) {
  if (total_bytes(t) == 0) return;
  if (t.row_stride == t.row_bytes) return take(std::string_view(t.data, total_bytes(t)));
  for (size_t r = 0; r < t.rows; ++r) {
    take(std::string_view(t.data + r * t.row_stride, t.row_bytes));
  }
}

// Compares the checksum in `start` (length and header) with that of the whole file.
void check_checksum(std::string_view start, std::string_view data, const std::string& stored,
                    const std::string& where) {
  const size_t key = start.find(std::string(kChecksumKey) + stored + '"');
  if (key == std::string_view::npos || stored.size() != kNoDigits.size()) {
    throw fault(ErrorKind::kInput,
                "{}: the checksum {} in the header is not in our form; the file is damaged", where,
                shown(stored));
  }
  const size_t at = key + kChecksumKey.size();
  Hasher hasher;
  hasher.add(start.substr(0, at));
  hasher.add(kNoDigits);
  hasher.add(start.substr(at + kNoDigits.size()));
  hasher.add(data);
  const std::string found = hasher.digits();
  if (found != stored) {
    throw fault(ErrorKind::kInput,
                "{}: the file is damaged: its checksum is {} but its header says {}; restore it "
                "from a copy or train again",
                where, found, stored);
  }
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, char>) return DType::kU8;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kU32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kU64;
}

}  // namespace

size_t bytes_of(DType type) {
  switch (type) {
    case DType::kU8:
      return 1;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    default:
      return 8;
  }
}

std::string_view name_of(DType type) { return kTypeNames[static_cast<size_t>(type)]; }

Tensor tensor_of(const Matrix& m) {
  return {.dtype = DType::kF32,
          .shape = {m.rows(), m.cols()},
          .data = reinterpret_cast<const char*>(m.view().data),
          .rows = m.rows(),
          .row_bytes = m.cols() * sizeof(float),
          .row_stride = m.stride() * sizeof(float)};
}

template <class T>
Tensor tensor_of(std::span<const T> values) {
  return {.dtype = dtype_of<T>(),
          .shape = {values.size()},
          .data = reinterpret_cast<const char*>(values.data()),
          .rows = 1,
          .row_bytes = values.size_bytes(),
          .row_stride = values.size_bytes()};
}

void ArchiveWriter::add_names(const std::string& name, const Names& names) {
  const std::string_view bytes = names.bytes();
  tensors[name + ".bytes"] = tensor_of(std::span<const char>(bytes.data(), bytes.size()));
  tensors[name + ".offsets"] = tensor_of(names.offsets());
}

void ArchiveWriter::save(const std::string& path) const {
  const auto parts = in_file_order(tensors);
  std::string header = header_of(metadata, parts);
  if (header.size() - 8 > kMaxHeader) {
    throw fault(ErrorKind::kLimit, "{}: the header would take {} bytes but {} is the most", path,
                header.size() - 8, kMaxHeader);
  }
  Hasher hasher;
  hasher.add(header);
  for (const auto& [name, t] : parts) {
    for_each_piece(t, [&](std::string_view bytes) { hasher.add(bytes); });
  }
  header.replace(header.find(kChecksumKey) + kChecksumKey.size(), kNoDigits.size(),
                 hasher.digits());
  AtomicFile file(path);
  file.write(header);
  for (const auto& [name, t] : parts) {
    for_each_piece(t, [&](std::string_view bytes) { file.write(bytes); });
  }
  file.commit();
}

Archive Archive::open(const std::string& path, bool checksum) {
  MappedFile file(path);
  Archive archive = from_bytes(file.bytes(), path, checksum);
  archive.file_ = std::make_shared<const MappedFile>(std::move(file));  // the bytes stay there
  return archive;
}

Archive Archive::from_bytes(std::span<const char> bytes, std::string where, bool checksum) {
  const std::string_view all(bytes.data(), bytes.size());
  if (all.empty()) throw fault(ErrorKind::kInput, "{}: the file is empty, not a model", where);
  uint64_t length = 0;
  std::memcpy(&length, all.data(), std::min<size_t>(8, all.size()));
  if (all.size() < 8 || length > all.size() - 8 || length > kMaxHeader) {
    throw fault(ErrorKind::kInput,
                "{}: this is not a model file (safetensors), or it is cut off: it claims a header "
                "of {} bytes and has {} in all",
                where, length, all.size());
  }
  const std::string_view data = all.substr(8 + length);
  ArchiveHeader header = parse_archive_header(all.substr(8, length), data.size(), where);
  if (checksum) {
    const auto stored = header.metadata.find("checksum");
    if (stored == header.metadata.end()) {
      throw fault(ErrorKind::kInput,
                  "{}: the file has no checksum, so it is not a model of kith, or it is damaged; "
                  "kith import reads the vectors of other tools",
                  where);
    }
    check_checksum(all.substr(0, 8 + length), data, stored->second, where);
  }
  Archive archive;
  archive.where_ = std::move(where);
  archive.start_ = all.data();
  archive.metadata_ = std::move(header.metadata);
  for (auto& [name, entry] : header.tensors) {
    Tensor t{.dtype = entry.dtype,
             .shape = std::move(entry.shape),
             .data = data.data() + entry.begin,
             .rows = 1,
             .row_bytes = static_cast<size_t>(entry.end - entry.begin)};
    if (t.shape.size() == 2 && t.row_bytes > 0) {
      t.rows = t.shape[0];
      t.row_bytes /= t.rows;
    }
    t.row_stride = t.row_bytes;
    archive.tensors_.emplace(name, std::move(t));
  }
  if (archive.metadata_.contains("compressed")) {
    announce_quantised(archive.tensors_, archive.where_);
  }
  return archive;
}

std::string Archive::metadata_at(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    throw fault(ErrorKind::kInput,
                "{}: the file does not say its {}; it is of another kind or another version",
                where_, key);
  }
  return found->second;
}

uint64_t Archive::offset_of(const std::string& name) const {
  return static_cast<uint64_t>(tensors_.at(name).data - start_);
}

const Tensor& Archive::at(const std::string& name, DType type, size_t dimensions) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw fault(ErrorKind::kInput,
                "{}: the file has no tensor {}; it is of another kind or another version", where_,
                name);
  }
  const Tensor& t = found->second;
  if (t.dtype != type || t.shape.size() != dimensions) {
    throw fault(ErrorKind::kInput,
                "{}: tensor {} must be of type {} with {} dimension{}; found {} with {}", where_,
                name, name_of(type), dimensions, dimensions == 1 ? "" : "s", name_of(t.dtype),
                t.shape.size());
  }
  return t;
}

const Tensor& Archive::matrix_at(const std::string& name) const {
  const Tensor& t = at(name, DType::kF32, 2);
  // Rows of nothing cost no bytes, so a file could claim any number of them.
  if (t.shape[0] > 0 && t.shape[1] == 0) {
    throw fault(ErrorKind::kInput, "{}: tensor {} has {} rows without columns", where_, name,
                t.shape[0]);
  }
  return t;
}

size_t Archive::bytes_of(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? 0 : total_bytes(found->second);
}

Matrix Archive::matrix(const std::string& name) const {
  const Tensor& t = matrix_at(name);
  if (!t.data) return decode_quantised(*this, name);
  Matrix m(t.shape[0], t.shape[1]);
  for (size_t r = 0; r < m.rows(); ++r) {
    std::memcpy(m.row(r).data(), t.data + r * t.row_stride, t.row_bytes);
  }
  return m;
}

template <class T>
std::vector<T> Archive::values(const std::string& name) const {
  const Tensor& t = at(name, dtype_of<T>(), 1);
  std::vector<T> out(t.shape[0]);
  if (!out.empty()) std::memcpy(out.data(), t.data, t.row_bytes);
  return out;
}

Names Archive::names(const std::string& name) const {
  const Tensor& bytes = at(name + ".bytes", DType::kU8, 1);
  return Names::from_parts(std::string(bytes.data, bytes.row_bytes),
                           values<uint64_t>(name + ".offsets"), where_);
}

// What is not where its type wants it (a file that another program wrote) is copied.
Matrix Archive::borrowed_matrix(const std::string& name) const {
  const Tensor& t = matrix_at(name);
  const bool aligned = reinterpret_cast<uintptr_t>(t.data) % alignof(float) == 0;
  if (!file_ || !t.data || !aligned || t.shape[0] == 0) return matrix(name);
  return Matrix::borrowed(reinterpret_cast<const float*>(t.data), t.shape[0], t.shape[1], file_);
}

Names Archive::borrowed_names(const std::string& name) const {
  const Tensor& bytes = at(name + ".bytes", DType::kU8, 1);
  const Tensor& offsets = at(name + ".offsets", DType::kU64, 1);
  const bool aligned = reinterpret_cast<uintptr_t>(offsets.data) % alignof(uint64_t) == 0;
  if (!file_ || !aligned) return names(name);
  return Names::borrowed({bytes.data, bytes.row_bytes},
                         {reinterpret_cast<const uint64_t*>(offsets.data), offsets.shape[0]}, file_,
                         where_);
}

#define KITH_INSTANTIATE(T)                         \
  template Tensor tensor_of<T>(std::span<const T>); \
  template std::vector<T> Archive::values<T>(const std::string&) const;
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(char)
KITH_INSTANTIATE(int32_t)
KITH_INSTANTIATE(uint32_t)
KITH_INSTANTIATE(int64_t)
KITH_INSTANTIATE(uint64_t)
#undef KITH_INSTANTIATE

}  // namespace kith
