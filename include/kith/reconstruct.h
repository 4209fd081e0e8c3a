// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of numbers as a model gives them back from their vectors, and the picture of how much of
// them each direction explains.

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/embed.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/vectors.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct ReconstructOptions {
  std::optional<VectorFormat> to{};

  static constexpr std::tuple fields{
      field("to", &ReconstructOptions::to, "the format of the output")
          .automatic("by its extension"),
  };
};
// Every row of the sources, reduced to its vector and back, into a file like those of embed_rows().
Embedded reconstruct_rows(const Model& model, const std::vector<std::string>& sources,
                          const std::string& output, const ReconstructOptions& options,
                          std::span<const Setting> reading, const Context& context,
                          Observer* observer = nullptr);

// The share of the variance that each component explains, and of all up to it, as SVG. For models
// that find the main directions of rows of numbers; others are Error(kUsage).
std::string scree_plot(const Model& model);

}  // namespace KITH_VISIBLE
