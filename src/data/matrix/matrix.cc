// SPDX-License-Identifier: Apache-2.0
#include "data/matrix/matrix.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "data/holdout.h"
#include "data/matrix/row_sources.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr size_t kLook = size_t{1} << 17;  // numbers that are looked at at a time
constexpr size_t kWave = 16;               // of such, before they are put together
constexpr uint64_t kHoldoutSeed = 0x6d6174726978686f;

size_t rows_at_a_time(size_t cols) {
  return std::max<size_t>(1, kLook / std::max<size_t>(1, cols));
}

ColumnMoments no_moments(size_t cols) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return {0, std::vector<double>(cols), std::vector<double>(cols), std::vector<double>(cols, kInf),
          std::vector<double>(cols, -kInf)};
}

// Those of a block that is in the cache: twice over it, so that nothing cancels.
ColumnMoments moments_of(const double* block, size_t rows, size_t cols) {
  ColumnMoments out = no_moments(cols);
  out.rows = rows;
  for (size_t r = 0; r < rows; ++r) {
    const double* const x = block + r * cols;
    for (size_t c = 0; c < cols; ++c) {
      out.mean[c] += x[c];
      out.least[c] = std::min(out.least[c], x[c]);
      out.most[c] = std::max(out.most[c], x[c]);
    }
  }
  for (double& m : out.mean) m /= static_cast<double>(rows);
  for (size_t r = 0; r < rows; ++r) {
    const double* const x = block + r * cols;
    for (size_t c = 0; c < cols; ++c) {
      const double d = x[c] - out.mean[c];
      out.squares[c] += d * d;
    }
  }
  return out;
}

// Chan, Golub, LeVeque 1979.
void add(ColumnMoments& to, const ColumnMoments& more) {
  if (more.rows == 0) return;
  const auto a = static_cast<double>(to.rows), b = static_cast<double>(more.rows);
  for (size_t c = 0; c < to.mean.size(); ++c) {
    const double apart = more.mean[c] - to.mean[c];
    to.mean[c] += apart * (b / (a + b));
    to.squares[c] += more.squares[c] + apart * apart * (a * b / (a + b));
    to.least[c] = std::min(to.least[c], more.least[c]);
    to.most[c] = std::max(to.most[c], more.most[c]);
  }
  to.rows += more.rows;
}

// What is the same in every row is not off its mean by rounding.
void settle(ColumnMoments& m) {
  for (size_t c = 0; c < m.mean.size(); ++c) {
    if (m.rows == 0 || !m.constant(c)) continue;
    m.mean[c] = m.least[c];
    m.squares[c] = 0;
  }
}

}  // namespace

double ColumnMoments::deviation(size_t column) const {
  return rows < 2 ? 0 : std::sqrt(squares[column] / static_cast<double>(rows - 1));
}

// MatrixData

MatrixData::MatrixData(Content content, double holdout, const Context& context)
    : content_(std::move(content)) {
  const size_t cols = content_.sparse ? content_.sparse->columns : content_.sources.at(0)->cols();
  named_columns_ = !content_.columns.empty();
  columns_ = content_.columns;
  for (size_t c = columns_.size(); c < cols; ++c) columns_.push_back(std::to_string(c + 1));
  train_.cols_ = held_out_.cols_ = cols;
  for (MatrixRows* const part : {&train_, &held_out_}) part->sources_ = &content_.sources;
  split(holdout);
  if (content_.sparse) {
    look_sparse();
  } else {
    look_dense(context);
  }
  if (named_columns_) {
    for (const std::string& name : columns_)
      fingerprint_ = XXH3_64bits_withSeed(name.data(), name.size(), fingerprint_);
  }
}

MatrixData MatrixData::of(Matrix rows, double holdout) {
  class Owned final : public Vectors {
   public:
    explicit Owned(Matrix m) : matrix_(std::move(m)), view_(matrix_) {}
    size_t rows() const override { return view_.rows(); }
    size_t cols() const override { return view_.cols(); }
    void read(size_t first, size_t count, Rows out) const override {
      view_.read(first, count, out);
    }

   private:
    Matrix matrix_;
    MatrixVectors view_;
  };
  Content content;
  const uint64_t bytes = rows.rows() * rows.stride() * sizeof(float);
  content.sources.push_back(rows_of(std::make_shared<Owned>(std::move(rows)), bytes));
  return {std::move(content), holdout, Context(1)};
}

MatrixData MatrixData::of(Sparse rows, double holdout) {
  Content content;
  content.sparse = std::make_unique<Sparse>(std::move(rows));
  return {std::move(content), holdout, Context(1)};
}

