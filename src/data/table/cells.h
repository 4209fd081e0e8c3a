// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one cell of a table says, once the type of its column is known. The same in every locale.

#include <array>
#include <optional>
#include <string_view>

#include "kith/fields.h"

namespace kith {

// Of dates with slashes. Year first is always understood.
enum class DateOrder { kIso, kDayFirst, kMonthFirst };

// Without the white space around it.
std::string_view trimmed(std::string_view text);

// The whole cell must be one finite decimal number; white space around it is fine.
std::optional<double> parse_number(std::string_view cell);

// Days since 1970-01-01, with a fraction for the time of day: YYYY-MM-DD, and behind a T or a space
// HH:MM[:SS[.fraction]] and Z or an offset. 31/12/1999 and 12/31/1999 need no order; of the others
// with slashes `order` says which number is the day.
std::optional<double> parse_date(std::string_view cell, DateOrder order = DateOrder::kIso);

// true/false, yes/no, t/f, y/n, 1/0 in any case.
std::optional<bool> parse_boolean(std::string_view cell);

// What people write where a number or a date is not known: NA, N/A, nan, null, none, -, ?, inf, \N.
// In other columns these may be values.
bool is_missing_mark(std::string_view cell);

// Calls f with each member of a list: trimmed, empty ones left out. Brackets around the whole list
// do not count: [1, 2, 3]. No separator: the cell is the only member.
template <class F>
void for_each_member(std::string_view cell, std::string_view separator, F&& f) {
  cell = trimmed(cell);
  if (cell.size() >= 2 && cell.front() == '[' && cell.find_first_of("[]", 1) == cell.size() - 1 &&
      cell.back() == ']') {
    cell = cell.substr(1, cell.size() - 2);
  }
  for (bool last = false; !last;) {
    const size_t end = separator.empty() ? std::string_view::npos : cell.find(separator);
    last = end == std::string_view::npos;
    const std::string_view member = trimmed(cell.substr(0, end));
    if (!last) cell.remove_prefix(end + separator.size());
    if (!member.empty()) f(member);
  }
}

}  // namespace kith

template <>
struct kith::EnumNames<kith::DateOrder> {
  static constexpr std::array<std::string_view, 3> names{"iso", "dmy", "mdy"};
};
