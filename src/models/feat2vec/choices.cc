// SPDX-License-Identifier: Apache-2.0
#include "models/feat2vec/choices.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace kith::feat2vec {
namespace {

constexpr double kPenalty = 2;  // of B

// The rows of the vectors that stand for values of these columns, rising.
std::vector<uint32_t> rows_of(const Table& table, std::span<const uint32_t> columns) {
  std::vector<uint32_t> out;
  for (const uint32_t g : columns) {
    const Entities& e = table.entities(g);
    for (uint32_t i = 0; i < e.size; ++i) out.push_back(e.first + i);
  }
  std::ranges::sort(out);  // columns may share a vocabulary
  const auto [from, to] = std::ranges::unique(out);
  out.erase(from, to);
  return out;
}

// Calls f(a, b) for any two values of a row, as they are numbered by `row_of`, both ways round.
template <class F>
void each_meeting(const Table& table, std::span<const uint32_t> columns, uint64_t rows,
                  std::span<const uint32_t> row_of, const F& f) {
  std::vector<uint32_t> number(row_of.empty() ? 0 : row_of.back() + 1);
  for (uint32_t i = 0; i < row_of.size(); ++i) number[row_of[i]] = i;
  for (uint64_t r = 0; r < rows; ++r) {
    const auto row = table.any_row(r);
    for (const uint32_t g : columns) {
      for (const uint32_t h : columns) {
        if (g == h || row[g] == kNoEntity || row[h] == kNoEntity) continue;
        const uint32_t a = table.entities(g).first + row[g], b = table.entities(h).first + row[h];
        if (a != b) f(number[a], number[b]);
      }
    }
  }
}

Sparse company(const Table& table, std::span<const uint32_t> columns, uint64_t rows,
               std::span<const uint32_t> row_of) {
  std::vector<uint64_t> at(row_of.size() + 1, 0);
  each_meeting(table, columns, rows, row_of, [&](uint32_t a, uint32_t) { ++at[a + 1]; });
  for (size_t i = 1; i < at.size(); ++i) at[i] += at[i - 1];
  std::vector<uint32_t> all(at.back());
  std::vector<uint64_t> next(at.begin(), at.end() - 1);
  each_meeting(table, columns, rows, row_of, [&](uint32_t a, uint32_t b) { all[next[a]++] = b; });
  Sparse out;
  out.columns = static_cast<uint32_t>(row_of.size());
  for (size_t i = 0; i < row_of.size(); ++i) {
    const std::span<uint32_t> mine(all.data() + at[i], all.data() + at[i + 1]);
    std::ranges::sort(mine);
    const auto repeated = std::ranges::unique(mine);
    out.column.insert(out.column.end(), mine.begin(), repeated.begin());
    out.offsets.push_back(out.column.size());
  }
  out.value.assign(out.column.size(), 1.0f);
  return out;
}

}  // namespace

void check_choices(const Config& config) {
  if (!*config.choices || (is_head(*config.loss) && *config.l2 > 0)) return;
  throw fault(ErrorKind::kUsage,
              "--choices says where --l2 draws vectors, with a --target that the score meets: a "
              "number, or two values; leave it out");
}

std::vector<uint32_t> columns_of_choices(const Table& table, const Config& config) {
  std::vector<uint32_t> out;
  for (uint32_t g = 0; g < table.groups(); ++g) {
    const Group& group = table.encoding().groups[g];
    const Entities& e = table.entities(g);
    const bool plain = group.named() && e.offsets.empty() && group.column.name != config.target;
    if (plain && e.size >= kValuesOfChoices) out.push_back(g);
  }
  if (out.size() < 2) out.clear();
  return out;
}

Choices::Choices(const Table& table, std::span<const uint32_t> columns, uint64_t rows)
    : row_of_(rows_of(table, columns)),
      with_(company(table, columns, rows, row_of_)),
      fit_(FeatureRows(none_, with_, with_, true), std::vector<float>(row_of_.size(), 1.0f)) {}

void Choices::fit(const Matrix& theta, size_t cols, const Context& context, Matrix& effects) const {
  Matrix rows(row_of_.size(), cols + 1);  // with one number that is not learned
  for (size_t i = 0; i < row_of_.size(); ++i) {
    std::copy_n(theta.row(row_of_[i]).begin(), cols, rows.row(i).begin());
  }
  RowMeans known;
  known.effects = effects.rows() > 0 ? effects.copy() : Matrix(features(), cols + 1);
  fit_.fit(rows, cols, kPenalty, context, known);
  effects = std::move(known.effects);
}

Matrix Choices::means(const Matrix& effects, uint64_t rows, size_t width,
                      const Context& context) const {
  RowMeans known;
  known.effects = effects.copy();
  const Matrix said = fit_.means(known, context);
  Matrix out(rows, width);
  for (size_t i = 0; i < row_of_.size(); ++i) {
    const auto from = said.row(i);
    std::copy_n(from.begin(), from.size() - 1, out.row(row_of_[i]).begin());
  }
  return out;
}

uint64_t Choices::memory(const Table& table, const Config& config, size_t width) {
  const std::vector<uint32_t> columns = columns_of_choices(table, config);
  if (columns.empty()) return 0;
  const RowFeatures none;
  const uint64_t values = rows_of(table, columns).size();
  const uint64_t meetings =
      (table.rows() + table.held_out()) * columns.size() * (columns.size() - 1);
  const FeaturesMemory of_fit =
      memory_of(none, true, {.rows = values, .others = values, .cols = width + 1});
  return 16 * meetings + of_fit.effects + of_fit.kept + of_fit.passing +
         table.encoding().rows() * width * sizeof(float);
}

}  // namespace kith::feat2vec
