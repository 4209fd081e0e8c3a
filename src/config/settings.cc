// SPDX-License-Identifier: Apache-2.0
#include "kith/settings.h"

#include <algorithm>

#include "config/names.h"
#include "core/error.h"

namespace kith {

const FieldInfo* FieldGroup::find(std::string_view name) const {
  const auto at = std::ranges::find(fields, name, &FieldInfo::name);
  return at == fields.end() ? nullptr : &*at;
}

void apply_settings(std::span<const Setting> settings, std::span<const Section> sections) {
  for (const Setting& s : settings) {
    const std::string name = with_dashes(s.name);
    try {
      const bool found = std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
        return section.set(name, s.value);
      });
      if (!found) {
        throw fault(ErrorKind::kUsage, "unknown setting {}{}", name, correction(name, sections));
      }
    } catch (const Error& e) {
      if (s.where.empty()) throw;
      throw fault(e.kind(), "{}: {}", s.where, e.what());
    }
  }
}

void apply_known(std::vector<Setting>& settings, std::span<const Section> sections) {
  std::vector<Setting> known, rest;
  for (Setting& s : settings) {
    const bool ours = find_field(with_dashes(s.name), sections) != nullptr;
    (ours ? known : rest).push_back(std::move(s));
  }
  settings = std::move(rest);
  apply_settings(known, sections);
}

std::vector<Setting> modernised(std::vector<Setting> settings, std::span<const Section> sections) {
  for (Setting& s : settings) {
    for (const Section& section : sections) {
      for (const FieldInfo& f : section.fields) {
        if (s.name != (f.former_name.empty() ? f.name : f.former_name)) continue;
        s.name = std::string(f.name);
        if (!f.former_auto) continue;
        const auto* whole = std::get_if<int64_t>(&s.value);
        const auto* number = std::get_if<double>(&s.value);
        const double value = whole ? static_cast<double>(*whole) : number ? *number : NAN;
        // Some were auto wherever they were below 0.
        if (value == *f.former_auto || (*f.former_auto < 0 && value < 0))
          s.value = std::string("auto");
      }
    }
  }
  return settings;
}

}  // namespace kith
