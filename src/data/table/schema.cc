// SPDX-License-Identifier: Apache-2.0
// Schemas as JSON files, and a file put over what was inferred.
#include "data/table/schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_map>

#include "core/error.h"
#include "io/utf8.h"

namespace kith {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFileKeys[] = {"columns"};

bool has_members(const Column& column) {
  return column.type == ColumnType::kSet || column.type == ColumnType::kVector;
}

// Every key that a column may have.
std::vector<std::string_view> column_keys() {
  std::vector<std::string_view> out{"name", "interacts"};
  for_each_field<Column>([&](const auto& f) { out.push_back(f.name); });
  return out;
}

Json to_json(const Column& column) {
  Json out;
  out["name"] = column.name;
  const Column defaults;
  for_each_field<Column>([&](const auto& f) {
    const auto& value = column.*(f.member);
    if (f.name != "type" && value == defaults.*(f.member)) return;
    const std::string key(f.name);
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
      out[key] = detail::show(value);
    } else {
      out[key] = value;
    }
  });
  if (!column.interacts.empty()) out["interacts"] = column.interacts;
  return out;
}

// A value of JSON as settings take it; nothing for null, lists and objects.
std::optional<Value> setting_value(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer() &&
      (!json.is_number_unsigned() || json.get<uint64_t>() <= INT64_MAX)) {
    return json.get<int64_t>();
  }
  if (json.is_number()) return json.get<double>();
  return std::nullopt;
}

std::string shown_json(const Json& json) {
  return shown(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Reads one column; messages begin with its place in the file.
class ColumnParser {
 public:
  ColumnParser(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  Column parse() {
    if (!json_.is_object()) {
      fail("expected an object with a name and a type, found " + shown_json(json_));
    }
    column_.name = text("name");
    where_ += fmt::format(" ({})", shown(column_.name));
    if (!json_.contains("type")) {
      fail(fmt::format("type is missing; give one of {}",
                       fmt::join(EnumNames<ColumnType>::names, ", ")));
    }
    for (const auto& [key, value] : json_.items()) take(key, value);
    return column_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw fault(ErrorKind::kInput, "{}: {}", where_, what);
  }

  std::string text(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string() ||
        found->get_ref<const std::string&>().empty()) {
      fail(fmt::format("{} must be text that is not empty; got {}", key,
                       found == json_.end() ? "nothing" : shown_json(*found)));
    }
    return found->get<std::string>();
  }

  void take(const std::string& key, const Json& json) {
    if (key == "name") return;
    if (key == "interacts") return take_interacts(json);
    const auto value = setting_value(json);
    if (!value) fail(fmt::format("{} cannot be {}", shown(key), shown_json(json)));
    try {
      if (set(column_, key, *value)) return;
    } catch (const Error& e) {
      const auto* text = std::get_if<std::string>(&*value);
      fail(e.what() +
           (key == "type" && text ? suggest(*text, EnumNames<ColumnType>::names) : std::string()));
    }
    fail(fmt::format("unknown key {}{}", shown(key), suggest(key, column_keys())));
  }

  void take_interacts(const Json& json) {
    const bool good =
        json.is_array() && std::ranges::all_of(json, [](const Json& j) { return j.is_string(); });
    if (!good) fail("interacts must be a list of columns' names; got " + shown_json(json));
    column_.interacts = json.get<std::vector<std::string>>();
  }

  const Json& json_;
  std::string where_;
  Column column_;
};

Json parse_text(std::string_view text, const std::string& where) {
  try {
    // Deeper ones would be copied and shown by functions that call themselves.
    constexpr int kDeepest = 64;
    return Json::parse(text.begin(), text.end(), [&](int depth, auto, const Json&) {
      if (depth <= kDeepest) return true;
      throw fault(ErrorKind::kInput, "{}: lists or objects in one another, more than {} deep",
                  where, kDeepest);
    });
  } catch (const Json::parse_error& e) {
    const std::string_view before = text.substr(0, std::min<size_t>(e.byte, text.size()));
    // "[json.exception...] parse error at line 1, column 9: what is wrong"
    const std::string_view what = e.what();
    const size_t place_end = what.find(": ");
    throw fault(ErrorKind::kInput, "{}:{}: this is no JSON: {}", where,
                1 + std::count(before.begin(), before.end(), '\n'),
                place_end == std::string_view::npos ? what : what.substr(place_end + 2));
  } catch (const Json::exception& e) {
    throw fault(ErrorKind::kInput, "{}: this is no JSON: {}", where, e.what());
  }
}

const Json& list_of_columns(const Json& json, const std::string& where) {
  if (!json.is_object()) {
    throw fault(ErrorKind::kInput, "{}: expected {}, found {}", where, R"({"columns": [...]})",
                shown_json(json));
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "columns") continue;
    throw fault(ErrorKind::kInput, "{}: unknown key {}{}", where, shown(key),
                suggest(key, kFileKeys));
  }
  const auto columns = json.find("columns");
  if (columns == json.end() || !columns->is_array()) {
    throw fault(ErrorKind::kInput, "{}: columns must be a list of objects; got {}", where,
                columns == json.end() ? "nothing" : shown_json(*columns));
  }
  return *columns;
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
  Json columns = Json::array();
  for (const Column& column : schema.columns) columns.push_back(to_json(column));
  Json out;
  out["columns"] = std::move(columns);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Schema schema_from_json(std::string_view text, const std::string& where) {
  const Json json = parse_text(text, where);
  const Json& columns = list_of_columns(json, where);
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
