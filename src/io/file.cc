// SPDX-License-Identifier: Apache-2.0
// Whole files: mapped to read, written at once or not at all, and nameless scratch space.

#include "io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <utility>

#include "core/error.h"
#include "io/posix.h"

namespace kith {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;

// The folder a file stands in, as a path that can be opened.
std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

uint64_t random_number() {
  uint64_t x = 0;
  if (::getrandom(&x, sizeof x, GRND_NONBLOCK) != sizeof x) {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    x = static_cast<uint64_t>(now.tv_nsec) * 0x9e3779b97f4a7c15;
  }
  return x;
}

// Where the bytes finally go: a symbolic link is followed, so that it stays one.
std::string follow_link(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  char* const real = ::realpath(path.c_str(), nullptr);
  if (!real) return path;  // it leads nowhere: the new file takes its place
  std::string target = real;
  ::free(real);
  return target;
}

// Calls make(name) for new names beside `target` until one is free, or it fails otherwise.
template <class Make>
int name_beside(const std::string& target, std::string& name, const Make& make) {
  // Cut, so that the longest allowed name still leaves room for what is added.
  const std::string base = target.substr(target.rfind('/') + 1).substr(0, 200);
  for (int attempt = 0;; ++attempt) {
    name = fmt::format("{}/.{}.{}-{:08x}.tmp", folder_of(target), base, ::getpid(),
                       static_cast<uint32_t>(random_number()));
    const int made = make(name.c_str());
    if (made >= 0) return made;
    if (errno != EINTR && (errno != EEXIST || attempt == 100)) {
      name.clear();
      return made;
    }
  }
}

// Exactly out.size() bytes from there.
void read_at(int fd, uint64_t offset, std::span<char> out, const std::string& where,
             std::string_view attempt) {
  while (!out.empty()) {
    const ssize_t n = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) posix::fail(where, attempt, n == 0 ? EIO : errno);
    offset += static_cast<uint64_t>(n);
    out = out.subspan(static_cast<size_t>(n));
  }
}

// Where a file that has no name can be given one from.
std::string nameless(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

// A new file in the folder of `target` that the user's umask applies to. It has no name, or that
// which goes to `name`.
int create_beside(const std::string& target, std::string& name) {
  const int fd = ::open(folder_of(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  struct stat info;
  if (fd >= 0 && ::stat(nameless(fd).c_str(), &info) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return name_beside(target, name, [](const char* path) {
    return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  });
}

// What only its owner could read stays so. Owner and group stay where we may say so; where we may
// not, nobody but us can read what becomes ours.
void take_permissions(int fd, const struct stat& from) {
  const bool same_owner = ::fchown(fd, from.st_uid, from.st_gid) == 0;
  ::fchmod(fd, from.st_mode & (same_owner ? 0777 : 0700));
}

int sync_fully(int fd) {
  int code;
  do {
    code = ::fsync(fd);
  } while (code != 0 && errno == EINTR);
  return code;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const posix::Fd fd = posix::open_to_read(path);
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) posix::fail(path, "read");
  if (!S_ISREG(info.st_mode)) {
    throw fault(ErrorKind::kIo, "{}: a pipe or a device cannot be mapped; store it in a file first",
                path == "-" ? "standard input" : path);
  }
  if (info.st_size == 0) return;
  const auto size = static_cast<size_t>(info.st_size);
  void* const p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (p == MAP_FAILED) posix::fail(path, "map");
  data_ = static_cast<const char*>(p);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

RandomFile::RandomFile(std::string path) : path_(std::move(path)) {
  posix::Fd file = posix::open_to_read(path_);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) posix::fail(path_, "look at it");
  fd_ = ::fcntl(file.get(), F_DUPFD_CLOEXEC, 3);
  if (fd_ < 0) posix::fail(path_, "open");
  size_ = static_cast<uint64_t>(info.st_size);
}

RandomFile::~RandomFile() {
  if (fd_ >= 0) ::close(fd_);
}

void RandomFile::read(uint64_t offset, std::span<char> out) const {
  read_at(fd_, offset, out, path_, "read");
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), where_(path_ == "-" ? "standard output" : path_) {
  buffer_.reserve(kBuffer);
  struct stat info;
  if (path_ == "-") {
    fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  } else if (::stat(path_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    throw fault(ErrorKind::kIo, "{}: this is a folder; name a file to write in it", path_);
  } else if (::stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    // A pipe or a device is written to; a rename would put a file in its place.
    fd_ = ::open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  } else {
    target_ = follow_link(path_);
    fd_ = create_beside(target_, temporary_);
    if (fd_ >= 0 && ::stat(target_.c_str(), &info) == 0) take_permissions(fd_, info);
  }
  if (fd_ < 0) posix::fail(where_, "write there");
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const char> bytes) {
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() >= kBuffer) {
    posix::write_all(fd_, bytes, where_, "write");
  } else {
    buffer_.append(bytes.data(), bytes.size());
  }
}

void AtomicFile::flush() {
  posix::write_all(fd_, buffer_, where_, "write");
  buffer_.clear();
}

void AtomicFile::prepare() {
  flush();
  if (!target_.empty() && sync_fully(fd_) != 0) {
    posix::fail(where_, "bring the bytes to the disk");
  }
}

// A network file system may tell only now that the bytes did not arrive.
void AtomicFile::close() {
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) posix::fail(where_, "write");
}

void AtomicFile::put_in_place() {
  if (temporary_.empty()) {
    const std::string from = nameless(fd_);
    const auto link = [&](const char* path) {
      return ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    };
    if (name_beside(target_, temporary_, link) < 0) posix::fail(where_, "put in place");
  }
  close();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) posix::fail(where_, "put in place");
  temporary_.clear();
}

void AtomicFile::commit() {
  prepare();
  if (target_.empty()) return close();
  put_in_place();
  // The name must survive a power cut too. A folder that cannot be opened for reading, or a file
  // system without such a call, leaves that to the system.
  const posix::Fd folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0 && sync_fully(folder.get()) != 0 && errno != EINVAL && errno != EROFS) {
    throw fault(ErrorKind::kIo,
                "{}: the new file is in place, but whether it would survive a power cut is not "
                "known: {}",
                where_, posix::reason(errno));
  }
}

ScratchFile::ScratchFile(const std::string& folder) : folder_(folder) {
  buffer_.reserve(kBuffer);
  fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    // This file system has no nameless files: make one and take its name away.
    std::string name = folder + "/.kith-scratch-XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ >= 0) ::unlink(name.c_str());
  }
  if (fd_ < 0) posix::fail(folder_, "make a scratch file in this folder");
}

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) ::close(fd_);
}

void ScratchFile::append(std::span<const char> bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), kBuffer - buffer_.size());
    buffer_.append(bytes.data(), n);
    bytes = bytes.subspan(n);
    if (buffer_.size() == kBuffer) flush();
  }
}

void ScratchFile::flush() {
  posix::write_all(fd_, buffer_, folder_, "write a scratch file in this folder");
  written_ += buffer_.size();
  buffer_.clear();
}

void ScratchFile::read(uint64_t offset, std::span<char> out) const {
  if (offset > written_ || out.size() > written_ - offset) {
    throw fault(ErrorKind::kIo, "{}: a scratch file of {} bytes was asked for {} bytes at {}",
                folder_, written_, out.size(), offset);
  }
  read_at(fd_, offset, out, folder_, "read a scratch file in this folder");
}

}  // namespace kith
