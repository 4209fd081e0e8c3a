// SPDX-License-Identifier: Apache-2.0
#include "api/leaks.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr size_t kShortName = 3;    // may stand in a text by chance
constexpr double kFewLeaks = 0.01;  // of the rows
constexpr size_t kOthers = 8;       // answers of other rows that are looked for
constexpr double kFarAbove = 3;     // times as often as those

std::string lower(std::string_view s) {
  std::string out(s);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// Whether the words stand in a text, not as part of others.
bool holds(std::string_view text, std::string_view words) {
  const auto ends = [&](size_t at) {
    return at >= text.size() || !std::isalnum(static_cast<unsigned char>(text[at]));
  };
  for (size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    if ((at == 0 || ends(at - 1)) && ends(at + words.size())) return true;
  }
  return false;
}

}  // namespace

void Leaks::look(std::span<const Cell> given, std::string_view truth) {
  if (truth.size() <= kShortName) return;
  const std::string wanted = lower(truth);
  std::erase(others_, wanted);
  for (size_t g = 0; g < given.size(); ++g) {
    if (!given[g] || encoding_.groups[g].column.type != ColumnType::kText) continue;
    const std::string text = lower(*given[g]);
    Found& found = found_[g][wanted];
    ++found.own_rows;
    found.own += holds(text, wanted);
    for (const std::string& answer : others_) {
      Found& other = found_[g][answer];
      ++other.other_rows;
      other.other += holds(text, answer);
    }
  }
  others_.push_back(wanted);
  if (others_.size() > kOthers) others_.pop_front();
}

void Leaks::tell(uint64_t all, const std::string& target, Report& out) const {
  for (size_t g = 0; g < found_.size(); ++g) {
    double own = 0, by_chance = 0;  // rows
    for (const auto& [answer, found] : found_[g]) {
      own += static_cast<double>(found.own);
      if (found.other == 0) continue;
      by_chance += static_cast<double>(found.own_rows) * static_cast<double>(found.other) /
                   static_cast<double>(found.other_rows);
    }
    const double share = own / static_cast<double>(all);
    if (share < kFewLeaks || own < kFarAbove * by_chance) continue;
    const std::string& column = encoding_.groups[g].column.name;
    out.shares.emplace_back(column, share);
    out.notes.push_back(
        {Note::Level::kWarning,
         fmt::format("in {} of the rows the text in column {} holds the {}, word for word: the "
                     "score says little about rows where it does not",
                     in_percent(share), column, target)});
  }
}

}  // namespace kith
