// SPDX-License-Identifier: Apache-2.0
// How well rows of numbers are given back.
#include <algorithm>
#include <vector>

#include "api/evaluate.h"
#include "api/matrix_rows.h"
#include "core/parallel.h"
#include "kith/text.h"
#include "models/reconstruction.h"

namespace kith {

Report evaluate_matrix(const Model::Impl& model, const std::vector<std::string>& sources,
                       std::span<const Setting> reading, const Context& context,
                       Observer* observer) {
  constexpr size_t kRows = 256;
  const auto& asked = model.ask<Reconstructs>("eval");
  const auto data = matrix_for(model, "eval", sources, reading, context, observer);
  const MatrixRows& rows = data->train();
  const size_t shards = (rows.rows() + kRows - 1) / kRows;
  std::vector<ErrorSums> found(shards);
  for_each_shard(context, shards, [&](size_t s) {
    const size_t n = std::min<uint64_t>(kRows, rows.rows() - s * kRows);
    found[s] = reconstruction_error(asked, rows, s * kRows, n);
  });
  ErrorSums sums;
  for (const ErrorSums& s : found) {
    sums.error += s.error;
    sums.baseline += s.baseline;
  }
  const double cells =
      static_cast<double>(rows.rows()) * static_cast<double>(asked.mean_row().size());
  Report out;
  out.title = sources.front();
  out.subtitle = fmt::format(
      "{} of {}, given back from vectors of {}", count_of(rows.rows(), "row"),
      count_of(asked.mean_row().size(), "number"), model.ask<Encodes>("eval").code_dim());
  const auto way = [&](std::string name, double error) {
    const double kept = sums.baseline > 0 ? 1 - error / sums.baseline : 0;
    return Way{std::move(name), {{"mse", error / cells}, {"variance_kept", kept}}};
  };
  out.comparisons.push_back({{way("model", sums.error), way("mean", sums.baseline)}});
  out.counts.emplace_back("rows", rows.rows());
  out.counts.emplace_back("columns", asked.mean_row().size());
  return out;
}

}  // namespace kith
