// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "kith/text.h"

namespace kith::cli {

size_t Json::Object::find(std::string_view key) const {
  return static_cast<size_t>(std::ranges::find(keys, key) - keys.begin());
}

// Room first: both are added, or none.
Json& Json::Object::add(std::string_view key, Json value) {
  std::string name(key);
  if (keys.size() == keys.capacity()) keys.reserve(2 * keys.size() + 4);
  if (values.size() == values.capacity()) values.reserve(2 * values.size() + 4);
  keys.push_back(std::move(name));
  values.push_back(std::move(value));
  return values.back();
}

Json::Json(std::initializer_list<Member> members) : value_(Object()) {
  for (const Member& m : members) std::get<Object>(value_).add(m.key, m.value);
}

Json::Json(const Json& other) {
  std::visit([&](const auto& value) { value_ = std::remove_cvref_t<decltype(value)>(value); },
             other.value_);
}

Json Json::array() {
  Json out;
  out.value_.emplace<List>();
  return out;
}

Json Json::object() {
  Json out;
  out.value_.emplace<Object>();
  return out;
}

template <class T>
T& Json::become() {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_.emplace<T>();
  return std::get<T>(value_);
}

Json& Json::operator[](std::string_view key) {
  Object& members = become<Object>();
  const size_t at = members.find(key);
  return at < members.keys.size() ? members.values[at] : members.add(key, nullptr);
}

bool Json::contains(std::string_view key) const {
  const auto* members = std::get_if<Object>(&value_);
  return members && members->find(key) < members->keys.size();
}

bool Json::empty() const {
  if (const auto* list = std::get_if<List>(&value_)) return list->empty();
  if (const auto* members = std::get_if<Object>(&value_)) return members->keys.empty();
  return std::holds_alternative<std::nullptr_t>(value_);
}

void Json::push_back(Json value) { become<List>().push_back(std::move(value)); }

void Json::update(const Json& other) {
  const auto& members = std::get<Object>(other.value_);
  for (size_t i = 0; i < members.keys.size(); ++i) (*this)[members.keys[i]] = members.values[i];
}

void Json::append_to(std::string& text) const {
  // The items of a list or an object, with commas between them.
  const auto append_all = [&](size_t count, const auto& append_one) {
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text += ',';
      append_one(i);
    }
  };
  const auto append = [&](const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::nullptr_t>) {
      text += "null";
    } else if constexpr (std::is_same_v<T, double>) {
      text += json_number(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      text += json_text(value);
    } else if constexpr (std::is_same_v<T, List>) {
      text += '[';
      append_all(value.size(), [&](size_t i) { value[i].append_to(text); });
      text += ']';
    } else if constexpr (std::is_same_v<T, Object>) {
      text += '{';
      append_all(value.keys.size(), [&](size_t i) {
        text += json_text(value.keys[i]) + ':';
        value.values[i].append_to(text);
      });
      text += '}';
    } else {
      text += fmt::format("{}", value);
    }
  };
  std::visit(append, value_);
}

}  // namespace kith::cli
