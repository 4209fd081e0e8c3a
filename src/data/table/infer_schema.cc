// SPDX-License-Identifier: Apache-2.0
// The type of a column, guessed from a sample by rules a user can follow: each rule asks one
// question of the cells that are there, in the order of infer_column. The user may overrule every
// guess.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "core/utf8.h"
#include "data/table/cells.h"
#include "data/table/codes.h"
#include "data/table/schema.h"
#include "io/utf8.h"

namespace kith {
namespace {

constexpr double kMost = 0.95;          // cells that must be readable as a number or a date
constexpr size_t kFewValues = 20;       // as many different whole numbers may be names of classes
constexpr double kOften = 5;            // if each is seen on so many rows, on average
constexpr size_t kEnoughForIds = 20;    // fewer cells differ by chance
constexpr double kSetShare = 0.1;       // cells with the separator in them
constexpr double kMostCells = 0.5;      // or so many: then members need not repeat
constexpr double kSetRepeats = 2;       // times that members repeat more than whole cells
constexpr double kShortMember = 30;     // mean bytes of the members of a set with commas
constexpr double kFewWords = 3;         // mean words of members that need not repeat
constexpr double kManyTexts = 20000;    // different cells that free text draws from, at least
constexpr double kFewPairs = 2;         // fewer equal cells are chance
constexpr double kChance = 3;           // standard deviations of their number
constexpr size_t kMembersLooked = 100;  // of a cell
constexpr double kLongText = 8;         // mean words
constexpr std::string_view kList(&kListSeparator, 1);
constexpr std::string_view kVectorSeparators[] = {kList, ",", ";", "|", " "};
constexpr std::string_view kSetSeparators[] = {kList, "|", ";", ","};
constexpr std::pair<const char*, const char*> kBooleans[] = {
    {"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"}, {"1", "0"}};

struct SampledCell {
  std::string_view text;
  size_t row;  // from 1
};

using Counts = std::unordered_map<std::string_view, size_t>;

std::string grouped(size_t n) {
  std::string out = std::to_string(n);
  for (size_t i = out.size(); i > 3;) out.insert(i -= 3, ",");
  return out;
}

double ratio(size_t a, size_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_integer(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return is_digits(text);
}

// Words between spaces; where there are none between words (Chinese, Japanese), characters.
size_t count_words(std::string_view text) {
  size_t words = 0;
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(i));
    const bool ideograph = c.state == Utf8Char::kValid && ((c.code >= 0x3040 && c.code <= 0x30FF) ||
                                                           (c.code >= 0x3400 && c.code <= 0x9FFF));
    const bool space = c.code == ' ' || (c.code >= '\t' && c.code <= '\r');
    if (ideograph || (!space && !in_word)) ++words;
    in_word = !space && !ideograph;
    i += c.length;
  }
  return words;
}

// A cell as a message may show it, with a comma between the members of a list.
std::string readable(std::string_view cell) {
  std::string text(cell);
  for (size_t i = 0; (i = text.find(kListSeparator, i)) != std::string::npos; i += 2) {
    text.replace(i, 1, ", ");
  }
  return shown(text);
}

// What one column looks like, and what is decided about it.
class ColumnGuess {
 public:
  ColumnGuess(const SampledTable& table, size_t column) {
    column_.name = table.columns()[column];
    profile_.rows = table.sample().size();
    for (const SampledRow* row : table.sample()) {
      const auto& cell = row->cells[column];
      if (!cell) continue;
      cells_.push_back({*cell, row->number});
      ++counts_[*cell];
    }
    rows_of_each_ = ratio(table.looked_at(), table.sample().size());
    profile_.missing = profile_.rows - cells_.size();
    profile_.distinct = counts_.size();
    add_examples();
  }

  void decide() {
    if (is_empty() || is_constant() || is_vector() || is_boolean() || is_date() || is_number() ||
        has_thousands() || is_set() || is_text() || is_identifier()) {
      return;
    }
    column_.type = ColumnType::kCategory;
  }

  Column& column() { return column_; }
  ColumnProfile& profile() { return profile_; }

 private:
  bool decide_on(ColumnType type) {
    column_.type = type;
    return true;
  }

  bool ignore(std::string why) {
    profile_.remark = std::move(why);
    return decide_on(ColumnType::kIgnore);
  }

