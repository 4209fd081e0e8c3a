// SPDX-License-Identifier: Apache-2.0
#include "api/matrix_rows.h"

#include <utility>

#include "api/reading.h"
#include "core/error.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {

std::unique_ptr<MatrixData> matrix_for(const Model::Impl& model, std::string_view question,
                                       const std::vector<std::string>& sources,
                                       std::span<const Setting> reading, const Context& context,
                                       Observer* observer) {
  const Encodes& asked = model.ask<Encodes>(question);
  std::unique_ptr<Dataset> read =
      read_for(MatrixData::data_kind(), sources, reading, {}, context, observer);
  std::unique_ptr<MatrixData> out(static_cast<MatrixData*>(read.release()));
  const std::string where = shown_source(sources.front());
  const Names& wanted = asked.columns();
  // Sparse rows may end before the last column of the model: what is not there is 0.
  const bool fits = out->sparse() ? out->cols() <= wanted.size() : out->cols() == wanted.size();
  if (!fits) {
    throw fault(ErrorKind::kInput, "{}: rows of {}, and the model learned from rows of {}", where,
                count_of(out->cols(), "number"), grouped(wanted.size()));
  }
  if (!out->has_column_names() || !asked.columns_named()) return out;
  for (size_t c = 0; c < wanted.size(); ++c) {
    if (out->columns()[c] == wanted[c]) continue;
    throw fault(ErrorKind::kInput,
                "{}: column {} is called {}, and {} in the data that the model learned from; give "
                "the same columns in the same order",
                where, c + 1, shown(out->columns()[c]), shown(wanted[c]));
  }
  return out;
}

Names names_of_rows(const MatrixData& data) {
  if (data.row_names().size() > 0) return data.row_names();
  Names out;
  out.reserve(data.rows());
  for (uint64_t r = 0; r < data.rows(); ++r) out.add(fmt::format("{}", r + 1));
  return out;
}

}  // namespace kith
