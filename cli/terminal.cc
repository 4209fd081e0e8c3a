// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace kith::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLogLine = std::chrono::seconds(10);
constexpr size_t kBarWidth = 24;

int descriptor(Stream s) { return s == Stream::kOut ? STDOUT_FILENO : STDERR_FILENO; }

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// Whether the terminal is likely to show letters outside ASCII.
bool has_unicode() {
  std::string_view name;
  for (const char* key : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (name = environment(key); !name.empty()) break;
  }
  const auto has = [&](std::string_view s) { return name.find(s) != std::string_view::npos; };
  return has("UTF-8") || has("utf8") || has("utf-8") || has("UTF8");
}

std::string bar(double share) {
  static const bool unicode = has_unicode();
  const auto full = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  std::string done, left;
  for (size_t i = 0; i < kBarWidth; ++i) {
    if (i < full) {
      done += unicode ? "━" : "#";
    } else {
      left += unicode ? "─" : ".";
    }
  }
  return styled(Stream::kErr, Look::kAccent, done) + styled(Stream::kErr, Look::kDim, left);
}

size_t width_of(std::string_view s) {  // in code points
  return static_cast<size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

void put_text(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size()) throw OutputError{errno};
}

void flush_results() {
  errno = 0;
  if (std::fflush(stdout) != 0) throw OutputError{errno};
}

void say_text(std::string_view text) {
  // Results that were printed before come first when both go to one place; an error shows later.
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool is_terminal(Stream stream) {
  static const std::array known{::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1};
  return known[static_cast<size_t>(stream)];
}

size_t columns(Stream stream) {
  winsize size{};
  if (::ioctl(descriptor(stream), TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

std::string styled(Stream stream, Look look, std::string_view text) {
  static const bool wanted = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  if (!wanted || !is_terminal(stream) || text.empty()) return std::string(text);
  constexpr std::array codes{"1", "2", "36"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<size_t>(look)], text);
}

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

std::string rate_of(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.2f} M", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.0f} k", per_second / 1e3);
  return fmt::format("{:.0f}", per_second);
}

std::string printable(std::string_view s) {
  // A word may come from anywhere; what it holds must not steer the terminal.
  std::string out(s);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return out;
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

std::string count_of(uint64_t n, std::string_view singular) {
  return fmt::format("{} {}{}", grouped(n), singular, n == 1 ? "" : "s");
}

std::string wrapped(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t at = indent;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    const std::string_view word = text.substr(i, end - i);
    if (at > indent && at + 1 + width_of(word) > width) {
      out += '\n' + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      out += ' ';
      ++at;
    }
    out += word;
    at += width_of(word);
    i = end + 1;
  }
  return out;
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view align,
                  size_t indent) {
  std::vector<size_t> widths(align.size(), 0);
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string gap(widths[c] - width_of(row[c]), ' ');
      line += (c ? "  " : "") + (align[c] == '>' ? gap + row[c] : row[c] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

Status::Status(bool quiet)
    : quiet_(quiet),
      terminal_(is_terminal(Stream::kErr) && environment("TERM") != "dumb"),
      last_(terminal_ ? Clock::time_point{} : Clock::now()) {}

bool Status::due() const {
  return !quiet_ && Clock::now() - last_ >= (terminal_ ? Clock::duration(kRedraw) : kLogLine);
}

void Status::show(double share, std::string_view text) {
  if (!due()) return;
  last_ = Clock::now();
  const std::string percent = share < 0 ? "" : fmt::format("{:3.0f} %  ", std::floor(share * 100));
  if (!terminal_) return say("  {}{}", percent, text);
  const size_t width = columns(Stream::kErr);
  const size_t before = 2 + (share < 0 ? 0 : kBarWidth + 1) + percent.size();
  const std::string_view shown = text.substr(0, width > before + 1 ? width - before - 1 : 0);
  say_text(fmt::format("\r\x1b[K  {}{}{}", share < 0 ? "" : bar(share) + " ", percent, shown));
  drawn_ = true;
}

void Status::line(std::string_view text) {
  if (quiet_) return;
  clear();
  say("{}", text);
}

void Status::warning(std::string_view text) {
  clear();
  say("kith: {}", text);
}

void Status::clear() {
  if (drawn_) say_text("\r\x1b[K");
  drawn_ = false;
}

}  // namespace kith::cli
