// SPDX-License-Identifier: Apache-2.0
#include "io/quantised.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace kith {
namespace {

constexpr std::string_view kCodes = ".codes", kNorm = ".norm";

bool is(const std::map<std::string, Tensor>& tensors, const std::string& name, DType type) {
  const auto found = tensors.find(name);
  return found != tensors.end() && found->second.dtype == type && found->second.shape.size() == 2;
}

// Whether the two tensors of a table fit each other.
bool fit(const Tensor& codes, const Tensor& centroids) {
  const uint64_t parts = codes.shape[1], cols = centroids.shape[1];
  if (parts == 0 || parts > cols || centroids.shape[0] == 0) return false;
  if (centroids.shape[0] > kMostCentroids) return false;
  const size_t width = width_of_parts(cols, parts);
  return width <= kWidestPart && (cols + width - 1) / width == parts;
}

std::span<const uint8_t> codes_of(const Tensor& codes, size_t row) {
  return {reinterpret_cast<const uint8_t*>(codes.data) + row * codes.row_stride, codes.row_bytes};
}

void check_codes(const Archive& in, const std::string& name, const Tensor& codes,
                 size_t centroids) {
  for (size_t r = 0; r < codes.shape[0]; ++r) {
    for (const uint8_t c : codes_of(codes, r)) {
      if (c < centroids) continue;
      throw fault(ErrorKind::kInput,
                  "{}: row {} of {} has the code {}, and there are {} centroids; the file is "
                  "damaged",
                  in.where(), r + 1, name, c, centroids);
    }
  }
}

}  // namespace

void decode_row(std::span<const uint8_t> codes, const Matrix& centroids, std::span<float> out) {
  const size_t width = width_of_parts(out.size(), codes.size());
  for (size_t p = 0; p < codes.size(); ++p) {
    const size_t first = p * width, values = std::min(width, out.size() - first);
    const auto from = centroids.row(codes[p]).subspan(first, values);
    std::ranges::copy(from, out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void announce_quantised(std::map<std::string, Tensor>& tensors, const std::string& where) {
  std::vector<std::pair<std::string, Tensor>> found;
  for (const auto& [title, codes] : tensors) {
    if (!title.ends_with(kCodes)) continue;
    const std::string name = title.substr(0, title.size() - kCodes.size());
    if (name.ends_with(kNorm)) continue;
    const auto wrong = [&] {
      return fault(ErrorKind::kInput,
                   "{}: the codes of {} do not fit its centroids; the file is "
                   "damaged",
                   where, name);
    };
    const auto sound = [&](const std::string& table) {
      return is(tensors, table + ".codes", DType::kU8) &&
             is(tensors, table + ".centroids", DType::kF32) &&
             fit(tensors.at(table + ".codes"), tensors.at(table + ".centroids"));
    };
    if (!sound(name) || tensors.contains(name)) throw wrong();
    const std::string norm = name + std::string(kNorm);
    if (tensors.contains(norm + ".codes") &&
        (!sound(norm) || tensors.at(norm + ".codes").shape[0] != codes.shape[0] ||
         tensors.at(norm + ".centroids").shape[1] != 1)) {
      throw wrong();
    }
    const uint64_t rows = codes.shape[0], cols = tensors.at(name + ".centroids").shape[1];
    found.emplace_back(name, Tensor{.dtype = DType::kF32,
                                    .shape = {rows, cols},
                                    .data = nullptr,
                                    .rows = rows,
                                    .row_bytes = cols * sizeof(float),
                                    .row_stride = cols * sizeof(float)});
  }
  for (auto& [name, tensor] : found) tensors.emplace(std::move(name), std::move(tensor));
}

Matrix decode_quantised(const Archive& in, const std::string& name) {
  const Tensor& codes = in.tensors().at(name + ".codes");
  const Matrix centroids = in.matrix(name + ".centroids");
  check_codes(in, name, codes, centroids.rows());
  Matrix out(codes.shape[0], centroids.cols());
  for (size_t r = 0; r < out.rows(); ++r) decode_row(codes_of(codes, r), centroids, out.row(r));
  const std::string norm = name + std::string(kNorm);
  if (!in.has(norm + ".codes")) return out;
  const Tensor& norm_codes = in.tensors().at(norm + ".codes");
  const Matrix norms = in.matrix(norm + ".centroids");
  check_codes(in, norm, norm_codes, norms.rows());
  for (size_t r = 0; r < out.rows(); ++r) {
    const float length = std::as_const(norms).row(codes_of(norm_codes, r)[0])[0];
    for (float& x : out.row(r)) x *= length;
  }
  return out;
}

}  // namespace kith
