// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text from files that may be anything. For src/io and src/data.

#include <string>
#include <string_view>

namespace kith {

// Text of a file as a message may show it: short, valid, on one line.
std::string shown(std::string_view text);

// Bytes that are not UTF-8 become U+FFFD; true if there were any.
bool repair_utf8(std::string_view text, std::string& repaired);

}  // namespace kith
