// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns of a table as text: each cell is a line, whatever it holds.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/table/table_reader.h"
#include "io/file.h"

namespace kith {

// The places of the columns that a list with commas names; one with a comma in it is found, too, if
// it is the only one. Error(kUsage) with what there is; `where` begins its message, and `setting`
// is what the list was given with.
std::vector<size_t> columns_named(const std::string& list, const std::vector<std::string>& columns,
                                  std::string_view where, std::string_view setting = "column");

// The cells of these columns, row by row; those that are missing are left out. The members of a
// list have a space between them. `on_read(bytes, share)` is called now and then.
// Error(kInput) for a NUL byte, and what the reader throws.
std::unique_ptr<ByteSource> column_lines(std::unique_ptr<TableReader> rows,
                                         std::vector<size_t> columns,
                                         std::function<void(uint64_t, double)> on_read = {});

}  // namespace kith
