// SPDX-License-Identifier: Apache-2.0
#include "models/pca/covariance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/sparse.h"
#include "kernels/panels.h"
#include "kernels/skinny.h"
#include "train/symmetric.h"

namespace kith::pca {
namespace {

// Rows that are summed in single precision before the sum goes to doubles. A panel of them is
// 32 KiB: two stay in the first-level cache.
constexpr size_t kDepth = 256;
constexpr size_t kNumbers = size_t{1} << 20;  // that a block of rows has at most, about

// Of long rows fewer, so that a block of them is no larger; a multiple of kPanel.
size_t piece_rows(size_t cols) {
  return std::clamp<size_t>(kNumbers / (panels_of(cols) * kPanel) / kPanel * kPanel, kPanel,
                            kDepth);
}

std::vector<double> inverse(const std::vector<double>& unit) {
  std::vector<double> out(unit);
  for (double& x : out) x = 1 / x;
  return out;
}

// A block of rows, changed and cut into panels: pieces of kDepth rows, and within a piece one panel
// behind the other. What is beyond the rows and columns there are is 0.
class Block {
 public:
  explicit Block(size_t cols)
      : panels_(panels_of(cols)),
        depth_(piece_rows(cols)),
        numbers_(block_rows(cols), panels_ * kPanel) {}
  size_t depth() const { return depth_; }  // rows of a piece
  size_t pieces() const { return pieces_; }
  size_t panels() const { return panels_; }
  const float* panel(size_t piece, size_t panel) const {
    return std::as_const(numbers_).view().data + (piece * panels_ + panel) * depth_ * kPanel;
  }

  void read(const MatrixRows& rows, const Change& change, const std::vector<double>& scale,
            uint64_t first, size_t count, const Context& context) {
    pieces_ = (count + depth_ - 1) / depth_;
    for_each_shard(context, pieces_, [&](size_t piece) {
      const size_t n = std::min(depth_, count - piece * depth_);
      Matrix plain(n, rows.cols());
      rows.read(first + piece * depth_, n, plain.view(), {change.shift, scale});
      float* const to = numbers_.view().data + piece * panels_ * depth_ * kPanel;
      for (size_t p = 0; p < panels_; ++p) {
        float* const panel = to + p * depth_ * kPanel;
        const size_t width = std::min(kPanel, rows.cols() - p * kPanel);
        for (size_t r = 0; r < n; ++r) {
          std::memcpy(panel + r * kPanel, plain.view().row(r) + p * kPanel, width * sizeof(float));
        }
        std::memset(panel + n * kPanel, 0, (depth_ - n) * kPanel * sizeof(float));
      }
    });
  }

 private:
  size_t panels_, depth_, pieces_ = 0;
  Matrix numbers_;  // for the alignment; as one run of floats
};

struct alignas(64) Tile {
  float values[kPanel * kPanel];
};

class Held final : public Covariance {
 public:
  explicit Held(Small c) : c_(std::move(c)) {}
  size_t cols() const override { return c_.cols; }
  Small times(const Small& q, const Context& context) const override {
    context.check();
    return product(q, c_);
  }

 private:
  Small c_;
};

// Z = sum over rows x of (q x) x^T.
class Streamed final : public Covariance {
 public:
  Streamed(const MatrixRows& rows, Change change, double divisor)
      : rows_(rows), change_(std::move(change)), scale_(inverse(change_.unit)), divisor_(divisor) {}
  size_t cols() const override { return rows_.cols(); }

  Small times(const Small& q, const Context& context) const override {
    const size_t cols = rows_.cols(), step = block_rows(cols);
    const size_t across = panels_of(q.rows), depth = piece_rows(cols);
    const Matrix directions = panels_of_columns(q);
    Small z(cols, q.rows);
    Block block(cols);
    for (uint64_t first = 0; first < rows_.rows(); first += step) {
      const size_t count = std::min<uint64_t>(step, rows_.rows() - first);
      block.read(rows_, change_, scale_, first, count, context);
      Matrix y(block.pieces() * across * depth, kPanel);  // panels of each piece
      for_each_shard(context, block.pieces(), [&](size_t piece) {
        along(block, piece, directions, across, y.view().data + piece * across * depth * kPanel);
      });
      for_each_shard(context, block.panels() * across, [&](size_t task) {
        const size_t i = task / across, j = task % across;
        Tile tile;
        for (size_t piece = 0; piece < block.pieces(); ++piece) {
          panel_product(block.panel(piece, i),
                        y.view().data + (piece * across + j) * depth * kPanel, depth, tile.values);
          add_tile(tile.values, std::min(kPanel, cols - i * kPanel),
                   std::min(kPanel, q.rows - j * kPanel), &z.at(i * kPanel, j * kPanel), q.rows);
        }
      });
    }
    return transposed_over(z, divisor_);
  }

