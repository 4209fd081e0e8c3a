// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two formats of public test files for word vectors, line by line: analogy questions (Google's)
// and word pairs with human scores. Knows nothing of vectors: what the words mean is up to the
// caller. Bad input is Error(kInput) with file and line.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "io/file.h"

namespace kith::eval {

// The lines of a source, without their ends ("\n" or "\r\n") and a byte order mark.
class Lines {
 public:
  Lines(ByteSource& source, std::string where) : source_(&source), where_(std::move(where)) {}
  // False at the end. The line is valid until the next call.
  bool next(std::string_view& line);
  uint64_t number() const { return number_; }  // of the last line, from 1
  const std::string& where() const { return where_; }

 private:
  bool take(std::string_view& line);
  ByteSource* source_;
  std::string where_, rest_;  // rest_: the beginning of a line that goes on in the next piece
  std::string_view piece_;
  uint64_t number_ = 0;
};

// Questions as they come: `section` when one begins, `question` for each four words.
struct AnalogyHandler {
  std::function<void(std::string_view name)> section;
  std::function<void(const std::array<std::string_view, 4>& words)> question;
};
void read_analogies(Lines& lines, const AnalogyHandler& handler);

// Word pairs as they come: tab, semicolon, comma or spaces between, the first of these that a line
// has; further columns after a score (single raters, as some collections have) are ignored. Lines
// that start with # are skipped, and so is a first line whose third column is no number.
void read_pairs(
    Lines& lines,
    const std::function<void(std::string_view a, std::string_view b, double score)>& pair);

// Looks at the first lines: four words, or ": section" is analogies; two words and a number is
// similarity. Error(kInput) if neither.
enum class QuestionKind { kAnalogies, kSimilarity };
QuestionKind recognise(Lines& lines);

// In lower case, Unicode included; bytes that are not UTF-8 stay.
std::string lower_case(std::string_view word);

}  // namespace kith::eval
