// SPDX-License-Identifier: Apache-2.0
#include "io/posix.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "core/error.h"

namespace kith::posix {
namespace {

// What the user can do about it; empty where the reason says enough.
std::string_view remedy(int code) {
  switch (code) {
    case ENOENT:
      return "; check the spelling and that the folder is there";
    case EACCES:
    case EPERM:
      return "; ask for permission, or name another place";
    case EROFS:
      return "; name a place that can be written";
    case ENOSPC:
    case EDQUOT:
      return "; free some space or write elsewhere; what was there before is untouched";
    case EFBIG:
      return "; raise the limit on file sizes (ulimit -f) or write elsewhere; what was there "
             "before is untouched";
    case EMFILE:
    case ENFILE:
      return "; raise the limit on open files (ulimit -n)";
    default:
      return "";
  }
}

}  // namespace

void Fd::reset(int fd) {
  // Linux frees the number even if close() says EINTR, so there is nothing to retry.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

std::string reason(int code) {
  std::string text = std::generic_category().message(code);
  // "No such file" becomes "no such file", but "RPC ..." stays.
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a') text[0] += 'a' - 'A';
  return text;
}

void fail(std::string_view where, std::string_view attempt, int code) {
  throw fault(code == ENOMEM ? ErrorKind::kLimit : ErrorKind::kIo, "{}: cannot {}: {}{}", where,
              attempt, reason(code), remedy(code));
}

Fd open_to_read(const std::string& path) {
  const bool standard_input = path == "-";
  int fd;
  do {
    fd = standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                        : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) fail(standard_input ? "standard input" : path, "open");
  Fd file(fd);
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    throw fault(ErrorKind::kIo, "{}: this is a folder, not a file; name a file in it", path);
  }
  return file;
}

size_t read_some(int fd, std::span<char> out, std::string_view where) {
  for (;;) {
    const ssize_t n = ::read(fd, out.data(), out.size());
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) fail(where, "read");
  }
}

void write_all(int fd, std::span<const char> bytes, std::string_view where,
               std::string_view attempt) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n > 0) {
      bytes = bytes.subspan(static_cast<size_t>(n));
    } else if (n < 0 && errno == EPIPE) {
      throw fault(ErrorKind::kClosed, "{}: its reader has gone", where);
    } else if (n == 0 || errno != EINTR) {
      fail(where, attempt, n == 0 ? EIO : errno);
    }
  }
}

}  // namespace kith::posix