  // It may be something else, and the user may know.
  bool decide_in_doubt(ColumnType type, std::string why, ColumnType rather) {
    profile_.remark = std::move(why);
    profile_.rather = rather;
    return decide_on(type);
  }

  void add_examples() {
    std::unordered_set<std::string_view> taken;
    for (const SampledCell& cell : cells_) {
      if (taken.size() == 3) return;
      if (!taken.insert(cell.text).second) continue;
      profile_.examples.push_back(readable(cell.text));
    }
  }

  // Behind a number that is of the sample.
  std::string_view looked_at() const { return rows_of_each_ > 1 ? " looked at" : ""; }

  bool is_empty() {
    if (!cells_.empty()) return false;
    return ignore(profile_.rows == 0 ? "the table has no rows" : "every cell is missing");
  }

  // One value and missing cells do differ.
  bool is_constant() {
    if (counts_.size() > 1 || profile_.missing > 0 || profile_.rows < 2) return false;
    return ignore(fmt::format("every cell is the same: {}", readable(cells_[0].text)));
  }

  bool is_vector() {
    for (const std::string_view separator : kVectorSeparators) {
      const size_t size = numbers_in(cells_[0].text, separator);
      if (size < 3) continue;
      if (std::ranges::any_of(cells_, [&](const SampledCell& cell) {
            return numbers_in(cell.text, separator) != size;
          })) {
        continue;
      }
      // Whole numbers with spaces may be telephone numbers.
      if (separator == " " && std::ranges::none_of(cells_, [](const SampledCell& cell) {
            return cell.text.find('.') != std::string_view::npos;
          })) {
        continue;
      }
      column_.separator = separator;
      profile_.remark = fmt::format("{} numbers in each cell", size);
      return decide_on(ColumnType::kVector);
    }
    return false;
  }

  // How many, if all members of the list are numbers, else 0.
  static size_t numbers_in(std::string_view cell, std::string_view separator) {
    size_t numbers = 0;
    bool all = true;
    for_each_member(cell, separator, [&](std::string_view member) {
      all = all && parse_number(member);
      ++numbers;
    });
    return all ? numbers : 0;
  }

  // Two values that belong together, so not "yes" and "0".
  bool is_boolean() {
    if (counts_.size() > 6) return false;  // two in three spellings
    std::unordered_set<std::string> values;
    for (const auto& [text, count] : counts_) {
      if (!parse_boolean(text)) return false;
      std::string lower(trimmed(text));
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      values.insert(lower);
    }
    for (const auto& [yes, no] : kBooleans) {
      if (values.size() == 2 && values.contains(yes) && values.contains(no)) {
        return decide_on(ColumnType::kBoolean);
      }
    }
    return false;
  }

  struct Readable {
    size_t good = 0, marks = 0, bad = 0;
    const SampledCell* first_bad = nullptr;
    bool most(size_t cells) const {
      return good > 0 && static_cast<double>(good + marks) >= kMost * static_cast<double>(cells);
    }
  };

  template <class Parse>
  Readable read_cells(const Parse& parse) const {
    Readable out;
    for (const SampledCell& cell : cells_) {
      if (parse(cell.text)) {
        ++out.good;
      } else if (is_missing_mark(cell.text)) {
        ++out.marks;
      } else if (out.bad++ == 0) {
        out.first_bad = &cell;
      }
    }
    return out;
  }

  // `what`: one cell that can be read.
  bool decide_on(ColumnType type, const Readable& read, std::string_view what) {
    profile_.missing += read.marks;
    if (read.bad > 0) {
      profile_.remark = fmt::format(
          "{} of {} cells{} {}: {} (row {})", grouped(read.bad), grouped(cells_.size()),
          looked_at(),
          read.bad == 1 ? fmt::format("is not a {}", what) : fmt::format("are not {}s", what),
          readable(read.first_bad->text), read.first_bad->row);
    }
    return decide_on(type);
  }

  bool is_date() {
    const auto read_as = [&](DateOrder order) {
      return read_cells([order](std::string_view text) { return parse_date(text, order); });
    };
    // Of dates with slashes, those with a day above 12 tell the order.
    const Readable day = read_as(DateOrder::kDayFirst), month = read_as(DateOrder::kMonthFirst);
    if (!day.most(cells_.size()) && !month.most(cells_.size())) return false;
    if (day.good != month.good) {
      const bool day_first = day.good > month.good;
      column_.order = day_first ? DateOrder::kDayFirst : DateOrder::kMonthFirst;
      return decide_on(ColumnType::kDate, day_first ? day : month, "date");
    }
    const Readable iso = read_as(DateOrder::kIso);
    if (iso.most(cells_.size())) return decide_on(ColumnType::kDate, iso, "date");
    profile_.remark =
        "dates whose day and month cannot be told apart; give type date and order dmy or mdy";
    return decide_on(ColumnType::kCategory);
  }

