// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>

namespace kith::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kStill = std::chrono::seconds(1);  // until a sign of life on a terminal
constexpr size_t kBarWidth = 24;

int descriptor(Stream s) { return s == Stream::kOut ? STDOUT_FILENO : STDERR_FILENO; }

// What the first write that failed said: the library forgets both, the text and the reason.
int g_lost = 0;

// What the heartbeat looks at: it is another thread than the one that shows and answers.
struct Shown {
  std::mutex mutex;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last = start;
  std::string bar;         // that stands there
  bool beat = false;       // and a sign of life of its own, which goes before anything else comes
  bool answering = false;  // the terminal belongs to a list of answers
};
Shown& shown() {
  static Shown all;
  return all;
}

// Before anything is written; the lock is held until it is.
std::unique_lock<std::mutex> before_showing() {
  std::unique_lock lock(shown().mutex);
  if (shown().beat) std::fputs("\r\x1b[K", stderr);
  shown().beat = false;
  shown().last = std::chrono::steady_clock::now();
  return lock;
}

void stand(std::string bar) {
  const std::lock_guard lock(shown().mutex);
  shown().bar = std::move(bar);
}

// How long a log may show nothing: 1.6 seconds at first, eight when it has gone on for long.
std::chrono::steady_clock::duration log_gap() {
  const std::chrono::steady_clock::duration shortest = std::chrono::milliseconds(1600);
  return std::clamp((std::chrono::steady_clock::now() - shown().start) / 5, shortest, 5 * shortest);
}

// Without new memory, or nobody could be told.
void beat(const std::stop_token& stop) try {
  std::unique_lock lock(shown().mutex);
  std::condition_variable_any wake;
  while (!wake.wait_for(lock, stop, kRedraw, [&] { return stop.stop_requested(); })) {
    const auto now = std::chrono::steady_clock::now();
    const auto still = now - shown().last;
    if (!is_terminal(Stream::kErr)) {
      const std::chrono::duration<double> seconds = now - shown().start;
      if (still < 5 * log_gap() / 4) continue;  // what says more goes before
      std::fprintf(stderr, "  working, %.0f s\n", seconds.count());
      shown().last = now;
      continue;
    }
    if (still < kStill || shown().answering) continue;
    const char* const bar = shown().bar.empty() ? "  working" : shown().bar.c_str();
    std::fprintf(stderr, "\r\x1b[K%s  %.0f s", bar, std::chrono::duration<double>(still).count());
    shown().beat = true;
  }
} catch (const std::bad_alloc&) {  // what it waits with takes some
}

[[noreturn]] void lose_results(int code) {
  if (g_lost == 0) g_lost = code != 0 ? code : EIO;
  throw OutputError{g_lost};
}

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
  const auto lock = before_showing();
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size()) lose_results(errno);
}

void flush_results() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (g_lost != 0 || !flushed || std::ferror(stdout)) lose_results(errno);
}

std::string results_path(const std::string& output) {
  if (!output.empty() && output != "-") return output;
  const auto lock = before_showing();
  shown().answering = is_terminal(Stream::kOut);
  return "-";
}

void say_text(std::string_view text) {
  const auto lock = before_showing();
  // Results that were printed before come first when both go to one place; an error shows later.
  if (std::fflush(stdout) != 0 && g_lost == 0) g_lost = errno;
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

std::string printable(std::string_view s) {
  // A word may come from anywhere; what it holds must not steer the terminal.
  std::string out(s);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<unsigned char>(out[i]);
    if (c < 0x20 || c == 0x7f) out[i] = '?';
    // U+0080 to U+009F are controls as well.
    const bool last = c >= 0x80 && c < 0xa0 && i > 0 && out[i - 1] == '\xc2';
    if (last) out.replace(--i, 2, "?");
  }
  return out;
}

std::string_view shortened(std::string_view text, size_t width) {
  size_t end = 0;
  for (size_t shown = 0; end < text.size(); ++end) {
    const bool begins = (text[end] & 0xc0) != 0x80;  // a code point
    if (begins && shown++ == width) break;
  }
  return text.substr(0, end);
}

std::string wrapped(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t at = indent;
  for (size_t i = 0; i < text.size();) {
    // What is quoted for a shell stays on one line.
    const size_t quote = text[i] == '\'' ? text.find('\'', i + 1) : i;
    const size_t end = std::min(text.find(' ', std::min(quote, text.size())), text.size());
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

Heartbeat::Heartbeat(bool wanted) {
  if (!wanted || (is_terminal(Stream::kErr) && environment("TERM") == "dumb")) return;
  try {
    thread_ = std::jthread(beat);
  } catch (const std::system_error&) {  // the work goes on without a sign
  }
}

Heartbeat::~Heartbeat() {
  thread_ = {};
  before_showing();
}

Status::Status(bool quiet)
    : quiet_(quiet),
      terminal_(is_terminal(Stream::kErr) && environment("TERM") != "dumb"),
      last_(terminal_ ? Clock::time_point{} : Clock::now()) {}

bool Status::due() const {
  const Clock::duration sooner = std::chrono::milliseconds(500);  // than a sign that says less
  return !quiet_ && Clock::now() - last_ >= (terminal_ ? kRedraw : log_gap() - sooner);
}

void Status::show(double share, std::string_view text) {
  if (!due()) return;
  last_ = Clock::now();
  const std::string percent = share < 0 ? "" : fmt::format("{:3.0f} %  ", std::floor(share * 100));
  if (!terminal_) return say("  {}{}", percent, text);
  const size_t width = columns(Stream::kErr);
  const size_t before = 2 + (share < 0 ? 0 : kBarWidth + 1) + percent.size();
  const std::string_view text_shown = shortened(text, width > before + 8 ? width - before - 8 : 0);
  const std::string line =
      fmt::format("  {}{}{}", share < 0 ? "" : bar(share) + " ", percent, text_shown);
  say_text("\r\x1b[K" + line);
  stand(line);
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
  if (drawn_) stand("");
  if (drawn_) say_text("\r\x1b[K");
  drawn_ = false;
}

}  // namespace kith::cli
