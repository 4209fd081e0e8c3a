// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vectors from and for other tools.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kith/context.h"
#include "kith/model.h"
#include "kith/side.h"
#include "kith/vector_format.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct ExportReport {
  uint64_t rows = 0, dim = 0;
  uint64_t bytes = 0;  // of the file; 0 for standard output
};
// Error(kInput) for a name that the format cannot hold; then nothing is written. "-" is standard
// output. A model of words or of labels becomes a whole model of fastText in that format, unless a
// side is given; Error(kUsage) if fastText could not give its answers.
ExportReport export_vectors(const Model& model, const std::string& output, VectorFormat format,
                            const Context& context, std::optional<Side> side = {});

struct ImportReport {
  std::string format;  // as it was recognised: "glove"
  uint64_t rows = 0, dim = 0;
  uint64_t bytes = 0;         // of the model file
  uint64_t duplicates = 0;    // names that stood there twice; the first was kept
  uint64_t invalid_utf8 = 0;  // names with bytes that are not UTF-8, which became U+FFFD
};
// A file of vectors becomes a model of the kind "vectors", a model of fastText one of "fasttext",
// or of "classifier" if it learned labels. A note says what such a model cannot do here.
ImportReport import_vectors(const std::string& path, const std::string& output,
                            const Context& context, Observer* observer = nullptr);

}  // namespace KITH_VISIBLE
