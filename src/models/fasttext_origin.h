// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a file of fastText says that its model has no other place for. It is kept with models that
// were imported, so that the file comes out again as it was.

#include <vector>

#include "io/fasttext_bin.h"
#include "models/parts.h"

namespace kith {

class FastTextOrigin {
 public:
  FastTextOrigin() = default;  // of a model that fastText did not make
  explicit FastTextOrigin(const FastTextHeader& header);

  void visit(Parts& parts);
  // How fastText trained it, if it did.
  std::optional<FastTextHeader::Loss> loss() const;
  // Puts back what was in the file.
  void restore(FastTextHeader& header) const;

 private:
  std::vector<double> numbers_;  // in the order of each(); none if fastText did not make it
};

}  // namespace kith
