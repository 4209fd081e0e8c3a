// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings as front ends give them. Flags, TOML and keywords all end in `apply`, so there is one
// way to set and one to complain.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace kith {

struct Setting {
  std::string name;
  Value value;
  std::string where;  // "command line", "run.toml:7", "Python"
};

// A struct with `fields`, its type forgotten: what the command line works with. Refers to the
// struct, which must outlive it.
class Section {
 public:
  template <class C>
  Section(std::string_view title, C& config)
      : title(title),
        fields(field_infos<C>()),
        set([&config](std::string_view name, const Value& v) {
          return kith::set(config, name, v);
        }),
        get([&config](std::string_view name) { return kith::get(config, name); }) {}

  std::string_view title;
  std::vector<FieldInfo> fields;
  std::function<bool(std::string_view, const Value&)> set;
  std::function<std::string(std::string_view)> get;
};

// Applied in order: later settings win, so pass the file first, then the flags. A name that no
// section has is an error with a suggestion. `_` in a name stands for `-`.
void apply(std::span<const Setting> settings, std::span<const Section> sections);

// Reads `--name value`, `--name=value`, `--flag`, `--no-flag`, `-o value` (short names: -o output,
// -h help, -q quiet) for the fields of the sections; everything else is positional, and after
// `--` all is.
struct Arguments {
  std::vector<Setting> settings;
  std::vector<std::string> positional;
};
Arguments parse_arguments(std::span<const std::string_view> args,
                          std::span<const Section> sections);

// Keys at the top of the file, then those in the table `[table]` if there is one.
std::vector<Setting> settings_from_toml(const std::string& path, std::string_view table);

// All settings as TOML, one line each: the text that a model file carries and --config reads.
std::string to_toml(std::span<const Section> sections);
// Reads such a text back, from a model file.
std::vector<Setting> settings_from_toml_text(std::string_view text, std::string_view where);

// The lines of --help for one section.
std::string help_text(const Section& section);

}  // namespace kith
