// SPDX-License-Identifier: Apache-2.0
#include "api/evaluate.h"

#include "api/reading.h"
#include "core/error.h"
#include "data/ratings/ratings.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr std::string_view kQuestion = "eval";

void refuse_table_options(const Model::Impl& model, const EvaluateOptions& options) {
  if (options.target.empty() && options.given.empty() && options.train.empty()) return;
  refuse_question(model.asked("eval with --target, --given or --train"), CompletesRows::kWhat);
}

Report evaluate_pairs(const Model::Impl& model, const std::vector<std::string>& sources,
                      const EvaluateOptions& options, std::span<const Setting> reading,
                      const Context& context, Observer* observer) {
  const std::any known = model.ask<Updates>(kQuestion).known();
  const auto read = read_for(*model.info->data, sources, reading, known, context, observer);
  const auto& ratings = dynamic_cast<const Ratings&>(*read);
  Report out = evaluate_ratings({model.ask<Ranks>(kQuestion), model.kind}, ratings.train(), options,
                                context);
  out.title = sources.front();
  return out;
}

}  // namespace

std::vector<Report> evaluate(const Model& model, const std::vector<std::string>& sources,
                             const EvaluateOptions& options, std::span<const Setting> reading,
                             const Context& context, Observer* observer) {
  const Model::Impl& opened = model.impl();
  if (opened.can<CompletesRows>()) {
    return {evaluate_rows(opened, sources, options, reading, context, observer)};
  }
  refuse_table_options(opened, options);
  if (opened.can<Ranks>()) {
    return {evaluate_pairs(opened, sources, options, reading, context, observer)};
  }
  if (opened.can<Classifies>()) {
    return {evaluate_labels(opened, sources, reading, context, observer)};
  }
  if (opened.can<Topics>()) {
    return {evaluate_topics(opened, sources, reading, context, observer)};
  }
  opened.ask<HasVectors>(kQuestion);
  if (!reading.empty()) {
    refuse_question(opened.asked(fmt::format("eval with --{}", reading.front().name)),
                    CompletesRows::kWhat, Ranks::kWhat);
  }
  std::vector<Report> out;
  for (const std::string& source : sources) {
    out.push_back(evaluate_words(opened, source, options, context));
  }
  return out;
}

}  // namespace kith
