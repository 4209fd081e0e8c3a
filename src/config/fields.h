// SPDX-License-Identifier: Apache-2.0
#pragma once
// One struct describes the settings of one thing: a model, a corpus, a job, a command. Its
// `fields` tuple is the only place that names them; flags, TOML, keywords, help, docs, shell
// completion and the header of the model file are all derived from it.
//
//   struct Config {
//     int dim = 100;
//     static constexpr std::tuple fields{
//         field("dim", &Config::dim, "length of each vector").between(1, 4096)};
//   };

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
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

#include "core/error.h"

namespace kith {

using Value = std::variant<bool, int64_t, double, std::string>;

template <class E>
struct EnumNames;  // specialise with `static constexpr std::array<std::string_view, N> names`

struct Range {
  double low, high;
};

template <class C, class T>
struct Field {
  std::string_view name;
  T C::*member;
  std::string_view help;
  std::optional<double> low{}, high{};
  std::optional<Range> search{};

  constexpr Field between(double lo, double hi) const {
    return {name, member, help, lo, hi, search};
  }
  constexpr Field at_least(double lo) const { return {name, member, help, lo, {}, search}; }
  // Where good values are sought, on a logarithmic scale; 0 < lo < hi.
  constexpr Field tuned(double lo, double hi) const {
    return {name, member, help, low, high, Range{lo, hi}};
  }
};
template <class C, class T>
constexpr Field<C, T> field(std::string_view name, T C::*member, std::string_view help) {
  return {name, member, help};
}

// What help, docs and completion need to know of a field.
struct FieldInfo {
  std::string_view name, help;
  std::string type;          // "flag", "int", "number", "text" or the choices joined by a bar
  std::string default_text;  // as a user would type it
  bool is_flag = false;
  std::vector<std::string_view> choices;
  std::optional<Range> search;
  bool is_whole = false;  // a number without fraction
};

// "; did you mean X?" for the known word nearest to a wrong one, or nothing.
std::string suggest(std::string_view wrong, std::span<const std::string_view> known);

namespace detail {

// A value as it is quoted in a message; text in quotes, so that "5" and 5 can be told apart.
inline std::string show_found(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *text);
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

// 1e6 and 5.0 are whole numbers too, as far as a double counts exactly.
inline std::optional<int64_t> whole_number(const Value& value) {
  if (const auto* v = std::get_if<int64_t>(&value)) return *v;
  const auto* v = std::get_if<double>(&value);
  if (v && std::trunc(*v) == *v && std::abs(*v) <= 0x1p53) return static_cast<int64_t>(*v);
  return std::nullopt;
}

template <class T>
T convert(std::string_view name, const Value& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto& names = EnumNames<T>::names;
    const auto* text = std::get_if<std::string>(&value);
    for (size_t i = 0; text && i < names.size(); ++i) {
      if (*text == names[i]) return static_cast<T>(i);
    }
    throw Error(ErrorKind::kUsage, "{} must be one of {}; got {}", name, fmt::join(names, ", "),
                text ? *text : show_found(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    if (const auto* v = std::get_if<bool>(&value)) return *v;
    throw Error(ErrorKind::kUsage, "{} must be true or false; got {}", name, show_found(value));
  } else if constexpr (std::is_same_v<T, double>) {
    if (const auto* v = std::get_if<double>(&value)) return *v;
    if (const auto* v = std::get_if<int64_t>(&value)) return static_cast<double>(*v);
    throw Error(ErrorKind::kUsage, "{} must be a number; got {}", name, show_found(value));
  } else if constexpr (std::is_integral_v<T>) {
    const auto v = whole_number(value);
    if (v && std::in_range<T>(*v)) return static_cast<T>(*v);
    throw Error(ErrorKind::kUsage, "{} must be a whole number from {} to {}; got {}", name,
                std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), show_found(value));
  } else {
    static_assert(std::is_same_v<T, std::string>);
    if (const auto* v = std::get_if<std::string>(&value)) return *v;
    // A text that looks like a number is still a text.
    if (const auto* v = std::get_if<int64_t>(&value)) return fmt::format("{}", *v);
    if (const auto* v = std::get_if<double>(&value)) return fmt::format("{}", *v);
    throw Error(ErrorKind::kUsage, "{} must be text; got {}", name, show_found(value));
  }
}

template <class T>
std::string show(const T& v) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(EnumNames<T>::names[static_cast<size_t>(v)]);
  } else {
    return fmt::format("{}", v);
  }
}

template <class T>
std::string type_name() {
  if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", fmt::join(EnumNames<T>::names, "|"));
  } else if constexpr (std::is_same_v<T, bool>) {
    return "flag";
  } else if constexpr (std::is_integral_v<T>) {
    return "int";
  } else {
    return std::is_floating_point_v<T> ? "number" : "text";
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
    using T = std::remove_cvref_t<decltype(defaults.*(f.member))>;
    FieldInfo info{.name = f.name,
                   .help = f.help,
                   .type = detail::type_name<T>(),
                   .default_text = detail::show(defaults.*(f.member)),
                   .is_flag = std::is_same_v<T, bool>,
                   .choices = {},
                   .search = f.search,
                   .is_whole = std::is_integral_v<T> && !std::is_same_v<T, bool>};
    if constexpr (std::is_enum_v<T>) {
      info.choices.assign(EnumNames<T>::names.begin(), EnumNames<T>::names.end());
    }
    out.push_back(std::move(info));
  });
  return out;
}

// Sets one field by name; false if there is none of that name. Every front end goes through here.
template <class C>
bool set(C& config, std::string_view name, const Value& value) {
  bool found = false;
  for_each_field<C>([&](const auto& f) {
    if (f.name != name) return;
    found = true;
    using T = std::remove_cvref_t<decltype(config.*(f.member))>;
    const T v = detail::convert<T>(name, value);
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      const auto x = static_cast<double>(v);
      // Written so that NaN fails too.
      if ((f.low && !(x >= *f.low)) || (f.high && !(x <= *f.high)) || !std::isfinite(x)) {
        throw Error(ErrorKind::kUsage, "{} must be {}; got {}", name,
                    f.high  ? fmt::format("between {} and {}", *f.low, *f.high)
                    : f.low ? fmt::format("at least {}", *f.low)
                            : std::string("a finite number"),
                    v);
      }
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

}  // namespace kith
