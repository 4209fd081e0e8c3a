// SPDX-License-Identifier: Apache-2.0
// Schemas as JSON files, and a file put over what was inferred.
#include "data/table/schema.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <unordered_map>

#include "core/error.h"
#include "io/json.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr std::string_view kFileKeys[] = {"columns", "inferred"};

bool has_members(const Column& column) {
  return column.type == ColumnType::kSet || column.type == ColumnType::kVector;
}

// Every key that a column may have.
std::vector<std::string_view> column_keys() {
  std::vector<std::string_view> out{"name", "interacts"};
  for_each_field<Column>([&](const auto& f) { out.push_back(f.name); });
  return out;
}

template <class T>
std::string written(const T& value);
template <class T>
std::string written(const std::optional<T>& value) {  // only where it is given
  return written(*value);
}
template <class T>
std::string written(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    return json_number(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return json_text(value);
  } else if constexpr (std::is_enum_v<T>) {
    return json_text(detail::show(value));
  } else {
    return fmt::format("{}", value);
  }
}

// One item a line, `indent` spaces deep, the brackets around them two spaces less.
std::string lines_of(std::span<const std::string> items, std::string_view brackets, size_t indent) {
  if (items.empty()) return std::string(brackets);
  const std::string line = '\n' + std::string(indent, ' ');
  return fmt::format("{}{}{}{}{}", brackets[0], line, fmt::join(items, ',' + line),
                     std::string_view(line).substr(0, line.size() - 2), brackets[1]);
}

std::string to_json(const Column& column) {
  std::vector<std::string> members;
  const auto add = [&](std::string_view key, std::string_view value) {
    members.push_back(fmt::format("{}: {}", json_text(key), value));
  };
  add("name", written(column.name));
  const Column defaults;
  for_each_field<Column>([&](const auto& f) {
    const auto& value = column.*(f.member);
    if (f.name == "type" || value != defaults.*(f.member)) add(f.name, written(value));
  });
  if (!column.interacts.empty()) {
    std::vector<std::string> others;
    for (const std::string& name : column.interacts) others.push_back(json_text(name));
    add("interacts", lines_of(others, "[]", 8));
  }
  return lines_of(members, "{}", 6);
}

// A value of JSON as settings take it; nothing for null, lists and objects.
std::optional<Value> setting_value(const JsonValue& json) {
  if (const auto* flag = std::get_if<bool>(&json.value)) return *flag;
  if (const auto* whole = std::get_if<int64_t>(&json.value)) return *whole;
  if (const auto* number = std::get_if<double>(&json.value)) return *number;
  if (const auto* text = std::get_if<std::string>(&json.value)) return *text;
  return std::nullopt;
}

std::string shown_json(const JsonValue* json) { return json ? shown(to_text(*json)) : "nothing"; }

// Reads one column; messages begin with its place in the file.
class ColumnParser {
 public:
  ColumnParser(const JsonValue& json, std::string where) : json_(json), where_(std::move(where)) {}

  Column parse() {
    const auto* members = std::get_if<JsonValue::Object>(&json_.value);
    if (!members) fail("expected an object with a name and a type, found " + shown_json(&json_));
    column_.name = text("name");
    where_ += fmt::format(" ({})", shown(column_.name));
    if (!json_.find("type")) {
      fail(fmt::format("type is missing; give one of {}",
                       fmt::join(EnumNames<ColumnType>::names, ", ")));
    }
    for (const auto& [key, value] : *members) take(key, value);
    return column_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw fault(ErrorKind::kInput, "{}: {}", where_, what);
  }

  std::string text(std::string_view key) const {
    const JsonValue* const found = json_.find(key);
    const auto* text = found ? std::get_if<std::string>(&found->value) : nullptr;
    if (!text || text->empty()) {
      fail(fmt::format("{} must be text that is not empty; got {}", key, shown_json(found)));
    }
    return *text;
  }

