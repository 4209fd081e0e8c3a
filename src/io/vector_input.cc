// SPDX-License-Identifier: Apache-2.0
#include "io/vector_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace kith {
bool VectorInput::fill() {
  const auto piece = source_->next();
  if (piece.empty()) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_.append(piece.data(), piece.size());
  return true;
}

std::string_view VectorInput::peek(size_t least) {
  while (buffer_.size() - at_ < least && fill()) {
  }
  return std::string_view(buffer_).substr(at_);
}

bool VectorInput::line(std::string_view& out) {
  size_t searched = 0;  // bytes from at_ on without a line end
  for (;;) {
    const size_t end = buffer_.find('\n', at_ + searched);
    if (end != std::string::npos) {
      out = std::string_view(buffer_).substr(at_, end - at_);
      at_ = end + 1;
      ++line_number_;
      return true;
    }
    searched = buffer_.size() - at_;
    if (searched > kMaxLine) {
      throw fault(ErrorKind::kInput,
                  "{}:{}: a line of more than {} MiB; this is not a file of vectors", where_,
                  line_number_ + 1, kMaxLine >> 20);
    }
    if (!fill()) break;
  }
  out = std::string_view(buffer_).substr(at_);
  at_ = buffer_.size();
  if (out.empty()) return false;
  ++line_number_;
  return true;
}

std::string_view VectorInput::take(size_t n) {
  const std::string_view all = peek(n);
  const std::string_view out = all.substr(0, n);
  at_ += out.size();
  return out;
}

std::optional<float> parse_float(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  float value = 0;
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (stop != end || code == std::errc::invalid_argument) return std::nullopt;
  if (code == std::errc()) return value;
  // Out of the range of floats, on which side from_chars does not say.
  double wide = 0;
  const auto again = std::from_chars(text.data(), end, wide);
  const bool small = again.ec == std::errc() ? std::abs(wide) < 1
                                             : text.find_first_of("eE") != std::string_view::npos &&
                                                   text.find('-', 1) != std::string_view::npos;
  if (small) return again.ec == std::errc() ? static_cast<float>(wide) : 0.0f;
  return std::numeric_limits<float>::infinity();
}

VectorBuilder::VectorBuilder(size_t dim)
    : dim_(dim), rows_per_chunk_(std::max<size_t>(1, (size_t{1} << 20) / padded(dim))) {}

void VectorBuilder::add(std::string_view name, std::span<const float> values,
                        std::string_view place) {
  ++added_;
  for (size_t i = 0; i < dim_; ++i) {
    if (!std::isfinite(values[i])) {
      throw fault(ErrorKind::kInput,
                  "{}: value {} of {} is {}, but only finite numbers can be used; correct or "
                  "remove the vector",
                  place, i + 1, shown(name), values[i]);
    }
  }
  if (repair_utf8(name, repaired_)) {
    ++invalid_utf8_;
    name = repaired_;
  }
  const size_t row = names_.size();
  if (names_.add(name) < row) {
    ++duplicates_;
    return;
  }
  const size_t within = row % rows_per_chunk_;
  if (within == 0) chunks_.emplace_back(rows_per_chunk_, dim_);
  std::copy_n(values.begin(), dim_, chunks_.back().row(within).begin());
}

NamedVectors VectorBuilder::finish(ReadReport& report, std::string_view where) {
  if (names_.size() == 0) {
    throw fault(ErrorKind::kInput, "{}: there is no vector in the file", where);
  }
  Matrix matrix(names_.size(), dim_);
  for (size_t c = 0; c < chunks_.size(); ++c) {
    const size_t first = c * rows_per_chunk_;
    for (size_t r = first; r < std::min(first + rows_per_chunk_, names_.size()); ++r) {
      std::ranges::copy(chunks_[c].row(r - first), matrix.row(r).begin());
    }
    chunks_[c] = Matrix();  // at most one chunk is there twice
  }
  chunks_.clear();
  report.duplicates = duplicates_;
  report.invalid_utf8 = invalid_utf8_;
  return {std::move(names_), std::move(matrix), {}};
}

}  // namespace kith
