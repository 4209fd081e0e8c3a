// SPDX-License-Identifier: Apache-2.0
// JSON lines (any objects one behind the other) and an array of objects, one object at a time.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "data/table/flat_reader.h"
#include "io/utf8.h"

namespace kith {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Cuts a stream into objects by brackets and strings alone.
class ObjectSplitter {
 public:
  ObjectSplitter(std::unique_ptr<ByteSource> source, std::string name)
      : name_(std::move(name)), buffer_(std::move(source)) {
    in_array_ = skip_space() && *buffer_.row() == '[';
    if (in_array_) buffer_.skip(1);
  }

  // The next object's text, valid until the next call; false at the end. Behind a BadRow the next
  // call goes on with the next line.
  bool next(std::string_view& object) {
    buffer_.skip(std::exchange(length_, 0));
    line_ = next_line_;
    const bool more = skip_space();
    line_ = next_line_;
    if (!more && (!in_array_ || closed_)) return false;
    if (!more) fail("the list of objects is never closed; is the file cut off?");
    if (in_array_ && !between_objects()) return false;
    first_line_ = line_;
    if (*buffer_.row() != '{') {
      fail(fmt::format("expected an object {{...}}, found {}", found()));
    }
    length_ = find_end();
    object = {buffer_.row(), length_};
    one_a_line_ = one_a_line_ && next_line_ == first_line_;
    ++objects_;
    return true;
  }

  bool has_object() const { return length_ > 0; }  // whose text was given
  const std::string& name() const { return name_; }
  uint64_t line() const { return line_; }  // where the object begins
  uint64_t bytes() const { return buffer_.bytes_read(); }
  double share() const { return buffer_.share(); }

  // Of a list one object that cannot be told from the next spoils all.
  [[noreturn]] void fail(std::string_view what) const {
    const std::string message = fmt::format("{}:{}: {}", name_, line_, what);
    if (in_array_) throw Error(ErrorKind::kInput, message);
    throw BadRow(message);
  }

  // Behind a BadRow of next(): passes over the line on which the object began.
  void pass_line() {
    for (size_t at = 0;; ++at) {
      if (at == buffer_.size() && !grow()) {
        length_ = at;
        return;
      }
      if (buffer_.row()[at] != '\n') continue;
      length_ = at + 1;
      next_line_ = first_line_ + 1;
      return;
    }
  }

 private:
  // To the next byte that is not space; false at the end.
  bool skip_space() {
    for (;;) {
      size_t at = 0;
      for (; at < buffer_.size() && is_space(buffer_.row()[at]); ++at) {
        next_line_ += buffer_.row()[at] == '\n';
      }
      buffer_.skip(at);
      if (buffer_.size() > 0) return true;
      if (!buffer_.more()) return false;
    }
  }

  // Passes over the comma of an array; false behind its end.
  bool between_objects() {
    if (closed_) fail(fmt::format("text follows the end of the list: {}", found()));
    const char c = *buffer_.row();
    if (c == ']') {
      buffer_.skip(1);
      closed_ = true;
      if (!skip_space()) return false;
      line_ = next_line_;
      fail(fmt::format("text follows the end of the list: {}", found()));
    }
    if (objects_ == 0) return true;
    if (c != ',') fail(fmt::format("expected a comma between objects, found {}", found()));
    buffer_.skip(1);
    if (!skip_space()) fail("the list of objects is never closed; is the file cut off?");
    line_ = next_line_;
    return true;
  }

