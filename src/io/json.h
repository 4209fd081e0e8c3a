// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small JSON file as a tree: a schema, say. It is made from the events of nlohmann's parser, for
// that library's own trees end the program where memory is missing. For src/io and src/data.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kith {

struct JsonValue {
  struct Member;
  using List = std::vector<JsonValue>;
  using Object = std::vector<Member>;  // in the order of the file; of a key given twice the last

  // Never copied: where memory is missing, GCC 12's copy of such a variant destroys what it did not
  // make.
  JsonValue() = default;
  JsonValue(JsonValue&&) = default;
  JsonValue& operator=(JsonValue&&) = default;

  // Null if this is no object or has no such key.
  const JsonValue* find(std::string_view key) const;

  // Whole numbers of more than 64 bits are doubles. monostate is null.
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Object> value;
};
struct JsonValue::Member {
  std::string key;
  JsonValue value;
};

// Throws Error(kInput) with the line; also if it is nested so deep that functions which call
// themselves could not go through it.
JsonValue parse_json(std::string_view text, const std::string& where);

// On one line, without spaces.
std::string to_text(const JsonValue& json);

// What is wrong, of what nlohmann's parser says: not its own names, not the place.
std::string_view problem_of_json(std::string_view what);

}  // namespace kith
