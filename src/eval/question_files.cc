// SPDX-License-Identifier: Apache-2.0
#include "eval/question_files.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "core/error.h"

namespace kith::eval {
namespace {

// No evaluation file has longer ones; without a limit, a file without line ends would be held
// whole.
constexpr size_t kLongestLine = 64 << 10;
constexpr std::string_view kSpace = " \t\r\n\v\f";

std::string_view trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(kSpace) - first + 1);
}

// Runs of white space separate.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed(line)).empty()) {
    const size_t end = std::min(line.find_first_of(kSpace), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// What stands between tabs, else semicolons, else commas, else spaces.
std::vector<std::string_view> columns_of(std::string_view line) {
  for (const char separator : {'\t', ';', ','}) {
    if (line.find(separator) == std::string_view::npos) continue;
    std::vector<std::string_view> columns;
    for (size_t end; (end = line.find(separator)) != std::string_view::npos;) {
      columns.push_back(trimmed(line.substr(0, end)));
      line.remove_prefix(end + 1);
    }
    columns.push_back(trimmed(line));
    return columns;
  }
  return words_of(line);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

struct Pair {
  std::string_view a, b;
  double score;
};
std::optional<Pair> pair_of(std::string_view line) {
  const std::vector<std::string_view> columns = columns_of(line);
  if (columns.size() < 3 || columns[0].empty() || columns[1].empty()) return std::nullopt;
  const auto score = number(columns[2]);
  if (!score) return std::nullopt;
  return Pair{columns[0], columns[1], *score};
}

bool is_blank(std::string_view line) { return trimmed(line).empty(); }

}  // namespace

// The next line as it stands, or false at the end.
bool Lines::take(std::string_view& line) {
  rest_.clear();
  for (;;) {
    const size_t end = piece_.find('\n');
    const size_t length = std::min(end, piece_.size());
    if (rest_.size() + length > kLongestLine) {
      throw fault(ErrorKind::kInput,
                  "{}:{}: the line is longer than {} bytes, so this is not an evaluation file",
                  where_, number_ + 1, kLongestLine);
    }
    if (end != std::string_view::npos) {
      line = piece_.substr(0, end);
      if (!rest_.empty()) line = rest_.append(line);
      piece_.remove_prefix(end + 1);
      return true;
    }
    rest_.append(piece_);
    const auto bytes = source_->next();
    piece_ = {bytes.data(), bytes.size()};
    if (piece_.empty()) {
      line = rest_;
      return !rest_.empty();
    }
  }
}

bool Lines::next(std::string_view& line) {
  if (!take(line)) return false;
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void read_analogies(Lines& lines, const AnalogyHandler& handler) {
  for (std::string_view line; lines.next(line);) {
    if (is_blank(line) || line.starts_with('#')) continue;
    if (line.starts_with(':')) {
      handler.section(trimmed(line.substr(1)));
      continue;
    }
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 4) {
      throw fault(ErrorKind::kInput,
                  "{}:{}: an analogy question has four words, or is a section such as ': "
                  "capitals'; found {} words",
                  lines.where(), lines.number(), words.size());
    }
    handler.question({words[0], words[1], words[2], words[3]});
  }
}

void read_pairs(
    Lines& lines,
    const std::function<void(std::string_view a, std::string_view b, double score)>& pair) {
  for (std::string_view line; lines.next(line);) {
    if (is_blank(line) || line.starts_with('#')) continue;
    if (const auto found = pair_of(line)) {
      pair(found->a, found->b, found->score);
      continue;
    }
    const size_t columns = columns_of(line).size();
    if (lines.number() == 1 && columns >= 3) continue;  // names of the columns
    if (columns < 3) {
      throw fault(ErrorKind::kInput,
                  "{}:{}: a line has two words and a score, separated by tabs, semicolons, commas "
                  "or spaces; found {} columns",
                  lines.where(), lines.number(), columns);
    }
    throw fault(ErrorKind::kInput,
                "{}:{}: the third column is not a number, or a word is missing before it",
                lines.where(), lines.number());
  }
}

QuestionKind recognise(Lines& lines) {
  for (std::string_view line; lines.next(line);) {
    if (is_blank(line) || line.starts_with('#')) continue;
    if (line.starts_with(':')) return QuestionKind::kAnalogies;
    if (pair_of(line)) return QuestionKind::kSimilarity;
    // Names of columns may be four words too: "Word 1,Word 2,Human (mean)".
    const size_t words = words_of(line).size(), columns = columns_of(line).size();
    const bool names = lines.number() == 1 && columns >= 3 && (words != 4 || columns == 3);
    if (words == 4 && !names) return QuestionKind::kAnalogies;
    if (names) continue;
    throw fault(ErrorKind::kInput,
                "{}:{}: neither an analogy question (four words) nor two words and a score",
                lines.where(), lines.number());
  }
  throw fault(ErrorKind::kInput, "{}: there are no questions and no word pairs in it",
              lines.where());
}

std::string lower_case(std::string_view word) {
  std::string out;
  out.reserve(word.size());
  while (!word.empty()) {
    utf8proc_int32_t code = 0;
    const auto read = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(word.data()),
                                       static_cast<utf8proc_ssize_t>(word.size()), &code);
    if (read <= 0) {
      out += word[0];
      word.remove_prefix(1);
      continue;
    }
    utf8proc_uint8_t buffer[4];
    const auto wrote = utf8proc_encode_char(utf8proc_tolower(code), buffer);
    out.append(reinterpret_cast<const char*>(buffer), static_cast<size_t>(wrote));
    word.remove_prefix(static_cast<size_t>(read));
  }
  return out;
}

}  // namespace kith::eval