// Which rows are held out depends on their numbers alone.
void MatrixData::split(double holdout) {
  uint64_t all = content_.sparse ? content_.sparse->rows() : 0;
  for (const auto& source : content_.sources) all += source->rows();
  const uint64_t wanted = HoldOut::wanted(holdout, all, 0);
  train_.rows_ = all;
  if (wanted == 0) return;
  const HoldOut rule(static_cast<double>(wanted) / static_cast<double>(all), kHoldoutSeed);
  for (MatrixRows* const part : {&train_, &held_out_}) {
    part->rows_ = 0;
    part->mask_.resize((all + 63) / 64);
  }
  for (uint64_t row = 0; row < all; ++row) {
    if (row % MatrixRows::kMaskBlock == 0) {
      train_.before_.push_back(train_.rows_);
      held_out_.before_.push_back(held_out_.rows_);
    }
    MatrixRows& part = rule.takes(row) ? held_out_ : train_;
    part.mask_[row / 64] |= uint64_t{1} << row % 64;
    ++part.rows_;
  }
}

void MatrixData::look_dense(const Context& context) {
  const size_t cols = train_.cols_, step = rows_at_a_time(cols);
  for (MatrixRows* const part : {&train_, &held_out_}) {
    ColumnMoments& all = part->moments_ = no_moments(cols);
    const size_t blocks = (part->rows_ + step - 1) / step;
    for (size_t done = 0; done < blocks; done += kWave) {
      const size_t wave = std::min(kWave, blocks - done);
      std::vector<ColumnMoments> found(wave);
      std::vector<uint64_t> hashes(wave);
      for_each_shard(context, wave, [&](size_t k) {
        const uint64_t first = (done + k) * step;
        const size_t n = std::min<uint64_t>(step, part->rows_ - first);
        std::vector<double> block(n * cols);
        part->read(first, n, block.data());
        found[k] = moments_of(block.data(), n, cols);
        hashes[k] = XXH3_64bits(block.data(), block.size() * sizeof(double));
        for (size_t c = 0; c < cols; ++c) {
          const bool fits = std::abs(found[k].least[c]) <= std::numeric_limits<float>::max() &&
                            std::abs(found[k].most[c]) <= std::numeric_limits<float>::max();
          if (fits && std::isfinite(found[k].mean[c])) continue;
          for (size_t r = 0; r < n; ++r) {
            const double x = block[r * cols + c];
            if (!(std::abs(x) <= std::numeric_limits<float>::max())) {
              refuse_cell(part->number(first + r), c, x);
            }
          }
        }
      });
      for (size_t k = 0; k < wave; ++k) {
        add(all, found[k]);
        fingerprint_ = mix64(fingerprint_ + hashes[k]);
      }
    }
    settle(all);
  }
}

// Those to learn from and those held out become matrices of their own: what is held out is little.
void MatrixData::look_sparse() {
  const Sparse& all = *content_.sparse;
  for (uint32_t r = 0; r < all.rows(); ++r) {
    const Sparse::Row row = all.row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      if (!std::isfinite(row.values[k])) refuse_cell(r, row.columns[k], row.values[k]);
    }
  }
  const auto part_of = [&](const MatrixRows& part) {
    auto out = std::make_unique<Sparse>();
    out->columns = all.columns;
    for (uint64_t r = 0; r < part.rows(); ++r) {
      const Sparse::Row row = all.row(static_cast<uint32_t>(part.number(r)));
      out->column.insert(out->column.end(), row.columns.begin(), row.columns.end());
      out->value.insert(out->value.end(), row.values.begin(), row.values.end());
      out->offsets.push_back(out->column.size());
    }
    return out;
  };
  if (held_out_.rows_ > 0) {
    sparse_train_ = part_of(train_);
    sparse_held_out_ = part_of(held_out_);
    content_.sparse.reset();
  } else {
    sparse_train_ = std::move(content_.sparse);
    sparse_held_out_ = std::make_unique<Sparse>();
    sparse_held_out_->columns = sparse_train_->columns;
  }
  for (auto& [part, sparse] :
       {std::pair{&train_, sparse_train_.get()}, std::pair{&held_out_, sparse_held_out_.get()}}) {
    part->sparse_ = sparse;
    ColumnMoments& m = part->moments_ = no_moments(part->cols_);
    m.rows = part->rows_;
    std::vector<uint64_t> seen(part->cols_);
    for (size_t k = 0; k < sparse->size(); ++k) {
      const uint32_t c = sparse->column[k];
      const double x = sparse->value[k];
      m.mean[c] += x;
      m.least[c] = std::min(m.least[c], x);
      m.most[c] = std::max(m.most[c], x);
      ++seen[c];
    }
    for (size_t c = 0; c < part->cols_; ++c) {
      m.mean[c] /= static_cast<double>(std::max<uint64_t>(1, m.rows));
      if (seen[c] == m.rows) continue;
      m.least[c] = std::min(m.least[c], 0.0);
      m.most[c] = std::max(m.most[c], 0.0);
      m.squares[c] = static_cast<double>(m.rows - seen[c]) * m.mean[c] * m.mean[c];
    }
    for (size_t k = 0; k < sparse->size(); ++k) {
      const double d = sparse->value[k] - m.mean[sparse->column[k]];
      m.squares[sparse->column[k]] += d * d;
    }
    settle(m);
    for (const auto& [data, bytes] :
         {std::pair<const void*, size_t>{sparse->offsets.data(), sparse->offsets.size() * 8},
          std::pair<const void*, size_t>{sparse->column.data(), sparse->column.size() * 4},
          std::pair<const void*, size_t>{sparse->value.data(), sparse->value.size() * 4}}) {
      fingerprint_ = mix64(fingerprint_ + XXH3_64bits(data, bytes));
    }
  }
}

