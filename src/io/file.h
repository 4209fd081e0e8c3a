// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files as the rest of Kith sees them: read in a stream whatever the compression, mapped, written
// whole or not at all, and a scratch file that leaves nothing behind.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kith {

// A stream of bytes from a plain, gzip, zstd, xz or bzip2 file (recognised by its first bytes, not
// its name), or from standard input for "-". Throws Error(kIo) if it cannot be opened or read, if
// it is a directory, and Error(kInput) if the compressed data are damaged or cut off, or if it is
// an archive or a Parquet file: then the message says how to convert it.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next piece, valid until the next call; empty at the end. At most 1 MiB.
  virtual std::span<const char> next() = 0;
  // Share of the input consumed so far in [0, 1], or -1 when its length is unknown.
  virtual double share() const = 0;
};
std::unique_ptr<ByteSource> open_source(const std::string& path);
// The name without the ending that says how the file is packed: "films.csv" of "films.csv.gz".
std::string name_unpacked(const std::string& name);

// A whole file, mapped read-only.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  std::span<const char> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// A file on a disk that is read wherever one wants, from several threads at once, and takes no
// memory: what is mapped counts against the process, and a failing disk would end it.
class RandomFile {
 public:
  explicit RandomFile(std::string path);
  ~RandomFile();
  RandomFile(const RandomFile&) = delete;
  RandomFile& operator=(const RandomFile&) = delete;
  // Exactly out.size() bytes; Error(kIo) if there are fewer.
  void read(uint64_t offset, std::span<char> out) const;
  uint64_t size() const { return size_; }  // when it was opened

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// Writes a file so that its name always shows a whole one: a nameless file in the same folder,
// fsync, a name beside the target, rename, fsync of the folder. Without commit() nothing remains,
// not even of a process that is killed (where the file system has no nameless files: a name that
// ends in .tmp). A full disk or a read-only folder is Error(kIo), and what stood there before
// stays. Path "-" is standard output; that, a pipe and a device are written to directly. A symbolic
// link stays and its target changes.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::span<const char> bytes);  // buffered
  void write(std::string_view text) { write(std::span(text.data(), text.size())); }
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const char* text) { write(std::string_view(text)); }
  void prepare();  // the part of commit() that may well fail: all bytes on the disk
  void commit();

 private:
  void flush();
  void close();
  void put_in_place();
  std::string path_, where_;  // as given, and as messages say it
  std::string target_;        // links followed; empty when written to directly
  std::string temporary_;     // empty while the file has no name
  std::string buffer_;
  int fd_ = -1;
};

// A nameless file of fixed-size words for data that need not fit in memory. It disappears with
// the process, however that ends. Reads are safe from several threads at once.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  void append(std::span<const char> bytes);               // buffered; one thread
  void flush();                                           // before the first read
  void read(uint64_t offset, std::span<char> out) const;  // exactly out.size() bytes
  uint64_t size() const { return size_; }

 private:
  std::string folder_, buffer_;
  int fd_ = -1;
  uint64_t size_ = 0, written_ = 0;
};

}  // namespace kith
