// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON as commands print it: one object a line, keys in the order they were given.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "terminal.h"

namespace kith::cli {

// A value that remains whole where memory is missing: what could not be added is not there, and
// nothing is allocated to destroy it.
class Json {
 public:
  struct Member;

  // NOLINTBEGIN(google-explicit-constructor): {{"key", value}, ...} is meant to read like JSON.
  Json(std::nullptr_t = nullptr) {}
  template <std::integral T>
  Json(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else if constexpr (std::is_signed_v<T>) {
      value_ = int64_t{value};
    } else {
      value_ = uint64_t{value};
    }
  }
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  template <class T>
  Json(const std::vector<T>& values) : value_(List(values.begin(), values.end())) {}
  Json(std::initializer_list<Member> members);
  // NOLINTEND(google-explicit-constructor)

  // Not those of the variant: where memory is missing, GCC 12's copy destroys what it did not make.
  Json(const Json& other);
  Json(Json&& other) noexcept = default;
  Json& operator=(Json other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~Json() = default;

  static Json array();
  static Json object();

  // Of an object, or of null, which becomes one. A new key is null. What this refers to may move
  // when another key is added.
  Json& operator[](std::string_view key);
  bool contains(std::string_view key) const;
  bool empty() const;              // null, or a list or an object without anything
  void push_back(Json value);      // to a list, or to null, which becomes one
  void update(const Json& other);  // takes the members of another object; they win

  void append_to(std::string& text) const;

 private:
  using List = std::vector<Json>;
  // No list of members: those are not complete yet where clang 14 wants to know their size.
  struct Object {
    std::vector<std::string> keys;
    List values;
    size_t find(std::string_view key) const;  // or keys.size()
    Json& add(std::string_view key, Json value);
  };

  template <class T>
  T& become();

  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, List, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

inline std::string dumped(const Json& value) {
  std::string text;
  value.append_to(text);
  return text + '\n';
}

inline void put_json(const Json& value) { put_text(dumped(value)); }

// Scores are floats: digits beyond the sixth are noise. What is not finite becomes null.
inline Json score(double x) {
  if (!std::isfinite(x)) return nullptr;
  return std::round(x * 1e6) / 1e6;
}

// The number that stands in a text, whole if it is; the text if it holds none.
inline Json number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number)) return text;
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole && text.size() < 19 ? Json(std::strtoll(text.c_str(), nullptr, 10)) : Json(number);
}

}  // namespace kith::cli
