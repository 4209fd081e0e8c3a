// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of numbers as data to learn from: dense ones that need not fit in memory, or sparse ones
// that do. Dense rows stay where they are (in an npy, safetensors or idx file, or in a nameless
// scratch file if they were text, packed or piped) and are read in blocks.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "core/vectors.h"
#include "data/dataset.h"
#include "data/matrix/matrix_options.h"
#include "data/sparse.h"

namespace kith {

// One source: so many rows, read in blocks, from many threads at once.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual uint64_t rows() const = 0;
  virtual size_t cols() const = 0;
  virtual uint64_t bytes() const = 0;  // in memory
  // Rows [first, first + count), one behind the other, as exactly as the source has them.
  virtual void read(uint64_t first, size_t count, double* out) const = 0;
  // The same as floats.
  virtual void read(uint64_t first, size_t count, Rows out) const = 0;
};

// (x - shift) * scale, by column, worked out in double and rounded once: a column around a million
// loses nothing on its way to floats. Empty: 0 and 1.
struct ColumnChange {
  std::span<const double> shift{}, scale{};
};

// What is known of the columns after one look at all rows.
struct ColumnMoments {
  uint64_t rows = 0;
  // The mean; the sum of the squares of what is left without it.
  std::vector<double> mean, squares, least, most;
  bool constant(size_t column) const { return least[column] == most[column]; }
  // Of the whole, by rows - 1; 0 of a column that is constant.
  double deviation(size_t column) const;
};

// Some rows of the data, in their order: those to learn from, those held out, or all.
class MatrixRows {
 public:
  uint64_t rows() const { return rows_; }
  size_t cols() const { return cols_; }

  // Dense: rows [first, first + count) into the first cols() floats of `out`. From many threads at
  // once. Not for sparse ones.
  void read(uint64_t first, size_t count, Rows out, const ColumnChange& change = {}) const;
  // The same as doubles, cols() a row.
  void read(uint64_t first, size_t count, double* out) const;
  // All rows if the data are sparse, else null.
  const Sparse* sparse() const { return sparse_; }
  // The number in the data of a row, from 0: that of its name.
  uint64_t number(uint64_t row) const;
  const ColumnMoments& moments() const { return moments_; }

 private:
  friend class MatrixData;
  struct Run {
    uint64_t number;  // in the data
    size_t count;
  };
  template <class Take>
  void for_each_run(uint64_t first, size_t count, const Take& take) const;
  void read_run(const Run& run, Rows out) const;
  void read_run(const Run& run, double* out) const;

  const std::vector<std::unique_ptr<RowSource>>* sources_ = nullptr;
  const Sparse* sparse_ = nullptr;
  uint64_t rows_ = 0;
  size_t cols_ = 0;
  // Of a part: its rows before every block of kMaskBlock rows of the data, and which they are.
  static constexpr uint64_t kMaskBlock = 4096;
  std::vector<uint64_t> before_, mask_;  // a bit for each row
  ColumnMoments moments_;
};

// Rows by number, read once for all.
class MatrixData final : public Dataset {
 public:
  // What is read. `names` are of all rows, or empty. `columns` may be empty: then they are numbers.
  struct Content {
    std::vector<std::unique_ptr<RowSource>> sources;  // dense
    std::unique_ptr<Sparse> sparse;                   // or not
    std::vector<std::string> columns;
    Names names;
    uint64_t bytes = 0;  // that were read
    std::vector<Note> notes;
    // "data.csv:7", where a row stands, and "column height"; for messages.
    std::function<std::string(uint64_t)> place;
  };
  // Looks at all numbers once: Error(kInput) that names row and column of one that is not finite.
  MatrixData(Content content, double holdout, const Context& context);
  // Of what is in memory already.
  static MatrixData of(Matrix rows, double holdout = 0);
  static MatrixData of(Sparse rows, double holdout = 0);
  MatrixData(MatrixData&&) = delete;

  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return train_.rows(); }
  uint64_t vectors() const override { return 0; }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override { return fingerprint_; }
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override { return ""; }

  uint64_t rows() const { return train_.rows(); }
  size_t cols() const { return train_.cols(); }
  const MatrixRows& train() const { return train_; }
  const MatrixRows& held_out() const { return held_out_; }  // by a fixed rule
  const Sparse* sparse() const { return train_.sparse(); }
  // One for each column; made of their numbers if the source names none.
  const std::vector<std::string>& columns() const { return columns_; }
  bool has_column_names() const { return named_columns_; }
  // Of all rows, or empty: ask by MatrixRows::number().
  const Names& row_names() const { return content_.names; }
  std::string row_name(uint64_t number) const;  // its number from 0 if it has no name

 private:
  void split(double holdout);
  void look_dense(const Context& context);
  void look_sparse();
  [[noreturn]] void refuse_cell(uint64_t row, size_t column, double value) const;
  std::string place(uint64_t row) const;

  Content content_;
  std::vector<std::string> columns_;
  bool named_columns_ = false;
  std::unique_ptr<Sparse> sparse_train_, sparse_held_out_;
  MatrixRows train_, held_out_;
  uint64_t fingerprint_ = 0;
};

}  // namespace kith
