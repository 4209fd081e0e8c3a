// SPDX-License-Identifier: Apache-2.0
#include "data/bags/line_reader.h"

#include <utility>

#include "core/error.h"
#include "io/text_source.h"

namespace kith {

constexpr size_t kLongestLine = size_t{256} << 20;

LineReader::LineReader(std::string path) : path_(std::move(path)), source_(open_text(path_)) {}

std::string LineReader::where() const {
  return fmt::format("{}:{}", path_ == "-" ? "standard input" : path_, number_);
}

bool LineReader::next(std::string_view& line) {
  line_.clear();
  ++number_;
  for (bool begun = false;;) {
    if (rest_.empty()) {
      const auto piece = source_->next();
      bytes_ += piece.size();
      rest_ = {piece.data(), piece.size()};
      if (rest_.empty()) {
        line = line_;
        if (!begun) return false;
        break;
      }
    }
    const size_t end = rest_.find('\n');
    if (end != std::string_view::npos && !begun) {  // most lines lie in one piece
      line = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      break;
    }
    begun = true;
    line_ += rest_.substr(0, end);
    if (line_.size() > kLongestLine) {
      throw fault(ErrorKind::kInput, "{}: a line of more than {} MiB; this is no file of counts",
                  where(), kLongestLine >> 20);
    }
    if (end == std::string_view::npos) {
      rest_ = {};
      continue;
    }
    rest_.remove_prefix(end + 1);
    line = line_;
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

}  // namespace kith
