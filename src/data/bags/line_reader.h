// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/file.h"

namespace kith {

// A file by lines, whatever it is packed with; a \r at the end of a line is none of it.
class LineReader {
 public:
  explicit LineReader(std::string path);
  // The next line without its end; false at the end of the file. Dies with the next call.
  bool next(std::string_view& line);
  uint64_t number() const { return number_; }  // of the last line, from 1
  uint64_t bytes() const { return bytes_; }
  double share() const { return source_->share(); }
  std::string where() const;  // "FILE:LINE"

 private:
  std::string path_, line_;
  std::unique_ptr<ByteSource> source_;
  std::string_view rest_;
  uint64_t number_ = 0, bytes_ = 0;
};

}  // namespace kith
