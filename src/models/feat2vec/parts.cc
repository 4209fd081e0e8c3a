// SPDX-License-Identifier: Apache-2.0
// What a feat2vec model consists of.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "models/feat2vec/model.h"

namespace kith::feat2vec {
namespace {

bool rising(std::span<const double> values) {
  for (size_t i = 1; i < values.size(); ++i) {
    if (!(values[i] > values[i - 1])) return false;
  }
  return true;
}

void visit_columns(Parts& parts, Encoding& encoding) {
  Schema schema;
  for (const Group& g : encoding.groups) schema.columns.push_back(g.column);
  std::string json = to_json(schema);
  parts.text("schema", json);
  if (parts.loading()) {
    encoding = Encoding();
    encoding.normal_form = false;  // of 0.1
  }
  parts.flag("table.normal_form", encoding.normal_form, Use::kOptional);
  if (!parts.loading()) return;
  for (const Column& column : schema_from_json(json, "its schema").columns) {
    parts.check(column.type != ColumnType::kIgnore, "the schema keeps a column that is ignored");
    add_group(encoding, column);
  }
  parts.check(encoding.groups.size() >= 2, "the schema has fewer than two columns");
}

void visit_group(Parts& parts, size_t number, Group& group) {
  const auto name = [&](std::string_view part) { return fmt::format("group.{}.{}", number, part); };
  const auto size = [&](const auto& v) { return parts.loading() ? Parts::kAny : v.size(); };
  if (group.numeric()) {
    parts.values(name("knots"), group.knots, size(group.knots), Use::kFixed);
    parts.values(name("values"), group.values, size(group.values), Use::kFixed);
    parts.values(name("value_counts"), group.value_counts, group.values.size(), Use::kFixed);
    parts.check(rising(group.knots) && rising(group.values) && !group.knots.empty() &&
                    !group.values.empty(),
                "the knots of a number do not rise");
  } else if (!group.named()) {
    parts.values(name("mean"), group.mean, size(group.mean), Use::kFixed);
    parts.values(name("scale"), group.scale, group.mean.size(), Use::kFixed);
  }
}

void visit_encoding(Parts& parts, Encoding& encoding) {
  visit_columns(parts, encoding);
  for (size_t s = 0; s < encoding.spaces.size(); ++s) {
    ValueSpace& space = encoding.spaces[s];
    parts.names(fmt::format("space.{}", s), space.names);
    parts.values(fmt::format("space.{}.counts", s), space.counts, space.names.size(), Use::kFixed);
  }
  for (size_t g = 0; g < encoding.groups.size(); ++g) {
    Group& group = encoding.groups[g];
    visit_group(parts, g, group);
    if (!parts.loading() || group.named()) continue;
    encoding.spaces[group.space].basis =
        basis_rows(group.column, group.knots.size(), group.mean.size());
  }
  if (parts.loading()) encoding.check_size();
}

// The target is a column, and one that a loss against numbers can be of.
bool fits_target(const Config& used, const Encoding& encoding) {
  const bool head = used.loss && is_head(*used.loss);
  if (used.target.empty()) return !head;
  const size_t at = encoding.find(used.target);
  if (at == Encoding::npos) return false;
  return !head || encoding.groups[at].numeric() || encoding.groups[at].named();
}

}  // namespace

void Feat2Vec::visit(Parts& parts) {
  parts.settings("used", {"feat2vec", used_});
  if (parts.loading() && used_.dim) used_.choices = used_.choices.value_or(false);  // of 0.2
  const bool known = used_.dim && used_.biases && used_.optimiser && used_.loss;
  parts.check(known, "its settings lack one that was used");
  visit_encoding(parts, encoding_);
  parts.number("units", units_);
  parts.number("target.mean", target_mean_);
  parts.number("target.scale", target_scale_);
  parts.text("target.yes", target_yes_);
  parts.maybe("target.low", target_low_);
  parts.maybe("target.high", target_high_);
  parts.maybe("target.sharpness", sharpness_);
  parts.maybe("target.error_before", error_before_);
  parts.maybe("target.error", error_);
  parts.flag("progress.continued", continued_, Use::kRun);
  parts.check(units_ <= encoding_.groups.size() && std::isfinite(target_mean_) &&
                  std::isfinite(target_scale_) && fits_target(used_, encoding_) &&
                  std::isfinite(target_low_.value_or(0)) &&
                  std::isfinite(target_high_.value_or(0)) &&
                  std::isfinite(error_before_.value_or(0)) && std::isfinite(error_.value_or(0)) &&
                  std::isfinite(sharpness_.value_or(1)) && sharpness_.value_or(1) > 0,
              "the target does not fit the columns");
  parts.number("progress.steps", steps_);
  parts.number("progress.pairs", pairs_);
  if (!known) return;  // not trained yet: nothing else is there
  const size_t n = encoding_.groups.size();
  parts.matrix("theta", theta_, encoding_.rows(), parts.loading() ? Parts::kAny : stride(),
               Use::kLearned);
  if (parts.loading()) {
    take_old_rows();
    parts.check(theta_.cols() == stride() || parts.vectors_only(),
                "the vectors do not fit --dim and --optimiser");
    parts.check(theta_.cols() >= dim(), "the vectors are shorter than --dim");
  }
  parts.values("dense", dense_, 2 * Dense{nullptr, n, units_}.size(), Use::kLearned);
  maps_.resize(encoding_.spaces.size());
  for (size_t s = 0; s < maps_.size(); ++s) {
    parts.matrix(fmt::format("map.{}", s), maps_[s], dim() + biases(), dim() + 2, Use::kOptional);
  }
  parts.number("choices.fitted", fitted_, Use::kRun);
  parts.matrix("choices.effects", effects_, Parts::kAny, dim() + biases() + 1, Use::kRun);
  if (parts.loading()) learned_.assign(theta_.rows(), 0);
}

void Feat2Vec::take_old_rows() {
  if (*used_.optimiser != Optimiser::kAdam || theta_.cols() + kRowPad != stride()) return;
  if (theta_.is_borrowed()) return;
  Matrix wider(theta_.rows(), stride());
  for (size_t r = 0; r < theta_.rows(); ++r) {
    std::ranges::copy(theta_.row(r), wider.row(r).begin());
  }
  theta_ = std::move(wider);
}

}  // namespace kith::feat2vec
