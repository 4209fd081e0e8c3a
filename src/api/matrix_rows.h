// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of numbers that a model is asked about.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/opened.h"
#include "data/matrix/matrix.h"
#include "kith/events.h"
#include "kith/settings.h"

namespace kith {

// Read, and seen to have the columns of the model. Error(kInput) if they have others.
std::unique_ptr<MatrixData> matrix_for(const Model::Impl& model, std::string_view question,
                                       const std::vector<std::string>& sources,
                                       std::span<const Setting> reading, const Context& context,
                                       Observer* observer);

// The vectors of all rows, made as they are read.
class EncodedRows final : public Vectors {
 public:
  EncodedRows(const Encodes& model, const MatrixRows& rows) : model_(model), rows_(rows) {}
  size_t rows() const override { return rows_.rows(); }
  size_t cols() const override { return model_.code_dim(); }
  void read(size_t first, size_t count, Rows out) const override {
    model_.encode(rows_, first, count, out);
  }

 private:
  const Encodes& model_;
  const MatrixRows& rows_;
};

// Names of the rows, or their numbers from 1.
Names names_of_rows(const MatrixData& data);

}  // namespace kith
