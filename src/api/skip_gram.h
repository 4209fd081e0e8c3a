// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip-gram on the rows of a table as sentences, every pair of values a pair of words: what one
// would otherwise reach for, measured beside a model of tables.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/rows.h"
#include "models/capabilities.h"
#include "models/model.h"

namespace kith {

// A row as words: "director=Frank_Lloyd". Numbers become their nearest knot. Long texts, which are
// context only, are left out: every pair of their words would be trained, and would drown the rest.
class RowWords {
 public:
  explicit RowWords(const Encoding& encoding) : encoding_(encoding), encoder_(encoding) {}
  void add(size_t group, const Cell& cell, std::vector<std::string>& out);
  std::string word(size_t group, std::string_view value) const;

 private:
  const Encoding& encoding_;
  CellEncoder encoder_;
};

class SkipGram {
 public:
  // Trained on the rows of a source, with vectors of so many numbers.
  SkipGram(const Encoding& encoding, size_t dim, const std::string& source,
           std::span<const Setting> reading, const Context& context);
  // How well each value of a group fits these words: by the input vectors of what is given with the
  // output vectors of the values.
  std::vector<float> scores(std::span<const std::string> given, const RowWords& words, size_t group,
                            const Names& values) const;

 private:
  std::unique_ptr<ModelBase> model_;
  Matrix input_, output_;
  const Names* names_ = nullptr;
};

}  // namespace kith