  // The length of the object at the front.
  size_t find_end() {
    size_t depth = 0;
    bool in_string = false, escaped = false;
    for (size_t at = 0;; ++at) {
      if (at == buffer_.size() && !grow()) {
        cut_at_lines_ = one_a_line_;
        fail(in_string ? "a string in the object that begins here is never closed"
                       : "the object that begins here is never closed; is the file cut off?");
      }
      const char c = buffer_.row()[at];
      next_line_ += c == '\n';
      // Where one object has no end, those behind it would be looked through again for each.
      if (c == '\n' && cut_at_lines_) fail("the object that begins here does not end on its line");
      if (in_string) {
        if (c == '\n') fail_open_string();
        in_string = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        if (++depth > kMaxDepth) fail(fmt::format("nested deeper than {} levels", kMaxDepth));
      } else if (c == '}' || c == ']') {
        if (--depth == 0) return at + 1;
      }
    }
  }

  [[noreturn]] void fail_open_string() {
    line_ = next_line_ - 1;
    fail("a string is not closed at the end of the line");
  }

  bool grow() {
    if (buffer_.size() > kMaxRowBytes) {
      cut_at_lines_ = one_a_line_;
      fail(
          fmt::format("the object that begins here is longer than {} MiB; is a bracket not closed?",
                      kMaxRowBytes >> 20));
    }
    return buffer_.more();
  }

  std::string found() {
    const std::string_view rest(buffer_.row(), buffer_.size());
    return shown(rest.substr(0, std::min<size_t>(20, rest.find('\n'))));
  }

  std::string name_;
  RowBuffer buffer_;
  size_t length_ = 0;  // of the object last given
  uint64_t line_ = 1, next_line_ = 1, objects_ = 0;
  uint64_t first_line_ = 1;  // of the object that was tried last
  bool in_array_ = false, closed_ = false;
  bool one_a_line_ = true;     // so have all objects been until now
  bool cut_at_lines_ = false;  // and so they must be from now on
};

class JsonReader final : public FlatReader {
 public:
  JsonReader(std::unique_ptr<ByteSource> source, std::string name, const TableOptions& options,
             std::vector<std::string> known)
      : FlatReader(options,
                   Flattener(std::move(known), "object",
                             "begin the file with an object that has every key (null will do)")),
        objects_(std::move(source), std::move(name)) {
    if (row_.columns().empty()) {
      find_columns();
      check_columns();
    }
    row_.close_columns();
  }

  uint64_t bytes() const override { return objects_.bytes(); }
  double share() const override { return objects_.share(); }

 private:
  std::string place() const override { return fmt::format("{}:{}", objects_.name(), line_); }

  void check_columns() const {
    if (row_.columns().empty()) {
      throw fault(ErrorKind::kInput, "{}: there is no object with a key; give objects like {}",
                  objects_.name(), R"({"name": "value"})");
    }
    check_column_names(row_.columns(), objects_.name(), "give it a name");
  }

  bool read_row() override {
    for (;;) {
      const size_t columns = row_.columns().size();
      try {
        return take_object();
      } catch (const BadRow& row) {
        const bool whole = objects_.has_object();
        if (!whole) tally()->add_row();
        tally()->leave_out(row);
        if (!whole) objects_.pass_line();
        row_.drop_columns(columns);
      }
    }
  }

  bool take_object() {
    std::string_view text;
    if (!objects_.next(text)) return false;
    tally()->add_row();
    line_ = objects_.line();
    row_.start_row();
    if (repair_utf8(text, repaired_)) {
      tally()->add_repaired(*this);
      text = repaired_;
    }
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &row_)) return true;
    const std::string_view before = text.substr(0, std::min(row_.position(), text.size()));
    line_ += static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n'));
    throw BadRow(fmt::format("{}: {}", where(), row_.problem()));
  }

  ObjectSplitter objects_;
  uint64_t line_ = 1;     // of the object last read
  std::string repaired_;  // that object, if it was not UTF-8
};

}  // namespace

std::unique_ptr<TableReader> read_json(std::unique_ptr<ByteSource> source, std::string name,
                                       const TableOptions& options,
                                       std::vector<std::string> known) {
  return std::make_unique<JsonReader>(std::move(source), std::move(name), options,
                                      std::move(known));
}

}  // namespace kith
