// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of tables, and texts, as vectors.

#include <array>
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
#include "kith/tokens.h"
#include "kith/vectors.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// How much the words of a text count in the mean of their vectors: a / (a + p), where p is the
// share that a word has of all words that the model learned from (smooth inverse frequency: Arora,
// Liang and Ma 2017); or all the same.
enum class WordWeights { kSif, kMean };
// What is taken out of the vector of a text: its part along the direction in which the words of a
// usual text point, by the model's own counts; along the first singular vector of all texts of the
// file; or nothing.
enum class CommonDirection { kModel, kTexts, kNone };

struct EmbedOptions {
  std::optional<VectorFormat> to{};
  std::string name{};
  // Texts.
  bool text = false;
  std::string column{};
  std::optional<Tokens> tokens{};
  std::optional<WordWeights> weights{};
  std::optional<double> smooth{};
  std::optional<CommonDirection> common{};

  static constexpr std::tuple fields{
      field("to", &EmbedOptions::to, "the format of the output").automatic("by its extension"),
      field("name", &EmbedOptions::name, "the column that names a row; else its number"),
      field("text", &EmbedOptions::text,
            "texts: what follows the model is a text, even if it looks like the name of a file"),
      field("column", &EmbedOptions::column,
            "texts: read a table, and take this column; else each line is a text"),
      field("tokens", &EmbedOptions::tokens, "texts: what a word is")
          .automatic("as in the text that the model learned from"),
      field("weights", &EmbedOptions::weights,
            "texts: rare words count more (sif), or all the same")
          .automatic("sif if the model knows how frequent words are"),
      field("smooth", &EmbedOptions::smooth,
            "texts: a word of this share of all words counts half as much as a rare one")
          .between(1e-12, 1)
          .automatic("0.001"),
      field("common", &EmbedOptions::common,
            "texts: take out the direction that texts share, by the model or by all of the file")
          .automatic("model; none where all words count the same"),
  };
};

// The vector of a row, or part of one, given as "column=value" terms; with a model of words that of
// a text, whatever the order of its words; with one of labels likewise, but for runs of words. The
// same text always has the same vector. Error(kInput) for a text without a word that is known.
std::vector<float> embed(const Model& model, const std::vector<std::string>& terms,
                         const EmbedOptions& options = {}, Observer* observer = nullptr);

struct Embedded {
  uint64_t rows = 0, dim = 0;
};
// Every row of the sources, or every line or cell of text, into a file that ends in .kith, which
// near can ask; or into .npy, .csv, .tsv, .jsonl or .safetensors; or into any file in a format that
// is named. Standard output is CSV. A text without a word that is known is a row of zeros, of which
// a note tells.
Embedded embed_rows(const Model& model, const std::vector<std::string>& sources,
                    const std::string& output, const EmbedOptions& options,
                    std::span<const Setting> reading, const Context& context,
                    Observer* observer = nullptr);

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::WordWeights> {
  static constexpr std::array<std::string_view, 2> names{"sif", "mean"};
};
template <>
struct kith::EnumNames<kith::CommonDirection> {
  static constexpr std::array<std::string_view, 3> names{"model", "texts", "none"};
};
