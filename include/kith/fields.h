// SPDX-License-Identifier: Apache-2.0
#pragma once
// One struct describes the settings of one thing: a model, a kind of data, a run, a question. Its
// `fields` tuple is the only place that names them; flags, TOML, keywords, help, docs, shell
// completion and the header of the model file are all derived from it.
//
//   struct Config {
//     int dim = 100;
//     std::optional<double> lr;  // not given: the model decides
//     static constexpr std::tuple fields{
//         field("dim", &Config::dim, "length of each vector").between(1, 4096),
//         field("lr", &Config::lr, "first learning rate").between(0, 10).automatic("0.1"),
//     };
//   };

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kith/visible.h"

namespace kith KITH_VISIBLE {

using Value = std::variant<bool, int64_t, double, std::string>;

template <class E>
struct EnumNames;  // specialise with `static constexpr std::array<std::string_view, N> names`

struct Range {
  double low, high;
};

enum class FieldType { kFlag, kWhole, kNumber, kText, kChoice };

// What a front end needs to know of a field.
struct FieldInfo {
  std::string_view name, help;
  FieldType type = FieldType::kText;
  std::vector<std::string_view> choices{};
  std::string default_text{};           // as a user would type it; "auto" if nothing is given
  bool can_be_auto = false;             // whether not given is a state of its own
  std::string_view automatic{};         // what is taken then
  std::optional<Range> search{};        // where good values are sought
  std::string_view former_name{};       // in files of version 0.1
  std::optional<double> former_auto{};  // the number that stood for auto there

  bool is_flag() const { return type == FieldType::kFlag; }
  std::string type_text() const;  // "int", "number", "text" or the choices joined by a bar
};

template <class C, class T>
struct Field {
  std::string_view name;
  T C::*member;
  std::string_view help;
  std::optional<double> low{}, high{};
  std::optional<Range> search{};
  std::string_view auto_text{};
  std::string_view former_name{};
  std::optional<double> former_auto{};
  uint64_t allowed = ~uint64_t{0};  // of an enum: bit i for value i
  bool adds = false;                // a list: given again, it is longer

