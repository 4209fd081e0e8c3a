// SPDX-License-Identifier: Apache-2.0
#pragma once
// Skip-gram on the rows of a table as sentences, every pair of values a pair of words: what one
// would otherwise reach for, measured beside a model of tables.

#include <functional>
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
  // Trained on the rows of a source, with vectors of so many numbers, to score the values of a
  // group. `tell` hears which share of that is done.
  SkipGram(const Encoding& encoding, size_t dim, size_t group, const std::string& source,
           std::span<const Setting> reading, const Context& context,
           const std::function<void(double)>& tell);
  // How well each value of the group fits these words: by the input vectors of what is given with
  // the output vectors of the values.
  std::vector<float> scores(std::span<const std::string> given) const;

  // Passes over so many pairs of values: a comparison must not take longer than the model.
  static int64_t epochs(uint64_t pairs);

 private:
  std::unique_ptr<ModelBase> model_;
  Matrix input_, values_;  // `values_`: the output vectors, in the order of the group's names
  const Names* names_ = nullptr;
};

}  // namespace kith