  bool is_number() {
    const Readable read = read_cells(parse_number);
    if (!read.most(cells_.size())) return false;
    Values values;
    bool whole = true, zero_padded = false;
    for (const SampledCell& cell : cells_) {
      const auto value = parse_number(cell.text);
      if (!value) continue;
      ++values[*value];
      const std::string_view text = trimmed(cell.text);
      whole = whole && is_integer(text);
      zero_padded = zero_padded || (text.size() > 1 && text[0] == '0' && is_digits(text));
    }
    if (whole && zero_padded) {
      return is_identifier() ||
             decide_in_doubt(ColumnType::kCategory, "numbers with zeros in front, taken for codes",
                             ColumnType::kNumber);
    }
    if (whole && is_numbering(values, read)) {
      return decide_in_doubt(ColumnType::kIgnore,
                             fmt::format("an identifier: all {} numbers{} differ",
                                         grouped(values.size()), looked_at()),
                             ColumnType::kNumber);
    }
    if (whole && is_code_name(column_.name)) {
      return decide_in_doubt(ColumnType::kCategory, "by its name these are codes",
                             ColumnType::kNumber);
    }
    if (whole && values.size() <= kFewValues && ratio(read.good, values.size()) >= kOften &&
        !are_years(values)) {
      return decide_in_doubt(ColumnType::kCategory,
                             fmt::format("only {} different whole numbers{}", values.size(),
                                         rows_of_each_ > 1 ? " in the rows looked at" : ""),
                             ColumnType::kNumber);
    }
    if (whole && look_like_codes(values)) {
      return decide_in_doubt(ColumnType::kCategory,
                             "whole numbers of one width that come again, taken for codes",
                             ColumnType::kNumber);
    }
    return decide_on(ColumnType::kNumber, read, "number");
  }

  using Values = std::unordered_map<double, size_t>;  // how often each occurs

  static bool are_years(const Values& values) {
    return std::ranges::all_of(
        values, [](double v) { return v >= 1500 && v <= 2200; }, &Values::value_type::first);
  }

  // Whole numbers that all differ are quantities (populations) or numbers of the rows: called so,
  // or without wide gaps but for the rows that are not in the sample.
  bool is_numbering(const Values& values, const Readable& read) const {
    if (values.size() < kEnoughForIds || values.size() < read.good) return false;
    const auto [low, high] = std::ranges::minmax_element(values, {}, &Values::value_type::first);
    return is_id_name(column_.name) ||
           high->first - low->first < 4 * static_cast<double>(values.size()) * rows_of_each_;
  }

  bool is_set() {
    std::string_view best;
    double best_gain = 0;
    for (const std::string_view separator : kSetSeparators) {
      const double gain = gain_of(separator);
      if (gain <= best_gain) continue;
      best_gain = gain;
      best = separator;
    }
    if (best_gain == 0) return false;
    column_.separator = best;
    profile_.distinct = members_of(best).counts.size();
    if (best_gain >= kSetRepeats) return decide_on(ColumnType::kSet);
    return decide_in_doubt(ColumnType::kSet, fmt::format("{} occurs in most cells", best),
                           ColumnType::kText);
  }

  struct Members {
    Counts counts;
    size_t total = 0, bytes = 0, words = 0, cells_with_separator = 0;
    bool same_number = true;  // in every cell
    bool thousands = true;    // every cell could be 1,234,567
  };

  Members members_of(std::string_view separator) const {
    Members out;
    size_t first_size = 0;
    for (const SampledCell& cell : cells_) {
      size_t size = 0;
      for_each_member(cell.text, separator, [&](std::string_view member) {
        if (++size > kMembersLooked) return;  // one monstrous cell decides nothing
        ++out.counts[member];
        ++out.total;
        out.bytes += member.size();
        out.words += count_words(member);
        out.thousands = out.thousands && is_digits(member) &&
                        (size == 1 ? member.size() <= 3 : member.size() == 3);
      });
      out.cells_with_separator += cell.text.find(separator) != std::string_view::npos;
      if (&cell == cells_.data()) first_size = size;
      out.same_number = out.same_number && size == first_size;
    }
    return out;
  }

