// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>

#include "core/names.h"

namespace kith {
namespace {

template <class T>
bool parse_all(std::string_view s, T& out) {
  const char* const end = s.data() + s.size();
  const auto [stop, error] = std::from_chars(s.data(), end, out);
  return error == std::errc{} && stop == end;
}

Value parse_value(std::string_view s) {
  if (s == "true" || s == "false") return s == "true";
  if (int64_t i; parse_all(s, i)) return i;
  if (double d; parse_all(s, d)) return d;
  return std::string(s);
}

std::string with_dashes(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

const FieldInfo* find_field(std::string_view name, std::span<const Section> sections) {
  for (const Section& section : sections) {
    for (const FieldInfo& f : section.fields) {
      if (f.name == name) return &f;
    }
  }
  return nullptr;
}

std::vector<std::string_view> all_names(std::span<const Section> sections) {
  std::vector<std::string_view> out;
  for (const Section& section : sections) {
    for (const FieldInfo& f : section.fields) out.push_back(f.name);
  }
  return out;
}

std::string_view long_name(std::string_view flag) {
  if (flag == "-o") return "output";
  if (flag == "-h") return "help";
  if (flag == "-q") return "quiet";
  return "";
}

std::vector<Setting> settings_from_table(const toml::table& table, std::string_view where,
                                         std::string_view section) {
  std::vector<Setting> out;
  const auto read = [&](const toml::table& t) {
    for (const auto& [key, node] : t) {
      if (node.is_table()) continue;
      const auto place = fmt::format("{}:{}", where, node.source().begin.line);
      Value value;
      if (const auto b = node.value_exact<bool>()) {
        value = *b;
      } else if (const auto i = node.value_exact<int64_t>()) {
        value = *i;
      } else if (const auto d = node.value_exact<double>()) {
        value = *d;
      } else if (const auto s = node.value_exact<std::string>()) {
        value = *s;
      } else {
        throw Error(ErrorKind::kInput, "{}: {} must be a number, a text, true or false", place,
                    key.str());
      }
      out.push_back({with_dashes(key.str()), std::move(value), place});
    }
  };
  read(table);
  if (const toml::table* const own = table[section].as_table()) read(*own);
  return out;
}

}  // namespace

std::string suggest(std::string_view wrong, std::span<const std::string_view> known) {
  const auto best = std::min_element(known.begin(), known.end(), [&](auto a, auto b) {
    return edit_distance(wrong, a) < edit_distance(wrong, b);
  });
  const size_t limit = std::max<size_t>(1, std::min<size_t>(3, wrong.size() / 2));
  if (best == known.end() || edit_distance(wrong, *best) > limit) return "";
  return fmt::format("; did you mean {}?", *best);
}

void apply(std::span<const Setting> settings, std::span<const Section> sections) {
  for (const Setting& s : settings) {
    try {
      const bool found = std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
        return section.set(s.name, s.value);
      });
      if (!found) {
        throw Error(ErrorKind::kUsage, "unknown setting {}{}", s.name,
                    suggest(s.name, all_names(sections)));
      }
    } catch (const Error& e) {
      throw Error(e.kind(), "{}: {}", s.where, e.what());
    }
  }
}

Arguments parse_arguments(std::span<const std::string_view> args,
                          std::span<const Section> sections) {
  Arguments out;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--") {
      out.positional.insert(out.positional.end(), args.begin() + static_cast<ptrdiff_t>(i) + 1,
                            args.end());
      break;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      out.positional.emplace_back(arg);
      continue;
    }
    const size_t equals = arg.find('=');
    const std::string_view flag = arg.substr(0, equals);
    std::string name(flag.starts_with("--") ? flag.substr(2) : long_name(flag));
    name = with_dashes(name);
    const FieldInfo* info = find_field(name, sections);
    bool off = false;
    if (!info && name.starts_with("no-")) {
      info = find_field(name.substr(3), sections);
      off = info && info->is_flag;
      if (off) name = name.substr(3);
      if (!off) info = nullptr;
    }
    if (!info) {
      throw Error(ErrorKind::kUsage, "unknown flag {}{}", flag,
                  suggest(flag.substr(flag.starts_with("--") ? 2 : 1), all_names(sections)));
    }
    if (equals != std::string_view::npos) {
      out.settings.push_back({name, parse_value(arg.substr(equals + 1)), "command line"});
    } else if (info->is_flag) {
      out.settings.push_back({name, !off, "command line"});
    } else if (i + 1 < args.size()) {
      out.settings.push_back({name, parse_value(args[++i]), "command line"});
    } else {
      throw Error(ErrorKind::kUsage, "{} needs a value", flag);
    }
  }
  return out;
}

std::vector<Setting> settings_from_toml(const std::string& path, std::string_view table) {
  try {
    return settings_from_table(toml::parse_file(path), path, table);
  } catch (const toml::parse_error& e) {
    throw Error(ErrorKind::kInput, "{}:{}: {}", path, e.source().begin.line, e.description());
  }
}

std::vector<Setting> settings_from_toml_text(std::string_view text, std::string_view where) {
  try {
    return settings_from_table(toml::parse(text), where, "");
  } catch (const toml::parse_error& e) {
    throw Error(ErrorKind::kInput, "{}: the stored settings cannot be read: {}", where,
                e.description());
  }
}

std::string to_toml(std::span<const Section> sections) {
  std::string out;
  for (const Section& section : sections) {
    for (const FieldInfo& f : section.fields) {
      const std::string value = section.get(f.name);
      const bool bare = f.is_flag || f.type == "int" || f.type == "number";
      if (bare) {
        out += fmt::format("{} = {}\n", f.name, value);
      } else {
        std::string quoted;
        for (const char c : value) {
          if (c == '"' || c == '\\') quoted += '\\';
          quoted += c;
        }
        out += fmt::format("{} = \"{}\"\n", f.name, quoted);
      }
    }
  }
  return out;
}

std::string help_text(const Section& section) {
  std::string out = fmt::format("{}:\n", section.title);
  for (const FieldInfo& f : section.fields) {
    const std::string flag = fmt::format("--{}{}", f.name, f.is_flag ? "" : " " + f.type);
    const std::string fallback =
        f.is_flag || f.default_text.empty() ? "" : fmt::format(" [{}]", f.default_text);
    if (flag.size() > 26) {
      out += fmt::format("  {}\n  {:<26} {}{}\n", flag, "", f.help, fallback);
    } else {
      out += fmt::format("  {:<26} {}{}\n", flag, f.help, fallback);
    }
  }
  return out;
}

}  // namespace kith
