// SPDX-License-Identifier: Apache-2.0
#include "kith/reconstruct.h"

#include <algorithm>
#include <cmath>

#include "api/matrix_rows.h"
#include "api/vector_output.h"
#include "core/error.h"
#include "kith/text.h"

namespace kith {
namespace {

// What the model makes of the rows, made as it is read.
class GivenBack final : public Vectors {
 public:
  GivenBack(const Reconstructs& model, const MatrixRows& rows)
      : model_(model), rows_(rows), cols_(model.mean_row().size()) {}
  size_t rows() const override { return rows_.rows(); }
  size_t cols() const override { return cols_; }
  void read(size_t first, size_t count, Rows out) const override {
    std::vector<double> back(count * cols_);
    model_.reconstruct(rows_, first, count, back.data());
    for (size_t r = 0; r < count; ++r) {
      for (size_t c = 0; c < cols_; ++c) {
        out.row(r)[c] = static_cast<float>(back[r * cols_ + c]);
      }
    }
  }

 private:
  const Reconstructs& model_;
  const MatrixRows& rows_;
  size_t cols_;
};

}  // namespace

Embedded reconstruct_rows(const Model& model, const std::vector<std::string>& sources,
                          const std::string& output, const ReconstructOptions& options,
                          std::span<const Setting> reading, const Context& context,
                          Observer* observer) {
  const Reconstructs& asked = model.impl().ask<Reconstructs>("reconstruct");
  std::vector<std::string> inputs = sources;
  inputs.push_back(model.path());
  VectorOutput file(output, options.to, inputs);
  const auto data = matrix_for(model.impl(), "reconstruct", sources, reading, context, observer);
  const GivenBack back(asked, data->train());
  file.write(names_of_rows(*data), back, context);
  return {data->rows(), back.cols()};
}

}  // namespace kith
