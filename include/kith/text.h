// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers and names as people read them.

#include <cstdint>
#include <string>
#include <string_view>

#include "kith/visible.h"

namespace kith KITH_VISIBLE {

std::string grouped(uint64_t n);         // 1,234,567
std::string in_bytes(double bytes);      // 1.2 GB
std::string in_time(double seconds);     // 4.2 s, 3:07, 2:03:07
std::string in_percent(double share);    // 12 %, 0.34 %, 0.0001 %
std::string rate_of(double per_second);  // 2.31 M
// "3 words", "1 word"
std::string count_of(uint64_t n, std::string_view singular);
// As a shell wants it: in quotes if it must be.
std::string shell_quoted(std::string_view s);
// As a CSV file wants it.
std::string csv_cell(std::string_view text);
// As JSON wants it: in quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);
// The fewest digits that are read as the same number, 1.0 with its point; null if not finite.
std::string json_number(double x);
// A source as it may be shown: the address of a database without its password.
std::string shown_source(std::string_view source);
// Where a message says that something is wrong: "films.csv:3: ..." or "films.kith: ..."; else "".
struct Place {
  std::string file;
  uint64_t line = 0;  // 0 if it says none
};
Place place_in(std::string_view message);
// "2G", "500 MB", "1.5GiB" or plain bytes; K, M, G, T are powers of 1024. Error(kUsage) otherwise,
// which says the name of the setting.
uint64_t parse_size(std::string_view name, const std::string& text);

}  // namespace KITH_VISIBLE
