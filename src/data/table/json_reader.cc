// SPDX-License-Identifier: Apache-2.0
// JSON lines (any objects one behind the other) and an array of objects, one object at a time. The
// columns are the keys of the first objects. What is inside an object or a list is flattened:
// {"a": {"b": 1}} is a.b, the members of a list stand in one cell, and {"a": [{"b": 1}, {"b": 2}]}
// is the list a.b of 1 and 2.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "data/table/table_readers.h"
#include "io/json.h"
#include "io/utf8.h"

namespace kith {
namespace {

constexpr size_t kFirstObjects = 1000;
constexpr size_t kFirstBytes = size_t{16} << 20;
constexpr size_t kMaxDepth = 100;

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

// One object as cells, told by the parser event by event. The names are those of nlohmann's SAX
// interface.
class Flattener {
 public:
  struct Value {
    bool seen = false;  // in this object
    std::string text;
  };

  explicit Flattener(std::vector<std::string> columns) : columns_(std::move(columns)) {
    for (size_t i = 0; i < columns_.size(); ++i) numbers_.emplace(columns_[i], i);
    values_.resize(columns_.size());
  }

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<Value>& values() const { return values_; }
  const std::string& problem() const { return problem_; }  // why parsing stopped
  size_t position() const { return position_; }            // and at which byte
  void close_columns() { open_ = false; }                  // no new keys from now on

  // Forgets the columns that a row brought which is left out.
  void drop_columns(size_t behind) {
    for (size_t i = behind; i < columns_.size(); ++i) numbers_.erase(columns_[i]);
    columns_.resize(behind);
    values_.resize(behind);
  }

  void start_row() {
    path_.clear();
    levels_.clear();
    lists_ = 0;
    position_ = 0;
    for (Value& value : values_) {
      value.seen = false;
      value.text.clear();
    }
  }

  bool null() { return put({}); }
  bool boolean(bool value) { return put(value ? "true" : "false"); }
  bool number_integer(int64_t value) { return put(fmt::format_int(value).c_str()); }
  bool number_unsigned(uint64_t value) { return put(fmt::format_int(value).c_str()); }
  bool number_float(double value, const std::string& raw) {
    // A whole number too long for 64 bits is a name more likely than a quantity: every digit
    // counts.
    if (raw.find_first_of(".eE") == std::string::npos) return put(raw);
    return put(fmt::format("{}", value));
  }
  bool string(std::string& text) { return put(text); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // no text has any
  bool start_object(size_t) {
    list_empty_ = false;
    levels_.push_back(path_.size());
    return true;
  }
  bool key(std::string& key) {
    path_.resize(levels_.back());
    if (levels_.size() > 1) path_ += '.';
    path_ += key;
    return true;
  }
  bool end_object() {
    path_.resize(levels_.back());
    levels_.pop_back();
    return true;
  }
  bool start_array(size_t) {
    const auto known = numbers_.find(path_);
    if (lists_ == 0 && known != numbers_.end() && values_[known->second].seen) return twice();
    list_empty_ = lists_ == 0;
    ++lists_;
    return true;
  }
  bool end_array() {
    --lists_;
    return lists_ > 0 || !list_empty_ || put({});  // an empty list makes a column too
  }
  template <class Exception>
  bool parse_error(size_t position, const std::string&, const Exception& e) {
    const std::string_view text = problem_of_json(e.what());
    std::string repaired;
    problem_ = fmt::format("this is not JSON: {}", repair_utf8(text, repaired) ? repaired : text);
    position_ = position;
    return false;
  }

 private:
  // The value of the key at path_; those of a list are joined. Empty text is a missing value.
  bool put(std::string_view text) {
    Value* const value = column();
    if (!value) return false;
    if (value->seen && lists_ == 0) return twice();
    value->seen = true;
    list_empty_ = false;
    if (text.empty()) return true;
    if (!value->text.empty()) value->text += kListSeparator;
    value->text += text;
    return true;
  }

  bool twice() {
    problem_ = fmt::format("the key {} occurs twice in this object", shown(path_));
    return false;
  }

  // Nothing, and a problem, for a key that may not be.
  Value* column() {
    const auto known = numbers_.find(path_);
    if (known != numbers_.end()) return &values_[known->second];
    if (!open_) {
      problem_ = fmt::format(
          "the key {} is not among the first {} objects, which settle the columns; begin the file "
          "with an object that has every key (null will do)",
          shown(path_), kFirstObjects);
      return nullptr;
    }
    if (columns_.size() == kMaxColumns) {
      problem_ = fmt::format("more than {} different keys; is this a table?", kMaxColumns);
      return nullptr;
    }
    numbers_.emplace(path_, columns_.size());
    columns_.push_back(path_);
    return &values_.emplace_back();
  }

  std::vector<std::string> columns_;
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<Value> values_;  // by column
  bool open_ = true;
  std::string path_;
  std::vector<size_t> levels_;  // length of the path at the start of each open object
  size_t lists_ = 0;            // open lists
  bool list_empty_ = false;     // nothing has come since the outermost of them began
  std::string problem_;
  size_t position_ = 0;
};

class JsonReader final : public TableReader {
 public:
  JsonReader(std::unique_ptr<ByteSource> source, std::string name, const TableOptions& options,
             std::vector<std::string> known)
      : TableReader(options), objects_(std::move(source), std::move(name)), row_(std::move(known)) {
    if (row_.columns().empty()) find_columns();
    row_.close_columns();
  }

  const std::vector<std::string>& columns() const override { return row_.columns(); }

  bool next(std::vector<Cell>& cells) override {
    cells.assign(columns().size(), std::nullopt);
    if (given_ < first_.size()) {
      const First& first = first_[given_++];
      line_ = first.line;
      for (size_t i = 0; i < first.cells.size(); ++i) put(first.cells[i], cells[i]);
      return true;
    }
    first_.clear();
    given_ = 0;
    if (!read_object()) return false;
    for (size_t i = 0; i < cells.size(); ++i) put(row_.values()[i].text, cells[i]);
    return true;
  }

  std::string where() const override { return fmt::format("{}:{}", objects_.name(), line_); }
  uint64_t bytes() const override { return objects_.bytes(); }
  double share() const override { return objects_.share(); }

 private:
  struct First {
    uint64_t line;
    std::vector<std::string> cells;
  };

  static void put(std::string_view text, Cell& cell) {
    if (!text.empty()) cell = text;
  }

  void find_columns() {
    size_t bytes = 0;
    while (first_.size() < kFirstObjects && bytes < kFirstBytes && read_object()) {
      First& first = first_.emplace_back(First{line_, {}});
      for (const auto& value : row_.values()) {
        bytes += sizeof(std::string) + value.text.size();
        first.cells.push_back(value.text);
      }
    }
    if (row_.columns().empty()) {
      throw fault(ErrorKind::kInput, "{}: there is no object with a key; give objects like {}",
                  objects_.name(), R"({"name": "value"})");
    }
    check_column_names(row_.columns(), objects_.name(), "give it a name");
  }

  bool read_object() {
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
  Flattener row_;
  std::vector<First> first_;  // the objects that the columns were taken from
  size_t given_ = 0;          // of those
  uint64_t line_ = 1;         // of the object last read
  std::string repaired_;      // that object, if it was not UTF-8
};

}  // namespace

std::unique_ptr<TableReader> read_json(std::unique_ptr<ByteSource> source, std::string name,
                                       const TableOptions& options,
                                       std::vector<std::string> known) {
  return std::make_unique<JsonReader>(std::move(source), std::move(name), options,
                                      std::move(known));
}

}  // namespace kith