  // Panels of the columns of q, the columns of the data from top to bottom.
  static Matrix panels_of_columns(const Small& q) {
    Matrix out(panels_of(q.rows) * q.cols, kPanel);
    for (size_t k = 0; k < q.rows; ++k) {
      for (size_t c = 0; c < q.cols; ++c) {
        out.row(k / kPanel * q.cols + c)[k % kPanel] = static_cast<float>(q.at(k, c));
      }
    }
    return out;
  }

  // y = x q^T for the rows x of a piece, as panels.
  static void along(const Block& block, size_t piece, const Matrix& directions, size_t across,
                    float* y) {
    const size_t cols = directions.rows() / across, depth = block.depth();
    Matrix turned(cols, kPanel);  // as many rows of x, by columns
    for (size_t r = 0; r < depth; r += kPanel) {
      for (size_t c = 0; c < cols; ++c) {
        const float* const from = block.panel(piece, c / kPanel) + r * kPanel + c % kPanel;
        float* const to = turned.view().row(c);
        for (size_t k = 0; k < kPanel; ++k) to[k] = from[k * kPanel];
      }
      for (size_t j = 0; j < across; ++j) {
        panel_product(turned.view().data, directions.view().row(j * cols), cols,
                      y + (j * depth + r) * kPanel);
      }
    }
  }

  static Small transposed_over(const Small& z, double divisor) {
    Small out(z.cols, z.rows);
    for (size_t r = 0; r < z.rows; ++r) {
      for (size_t k = 0; k < z.cols; ++k) out.at(k, r) = z.at(r, k) / divisor;
    }
    return out;
  }

 private:
  const MatrixRows& rows_;
  Change change_;
  std::vector<double> scale_;
  double divisor_;
};

// The same with implicit centring: with S the sparse rows, D = 1 / unit and m the shift,
// y = S D q^T - 1 (m D q^T) and Z = D (S^T y - m 1^T y).
class StreamedSparse final : public Covariance {
 public:
  StreamedSparse(const MatrixRows& rows, Change change, double divisor)
      : s_(*rows.sparse()),
        by_column_(transposed(s_)),
        change_(std::move(change)),
        divisor_(divisor) {}
  size_t cols() const override { return s_.columns; }

  Small times(const Small& q, const Context& context) const override {
    const size_t cols = s_.columns, width = padded(q.rows);
    Matrix directions(cols, q.rows);
    std::vector<double> shifted(q.rows, 0.0);
    for (size_t c = 0; c < cols; ++c) {
      for (size_t k = 0; k < q.rows; ++k) {
        const double d = q.at(k, c) / change_.unit[c];
        directions.row(c)[k] = static_cast<float>(d);
        shifted[k] += change_.shift[c] * d;
      }
    }
    Matrix y(s_.rows(), q.rows);
    const size_t mean_entries = s_.size() / std::max<size_t>(1, s_.rows()) + 1;
    for_each_range(context, s_.rows(), mean_entries * width, [&](size_t first, size_t last) {
      for (size_t r = first; r < last; ++r) {
        const Sparse::Row row = s_.row(static_cast<uint32_t>(r));
        sum_rows({std::as_const(directions).view(), row.columns.data(), row.values.data(),
                  row.size(), 1},
                 false, y.view().row(r), width);
        const auto to = y.row(r);
        for (size_t k = 0; k < q.rows; ++k) to[k] = static_cast<float>(to[k] - shifted[k]);
      }
    });
    std::vector<double> all(q.rows, 0.0);  // 1^T y: 0 but for rounding, if the shift is the mean
    for (size_t r = 0; r < y.rows(); ++r) {
      for (size_t k = 0; k < q.rows; ++k) all[k] += y.row(r)[k];
    }
    Small out(q.rows, cols);
    const size_t entries_of_column = s_.size() / std::max<size_t>(1, cols) + 1;
    for_each_range(context, cols, entries_of_column * width, [&](size_t first, size_t last) {
      Matrix part(1, q.rows);
      std::vector<double> sum(q.rows);
      for (size_t c = first; c < last; ++c) {
        const Sparse::Row column = by_column_.row(static_cast<uint32_t>(c));
        std::ranges::fill(sum, 0.0);
        for (size_t at = 0; at < column.size(); at += kDepth) {  // then in double
          const size_t n = std::min(kDepth, column.size() - at);
          sum_rows({std::as_const(y).view(), column.columns.data() + at, column.values.data() + at,
                    n, 1},
                   false, part.view().row(0), width);
          for (size_t k = 0; k < q.rows; ++k) sum[k] += part.row(0)[k];
        }
        for (size_t k = 0; k < q.rows; ++k) {
          out.at(k, c) = (sum[k] - change_.shift[c] * all[k]) / change_.unit[c] / divisor_;
        }
      }
    });
    return out;
  }