  void take(const std::string& key, const JsonValue& json) {
    if (key == "name") return;
    if (key == "interacts") return take_interacts(json);
    const auto value = setting_value(json);
    if (!value) fail(fmt::format("{} cannot be {}", shown(key), shown_json(&json)));
    try {
      if (set(column_, key, *value)) return;
    } catch (const Error& e) {
      const auto* text = std::get_if<std::string>(&*value);
      fail(e.what() +
           (key == "type" && text ? suggest(*text, EnumNames<ColumnType>::names) : std::string()));
    }
    fail(fmt::format("unknown key {}{}", shown(key), suggest(key, column_keys())));
  }

  void take_interacts(const JsonValue& json) {
    const auto* list = std::get_if<JsonValue::List>(&json.value);
    const bool good = list && std::ranges::all_of(*list, [](const JsonValue& j) {
                        return std::holds_alternative<std::string>(j.value);
                      });
    if (!good) fail("interacts must be a list of columns' names; got " + shown_json(&json));
    for (const JsonValue& name : *list) {
      column_.interacts.push_back(std::get<std::string>(name.value));
    }
  }

  const JsonValue& json_;
  std::string where_;
  Column column_;
};

const JsonValue::List& list_of_columns(const JsonValue& json, const std::string& where) {
  const auto* members = std::get_if<JsonValue::Object>(&json.value);
  if (!members) {
    throw fault(ErrorKind::kInput, "{}: expected {}, found {}", where, R"({"columns": [...]})",
                shown_json(&json));
  }
  for (const auto& [key, value] : *members) {
    if (std::ranges::find(kFileKeys, key) != std::end(kFileKeys)) continue;
    throw fault(ErrorKind::kInput, "{}: unknown key {}{}", where, shown(key),
                suggest(key, kFileKeys));
  }
  const JsonValue* const columns = json.find("columns");
  const auto* list = columns ? std::get_if<JsonValue::List>(&columns->value) : nullptr;
  if (!list) {
    throw fault(ErrorKind::kInput, "{}: columns must be a list of objects; got {}", where,
                shown_json(columns));
  }
  return *list;
}

// Columns by name; Error with the nearest one if a name is not there.
class ColumnIndex {
 public:
  ColumnIndex(const Schema& schema, const std::string& where) : where_(where) {
    for (const Column& column : schema.columns) {
      numbers_.emplace(column.name, names_.size());
      names_.push_back(column.name);
    }
  }
  size_t find(std::string_view name, std::string_view place = "") const {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    throw fault(ErrorKind::kInput, "{}: {}the table has no column {}{}", where_, place, shown(name),
                suggest(name, names_));
  }

 private:
  const std::string& where_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, size_t> numbers_;
};

}  // namespace

std::string to_json(const Schema& schema) {
  std::vector<std::string> columns;
  for (const Column& column : schema.columns) columns.push_back(to_json(column));
  return fmt::format("{{\n  \"columns\": {}\n}}\n", lines_of(columns, "[]", 4));
}

Schema schema_from_json(std::string_view text, const std::string& where) {
  const JsonValue json = parse_json(text, where);
  const JsonValue::List& columns = list_of_columns(json, where);
  Schema out;
  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string place = fmt::format("{}: column {}", where, i + 1);
    out.columns.push_back(ColumnParser(columns[i], place).parse());
    const auto [earlier, is_new] = seen.emplace(out.columns.back().name, i);
    if (is_new) continue;
    throw fault(ErrorKind::kInput, "{}: {} is column {} already; keep one of them", place,
                shown(out.columns.back().name), earlier->second + 1);
  }
  return out;
}

Schema merged(const Schema& inferred, const Schema& file, const std::string& where) {
  Schema out = inferred;
  const ColumnIndex index(inferred, where);
  for (const Column& column : file.columns) {
    Column& place = out.columns[index.find(column.name)];
    const Column guess = std::exchange(place, column);
    if (has_members(column) && column.separator.empty()) {
      if (!has_members(guess)) {
        throw fault(ErrorKind::kInput, "{}: column {} is a {} and needs a separator", where,
                    shown(column.name), detail::show(column.type));
      }
      place.separator = guess.separator;
    }
    if (column.type == ColumnType::kDate && column.order == DateOrder::kIso) {
      place.order = guess.order;
    }
    for (const std::string& other : column.interacts) {
      index.find(other, fmt::format("column {} interacts with {}, but ", shown(column.name),
                                    shown(other)));
    }
  }
  return out;
}

}  // namespace kith
