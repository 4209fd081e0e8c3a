// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything that is written to standard output and standard error goes through here: results
// must arrive or be an error, remarks must never stop the work.

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kith::cli {

// Standard output cannot take more; `code` is the errno. EPIPE means that the reader left.
struct OutputError {
  int code;
};

// Results. Throws OutputError.
void put_text(std::string_view text);
void flush_results();
template <class... Args>
void put(fmt::format_string<Args...> text, Args&&... args) {
  put_text(fmt::format(text, std::forward<Args>(args)...));
}

// Where a file of results goes: to standard output if nothing else is said.
std::string results_path(const std::string& output);

// Remarks, on standard error. A failure to write them is ignored.
void say_text(std::string_view text);
template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  say_text(fmt::format(text, std::forward<Args>(args)...) + '\n');
}

enum class Stream { kOut, kErr };
enum class Look { kBold, kDim, kAccent };
bool is_terminal(Stream stream);
size_t columns(Stream stream);  // of the terminal, or 80
// Coloured only on a terminal, and not if NO_COLOR is set.
std::string styled(Stream stream, Look look, std::string_view text);

std::string printable(std::string_view s);  // control characters replaced
// At most so many characters.
std::string_view shortened(std::string_view text, size_t width);
// Breaks at spaces; lines after the first are indented.
std::string wrapped(std::string_view text, size_t width, size_t indent);

// Columns as wide as they need to be, two spaces apart. '<' and '>' in `align` set each column.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view align,
                  size_t indent = 2);

// While it lives, a terminal shows that the program does whenever nothing else was shown for a
// second: the bar, if there is one, and how long it has stood. A log has a line now and then.
class Heartbeat {
 public:
  explicit Heartbeat(bool wanted);
  ~Heartbeat();

 private:
  std::jthread thread_;
};

// The progress of something long: a bar that is redrawn on a terminal, a line now and then in a
// log, nothing when quiet.
class Status {
 public:
  explicit Status(bool quiet);
  ~Status() { clear(); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  bool due() const;  // whether show() would do something: formatting text has a price too
  // share in [0, 1], or below 0 when unknown.
  void show(double share, std::string_view text);
  void line(std::string_view text);     // stays, above the bar; not when quiet
  void warning(std::string_view text);  // even when quiet
  void clear();
  bool quiet() const { return quiet_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_, drawn_ = false;
  Clock::time_point last_;
};

}  // namespace kith::cli
