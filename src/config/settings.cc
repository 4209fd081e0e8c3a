// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/names.h"
#include "core/utf8.h"

namespace kith {
namespace {

template <class T>
bool parse_all(std::string_view s, T& out) {
  const char* const end = s.data() + s.size();
  const auto [stop, error] = std::from_chars(s.data(), end, out);
  return error == std::errc{} && stop == end;
}

// What is typed for a text stays as it was typed: 007 and true are fine names.
Value parse_value(std::string_view s, const FieldInfo& info) {
  if (info.type == "text" || !info.choices.empty()) return std::string(s);
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

struct Flag {
  const FieldInfo* info;
  bool off;  // --no-...
  std::string name() const { return std::string(info->name); }
};

// `text` is a flag with its dashes and without a value.
Flag find_flag(std::string_view text, std::span<const Section> sections) {
  const bool is_long = text.starts_with("--");
  const std::string name = with_dashes(is_long ? text.substr(2) : long_name(text));
  if (const FieldInfo* const info = find_field(name, sections)) return {info, false};
  if (name.starts_with("no-")) {
    const FieldInfo* const info = find_field(name.substr(3), sections);
    if (info && info->is_flag) return {info, true};
  }
  throw Error(ErrorKind::kUsage, "unknown flag {}{}", text,
              suggest(text.substr(is_long ? 2 : 1), all_names(sections)));
}

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw Error(ErrorKind::kIo, "{}: this is a folder; name a file of settings", path);
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) {
    throw Error(ErrorKind::kIo, "{}: cannot read the settings: {}", path, std::strerror(errno));
  }
  return text;
}

// Between the quotes of a TOML string. TOML is UTF-8, so other bytes become U+FFFD.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (c.state != Utf8Char::kValid) {
      out += kReplacement;
    } else if (c.code < 0x20 || c.code == 0x7f) {
      out += fmt::format("\\u{:04x}", c.code);
    } else {
      if (c.code == '"' || c.code == '\\') out += '\\';
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return out;
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
    const std::string_view text = arg.substr(0, equals);
    const Flag flag = find_flag(text, sections);
    if (equals != std::string_view::npos) {
      if (flag.off) throw Error(ErrorKind::kUsage, "{} takes no value; got {}", text, arg);
      out.settings.push_back(
          {flag.name(), parse_value(arg.substr(equals + 1), *flag.info), "command line"});
    } else if (flag.info->is_flag) {
      out.settings.push_back({flag.name(), !flag.off, "command line"});
    } else if (i + 1 == args.size() || args[i + 1].starts_with("--")) {
      // No text is meant to look like a flag; one that does is written with =.
      throw Error(ErrorKind::kUsage, "{} needs a value{}", text,
                  i + 1 == args.size() ? "" : fmt::format("; got {}", args[i + 1]));
    } else {
      out.settings.push_back({flag.name(), parse_value(args[++i], *flag.info), "command line"});
    }
  }
  return out;
}

std::vector<Setting> settings_from_toml(const std::string& path, std::string_view table) {
  try {
    return settings_from_table(toml::parse(read_text(path), path), path, table);
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
      out += bare ? fmt::format("{} = {}\n", f.name, value)
                  : fmt::format("{} = \"{}\"\n", f.name, escaped(value));
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
