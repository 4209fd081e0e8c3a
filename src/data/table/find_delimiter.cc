// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "data/table/table_readers.h"

namespace kith {
namespace {

constexpr size_t kMostRecords = 200;

// How many cells each of the first records has; empty lines are passed over.
std::vector<size_t> cells_of_records(std::string_view text, Delimiter delimiter, bool whole) {
  std::vector<size_t> out;
  size_t cells = 1, length = 0;                               // of the record so far
  bool cell_starts = true, has_quotes = false, open = false;  // of the cell
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends_cell =
        c == delimiter.byte && (!delimiter.twice || text.substr(i + 1, 1).starts_with(c));
    if (c == '"' && (cell_starts || has_quotes)) {
      has_quotes = true;
      open = !open;  // a doubled quote closes and opens
    } else if (!open && c == '\n') {
      if (length > 0) out.push_back(cells);
      if (out.size() == kMostRecords) return out;
      cells = 1;
      length = 0;
      cell_starts = true;
      has_quotes = false;
      continue;
    } else if (!open && ends_cell) {
      ++cells;
      i += delimiter.twice ? 1 : 0;
      cell_starts = true;
      has_quotes = false;
      ++length;
      continue;
    }
    cell_starts = false;
    length += c == '\r' ? 0 : 1;
  }
  if (length > 0 && (whole || out.empty())) out.push_back(cells);
  return out;
}

// The share of the records that have the most frequent number of cells, if it is more than one.
double agreement(const std::vector<size_t>& cells) {
  std::map<size_t, size_t> times;
  for (const size_t n : cells) ++times[n];
  size_t best = 0;
  for (const auto& [n, count] : times) best = n > 1 ? std::max(best, count) : best;
  return cells.empty() ? 0 : static_cast<double>(best) / static_cast<double>(cells.size());
}

}  // namespace

Delimiter find_delimiter(std::string_view start, bool whole, bool spaces) {
  Delimiter best = '\n';
  double best_share = 0.5;
  for (const Delimiter delimiter :
       {Delimiter('\t'), Delimiter(','), Delimiter(';'), Delimiter(':', true), Delimiter('|')}) {
    const double share = agreement(cells_of_records(start, delimiter, whole));
    if (share > best_share) {
      best = delimiter;
      best_share = share;
    }
  }
  // Blanks stand inside cells as well, so they come last.
  if (spaces && best == '\n' && agreement(cells_of_records(start, ' ', whole)) > 0.5) return ' ';
  return best;
}

}  // namespace kith
