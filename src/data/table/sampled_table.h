// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table that is looked at before it is read, so that what its columns are can be inferred from
// rows of all of it, and is the same wherever in the table a row stands.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/table/table_reader.h"

namespace kith {

struct SampledRow {
  uint64_t number;  // in the table, from 1
  std::vector<std::optional<std::string>> cells;
  std::string where;
};

// Which rows are in the sample depends on their numbers, and on nothing else unless they are very
// long: the same table gives the same sample.
class SampledTable final : public TableReader {
 public:
  static constexpr size_t kRows = 10000;  // of a sample
  using Open = std::function<std::unique_ptr<TableReader>()>;
  using OnRead = std::function<void(uint64_t bytes, double share)>;

  // What can be opened once only, such as standard input: the rows that 64 MiB hold are kept, the
  // sample is drawn from these, and they come first again.
  explicit SampledTable(std::unique_ptr<TableReader> once, size_t rows = kRows,
                        const OnRead& on_read = {});
  // What can be opened again: the sample is drawn from all rows, and unless it has them all, they
  // are read a second time. All readers that `open` gives must share one tally.
  explicit SampledTable(Open open, size_t rows = kRows, const OnRead& on_read = {});
  ~SampledTable() override;

  const std::vector<std::string>& columns() const override;
  bool next(std::vector<Cell>& cells) override;
  std::string where() const override;
  uint64_t bytes() const override;
  double share() const override;

  // The rows to look at, in their order; to be asked for before the first next().
  const std::vector<const SampledRow*>& sample() const;
  uint64_t looked_at() const;  // rows that the sample was drawn from
  bool whole() const;          // whether these are all
  bool again() const;          // whether they will be read again
  // Bytes that were read to draw it, if they will be read again.
  uint64_t bytes_before() const;

  // What stands in a column, for those who have it counted while the rows are read.
  struct Count {
    uint64_t missing = 0, distinct = 0;
    bool exact = true;  // else `distinct` is an estimate
  };
  void count(std::span<const size_t> columns);  // before the first next()
  std::optional<Count> counted(size_t column) const;

 private:
  struct Impl;
  explicit SampledTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kith
