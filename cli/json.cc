// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "kith/text.h"

namespace kith::cli {

Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}

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
  const auto at = std::ranges::find(members, key, &Member::key);
  if (at != members.end()) return at->value;
  members.push_back({std::string(key), nullptr});
  return members.back().value;
}

bool Json::contains(std::string_view key) const {
  const auto* members = std::get_if<Object>(&value_);
  return members && std::ranges::find(*members, key, &Member::key) != members->end();
}

bool Json::empty() const {
  if (const auto* list = std::get_if<List>(&value_)) return list->empty();
  if (const auto* members = std::get_if<Object>(&value_)) return members->empty();
  return std::holds_alternative<std::nullptr_t>(value_);
}

void Json::push_back(Json value) { become<List>().push_back(std::move(value)); }

void Json::update(const Json& other) {
  for (const Member& m : std::get<Object>(other.value_)) (*this)[m.key] = m.value;
}

void Json::append_to(std::string& text) const {
  // The items of a list or an object, with commas between them.
  const auto append_all = [&](const auto& items, const auto& append_one) {
    for (const auto& item : items) {
      if (&item != items.data()) text += ',';
      append_one(item);
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
      append_all(value, [&](const Json& item) { item.append_to(text); });
      text += ']';
    } else if constexpr (std::is_same_v<T, Object>) {
      text += '{';
      append_all(value, [&](const Member& m) {
        text += json_text(m.key) + ':';
        m.value.append_to(text);
      });
      text += '}';
    } else {
      text += fmt::format("{}", value);
    }
  };
  std::visit(append, value_);
}

}  // namespace kith::cli
