// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole numbers that only name something, such as users, shops and postal codes: told by the name
// of their column, or by what they look like. For infer_schema.cc.

#include <string_view>
#include <unordered_map>

namespace kith {

// "id", "user_id", "movieid", "StoreId", but not "paid".
bool is_id_name(std::string_view column);
// The same, and "zip", "order_no", "storeNumber", "country code", "user".
bool is_code_name(std::string_view column);

// Whether they are of one width, four to eight digits, come again, are no years, days or round
// numbers, and lie either close together and far from 0 (11000 to 11200), or apart from each other.
// What is measured varies smoothly: where a value comes again, so do those beside it. `values`: how
// often each occurs.
bool look_like_codes(const std::unordered_map<double, size_t>& values);

}  // namespace kith
