// SPDX-License-Identifier: Apache-2.0
#include "api/rating_names.h"

#include "core/error.h"
#include "data/table/cells.h"
#include "io/utf8.h"

namespace kith {

std::optional<RatingNames::Thing> RatingNames::named(std::string_view term) const {
  const size_t sign = term.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  const std::string_view column = term.substr(0, sign);
  const std::string id(trimmed(term.substr(sign + 1)));
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    if (column == model_.column_of(axis)) return Thing{axis, id};
  }
  if (column == "user") return Thing{Axis::kUser, id};
  if (column == "item") return Thing{Axis::kItem, id};
  return std::nullopt;
}

std::optional<uint32_t> RatingNames::find(Axis axis, const std::string& id) const {
  if (const auto found = model_.names_of(axis).find(id)) return found;
  if (axis == Axis::kUser || !titles_) return std::nullopt;
  const auto by_title = titles_->id_of(id);
  return by_title ? model_.names_of(axis).find(*by_title) : std::nullopt;
}

uint32_t RatingNames::number(Axis axis, const std::string& id) const {
  if (const auto found = find(axis, id)) return *found;
  const auto near = similar_spellings(id, model_.names_of(axis));
  throw fault(ErrorKind::kInput, "the model knows no {} {}{}",
              axis == Axis::kUser ? "user" : "item", shown(id),
              near.empty() ? "" : fmt::format("; similar: {}", fmt::join(near, ", ")));
}

std::string RatingNames::title(std::string_view id) const {
  return titles_ ? std::string(titles_->of(id)) : std::string();
}

}  // namespace kith
