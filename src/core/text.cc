// SPDX-License-Identifier: Apache-2.0
#include "kith/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/utf8.h"

namespace kith {

std::string grouped(uint64_t n) {
  std::string out = fmt::format("{}", n);
  for (size_t i = out.size(); i > 3; i -= 3) out.insert(i - 3, 1, ',');
  return out;
}

std::string in_bytes(double bytes) {
  constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB"};
  size_t u = 0;
  for (; bytes >= 999.5 && u + 1 < units.size(); ++u) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, u == 0 || bytes >= 99.5 ? 0 : 1, units[u]);
}

std::string in_time(double seconds) {
  if (!(seconds >= 0) || seconds > 1e8) return "?";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto s = static_cast<uint64_t>(std::llround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string in_percent(double share) {
  const double p = 100 * share;
  if (p == 0 || p >= 9.95) return fmt::format("{:.0f} %", p);
  // Two digits that count, never as a power of ten.
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(p))), 1, 9);
  std::string out = fmt::format("{:.{}f}", p, digits);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out + " %";
}

std::string rate_of(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.2f} M", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.0f} k", per_second / 1e3);
  return fmt::format("{:.0f}", per_second);
}

std::string count_of(uint64_t n, std::string_view singular) {
  return fmt::format("{} {}{}", grouped(n), singular, n == 1 ? "" : "s");
}

std::string shell_quoted(std::string_view s) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!s.empty() && std::all_of(s.begin(), s.end(), plain)) return std::string(s);
  std::string out = "'";
  for (const char c : s) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string csv_cell(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     (text.empty() || (!space(text.front()) && !space(text.back())));
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string json_text(std::string_view text) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    const size_t escape = kEscaped.find(text.front());
    if (c.state != Utf8Char::kValid) {
      out += kReplacement;
    } else if (escape != std::string_view::npos) {
      out += '\\';
      out += kLetters[escape];
    } else if (c.code < 0x20) {
      out += fmt::format("\\u{:04x}", c.code);
    } else {
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return out + '"';
}

std::string json_number(double x) {
  if (!std::isfinite(x)) return "null";
  std::string out = fmt::format("{}", x);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

Place place_in(std::string_view message) {
  const size_t end = message.find(": ");
  if (end == std::string_view::npos) return {};
  const std::string_view head = message.substr(0, end);
  const size_t digits = head.find_last_not_of("0123456789") + 1;
  uint64_t line = 0;
  if (digits > 1 && digits < head.size() && head[digits - 1] == ':' &&
      std::from_chars(head.data() + digits, head.data() + end, line).ec == std::errc{}) {
    return {std::string(head.substr(0, digits - 1)), line};
  }
  // What is no file may stand in front of a colon as well: "command line: ...".
  std::error_code none;
  const bool looks_like_one = head.find_first_of("./") != std::string_view::npos &&
                              head.find(' ') == std::string_view::npos;
  const bool file = looks_like_one || std::filesystem::exists(head, none);
  return {file ? std::string(head) : "", 0};
}

uint64_t parse_size(std::string_view name, const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, number);
  std::string unit(at, end);
  std::erase(unit, ' ');
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (unit.ends_with("IB")) {
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with("B")) {
    unit.pop_back();
  }
  const size_t power = unit.empty() ? 0 : std::string("KMGT").find(unit) + 1;
  if (error != std::errc{} || unit.size() > 1 || (!unit.empty() && power == 0)) {
    throw fault(ErrorKind::kUsage, "{} must be a number with K, M, G or T, such as 2G; got {}",
                name, text);
  }
  for (size_t i = 0; i < power; ++i) number *= 1024;
  if (!(number >= 1 && number < 1e18)) {
    throw fault(ErrorKind::kUsage, "{} must be between 1 byte and 1e18 bytes; got {}", name, text);
  }
  return static_cast<uint64_t>(number);
}

}  // namespace kith
