// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluating, by what a model can be asked.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/opened.h"
#include "data/sparse.h"
#include "kith/evaluate.h"

namespace kith {

// Vectors: one file of questions or pairs.
Report evaluate_words(const Model::Impl& model, const std::string& path,
                      const EvaluateOptions& options, const Context& context);

// A column of the rows of sources, from the others.
Report evaluate_rows(const Model::Impl& model, const std::vector<std::string>& sources,
                     const EvaluateOptions& options, std::span<const Setting> reading,
                     const Context& context, Observer* observer);

// Labels of texts.
Report evaluate_labels(const Model::Impl& model, const std::vector<std::string>& sources,
                       std::span<const Setting> reading, const Context& context,
                       Observer* observer);

// Documents that a model of topics did not learn from.
Report evaluate_topics(const Model::Impl& model, const std::vector<std::string>& sources,
                       std::span<const Setting> reading, const Context& context,
                       Observer* observer);

// Ratings that were kept from the model: errors, and rankings of what a user has not seen. `test`
// has the numbers of the model; higher ones are users and items that it does not know.
struct RatedBy {
  const Ranks& model;
  std::string_view name;                  // of such models: "als"
  std::span<const uint32_t> lately = {};  // items of the latest ratings of training, if known
};
Report evaluate_ratings(const RatedBy& by, const Sparse& test, const EvaluateOptions& options,
                        const Context& context);

// What to try where a list of the most popular items ranks better than such a model.
std::string instead_of(std::string_view name);

}  // namespace kith
