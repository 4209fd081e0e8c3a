// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "query/neighbours.h"
#include "train_report.h"

namespace kith::cli {
namespace {

// Frequent enough to have been learned, and few enough that a look costs next to nothing.
constexpr size_t kLookedAt = 20000;
constexpr size_t kWords = 3, kNear = 4;  // shown, and how many neighbours of each

std::span<const float> row_of(const Tensor& t, size_t r) {
  return {reinterpret_cast<const float*>(t.data + r * t.row_stride), t.row_bytes / sizeof(float)};
}

void check_finite(const std::string& name, const Tensor& t) {
  for (size_t r = 0; t.dtype == DType::kF32 && r < t.rows; ++r) {
    for (const float x : row_of(t, r)) {
      if (std::isfinite(x)) continue;
      throw Error(
          ErrorKind::kDiverged,
          "row {} of {} is not finite after training, so nothing was saved; try a lower --lr", r,
          name);
    }
  }
}

// The most frequent words with their vectors, as a table of their own.
NamedVectors frequent_words(const Model& model, const Tensor& input) {
  NamedVectors out;
  const size_t rows = std::min({input.rows, model.names().size(), kLookedAt});
  out.matrix = Matrix(rows, input.row_bytes / sizeof(float));
  for (size_t r = 0; r < rows; ++r) {
    out.names.add(model.names()[r]);
    std::ranges::copy(row_of(input, r), out.matrix.row(r).begin());
  }
  return out;
}

void show_neighbours(const NamedVectors& table, uint64_t seed, int threads, Status& status) {
  const size_t rows = table.names.size();
  if (rows < 2 * kNear) return;
  // Past the words that stand beside everything, before those seen a few times only.
  const size_t first = std::min<size_t>(100, rows / 10);
  const size_t last = std::max(first + kWords, std::min<size_t>(2000, rows / 2));
  const Space space(table.names, table.matrix);
  Rng rng(seed, 0x5e1f);
  Matrix queries(kWords, table.matrix.cols());
  std::vector<std::vector<uint32_t>> own;
  while (own.size() < kWords) {
    const auto row = static_cast<uint32_t>(first + rng.below(static_cast<uint32_t>(last - first)));
    if (std::ranges::find(own, std::vector{row}) != own.end()) continue;
    std::ranges::copy(space.unit().row(row), queries.row(own.size()).begin());
    own.push_back({row});
  }
  const auto found = exact_neighbours(space, queries, own, {.top = kNear, .threads = threads});
  for (size_t q = 0; q < kWords; ++q) {
    std::string words;
    for (const Neighbour& n : found[q]) {
      words += (words.empty() ? "" : ", ") + printable(table.names[n.row]);
    }
    status.line(
        labelled("", fmt::format("{} is near {}", printable(table.names[own[q][0]]), words)));
  }
}

}  // namespace

void self_check(const Model& model, uint64_t seed, int threads, Status& status) {
  ArchiveWriter parts;  // views: nothing is copied
  model.pack(parts, false);
  for (const auto& [name, tensor] : parts.tensors) check_finite(name, tensor);
  const auto input = parts.tensors.find("input");
  if (input == parts.tensors.end() || input->second.dtype != DType::kF32) return;

  size_t zero = 0;
  for (size_t r = 0; r < input->second.rows; ++r) {
    zero += std::ranges::all_of(row_of(input->second, r), [](float x) { return x == 0; });
  }
  if (zero) status.warning(fmt::format("{} of {} vectors are zero", zero, input->second.rows));
  if (status.quiet()) return;
  status.line(labelled("check", fmt::format("all {} are finite{}; for example",
                                            count_of(input->second.rows, "vector"),
                                            zero ? "" : " and none is zero")));
  show_neighbours(frequent_words(model, input->second), seed, threads, status);
}

}  // namespace kith::cli
