// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kith {

// A model whose held-out loss may be told as an error that people know.
class TellsError {
 public:
  virtual ~TellsError() = default;
  // What held-out numbers are, for a note; "" for the loss as it is.
  virtual std::string error_name() const = 0;
  virtual double error_of(double loss) const = 0;  // at an epoch
  // Before training, and of what is kept; if something was held out.
  virtual double error_before() const = 0;
  virtual double error_now() const = 0;
};

}  // namespace kith
