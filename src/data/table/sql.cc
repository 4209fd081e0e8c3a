// SPDX-License-Identifier: Apache-2.0
// What the readers of databases share: telling a statement from a table's name.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/error.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/utf8.h"
#include "kith/fields.h"

namespace kith {
namespace {

constexpr std::string_view kStarts[] = {"select", "with", "values", "table"};
constexpr size_t kMostListed = 20;

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string listed(const std::vector<std::string>& tables) {
  const size_t n = std::min(tables.size(), kMostListed);
  std::string out = fmt::format("{}", fmt::join(std::span(tables).first(n), ", "));
  if (n < tables.size()) out += fmt::format(" and {} more", tables.size() - n);
  return out;
}

}  // namespace

bool is_select(std::string_view query) {
  query = trimmed(query);
  while (query.starts_with('(')) query = trimmed(query.substr(1));
  const size_t length = static_cast<size_t>(
      std::find_if_not(query.begin(), query.end(), is_word_char) - query.begin());
  // A table may be called "values"; a statement goes on behind its first word.
  if (length == query.size()) return false;
  std::string word(query.substr(0, length));
  std::ranges::transform(word, word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return std::ranges::find(kStarts, word) != std::end(kStarts);
}

size_t choose_table(const std::vector<std::string>& tables, std::string_view name,
                    std::string_view where) {
  if (tables.empty()) {
    throw fault(ErrorKind::kInput, "{}: the database has no tables; is it the right one?", where);
  }
  if (name.empty()) {
    if (tables.size() == 1) return 0;
    throw fault(ErrorKind::kInput,
                "{}: the database has {} tables; choose one with --query, or give a SELECT: {}",
                where, tables.size(), listed(tables));
  }
  const auto found = std::ranges::find(tables, name);
  if (found != tables.end()) return static_cast<size_t>(found - tables.begin());
  const std::vector<std::string_view> known(tables.begin(), tables.end());
  throw fault(ErrorKind::kInput, "{}: there is no table {} among {}{}", where, shown(name),
              listed(tables), suggest(name, known));
}

}  // namespace kith
