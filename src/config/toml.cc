// SPDX-License-Identifier: Apache-2.0
// Settings in TOML: files of users, and the text in the header of a model file.
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "config/names.h"
#include "core/error.h"
#include "core/utf8.h"

namespace kith {
namespace {

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw fault(ErrorKind::kIo, "{}: this is a folder; name a file of settings", path);
  }
  std::string text;
  std::array<char, 4096> piece;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"),
                                                           std::fclose);
  for (size_t n = 1; in && n > 0; text.append(piece.data(), n)) {
    n = std::fread(piece.data(), 1, piece.size(), in.get());
  }
  if (!in || std::ferror(in.get())) {
    throw fault(errno == ENOMEM ? ErrorKind::kLimit : ErrorKind::kIo,
                "{}: cannot read the settings: {}", path, std::strerror(errno));
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
        throw fault(ErrorKind::kInput, "{}: {} must be a number, a text, true or false", place,
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

std::vector<Setting> settings_from_toml(const std::string& path, std::string_view table,
                                        std::span<const std::string_view> tables) {
  try {
    const toml::table all = toml::parse(read_text(path), path);
    for (const auto& [key, node] : all) {
      if (!node.is_table() || tables.empty() || std::ranges::count(tables, key.str())) continue;
      throw fault(ErrorKind::kUsage, "{}:{}: there is no model [{}]{}", path,
                  node.source().begin.line, key.str(), suggest(key.str(), tables));
    }
    return settings_from_table(all, path, table);
  } catch (const toml::parse_error& e) {
    throw fault(ErrorKind::kInput, "{}:{}: {}", path, e.source().begin.line, e.description());
  }
}

std::vector<Setting> settings_from_toml_text(std::string_view text, std::string_view where) {
  try {
    return settings_from_table(toml::parse(text), where, "");
  } catch (const toml::parse_error& e) {
    throw fault(ErrorKind::kInput, "{}: the stored settings cannot be read: {}", where,
                e.description());
  }
}

std::string to_toml(std::span<const Section> sections) {
  std::string out;
  for (const Section& section : sections) {
    for (const FieldInfo& f : section.fields) {
      const std::string value = section.get(f.name);
      const bool bare =
          value != "auto" && f.type != FieldType::kText && f.type != FieldType::kChoice;
      out += bare ? fmt::format("{} = {}\n", f.name, value)
                  : fmt::format("{} = \"{}\"\n", f.name, escaped(value));
    }
  }
  return out;
}

}  // namespace kith
