// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings as front ends give them. Flags, TOML and keywords all end in `apply_settings`, so there
// is one way to set and one to complain.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/error.h"
#include "kith/fields.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct Setting {
  std::string name;
  Value value;
  std::string where{};  // "command line", "run.toml:7"; begins what is said about it
};

// What can be set of one thing.
struct FieldGroup {
  std::string_view title;
  std::vector<FieldInfo> fields;
  const FieldInfo* find(std::string_view name) const;  // null if there is none
};

// A struct with `fields`, its type forgotten. Refers to the struct, which must outlive it.
class Section : public FieldGroup {
 public:
  template <class C>
  Section(std::string_view title, C& config)
      : FieldGroup{title, field_infos<C>()},
        set([&config](std::string_view name, const Value& v) {
          return kith::set(config, name, v);
        }),
        get([&config](std::string_view name) { return kith::get(config, name); }) {}

  std::function<bool(std::string_view, const Value&)> set;
  std::function<std::string(std::string_view)> get;
};

// Applied in order: later settings win, so pass the file first, then the flags. A name that no
// section has is an error with a suggestion. `_` in a name stands for `-`.
void apply_settings(std::span<const Setting> settings, std::span<const Section> sections);

// Applies those that the sections have, and takes them out of the list.
void apply_known(std::vector<Setting>& settings, std::span<const Section> sections);

// Reads `--name value`, `--name=value`, `--flag`, `--no-flag`, `-o value` (short names: -o output,
// -h help, -q quiet) for the fields of the groups; everything else is positional, and after
// `--` all is.
struct Arguments {
  std::vector<Setting> settings;
  std::vector<std::string> positional;
};
Arguments parse_arguments(std::span<const std::string_view> args,
                          std::span<const FieldGroup> groups);
inline std::vector<FieldGroup> groups_of(std::span<const Section> sections) {
  return {sections.begin(), sections.end()};
}

// Keys at the top of the file, then those in the table `[table]` if there is one. Error(kUsage) if
// there is a table that is none of `tables`, unless those are not given.
std::vector<Setting> settings_from_toml(const std::string& path, std::string_view table,
                                        std::span<const std::string_view> tables = {});

// All settings as TOML, one line each: the text that a model file carries and --config reads.
std::string to_toml(std::span<const Section> sections);
// Reads such a text back, from a model file.
std::vector<Setting> settings_from_toml_text(std::string_view text, std::string_view where);
// The same from a file of version 0.1, where some settings had other names and some numbers stood
// for auto.
std::vector<Setting> modernised(std::vector<Setting> settings, std::span<const Section> sections);

}  // namespace KITH_VISIBLE
