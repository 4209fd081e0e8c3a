// SPDX-License-Identifier: Apache-2.0
// How likely rows of numbers are, beside what one component makes of them.
#include <cmath>

#include "api/evaluate.h"
#include "api/matrix_rows.h"
#include "kith/text.h"

namespace kith {

Report evaluate_density(const Model::Impl& model, const std::vector<std::string>& sources,
                        std::span<const Setting> reading, const Context& context,
                        Observer* observer) {
  const auto& asked = model.ask<HasDensity>("eval");
  const auto data = matrix_for(model, "eval", sources, reading, context, observer);
  const auto rows = static_cast<double>(data->rows());
  const HasDensity::Likelihood found = asked.likelihood(data->train(), context);
  Report out;
  out.title = sources.front();
  out.subtitle = fmt::format("how likely {} are: nats, of which more is better",
                             count_of(data->rows(), "row"));
  const auto way = [&](std::string name, double log_likelihood, uint64_t parameters) {
    const auto free = static_cast<double>(parameters);
    return Way{std::move(name),
               {{"loglik", log_likelihood},
                {"loglik_per_row", log_likelihood / rows},
                {"bic", -2 * log_likelihood + free * std::log(rows)},
                {"aic", -2 * log_likelihood + 2 * free}}};
  };
  out.comparisons.push_back({{way("model", found.log_likelihood, found.parameters),
                              way("one_component", found.one, found.one_parameters)}});
  out.counts.emplace_back("rows", data->rows());
  out.counts.emplace_back("parameters", found.parameters);
  return out;
}

}  // namespace kith
