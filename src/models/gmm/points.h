// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows as a sweep takes them: in the frame of a model, a block at a time, from many threads at
// once.

#include <cstdint>
#include <vector>

#include "core/line_vector.h"
#include "core/matrix.h"
#include "data/matrix/matrix.h"
#include "models/gmm/kernel.h"

namespace kith::gmm {

// Each column without its mean, divided by its deviation, or all by one and the same, where
// directions must stay what they are. A column that never varies is left out.
struct Frame {
  std::vector<double> mean, deviation;  // by column of the data; a deviation of 0: left out
  std::vector<uint32_t> columns;        // that are in it
  // To be added to a log-density in the frame for one of the data.
  double log_density = 0;

  // `alike`: one deviation for all columns.
  static Frame of(const ColumnMoments& moments, bool alike);
  // With the columns and the rest made of means and deviations.
  static Frame of(std::vector<double> mean, std::vector<double> deviation);
  size_t dims() const { return columns.size(); }
};

// Of one worker, kept from block to block.
struct ReadBuffer {
  Matrix floats;
  LineVector<double> doubles;
};

class Points {
 public:
  virtual ~Points() = default;
  virtual uint64_t size() const = 0;
  virtual void load(uint64_t first, size_t count, ReadBuffer& buffer, Block<float>& to) const = 0;
  virtual void load(uint64_t first, size_t count, ReadBuffer& buffer, Block<double>& to) const = 0;
};

// Those of the data, wherever they are.
class DataPoints final : public Points {
 public:
  DataPoints(const MatrixRows& rows, const Frame& frame);
  uint64_t size() const override { return rows_.rows(); }
  void load(uint64_t first, size_t count, ReadBuffer& buffer, Block<float>& to) const override;
  void load(uint64_t first, size_t count, ReadBuffer& buffer, Block<double>& to) const override;

 private:
  template <class T>
  void load_sparse(uint64_t first, size_t count, T* out, size_t stride) const;
  const MatrixRows& rows_;
  const Frame& frame_;
  std::vector<double> scale_;    // by column of the data
  std::vector<uint32_t> place_;  // sparse: of a column in the frame
  std::vector<double> empty_;    // sparse: what a row of nothing is in the frame
};

// Some of them, in memory: one drawn from each of as many parts of the data.
class Sample final : public Points {
 public:
  Sample(const Points& all, size_t dims, uint64_t size, uint64_t seed, const Context& context);
  uint64_t size() const override { return rows_.rows(); }
  void load(uint64_t first, size_t count, ReadBuffer& buffer, Block<float>& to) const override;
  void load(uint64_t first, size_t count, ReadBuffer& buffer, Block<double>& to) const override;
  std::span<const float> row(uint64_t r) const { return rows_.row(r); }

 private:
  Matrix rows_;
};

}  // namespace kith::gmm