 private:
  const Sparse& s_;
  Sparse by_column_;
  Change change_;
  double divisor_;
};

}  // namespace

size_t block_rows(size_t cols) {
  const size_t piece = piece_rows(cols);
  return std::clamp<size_t>(kNumbers / (panels_of(cols) * kPanel) / piece * piece, piece,
                            kBlockRows);
}

void add_gram(const MatrixRows& rows, const Change& change, uint64_t first, uint64_t last,
              std::span<double> gram, const Context& context) {
  const size_t cols = rows.cols(), step = block_rows(cols);
  const std::vector<double> scale = inverse(change.unit);
  Block block(cols);
  const size_t panels = block.panels();
  for (; first < last; first += step) {
    block.read(rows, change, scale, first, std::min<uint64_t>(step, last - first), context);
    // The lower half, a pair of panels at a time; each goes through all pieces, in their order. A
    // block is added whole or not at all.
    finish_shards(context, panels * (panels + 1) / 2, [&](size_t pair) {
      auto i = static_cast<size_t>((std::sqrt(8.0 * static_cast<double>(pair) + 1) - 1) / 2);
      while (i * (i + 1) / 2 > pair) --i;
      while ((i + 1) * (i + 2) / 2 <= pair) ++i;
      const size_t j = pair - i * (i + 1) / 2;
      Tile tile;
      for (size_t piece = 0; piece < block.pieces(); ++piece) {
        panel_product(block.panel(piece, i), block.panel(piece, j), block.depth(), tile.values);
        add_tile(tile.values, std::min(kPanel, cols - i * kPanel),
                 std::min(kPanel, cols - j * kPanel), &gram[i * kPanel * cols + j * kPanel], cols);
      }
    });
  }
}

void add_sparse_gram(const MatrixRows& rows, const Change& change, std::span<double> gram,
                     const Context& context) {
  const Sparse& s = *rows.sparse();
  const Sparse by_column = transposed(s);
  const size_t cols = s.columns;
  const auto n = static_cast<double>(s.rows());
  std::vector<double> sums(cols, 0.0);  // of the columns
  for (size_t k = 0; k < s.size(); ++k) sums[s.column[k]] += s.value[k];
  for_each_shard(context, cols, [&](size_t i) {
    double* const to = gram.data() + i * cols;
    const Sparse::Row column = by_column.row(static_cast<uint32_t>(i));
    for (size_t k = 0; k < column.size(); ++k) {
      const Sparse::Row row = s.row(column.columns[k]);
      const double x = column.values[k];
      for (size_t e = 0; e < row.size() && row.columns[e] <= i; ++e) {
        to[row.columns[e]] += x * row.values[e];
      }
    }
    for (size_t j = 0; j <= i; ++j) {
      const double a = change.shift[i], b = change.shift[j];
      to[j] = (to[j] - a * sums[j] - b * sums[i] + n * a * b) / change.unit[i] / change.unit[j];
    }
  });
}

Small covariance_of(std::span<const double> gram, size_t cols, double divisor) {
  Small out(cols, cols);
  for (size_t i = 0; i < cols; ++i) {
    for (size_t j = 0; j <= i; ++j) out.at(i, j) = out.at(j, i) = gram[i * cols + j] / divisor;
  }
  return out;
}

std::unique_ptr<Covariance> held(Small c) { return std::make_unique<Held>(std::move(c)); }

std::unique_ptr<Covariance> streamed(const MatrixRows& rows, Change change, double divisor) {
  if (rows.sparse()) return std::make_unique<StreamedSparse>(rows, std::move(change), divisor);
  return std::make_unique<Streamed>(rows, std::move(change), divisor);
}

}  // namespace kith::pca
