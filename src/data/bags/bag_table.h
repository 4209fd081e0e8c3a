// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of counts as a table: a row for each word of each document.

#include <memory>
#include <string>
#include <vector>

#include "data/bags/raw_bags.h"
#include "data/table/table_reader.h"

namespace kith {

// Its columns are document, word and count.
std::unique_ptr<TableReader> bag_table(const std::vector<std::string>& sources,
                                       const std::string& vocab, const OnRead& on_read);

}  // namespace kith
