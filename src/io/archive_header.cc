// SPDX-License-Identifier: Apache-2.0
#include "io/archive_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "io/utf8.h"

namespace kith {
namespace {

using Json = nlohmann::json;

constexpr std::array kDTypes{DType::kF32, DType::kF64, DType::kU8, DType::kI32,
                             DType::kU32, DType::kI64, DType::kU64};

constexpr std::array<std::string_view, 3> kFields{"dtype", "shape", "data_offsets"};

constexpr size_t kMaxDimensions = 32;

// Receives the header piece by piece. No tree is built: every piece has one place where it may
// stand, and the first one out of place ends the reading, so nesting costs nothing however deep.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(std::string_view where) : where_(where) {}
  ArchiveHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kEntry) {
      place_ = name_ == "__metadata__" ? Place::kMetadata : Place::kTensor;
      seen_ = {};
    } else {
      wrong("an object");
    }
    return true;
  }

  bool key(string_t& text) override {
    if (place_ == Place::kTop) {
      begin_entry(text);
    } else if (place_ == Place::kMetadata) {
      if (header_.metadata.contains(text)) twice(text);
      key_ = text;
    } else {
      begin_field(text);
    }
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::kMetadata) {
      header_.metadata.emplace(key_, text);
    } else if (place_ == Place::kTensor && key_ == "dtype") {
      header_.tensors[name_].dtype = dtype_called(text);
    } else {
      wrong("a text");
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::kTensor || key_ == "dtype") wrong("a list");
    place_ = Place::kList;
    list_.clear();
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::kList) wrong("a number");
    if (list_.size() == kMaxDimensions) wrong("a list of more than 32 numbers");
    list_.push_back(value);
    return true;
  }

  bool end_array() override {
    place_ = Place::kTensor;
    ArchiveHeader::Entry& entry = header_.tensors[name_];
    if (key_ == "shape") {
      entry.shape = list_;
      return true;
    }
    if (list_.size() != 2) wrong("data_offsets of another length than 2");
    entry.begin = list_[0];
    entry.end = list_[1];
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTensor) {
      if (seen_ != std::array{true, true, true}) {
        throw fault(ErrorKind::kInput,
                    "{}: tensor {} lacks dtype, shape or data_offsets; the file is damaged", where_,
                    shown(name_));
      }
    }
    place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
    return true;
  }

  bool null() override { return wrong("null"); }
  bool boolean(bool) override { return wrong("a truth value"); }
  bool number_integer(number_integer_t) override { return wrong("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return wrong("a number that is not a 64-bit integer");
  }
  bool binary(binary_t&) override { return wrong("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw fault(
        ErrorKind::kInput,
        "{}: the header is not JSON from its byte {} on; the file is damaged or of another kind",
        where_, position);
  }

 private:
  enum class Place { kStart, kTop, kEntry, kMetadata, kTensor, kList, kEnd };

  void begin_entry(const std::string& name) {
    const bool metadata = name == "__metadata__";
    if (metadata ? has_metadata_ : header_.tensors.contains(name)) twice(name);
    if (metadata) {
      has_metadata_ = true;
    } else {
      header_.tensors[name] = {};
    }
    name_ = name;
    place_ = Place::kEntry;
  }

  void begin_field(const std::string& field) {
    const auto at = std::find(kFields.begin(), kFields.end(), field);
    if (at == kFields.end()) wrong("a field of another name");
    bool& seen = seen_[static_cast<size_t>(at - kFields.begin())];
    if (seen) twice(field);
    seen = true;
    key_ = field;
  }

  DType dtype_called(const std::string& name) const {
    for (const DType type : kDTypes) {
      if (name == name_of(type)) return type;
    }
    throw fault(ErrorKind::kInput,
                "{}: tensor {} has the type {}; the types read here are F32, F64, U8, I32, "
                "U32, I64 and U64",
                where_, shown(name_), shown(name));
  }

  [[noreturn]] bool wrong(std::string_view found) const {
    throw fault(ErrorKind::kInput,
                "{}: the header has {} where it does not belong ({}{}); the file "
                "is damaged or of another kind",
                where_, found, name_.empty() ? "at its start" : "in the entry ", shown(name_));
  }
  [[noreturn]] void twice(const std::string& name) const {
    throw fault(ErrorKind::kInput, "{}: the header has {} twice; the file is damaged", where_,
                shown(name));
  }

  std::string_view where_;
  ArchiveHeader header_;
  Place place_ = Place::kStart;
  std::string name_, key_;      // the entry and the field being read
  std::array<bool, 3> seen_{};  // dtype, shape, data_offsets
  std::vector<uint64_t> list_;
  bool has_metadata_ = false;
};

// Refuses an entry whose range does not lie in the data or is not what its shape needs.
void check_range(const std::string& name, const ArchiveHeader::Entry& entry, uint64_t data_bytes,
                 std::string_view where) {
  if (entry.begin > entry.end || entry.end > data_bytes) {
    throw fault(ErrorKind::kInput,
                "{}: tensor {} claims the bytes {} to {} but there are {} bytes of data; the file "
                "is cut off or damaged",
                where, shown(name), entry.begin, entry.end, data_bytes);
  }
  uint64_t bytes = bytes_of(entry.dtype);
  bool fits = true;
  for (const uint64_t n : entry.shape) fits = fits && !__builtin_mul_overflow(bytes, n, &bytes);
  if (!fits || bytes != entry.end - entry.begin) {
    throw fault(ErrorKind::kInput,
                "{}: tensor {} of shape [{}] and type {} does not fit its {} bytes; the file is "
                "damaged",
                where, shown(name), fmt::join(entry.shape, ", "), name_of(entry.dtype),
                entry.end - entry.begin);
  }
}

void check_tiling(const ArchiveHeader& header, uint64_t data_bytes, std::string_view where) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : header.tensors) {
    check_range(name, entry, data_bytes, where);
    ranges.emplace_back(entry.begin, entry.end);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t reached = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != reached) {
      throw fault(ErrorKind::kInput,
                  "{}: the tensors {} at byte {} of the data; the file is damaged", where,
                  begin > reached ? "leave a hole" : "overlap", begin);
    }
    reached = end;
  }
  if (reached != data_bytes) {
    throw fault(ErrorKind::kInput,
                "{}: {} bytes follow the last tensor; the file is damaged or was appended to",
                where, data_bytes - reached);
  }
}

}  // namespace

ArchiveHeader parse_archive_header(std::string_view json, uint64_t data_bytes,
                                   std::string_view where) {
  HeaderReader reader(where);
  if (json.empty() || json.front() != '{') {
    throw fault(ErrorKind::kInput,
                "{}: this is not a model file (safetensors): its header does not begin with {{",
                where);
  }
  Json::sax_parse(json.begin(), json.end(), &reader);
  ArchiveHeader header = reader.take();
  check_tiling(header, data_bytes, where);
  return header;
}

}  // namespace kith
