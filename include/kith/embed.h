// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of tables as vectors.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/vectors.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// The vector of a row, or part of one, given as "column=value" terms.
std::vector<float> embed(const Model& model, const std::vector<std::string>& terms);

struct EmbedOptions {
  std::optional<VectorFormat> to{};
  std::string name{};

  static constexpr std::tuple fields{
      field("to", &EmbedOptions::to, "the format of the output").automatic("by its extension"),
      field("name", &EmbedOptions::name, "the column that names a row; else its number"),
  };
};
struct Embedded {
  uint64_t rows = 0, dim = 0;
};
// Every row of the sources, into a file that ends in .kith, which near can ask; or into .npy, .csv,
// .tsv, .jsonl or .safetensors; or into any file in a format that is named. Standard output is CSV.
Embedded embed_rows(const Model& model, const std::vector<std::string>& sources,
                    const std::string& output, const EmbedOptions& options,
                    std::span<const Setting> reading, const Context& context,
                    Observer* observer = nullptr);

}  // namespace KITH_VISIBLE
