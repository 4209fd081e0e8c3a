// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace kith {

enum class ErrorKind {
  kUsage,     // the caller asked for something invalid: bad flag, bad range
  kInput,     // the data is wrong: bad line, truncated file, checksum
  kIo,        // the system said no: missing file, disk full
  kLimit,     // the work needs more memory than there is
  kDiverged,  // training left the finite numbers and could not be brought back
};

// The one exception type of the engine. Front ends translate it once: the CLI into an exit
// code, Python into an exception. A message says where, what is wrong, what was found and
// what to do; lower case, one sentence.
class Error : public std::runtime_error {
 public:
  template <class... Args>
  Error(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args)
      : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace kith
