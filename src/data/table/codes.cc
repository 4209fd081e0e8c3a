// SPDX-License-Identifier: Apache-2.0
#include "data/table/codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

namespace kith {
namespace {

constexpr double kLeastCode = 1000;  // four digits
constexpr double kMostCode = 1e8;    // longer ones may be moments: seconds since 1970
constexpr size_t kFewAgain = 10;     // values that come again; fewer are chance
constexpr double kShareAgain = 0.1;  // of all values
constexpr double kMostAlike = 0.5;   // of one last digit: round numbers, prices that end in 9
constexpr double kFarFrom0 = 10;     // ranges between 0 and the least

// Nouns that "id" is glued to in names written small.
constexpr std::string_view kNouns[] = {
    "account",  "actor",    "album",    "anime",      "article",  "artist",   "author",  "book",
    "business", "buyer",    "category", "city",       "class",    "client",   "company", "country",
    "course",   "customer", "device",   "doc",        "document", "employee", "event",   "film",
    "game",     "genre",    "group",    "guest",      "host",     "hotel",    "image",   "imdb",
    "item",     "job",      "joke",     "listing",    "location", "member",   "movie",   "news",
    "node",     "order",    "page",     "patient",    "person",   "place",    "player",  "post",
    "product",  "query",    "region",   "restaurant", "reviewer", "school",   "seller",  "session",
    "shop",     "show",     "song",     "station",    "store",    "student",  "team",    "tmdb",
    "topic",    "track",    "train",    "trip",       "user",     "vehicle",  "venue",   "video",
    "visitor",  "zone",     "u",        "gu",         "uu"};

// In small letters, words joined by _: "StoreId", "store id" and "store.id" are "store_id".
std::string normal(std::string_view name) {
  std::string out;
  char before = '_';
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    const bool after_small = (before >= 'a' && before <= 'z') || (before >= '0' && before <= '9');
    if (capital && after_small) out += '_';
    const char low = capital ? static_cast<char>(c + 32) : c;
    out += low == ' ' || low == '-' || low == '.' ? '_' : low;
    before = c;
  }
  return out;
}

bool ends_with_any(std::string_view name, std::span<const std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

bool is_id(std::string_view normal_name) {
  if (normal_name == "id" || normal_name.ends_with("_id")) return true;
  if (!normal_name.ends_with("id")) return false;
  normal_name.remove_suffix(2);
  const size_t word = normal_name.rfind('_') + 1;  // 0 if there is none
  return std::ranges::find(kNouns, normal_name.substr(word)) != std::end(kNouns);
}

// 1987, 198705, 19870531: years, months, days.
bool is_day(double value) {
  const auto n = static_cast<int64_t>(value);
  const auto is_year = [](int64_t y) { return y >= 1500 && y <= 2200; };
  const auto is_part = [](int64_t x, int64_t most) { return x >= 1 && x <= most; };
  return is_year(n) || (is_year(n / 100) && is_part(n % 100, 12)) ||
         (is_year(n / 10000) && is_part(n / 100 % 100, 12) && is_part(n % 100, 31));
}

}  // namespace

bool is_id_name(std::string_view column) { return is_id(normal(column)); }

bool is_code_name(std::string_view column) {
  constexpr std::string_view kEnds[] = {"_no",  "_nr",  "_number", "_code",    "_key",
                                        "_zip", "_plz", "zipcode", "postcode", "_postal"};
  constexpr std::string_view kNames[] = {"user", "item", "customer", "product", "zip", "postal",
                                         "code", "sku",  "isbn",     "phone",   "plz"};
  const std::string name = normal(column);
  return is_id(name) || ends_with_any(name, kEnds) ||
         std::ranges::find(kNames, name) != std::end(kNames);
}

bool look_like_codes(const std::unordered_map<double, size_t>& values) {
  double low = HUGE_VAL, high = 0;
  size_t again = 0, beside = 0;
  std::array<size_t, 10> last{};
  for (const auto& [value, count] : values) {
    if (value < kLeastCode || value >= kMostCode) return false;
    low = std::min(low, value);
    high = std::max(high, value);
    again += count > 1;
    beside += values.contains(value + 1);
    ++last[static_cast<uint64_t>(value) % 10];
  }
  const auto size = static_cast<double>(values.size());
  if (again < kFewAgain || static_cast<double>(again) < kShareAgain * size) return false;
  if (std::floor(std::log10(low)) != std::floor(std::log10(high))) return false;
  if (static_cast<double>(std::ranges::max(last)) > kMostAlike * size) return false;
  if (std::ranges::all_of(values, [](const auto& v) { return is_day(v.first); })) return false;
  // Of values that chance draws from a smooth density, the value beside one is there as often as
  // one comes again, or more often.
  return (high - low) * kFarFrom0 < low || 2 * beside < again;
}

}  // namespace kith
