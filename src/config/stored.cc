// SPDX-License-Identifier: Apache-2.0
// Settings as a model file carries them: TOML, a line each. What is read here was written here, so
// a small reader does. It is one that says so when memory is missing, which toml++ does not.
#include <charconv>
#include <optional>
#include <set>

#include "config/names.h"
#include "core/error.h"
#include "core/utf8.h"

namespace kith {
namespace {

// Between the quotes of a TOML string. TOML is UTF-8, so other bytes become U+FFFD.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (c.state != Utf8Char::kValid) {
      out += kReplacement;
    } else if (c.code < 0x20 || c.code == 0x7f) {
      out += fmt::format("\\u{:04x}", c.code);
    } else {
      if (c.code == '"' || c.code == '\\') out += '\\';
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

std::string_view without_spaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_integral_v<T>) {
    read = std::from_chars(text.data(), end, value, base);
  } else {
    read = std::from_chars(text.data(), end, value);
  }
  if (text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

// Takes the character that an escape stands for from the front of `text`, behind its backslash.
bool take_escape(std::string_view& text, std::string& out) {
  constexpr std::string_view kLetters = "\"\\bfnrt", kMeant = "\"\\\b\f\n\r\t";
  const char letter = text.empty() ? '\0' : text.front();
  const size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  const size_t known = kLetters.find(letter);
  if (digits == 0 && known == std::string_view::npos) return false;
  text.remove_prefix(1);
  if (digits == 0) {
    out += kMeant[known];
    return true;
  }
  if (text.size() < digits) return false;
  const auto code = number<uint32_t>(text.substr(0, digits), 16);
  if (!code || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000)) return false;
  append_utf8(*code, out);
  text.remove_prefix(digits);
  return true;
}

// A string in quotes; nothing if it is malformed.
std::optional<std::string> unquoted(std::string_view text) {
  std::string out;
  for (text.remove_prefix(1); !text.empty();) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return text.empty() ? std::optional(std::move(out)) : std::nullopt;
    if (c == '\\') {
      if (!take_escape(text, out)) return std::nullopt;
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) {
      return std::nullopt;
    } else {
      out += c;
    }
  }
  return std::nullopt;
}

std::optional<Value> value_of(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (text.starts_with('"')) return unquoted(text);
  if (const auto whole = number<int64_t>(text)) return *whole;
  if (const auto any = number<double>(text)) return *any;
  return std::nullopt;
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

}  // namespace

std::vector<Setting> settings_from_toml_text(std::string_view text, std::string_view where) {
  std::vector<Setting> out;
  std::set<std::string_view> seen;
  for (size_t line = 1; !text.empty(); ++line) {
    const auto wrong = [&](std::string_view what) {
      return fault(ErrorKind::kInput, "{}: the stored settings cannot be read: line {} {}", where,
                   line, what);
    };
    const std::string_view all = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), all.size() + 1));
    const size_t equals = all.find('=');
    if (without_spaces(all).empty()) continue;
    const std::string_view name = without_spaces(all.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) throw wrong("is not name = value");
    std::optional<Value> value = value_of(without_spaces(all.substr(equals + 1)));
    if (!value) throw wrong("has no number, text, true or false behind its =");
    if (!seen.insert(name).second) throw wrong("sets what an earlier one sets");
    out.push_back({with_dashes(name), std::move(*value), fmt::format("{}:{}", where, line)});
  }
  return out;
}

std::string to_toml(std::span<const Section> sections) {
  std::string out;
  for (const Section& section : sections) {
    for (const FieldInfo& f : section.fields) {
      const std::string value = section.get(f.name);
      const bool bare =
          value != "auto" && f.type != FieldType::kText && f.type != FieldType::kChoice;
      out += bare ? fmt::format("{} = {}\n", f.name, value)
                  : fmt::format("{} = \"{}\"\n", f.name, escaped(value));
    }
  }
  return out;
}

}  // namespace kith