  bool has_thousands() {
    const Members members = members_of(",");
    if (!members.thousands || members.cells_with_separator == 0) return false;
    profile_.remark = "numbers with commas in them; remove the commas to have them as numbers";
    return decide_on(ColumnType::kCategory);
  }

  // How many times more often members repeat than whole cells do; 0 if it is no set. What stands
  // in most cells and has short names around it separates them, whether they repeat or not: that
  // depends on how many rows there are.
  double gain_of(std::string_view separator) const {
    const Members members = members_of(separator);
    if (members.cells_with_separator == 0 || members.counts.empty()) return 0;
    const double gain =
        ratio(members.total, members.counts.size()) / ratio(cells_.size(), counts_.size());
    if (separator == kList) return HUGE_VAL;  // nothing else looks like that
    if (ratio(members.cells_with_separator, cells_.size()) < kSetShare) return 0;
    // Commas also stand in prose, and between a surname and a first name.
    if (separator == "," &&
        (members.same_number || ratio(members.bytes, members.total) > kShortMember)) {
      return 0;
    }
    if (gain >= kSetRepeats) return gain;
    const bool most = ratio(members.cells_with_separator, cells_.size()) >= kMostCells;
    const bool names = ratio(members.words, members.total) <= kFewWords &&
                       ratio(members.bytes, members.total) <= kShortMember;
    return most && names && !members.same_number ? std::min(gain, 1.0) : 0;
  }

  // Pairs of cells that are equal. Their share of all pairs is one over the number of cells, all as
  // likely, that these were drawn from; it does not depend on how many cells there are, as the
  // share of different ones does.
  double equal_pairs() const {
    double out = 0;
    for (const auto& [text, n] : counts_) {
      out += static_cast<double>(n) * static_cast<double>(n - 1) / 2;
    }
    return out;
  }

  bool is_text() {
    size_t words = 0, bytes = 0;
    for (const SampledCell& cell : cells_) {
      words += count_words(cell.text);
      bytes += cell.text.size();
    }
    const double mean = ratio(words, cells_.size());
    const bool is_long = mean >= kLongText && counts_.size() > kFewValues;
    if (mean < 2 && !is_long) return false;
    const auto n = static_cast<double>(cells_.size());
    const double equal = equal_pairs(), expected = n * (n - 1) / 2 / kManyTexts;
    const bool varied = equal < kFewPairs || equal <= expected;
    // Replacing a text by noise costs as many rows as it has words: long ones are context only.
    if (is_long || varied) column_.sampled = mean < kLongText;
    if (is_long) return decide_on(ColumnType::kText);
    // In few rows as many pairs may be equal by chance.
    const bool names = mean <= kFewWords && ratio(bytes, cells_.size()) <= kShortMember;
    if (names && std::abs(equal - expected) < kChance * (1 + std::sqrt(expected))) {
      return decide_in_doubt(varied ? ColumnType::kText : ColumnType::kCategory,
                             "too few rows to tell names that come again from short texts",
                             varied ? ColumnType::kCategory : ColumnType::kText);
    }
    return varied && decide_on(ColumnType::kText);
  }

  bool is_identifier() {
    if (cells_.size() < kEnoughForIds || counts_.size() < cells_.size()) return false;
    if (std::ranges::any_of(cells_, [](const SampledCell& cell) {
          return trimmed(cell.text).find_first_of(" \t\n") != std::string_view::npos;
        })) {
      return false;
    }
    return decide_in_doubt(
        ColumnType::kIgnore,
        fmt::format("an identifier: all {} values{} differ", grouped(cells_.size()), looked_at()),
        ColumnType::kCategory);
  }

  Column column_;
  ColumnProfile profile_;
  std::vector<SampledCell> cells_;  // those that are not missing
  Counts counts_;                   // of the different cells
  double rows_of_each_ = 1;         // of the table, that each row of the sample stands for
};

}  // namespace

Inferred infer_schema(const SampledTable& table) {
  Inferred out;
  for (size_t i = 0; i < table.columns().size(); ++i) {
    ColumnGuess guess(table, i);
    guess.decide();
    out.schema.columns.push_back(std::move(guess.column()));
    out.profiles.push_back(std::move(guess.profile()));
  }
  return out;
}

}  // namespace kith
