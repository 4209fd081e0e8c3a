// SPDX-License-Identifier: Apache-2.0
// Settings in TOML files that users write.
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

}  // namespace kith
