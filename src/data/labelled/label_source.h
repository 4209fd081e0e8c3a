// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts with their labels as they stand in sources: lines, or rows of a table.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/labelled/labelled_options.h"
#include "data/table/table_reader.h"
#include "kith/events.h"

namespace kith {

// One text. Views die with the next.
struct LabelledText {
  std::string_view text;
  std::vector<std::string_view> labels;  // none twice; as many as there are
  float weight = 1;
  // What its source says of it: the cells of a row, or the line.
  std::span<const std::string> columns;
  std::span<const Cell> cells;
};

class LabelSource {
 public:
  virtual ~LabelSource() = default;
  // The next one; false at the end. Error(kInput) with its place for what cannot be read.
  virtual bool next(LabelledText& out) = 0;
  virtual uint64_t row() const = 0;  // the number of that, from 1; what was left out counts
  virtual uint64_t bytes() const = 0;
  virtual double share() const = 0;  // of the sources, or -1 when unknown
  virtual std::vector<Note> finish() { return {}; }
};

// The columns of a table if some are named, else lines. With `labelled` the labels must be found,
// too: the column of a table must be there.
std::unique_ptr<LabelSource> open_labelled(const std::vector<std::string>& sources,
                                           const LabelColumns& columns, const TableOptions& table,
                                           bool labelled);

// The columns for a source that a model is asked about: as they were said, or else those that the
// model learned from if the source looks like a table.
LabelColumns columns_for(const std::string& source, const LabelColumns& said,
                         const LabelColumns& learned);

// Whether its first line has a label in front.
bool starts_with_label(const std::string& source);

// What messages call sources.
std::string name_of_sources(const std::vector<std::string>& sources);

}  // namespace kith
