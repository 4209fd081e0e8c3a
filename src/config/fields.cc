// SPDX-License-Identifier: Apache-2.0
#include "kith/fields.h"

#include <algorithm>

#include "core/error.h"
#include "core/names.h"

namespace kith {

std::string FieldInfo::type_text() const {
  switch (type) {
    case FieldType::kFlag:
      return "flag";
    case FieldType::kWhole:
      return "int";
    case FieldType::kNumber:
      return "number";
    case FieldType::kChoice:
      return detail::joined(choices, "|");
    case FieldType::kText:
      break;
  }
  return "text";
}

std::string suggest(std::string_view wrong, std::span<const std::string_view> known) {
  const auto best = std::min_element(known.begin(), known.end(), [&](auto a, auto b) {
    return edit_distance(wrong, a) < edit_distance(wrong, b);
  });
  const size_t limit = std::max<size_t>(1, std::min<size_t>(3, wrong.size() / 2));
  if (best == known.end()) return "";
  std::string_view meant = edit_distance(wrong, *best) <= limit ? *best : std::string_view();
  // Or the name was cut short: income for income-per-year.
  for (const std::string_view name : known) {
    if (!meant.empty() || wrong.size() < 3) break;
    if (name.starts_with(wrong)) meant = name;
  }
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

namespace detail {

void refuse(std::string_view name, std::string_view wanted, std::string_view found) {
  throw fault(ErrorKind::kUsage, "{} must be {}; got {}", name, wanted, found);
}

std::string show_number(double v) { return fmt::format("{}", v); }

std::string show_found(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *text);
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

void add_to_list(std::string& list, const std::string& item) {
  if (item.empty()) return list.clear();
  if (("," + list + ",").find("," + item + ",") != std::string::npos) return;
  list += (list.empty() ? "" : ",") + item;
}

std::string joined(std::span<const std::string_view> words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::optional<int64_t> whole_number(const Value& value) {
  if (const auto* v = std::get_if<int64_t>(&value)) return *v;
  const auto* v = std::get_if<double>(&value);
  if (v && std::trunc(*v) == *v && std::abs(*v) <= 0x1p53) return static_cast<int64_t>(*v);
  return std::nullopt;
}

void check_range(std::string_view name, double x, std::optional<double> low,
                 std::optional<double> high, std::string_view shown) {
  // Written so that NaN fails too.
  if ((!low || x >= *low) && (!high || x <= *high) && std::isfinite(x)) return;
  refuse(name,
         high  ? fmt::format("between {} and {}", *low, *high)
         : low ? fmt::format("at least {}", *low)
               : std::string("a finite number"),
         shown);
}

}  // namespace detail
}  // namespace kith
