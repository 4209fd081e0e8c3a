// SPDX-License-Identifier: Apache-2.0
#include "data/table/flat_reader.h"

namespace kith {
namespace {

constexpr size_t kFirstBytes = size_t{16} << 20;

void put(std::string_view text, Cell& cell) {
  if (!text.empty()) cell = text;
}

}  // namespace

bool FlatReader::next(std::vector<Cell>& cells) {
  cells.assign(columns().size(), std::nullopt);
  if (given_ < first_.size()) {
    const First& first = first_[given_++];
    for (size_t i = 0; i < first.cells.size(); ++i) put(first.cells[i], cells[i]);
    return true;
  }
  first_.clear();
  given_ = 0;
  if (!read_row()) return false;
  for (size_t i = 0; i < cells.size(); ++i) put(row_.values()[i].text, cells[i]);
  return true;
}

void FlatReader::find_columns() {
  size_t bytes = 0;
  while (first_.size() < kFirstObjects && bytes < kFirstBytes && read_row()) {
    First& first = first_.emplace_back(First{place(), TableReader::row(), {}});
    for (const auto& value : row_.values()) {
      bytes += sizeof(std::string) + value.text.size();
      first.cells.push_back(value.text);
    }
  }
}

}  // namespace kith
