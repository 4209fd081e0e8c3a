// SPDX-License-Identifier: Apache-2.0
#include "api/lookup.h"

#include <utility>

#include "core/error.h"
#include "data/table/cells.h"
#include "io/nfc.h"
#include "io/utf8.h"

namespace kith {

Lookup::Lookup(std::vector<VectorGroup> groups, const Titles* titles)
    : groups_(std::move(groups)), titles_(titles) {
  for (const VectorGroup& g : groups_) {
    if (g.vectors->cols() == 0) {
      throw fault(ErrorKind::kUsage,
                  "the model has biases but no vectors (dim = 0), so nothing can be compared");
    }
    indexes_.emplace_back(*g.names, g.vectors);
  }
}

Lookup::Term Lookup::parse(const std::string& term) const {
  const size_t sign = term.find('=');
  const std::string_view column = std::string_view(term).substr(0, sign);
  for (size_t g = 0; sign != std::string::npos && g < groups_.size(); ++g) {
    const bool meant =
        !column.empty() && (column == groups_[g].column || column == groups_[g].role);
    if (meant) return {g, std::string(trimmed(std::string_view(term).substr(sign + 1)))};
  }
  return {std::nullopt, term};
}

std::optional<uint32_t> Lookup::row_of(size_t group, const std::string& name) const {
  const Names& names = *groups_[group].names;
  if (const auto row = find_as_read(name, [&](auto form) { return names.find(form); })) return row;
  if (!titled(group)) return std::nullopt;
  const auto id = titles_->id_of(name);
  return id ? groups_[group].names->find(*id) : std::nullopt;
}

std::optional<Lookup::Found> Lookup::find(const std::string& text) const {
  const Term term = parse(text);
  std::vector<Found> found;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (term.group && *term.group != g) continue;
    if (const auto row = row_of(g, term.name)) found.push_back({g, *row});
  }
  if (found.size() > 1) {
    const std::string &a = groups_[found[0].group].column, &b = groups_[found[1].group].column;
    throw fault(ErrorKind::kUsage, "{} is a value of {} and of {}; say which: {}={} or {}={}",
                shown(term.name), a, b, a, shown(term.name), b, shown(term.name));
  }
  if (found.empty()) return std::nullopt;
  return found.front();
}

Lookup::Found Lookup::at(const std::string& term) const {
  if (const auto found = find(term)) return *found;
  fail(term);
}

void Lookup::fail(const std::string& text) const {
  const Term term = parse(text);
  if (groups_.size() == 1 && groups_[0].column.empty()) index(0).row(term.name);  // says so
  std::vector<std::string> near;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (term.group && *term.group != g) continue;
    const size_t most = term.group ? 3 : 1;
    std::vector<std::string> names;
    if (titled(g)) names = titles_->like(term.name, 3);
    if (names.empty()) names = similar_spellings(term.name, *groups_[g].names, most);
    for (const std::string& name : names) {
      near.push_back(term.group ? name : fmt::format("{}={}", groups_[g].column, name));
    }
  }
  const std::string similar =
      near.empty() ? "" : fmt::format("; similar: {}", fmt::join(near, ", "));
  if (term.group) {
    throw fault(ErrorKind::kInput, "the model knows no {} {}{}", groups_[*term.group].column,
                shown(term.name), similar);
  }
  std::vector<std::string> columns;
  for (const VectorGroup& g : groups_) columns.push_back(g.column);
  throw fault(ErrorKind::kInput, "the model knows nothing called {}{}", shown(term.name),
              near.empty() ? fmt::format("; ask as column=value, with a column of {}",
                                         fmt::join(columns, ", "))
                           : similar);
}

std::vector<Lookup::Found> Lookup::of_one_group(const std::vector<std::string>& terms) const {
  std::vector<Found> out;
  for (const std::string& term : terms) {
    out.push_back(at(term));
    if (out.back().group == out.front().group) continue;
    throw fault(ErrorKind::kUsage, "{} belongs to {} and {} to {}; compare names of the same kind",
                shown(terms.front()), groups_[out.front().group].column, shown(term),
                groups_[out.back().group].column);
  }
  return out;
}

std::string Lookup::title(size_t group, uint32_t row) const {
  return titled(group) ? std::string(titles_->of((*groups_[group].names)[row])) : std::string();
}

}  // namespace kith
