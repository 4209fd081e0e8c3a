// SPDX-License-Identifier: Apache-2.0
#include "data/table/cells.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

namespace kith {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";
constexpr std::string_view kMissingMarks[] = {"na",   "n/a", "#n/a",     "nan",      "null",
                                              "none", "-",   "?",        "inf",      "+inf",
                                              "-inf", "\\n", "infinity", "-infinity"};
constexpr std::string_view kTrue[] = {"true", "yes", "t", "y", "1"};
constexpr std::string_view kFalse[] = {"false", "no", "f", "n", "0"};

constexpr std::string_view kMonths[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

// Against a list in lower case.
bool is_one_of(std::string_view text, std::span<const std::string_view> list) {
  return std::ranges::any_of(
      list, [&](std::string_view known) { return std::ranges::equal(text, known, {}, lower); });
}

// Takes numbers and signs away from the front of a date; once something is wrong it stays wrong.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}
  bool ok() const { return ok_; }
  bool at_end() const { return left_.empty(); }

  // A whole number of `least` to `most` digits, not above `limit`.
  int number(size_t least, size_t most, int limit) {
    int value = 0;
    size_t n = 0;
    for (; n < std::min(most, left_.size()) && is_digit(left_[n]); ++n) {
      value = 10 * value + (left_[n] - '0');
    }
    ok_ = ok_ && n >= least && value <= limit;
    left_.remove_prefix(n);
    return value;
  }

  // The character if it is one of these, else 0 and nothing is taken.
  char one_of(std::string_view choices) {
    if (left_.empty() || choices.find(left_[0]) == std::string_view::npos) return 0;
    const char c = left_[0];
    left_.remove_prefix(1);
    return c;
  }
  void expect(std::string_view choices) { ok_ = ok_ && one_of(choices) != 0; }

  // "Jan" or "January" is 1, in any case; then maybe a point.
  int month_name() {
    size_t letters = 0;
    while (letters < left_.size() && is_letter(left_[letters])) ++letters;
    const std::string_view word = left_.substr(0, letters);
    const auto found = std::ranges::find_if(kMonths, [&](std::string_view month) {
      return word.size() >= 3 && word.size() <= month.size() &&
             (word.size() == 3 || word.size() == month.size()) &&
             std::ranges::equal(word, month.substr(0, word.size()), {}, lower);
    });
    ok_ = ok_ && found != std::end(kMonths);
    left_.remove_prefix(letters);
    one_of(".");
    return static_cast<int>(found - std::begin(kMonths)) + 1;
  }

  // The digits behind the point of the seconds.
  double fraction() {
    double value = 0, place = 0.1;
    ok_ = ok_ && !left_.empty() && is_digit(left_[0]);
    for (; !left_.empty() && is_digit(left_[0]); left_.remove_prefix(1), place /= 10) {
      value += place * (left_[0] - '0');
    }
    return value;
  }

 private:
  std::string_view left_;
  bool ok_ = true;
};

struct Day {
  int year = 0, month = 0, day = 0;
};

Day read_year_first(Scanner& in) {
  Day out;
  out.year = in.number(4, 4, 9999);
  const char between = in.one_of("-/");
  out.month = in.number(2, 2, 12);
  in.expect(between == '/' ? "/" : "-");
  out.day = in.number(2, 2, 31);
  return out;
}

std::optional<Day> read_year_last(Scanner& in, DateOrder order) {
  const int first = in.number(1, 2, 31);
  in.expect("/");
  const int second = in.number(1, 2, 31);
  in.expect("/");
  const int year = in.number(4, 4, 9999);
  const Day day_first{year, second, first}, month_first{year, first, second};
  if (order == DateOrder::kDayFirst) return day_first;
  if (order == DateOrder::kMonthFirst) return month_first;
  if (first > 12 || first == second) return day_first;
  if (second > 12) return month_first;
  return std::nullopt;
}

// "01-Jan-1974", "1 January 1974", "Jan 1, 1974".
Day read_named_month(Scanner& in, bool month_first) {
  Day out;
  if (month_first) out.month = in.month_name();
  if (month_first) in.expect(" ");
  out.day = in.number(1, 2, 31);
  if (!month_first) in.expect("- /");
  if (!month_first) out.month = in.month_name();
  if (!in.one_of("-/")) {
    in.one_of(",");
    in.expect(" ");
  }
  out.year = in.number(4, 4, 9999);
  return out;
}

// Seconds since midnight in UTC.
double read_time(Scanner& in) {
  double seconds = 3600.0 * in.number(2, 2, 24);
  in.expect(":");
  seconds += 60.0 * in.number(2, 2, 59);
  if (in.one_of(":")) {
    seconds += in.number(2, 2, 60);  // 60: a leap second
    if (in.one_of(".,")) seconds += in.fraction();
  }
  if (in.one_of("Z")) return seconds;
  const char sign = in.one_of("+-");
  if (!sign) return seconds;
  double offset = 3600.0 * in.number(2, 2, 23);
  if (!in.at_end()) {
    in.one_of(":");
    offset += 60.0 * in.number(2, 2, 59);
  }
  return sign == '+' ? seconds - offset : seconds + offset;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::optional<double> parse_number(std::string_view cell) {
  cell = trimmed(cell);
  // from_chars knows no plus, and would take the minus of "+-1".
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const auto result = std::from_chars(cell.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_date(std::string_view cell, DateOrder order) {
  cell = trimmed(cell);
  if (cell.size() < 8) return std::nullopt;
  Scanner in(cell);
  const bool year_first = std::all_of(cell.begin(), cell.begin() + 4, is_digit);
  const bool month_first = is_letter(cell[0]);
  const bool named = month_first || is_letter(cell[2]) || is_letter(cell[3]);
  const auto found = year_first ? read_year_first(in)
                     : named    ? read_named_month(in, month_first)
                                : read_year_last(in, order);
  if (!in.ok() || !found) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(found->year),
                                         std::chrono::month(static_cast<unsigned>(found->month)),
                                         std::chrono::day(static_cast<unsigned>(found->day))};
  if (!date.ok()) return std::nullopt;
  const auto days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  const double seconds = in.one_of("T ") ? read_time(in) : 0;
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return days + seconds / 86400;
}

std::optional<bool> parse_boolean(std::string_view cell) {
  cell = trimmed(cell);
  if (is_one_of(cell, kTrue)) return true;
  if (is_one_of(cell, kFalse)) return false;
  return std::nullopt;
}

bool is_missing_mark(std::string_view cell) {
  cell = trimmed(cell);
  return cell.empty() || is_one_of(cell, kMissingMarks);
}

}  // namespace kith
