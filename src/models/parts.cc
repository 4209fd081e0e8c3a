// SPDX-License-Identifier: Apache-2.0
#include "models/parts.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"

namespace kith {
namespace {

template <class T>
void parse(const std::string& key, const std::string& text, T& value) {
  T parsed{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc{} || stop != end) {
    throw fault(ErrorKind::kInput, "{} is {:.40}, not a number", key, text);
  }
  value = parsed;
}

}  // namespace

// A number that may not be there.
template <class T>
Parts::Entry Parts::maybe_entry(const std::string& key, std::optional<T>& value) {
  return {[&] { return value ? fmt::format("{}", *value) : std::string(); },
          [&](const std::string& t) {
            value.reset();
            if (!t.empty()) parse(key, t, value.emplace());
          },
          Use::kOptional};
}

void Parts::settings(const std::string& key, const Section& section) {
  stored_settings(key, section);
}

void Parts::text(const std::string& key, std::string& value, Use use) {
  entry(key, {[&] { return value; }, [&](const std::string& t) { value = t; }, use});
}

void Parts::number(const std::string& key, double& value, Use use) {
  entry(key, {[&] { return fmt::format("{}", value); },
              [&](const std::string& t) { parse(key, t, value); }, use});
}

void Parts::number(const std::string& key, float& value, Use use) {
  entry(key, {[&] { return fmt::format("{}", value); },
              [&](const std::string& t) { parse(key, t, value); }, use});
}

void Parts::number(const std::string& key, uint64_t& value, Use use) {
  entry(key, {[&] { return fmt::format("{}", value); },
              [&](const std::string& t) { parse(key, t, value); }, use});
}

void Parts::flag(const std::string& key, bool& value, Use use) {
  const bool quiet = use == Use::kOptional || use == Use::kRun;
  entry(key, {[&value, quiet] { return value   ? "1"
                                       : quiet ? ""
                                               : "0"; },
              [&](const std::string& t) { value = t == "1"; }, use});
}

void Parts::maybe(const std::string& key, std::optional<uint64_t>& value) {
  entry(key, maybe_entry(key, value));
}

void Parts::maybe(const std::string& key, std::optional<double>& value) {
  entry(key, maybe_entry(key, value));
}

void Parts::list(const std::string& key, std::vector<double>& values) {
  entry(key, {[&] { return fmt::format("{}", fmt::join(values, " ")); },
              [&](const std::string& t) {
                values.clear();
                for (size_t at = 0; at < t.size();) {
                  const size_t end = std::min(t.find(' ', at), t.size());
                  parse(key, t.substr(at, end - at), values.emplace_back());
                  at = end + 1;
                }
              },
              Use::kFixed});
}

void visit(Parts& parts, const SparseNames& names, Sparse& matrix, size_t rows, size_t columns) {
  parts.values(names.offsets, matrix.offsets, rows + 1, Use::kFixed);
  const size_t entries = matrix.offsets.empty() ? 0 : matrix.offsets.back();
  parts.values(names.columns, matrix.column, entries, Use::kFixed);
  parts.values(names.values, matrix.value, entries, Use::kFixed);
  if (!parts.loading()) return;  // models are saved from many threads: not a write but here
  matrix.columns = static_cast<uint32_t>(columns);
  if (matrix.offsets.empty()) return;
  parts.check(matrix.offsets.front() == 0 && std::ranges::is_sorted(matrix.offsets) &&
                  std::ranges::all_of(matrix.column, [&](uint32_t c) { return c < columns; }),
              "the ratings do not fit the names");
  for (uint32_t r = 0; r < matrix.rows(); ++r) {
    const auto row = matrix.row(r).columns;
    parts.check(std::ranges::adjacent_find(row, std::greater_equal<>()) == row.end(),
                "the ratings of a user are not in order");
  }
}

}  // namespace kith
