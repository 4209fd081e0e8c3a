// SPDX-License-Identifier: Apache-2.0
#include "io/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr size_t kDeepest = 64;

// Receives the file piece by piece. The names are those of nlohmann's SAX interface.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const std::string& where) : text_(text), where_(where) {}
  JsonValue take() { return std::move(root_); }

  bool null() { return put(std::monostate()); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(int64_t value) { return put(value); }
  bool number_unsigned(uint64_t value) {
    return value <= INT64_MAX ? put(static_cast<int64_t>(value)) : put(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& text) { return put(std::move(text)); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // no text has any
  bool start_object(size_t) { return open(JsonValue::Object()); }
  bool start_array(size_t) { return open(JsonValue::List()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    auto& members = std::get<JsonValue::Object>(open_.back()->value);
    const auto known = std::ranges::find(members, key, &JsonValue::Member::key);
    next_ = known == members.end()
                ? &members.emplace_back(JsonValue::Member{std::move(key), {}}).value
                : &known->value;
    return true;
  }

  template <class Exception>
  bool parse_error(size_t position, const std::string&, const Exception& e) {
    const std::string_view before = text_.substr(0, std::min(position, text_.size()));
    throw fault(ErrorKind::kInput, "{}:{}: this is not JSON: {}", where_,
                1 + std::count(before.begin(), before.end(), '\n'), problem_of_json(e.what()));
  }

 private:
  // Where the next value goes.
  JsonValue& place() {
    if (open_.empty()) return root_;
    if (next_) return *std::exchange(next_, nullptr);
    return std::get<JsonValue::List>(open_.back()->value).emplace_back();
  }
  template <class T>
  bool put(T value) {
    place().value = std::move(value);
    return true;
  }
  template <class T>
  bool open(T nothing) {
    if (open_.size() == kDeepest) {
      throw fault(ErrorKind::kInput, "{}: lists or objects are nested more than {} deep", where_,
                  kDeepest);
    }
    JsonValue& at = place();
    at.value = std::move(nothing);
    open_.push_back(&at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  JsonValue root_;
  // What surrounds the next value. Nothing is added beside an open one, so they stay where they
  // are.
  std::vector<JsonValue*> open_;
  JsonValue* next_ = nullptr;  // the value of the key last read
};

void append(const JsonValue& json, std::string& out);

void append(const JsonValue::Member& member, std::string& out) {
  out += json_text(member.key) + ':';
  append(member.value, out);
}

template <class T>
void append_all(const std::vector<T>& items, std::string_view brackets, std::string& out) {
  out += brackets[0];
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    append(items[i], out);
  }
  out += brackets[1];
}

void append(const JsonValue& json, std::string& out) {
  const auto add = [&](const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::monostate>) {
      out += "null";
    } else if constexpr (std::is_same_v<T, double>) {
      out += json_number(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      out += json_text(value);
    } else if constexpr (std::is_same_v<T, JsonValue::List>) {
      append_all(value, "[]", out);
    } else if constexpr (std::is_same_v<T, JsonValue::Object>) {
      append_all(value, "{}", out);
    } else {
      out += fmt::format("{}", value);
    }
  };
  std::visit(add, json.value);
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto* members = std::get_if<Object>(&value);
  if (!members) return nullptr;
  const auto at = std::ranges::find(*members, key, &Member::key);
  return at == members->end() ? nullptr : &at->value;
}

JsonValue parse_json(std::string_view text, const std::string& where) {
  TreeBuilder builder(text, where);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string to_text(const JsonValue& json) {
  std::string out;
  append(json, out);
  return out;
}

std::string_view problem_of_json(std::string_view what) {
  // "[json.exception...] parse error at line 1, column 9: what is wrong", or without the place.
  for (const std::string_view prefix_end : {"] ", ": "}) {
    const size_t end = what.find(prefix_end);
    if (end != std::string_view::npos) what.remove_prefix(end + prefix_end.size());
  }
  return what;
}

}  // namespace kith
