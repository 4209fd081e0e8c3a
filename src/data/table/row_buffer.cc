// SPDX-License-Identifier: Apache-2.0
// Streams as table readers want them: with a look ahead, from memory, and cut into whole rows.
#include <algorithm>
#include <cstring>
#include <utility>

#include "data/table/table_readers.h"

namespace kith {
namespace {

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string bytes, size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  std::span<const char> next() override {
    const auto given =
        std::span<const char>(bytes_).subspan(at_).first(std::min(piece_, bytes_.size() - at_));
    at_ += given.size();
    return given;
  }
  double share() const override {
    return bytes_.empty() ? 1 : static_cast<double>(at_) / static_cast<double>(bytes_.size());
  }

 private:
  std::string bytes_;
  size_t piece_, at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> memory_source(std::string bytes, size_t piece) {
  return std::make_unique<MemorySource>(std::move(bytes), piece);
}

std::string_view PeekedSource::peek(size_t least) {
  while (start_.size() < least) {
    const auto piece = rest_->next();
    if (piece.empty()) break;
    start_.append(piece.data(), piece.size());
  }
  return start_;
}

std::span<const char> PeekedSource::next() {
  if (!given_) {
    given_ = true;
    if (!start_.empty()) return start_;
  }
  return rest_->next();
}

RowBuffer::RowBuffer(std::unique_ptr<ByteSource> source) : source_(std::move(source)) { more(); }

bool RowBuffer::more() {
  if (ended_) return false;
  const auto piece = source_->next();
  ended_ = piece.empty();
  const size_t kept = size(), needed = kept + piece.size() + 1;
  if (needed > capacity_) {
    capacity_ = std::max(needed, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    if (kept > 0) std::memcpy(larger.get(), row(), kept);
    bytes_ = std::move(larger);
  } else if (row_ > 0) {
    std::memmove(bytes_.get(), row(), kept);
  }
  if (!piece.empty()) std::memcpy(bytes_.get() + kept, piece.data(), piece.size());
  row_ = 0;
  end_ = kept + piece.size();
  bytes_[end_] = '\n';
  bytes_read_ += piece.size();
  return !ended_;
}

}  // namespace kith
