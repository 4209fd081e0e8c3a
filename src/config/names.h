// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the files of this folder share about names of settings.

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/settings.h"

namespace kith {

// min_count is min-count.
inline std::string with_dashes(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

template <class Groups>
const FieldInfo* find_field(std::string_view name, const Groups& groups) {
  for (const FieldGroup& group : groups) {
    if (const FieldInfo* const found = group.find(name)) return found;
  }
  return nullptr;
}

template <class Groups>
std::vector<std::string_view> all_names(const Groups& groups) {
  std::vector<std::string_view> out;
  for (const FieldGroup& group : groups) {
    for (const FieldInfo& f : group.fields) out.push_back(f.name);
  }
  return out;
}

// "; it is called min-count now" for a name that a setting had before, or the name most alike.
template <class Groups>
std::string correction(std::string_view wrong, const Groups& groups, std::string_view dashes = "") {
  for (const FieldGroup& group : groups) {
    const auto at = std::ranges::find(group.fields, wrong, &FieldInfo::former_name);
    if (!wrong.empty() && at != group.fields.end()) {
      return fmt::format("; it is called {}{} now", dashes, at->name);
    }
  }
  constexpr std::string_view kBefore = "; did you mean ";
  std::string out = suggest(wrong, all_names(groups));
  if (out.starts_with(kBefore)) out.insert(kBefore.size(), dashes);
  return out;
}

}  // namespace kith
