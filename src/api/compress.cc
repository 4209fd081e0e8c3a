// SPDX-License-Identifier: Apache-2.0
#include "kith/compress.h"

#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <utility>

#include "api/opened.h"
#include "core/error.h"
#include "io/quantised.h"
#include "kith/files.h"
#include "train/quantise.h"

namespace kith {
namespace {

// What the tables of vectors are called in files of models; see docs/model-file.md.
constexpr std::array<const char*, 3> kTables{"input", "output", "vectors"};

double squared(std::span<const float> x) {
  double out = 0;
  for (const float v : x) out += double{v} * double{v};
  return out;
}

// What goes into the file for a table; it must live until that is written.
class Coded {
 public:
  Coded(const Matrix& table, const CompressOptions& options, const Context& context) {
    const QuantiseSettings settings{.width = static_cast<size_t>(options.width),
                                    .seed = static_cast<uint64_t>(options.seed)};
    if (!options.norms) {
      rows_ = quantise(table, settings, context);
    } else {
      Matrix lengths(table.rows(), 1), units(table.rows(), table.cols());
      for (size_t r = 0; r < table.rows(); ++r) {
        const auto length = static_cast<float>(std::sqrt(squared(table.row(r))));
        lengths.row(r)[0] = length;
        for (size_t k = 0; length > 0 && k < table.cols(); ++k) {
          units.row(r)[k] = table.row(r)[k] / length;
        }
      }
      rows_ = quantise(units, settings, context);
      norms_ = quantise(lengths, settings, context);
    }
    double lost = 0, all = 0;
    std::vector<float> again(table.cols());
    for (size_t r = 0; r < table.rows(); ++r) {
      row(r, again);
      const auto from = table.row(r);
      all += squared(from);
      for (size_t k = 0; k < again.size(); ++k) again[k] -= from[k];
      lost += squared(again);
    }
    error_ = all > 0 ? lost / all : 0;
  }

  double error() const { return error_; }
  uint64_t bytes() const { return bytes_of(rows_) + bytes_of(norms_); }
  void put(const std::string& name, ArchiveWriter& out) const {
    put(name, rows_, out);
    if (norms_.parts > 0) put(name + ".norm", norms_, out);
  }

 private:
  static uint64_t bytes_of(const Quantised& q) {
    return q.codes.size() + q.centroids.rows() * q.centroids.cols() * sizeof(float);
  }
  static std::span<const uint8_t> codes(const Quantised& q, size_t row) {
    return {reinterpret_cast<const uint8_t*>(q.codes.data()) + row * q.parts, q.parts};
  }
  void row(size_t r, std::span<float> out) const {
    decode_row(codes(rows_, r), rows_.centroids, out);
    if (norms_.parts == 0) return;
    const float length = norms_.centroids.row(codes(norms_, r)[0])[0];
    for (float& x : out) x *= length;
  }
  static void put(const std::string& name, const Quantised& q, ArchiveWriter& out) {
    const size_t rows = q.codes.size() / q.parts;
    out.tensors[name + ".codes"] = {.dtype = DType::kU8,
                                    .shape = {rows, q.parts},
                                    .data = q.codes.data(),
                                    .rows = rows,
                                    .row_bytes = q.parts,
                                    .row_stride = q.parts};
    out.tensors[name + ".centroids"] = tensor_of(q.centroids);
  }

  Quantised rows_, norms_;  // of norms: no parts if they do not stand apart
  double error_ = 0;
};

}  // namespace

Compressed compress(const std::string& model, const std::string& output,
                    const CompressOptions& options, const Context& context) {
  check_output(output, {model});
  const Model opened = open(model);
  opened.impl().ask<HasVectors>("compress");
  const Archive in = Archive::open(model);
  if (in.metadata().contains("compressed")) {
    throw fault(ErrorKind::kUsage, "{}: its vectors are compressed already", model);
  }
  ArchiveWriter out;
  out.metadata = in.metadata();
  out.metadata["compressed"] =
      options.norms ? fmt::format("{} norms", options.width) : fmt::format("{}", options.width);
  for (const auto& [name, tensor] : in.tensors()) out.tensors[name] = tensor;
  Compressed told;
  std::deque<Coded> coded;
  for (const char* const name : kTables) {
    if (!in.has(name) || in.bytes_of(name) == 0) continue;
    const Matrix table = in.matrix(name);
    coded.emplace_back(table, options, context);
    const bool smaller = coded.back().bytes() < in.bytes_of(name);
    told.tables.push_back(
        {name, table.rows(), table.cols(), smaller, smaller ? coded.back().error() : 0});
    if (!smaller) continue;
    out.tensors.erase(name);
    coded.back().put(name, out);
  }
  if (coded.empty()) {
    throw fault(ErrorKind::kUsage,
                "compress is for models of words, labels and imported vectors; {} holds a {} "
                "model: export its vectors, import them, and compress those",
                model, opened.kind());
  }
  out.save(output);
  told.bytes_before = std::filesystem::file_size(model);
  told.bytes = std::filesystem::file_size(output);
  return told;
}

}  // namespace kith