  constexpr Field between(double lo, double hi) const {
    Field f = *this;
    f.low = lo;
    f.high = hi;
    return f;
  }
  constexpr Field at_least(double lo) const {
    Field f = *this;
    f.low = lo;
    return f;
  }
  // Where good values are sought, on a logarithmic scale; 0 < lo < hi.
  constexpr Field tuned(double lo, double hi) const {
    Field f = *this;
    f.search = Range{lo, hi};
    return f;
  }
  // What is taken if it is not given, for people.
  constexpr Field automatic(std::string_view text) const {
    Field f = *this;
    f.auto_text = text;
    return f;
  }
  // Some values of an enum that others have more of.
  template <class... E>
  constexpr Field among(E... values) const {
    Field f = *this;
    f.allowed = ((uint64_t{1} << static_cast<unsigned>(values)) | ...);
    return f;
  }
  // A list with commas: what is given later is added to it.
  constexpr Field adding_up() const {
    Field f = *this;
    f.adds = true;
    return f;
  }
  // How files of version 0.1 called it, and the number with which they said auto.
  constexpr Field formerly(std::string_view old_name, std::optional<double> old_auto = {}) const {
    Field f = *this;
    f.former_name = old_name;
    f.former_auto = old_auto;
    return f;
  }
};
template <class C, class T>
constexpr Field<C, T> field(std::string_view name, T C::*member, std::string_view help) {
  return {name, member, help};
}

// The same fields, but one of them changed: for settings that are almost those of another struct.
template <class Fields, class Change>
constexpr Fields with_changed(Fields fields, std::string_view name, const Change& change) {
  const auto one = [&](auto& f) {
    if (f.name == name) f = change(f);
  };
  std::apply([&](auto&... f) { (one(f), ...); }, fields);
  return fields;
}

// "; did you mean X?" for the known word nearest to a wrong one, or nothing.
std::string suggest(std::string_view wrong, std::span<const std::string_view> known);

namespace detail {

// Error(kUsage) "NAME must be WANTED; got FOUND".
[[noreturn]] void refuse(std::string_view name, std::string_view wanted, std::string_view found);
// A value as it is quoted in a message; text in quotes, so that "5" and 5 can be told apart.
std::string show_found(const Value& value);
std::string show_number(double v);
std::string joined(std::span<const std::string_view> words, std::string_view between);
// 1e6 and 5.0 are whole numbers too, as far as a double counts exactly.
std::optional<int64_t> whole_number(const Value& value);
// Error(kUsage) if x is out of range or not finite.
void check_range(std::string_view name, double x, std::optional<double> low,
                 std::optional<double> high, std::string_view shown);

// One item more at the end of a list with commas, unless it is there; nothing empties it.
void add_to_list(std::string& list, const std::string& item);

template <class T>
struct Plain {
  using type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Plain<std::optional<T>> {
  using type = T;
  static constexpr bool optional = true;
};

template <class E>
std::vector<std::string_view> choices_of(uint64_t allowed) {
  std::vector<std::string_view> out;
  for (size_t i = 0; i < EnumNames<E>::names.size(); ++i) {
    if (allowed >> i & 1) out.push_back(EnumNames<E>::names[i]);
  }
  return out;
}

template <class T>
T convert(std::string_view name, const Value& value, uint64_t allowed = ~uint64_t{0}) {
  if constexpr (std::is_enum_v<T>) {
    const auto& names = EnumNames<T>::names;
    const auto* text = std::get_if<std::string>(&value);
    for (size_t i = 0; text && i < names.size(); ++i) {
      if (*text == names[i] && (allowed >> i & 1)) return static_cast<T>(i);
    }
    refuse(name, "one of " + joined(choices_of<T>(allowed), ", "),
           text ? *text : show_found(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    if (const auto* v = std::get_if<bool>(&value)) return *v;
    refuse(name, "true or false", show_found(value));
  } else if constexpr (std::is_same_v<T, double>) {
    if (const auto* v = std::get_if<double>(&value)) return *v;
    if (const auto* v = std::get_if<int64_t>(&value)) return static_cast<double>(*v);
    refuse(name, "a number", show_found(value));
  } else if constexpr (std::is_integral_v<T>) {
    const auto v = whole_number(value);
    if (v && std::in_range<T>(*v)) return static_cast<T>(*v);
    if (!v) refuse(name, "a whole number", show_found(value));
    refuse(name,
           "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
               std::to_string(std::numeric_limits<T>::max()),
           show_found(value));
  } else {
    static_assert(std::is_same_v<T, std::string>);
    if (const auto* v = std::get_if<std::string>(&value)) return *v;
    // A text that looks like a number is still a text.
    if (const auto* v = std::get_if<int64_t>(&value)) return std::to_string(*v);
    if (const auto* v = std::get_if<double>(&value)) return show_number(*v);
    refuse(name, "text", show_found(value));
  }
}

template <class T>
std::string show(const T& v) {
  if constexpr (Plain<T>::optional) {
    return v ? show(*v) : std::string("auto");
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(EnumNames<T>::names[static_cast<size_t>(v)]);
  } else if constexpr (std::is_same_v<T, bool>) {
    return v ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(v);
  } else if constexpr (std::is_floating_point_v<T>) {
    return show_number(v);
  } else {
    return v;
  }
}

template <class T>
constexpr FieldType type_of() {
  if constexpr (std::is_enum_v<T>) {
    return FieldType::kChoice;
  } else if constexpr (std::is_same_v<T, bool>) {
    return FieldType::kFlag;
  } else if constexpr (std::is_integral_v<T>) {
    return FieldType::kWhole;
  } else {
    return std::is_floating_point_v<T> ? FieldType::kNumber : FieldType::kText;
  }
}

}  // namespace detail

template <class C, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... f) { (visit(f), ...); }, C::fields);
}

template <class C>
std::vector<FieldInfo> field_infos() {
  std::vector<FieldInfo> out;
  const C defaults{};
  for_each_field<C>([&](const auto& f) {
    using Member = std::remove_cvref_t<decltype(defaults.*(f.member))>;
    using T = typename detail::Plain<Member>::type;
    FieldInfo info{.name = f.name, .help = f.help, .type = detail::type_of<T>()};
    info.default_text = detail::show(defaults.*(f.member));
    info.can_be_auto = detail::Plain<Member>::optional;
    info.automatic = f.auto_text;
    info.search = f.search;
    info.former_name = f.former_name;
    info.former_auto = f.former_auto;
    if constexpr (std::is_enum_v<T>) info.choices = detail::choices_of<T>(f.allowed);
    out.push_back(std::move(info));
  });
  return out;
}

// Sets one field by name; false if there is none of that name. Every front end goes through here.
// The text "auto" takes back what was given, where that is a state.
template <class C>
bool set(C& config, std::string_view name, const Value& value) {
  bool found = false;
  for_each_field<C>([&](const auto& f) {
    if (f.name != name) return;
    found = true;
    using Member = std::remove_cvref_t<decltype(config.*(f.member))>;
    using T = typename detail::Plain<Member>::type;
    if constexpr (detail::Plain<Member>::optional) {
      const auto* text = std::get_if<std::string>(&value);
      if (text && *text == "auto") {
        (config.*(f.member)).reset();
        return;
      }
    }
    const T v = detail::convert<T>(name, value, f.allowed);
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      detail::check_range(name, static_cast<double>(v), f.low, f.high, detail::show(v));
    }
    if constexpr (std::is_same_v<Member, std::string>) {
      if (f.adds) return detail::add_to_list(config.*(f.member), v);
    }
    config.*(f.member) = v;
  });
  return found;
}

// The value of one field as a user would type it. The name must exist.
template <class C>
std::string get(const C& config, std::string_view name) {
  std::string out;
  for_each_field<C>([&](const auto& f) {
    if (f.name == name) out = detail::show(config.*(f.member));
  });
  return out;
}

}  // namespace KITH_VISIBLE
