// SPDX-License-Identifier: Apache-2.0
#pragma once
// The readers behind open_table and what they share. Private to src/data, its tests and fuzzers.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/table/table_reader.h"
#include "io/file.h"

namespace kith {

// One row may be as long as this; longer ones are taken for a quote or bracket that never closes.
inline constexpr size_t kMaxRowBytes = size_t{64} << 20;
inline constexpr size_t kMaxColumns = size_t{1} << 20;

// A stream whose first bytes can be looked at before they are read.
class PeekedSource final : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> rest) : rest_(std::move(rest)) {}
  // At least `least` bytes if there are so many; they stay to be read. Before the first next().
  std::string_view peek(size_t least);
  std::span<const char> next() override;  // the first piece may be longer than 1 MiB
  double share() const override { return rest_->share(); }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string start_;
  bool given_ = false;
};

// Bytes in memory as a stream, in pieces of the given size.
std::unique_ptr<ByteSource> memory_source(std::string bytes, size_t piece = size_t{1} << 20);

// The stream in one buffer from the first byte of the row that is being read up to the last byte
// that has arrived. Readers keep offsets from the start of the row: more() moves it. One '\n'
// stands behind the last byte, so that scanning for the end of a line needs no second condition.
class RowBuffer {
 public:
  explicit RowBuffer(std::unique_ptr<ByteSource> source);
  char* row() { return bytes_.get() + row_; }
  size_t size() const { return end_ - row_; }  // bytes from the start of the row on
  void skip(size_t n) { row_ += n; }           // the next row begins n bytes further
  bool more();                                 // false at the end of the stream
  uint64_t bytes_read() const { return bytes_read_; }
  double share() const { return source_->share(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0, row_ = 0, end_ = 0;
  uint64_t bytes_read_ = 0;
  bool ended_ = false;
};

// What stands between two cells: a character, or the same one twice, as in the "::" of MovieLens.
struct Delimiter {
  // NOLINTNEXTLINE(google-explicit-constructor): a character is a delimiter
  constexpr Delimiter(char byte, bool twice = false) : byte(byte), twice(twice) {}
  char byte;  // '\n' for none
  bool twice;
  bool operator==(const Delimiter&) const = default;
};

// Each of them throws Error(kInput) for bytes that are no such table.
std::unique_ptr<TableReader> read_delimited(std::unique_ptr<ByteSource> source, std::string name,
                                            Delimiter delimiter, const TableOptions& options);
// `known`: the columns, if an earlier source has settled them; empty to find them.
std::unique_ptr<TableReader> read_json(std::unique_ptr<ByteSource> source, std::string name,
                                       const TableOptions& options, std::vector<std::string> known);
std::unique_ptr<TableReader> read_sqlite(const std::string& path, const TableOptions& options);
std::unique_ptr<TableReader> read_postgres(const std::string& source, const TableOptions& options);

// The rows with those columns expanded whose cells are JSON (one of `is_json` for each column).
std::unique_ptr<TableReader> expand_json(std::unique_ptr<TableReader> rows,
                                         std::vector<bool> is_json);
bool is_json_object(std::string_view text);

// A stream of text of whatever format: what open_table does with a file.
std::unique_ptr<TableReader> read_text_table(std::unique_ptr<ByteSource> source, std::string name,
                                             const TableOptions& options,
                                             std::vector<std::string> known = {});

// Whether text begins like an object, or an array of objects, of JSON.
bool looks_like_json(std::string_view start);
// Whether there is a file that is an SQLite database.
bool is_sqlite_file(const std::string& path);

// The delimiter that cuts most of the first records into the same number of cells, more than one;
// '\n' (so: one column) if none does. `whole`: the text does not go on behind `start`. `spaces`: a
// blank may be it.
Delimiter find_delimiter(std::string_view start, bool whole, bool spaces = false);

// Error(kInput) for a name that is empty or stands twice; `remedy` ends the message.
void check_column_names(const std::vector<std::string>& names, std::string_view where,
                        std::string_view remedy);

// Whether a query is a statement that gives rows, and not the name of a table.
bool is_select(std::string_view query);
// Which table to read: the one of that name, or the only one if no name is given. Error(kInput)
// listing them otherwise.
size_t choose_table(const std::vector<std::string>& tables, std::string_view name,
                    std::string_view where);

}  // namespace kith
