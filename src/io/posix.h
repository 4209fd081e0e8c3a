// SPDX-License-Identifier: Apache-2.0
#pragma once
// System calls as this folder uses them: restarted after signals, their failures turned into
// Error(kIo). Private to src/io.

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kith::posix {

// Owns a file descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  int get() const { return fd_; }
  void reset(int fd = -1);

 private:
  int fd_;
};

// What the system says about an error number, in our lower case.
std::string reason(int code);

// Throws Error(kIo) "WHERE: cannot ATTEMPT: REASON" and, where one is known, a remedy.
[[noreturn]] void fail(std::string_view where, std::string_view attempt, int code = errno);

// Opens for reading; "-" is standard input. A directory is an error.
Fd open_to_read(const std::string& path);

// At most out.size() bytes; 0 only at the end.
size_t read_some(int fd, std::span<char> out, std::string_view where);

// All of them, or an Error with `attempt` in its message.
void write_all(int fd, std::span<const char> bytes, std::string_view where,
               std::string_view attempt);

}  // namespace kith::posix