std::string MatrixData::place(uint64_t row) const {
  return content_.place ? content_.place(row) : fmt::format("row {}", row + 1);
}

void MatrixData::refuse_cell(uint64_t row, size_t column, double value) const {
  const std::string where =
      fmt::format("{}, column {}{}", place(row), named_columns_ ? "" : "number ",
                  named_columns_ ? shown(columns_[column]) : columns_[column]);
  if (std::isfinite(value)) {
    throw fault(ErrorKind::kInput,
                "{}: {:g} is larger than {:.3g}, the most that is worked with; divide the column",
                where, value, std::numeric_limits<float>::max());
  }
  throw fault(ErrorKind::kInput,
              "{}: {} is not a number to learn from; fill the cell in, or leave the row out", where,
              std::isnan(value) ? "nan"
              : value > 0       ? "inf"
                                : "-inf");
}

std::string MatrixData::row_name(uint64_t number) const {
  return content_.names.size() > 0 ? std::string(content_.names[number]) : std::to_string(number);
}

uint64_t MatrixData::bytes() const {
  uint64_t out = content_.names.bytes().size() + 24 * content_.names.size();
  for (const auto& source : content_.sources) out += source->bytes();
  for (const Sparse* const s : {sparse_train_.get(), sparse_held_out_.get()}) {
    if (s) out += 8 * s->column.capacity() + 8 * s->offsets.capacity();
  }
  for (const MatrixRows* const part : {&train_, &held_out_}) {
    out += 8 * (part->mask_.size() + part->before_.size());
  }
  return out + 100 * train_.cols_;
}

std::map<std::string, std::string> MatrixData::metadata() const {
  return {{"matrix.rows", fmt::format("{}", train_.rows_)},
          {"matrix.columns", fmt::format("{}", train_.cols_)},
          {"matrix.held_out", fmt::format("{}", held_out_.rows_)}};
}

Profile MatrixData::profile() const {
  Profile out;
  out.data = kind().name;
  out.unit = kind().unit;
  out.size = train_.rows_;
  out.held_out = held_out_.rows_;
  out.bytes = content_.bytes;
  const uint64_t rows = train_.rows_ + held_out_.rows_;
  std::string filled;
  if (train_.sparse_) {
    const uint64_t cells = train_.sparse_->size() + held_out_.sparse_->size();
    filled = fmt::format(", {} of the cells not 0",
                         in_percent(static_cast<double>(cells) / static_cast<double>(rows) /
                                    static_cast<double>(std::max<size_t>(1, train_.cols_))));
  }
  out.summary = fmt::format("{} of {}{}; {} held out to score the model", count_of(rows, "row"),
                            count_of(train_.cols_, "number"), filled,
                            out.held_out ? grouped(out.held_out) : "none");
  out.notes = content_.notes;
  std::vector<std::string> constant;
  for (size_t c = 0; c < train_.cols_; ++c) {
    if (train_.rows_ > 1 && train_.moments_.constant(c)) constant.push_back(columns_[c]);
  }
  if (!constant.empty()) {
    const size_t more = constant.size() > 5 ? constant.size() - 5 : 0;
    constant.resize(constant.size() - more);
    out.notes.push_back({Note::Level::kNote,
                         fmt::format("{} {}: the same in every row, so nothing is learned from {}",
                                     constant.size() == 1 ? "column" : "columns",
                                     fmt::format("{}{}", fmt::join(constant, ", "),
                                                 more ? fmt::format(" and {} more", more) : ""),
                                     constant.size() == 1 ? "it" : "them")});
  }
  return out;
}

}  // namespace kith
