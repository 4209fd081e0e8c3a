// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "kith/visible.h"

namespace kith KITH_VISIBLE {

enum class ErrorKind {
  kUsage,      // the caller asked for something invalid: bad flag, bad range
  kInput,      // the data is wrong: bad line, truncated file, checksum
  kIo,         // the system said no: missing file, disk full
  kLimit,      // the work needs more memory than there is
  kDiverged,   // training left the finite numbers and could not be brought back
  kCancelled,  // the caller asked to stop; nothing was changed
  kClosed,     // whoever read the output has gone
};

// The one exception type of Kith. A message says where, what is wrong, what was found and what to
// do; lower case, one sentence.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

// Of a question among many the others can still be answered.
inline bool is_about_what_was_asked(const Error& e) {
  return e.kind() == ErrorKind::kInput || e.kind() == ErrorKind::kUsage;
}

}  // namespace KITH_VISIBLE
