// SPDX-License-Identifier: Apache-2.0
#pragma once
// Objects of JSON as rows of cells. The columns are the keys of the first objects. What is inside
// an object or a list is flattened: {"a": {"b": 1}} is a.b, the members of a list stand in one
// cell, and
// {"a": [{"b": 1}, {"b": 2}]} is the list a.b of 1 and 2. Private to the readers of JSON.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/table/table_readers.h"
#include "io/json.h"
#include "io/utf8.h"

namespace kith {

inline constexpr size_t kFirstObjects = 1000;
inline constexpr size_t kMaxDepth = 100;

// One object as cells, told by the parser event by event. The names are those of nlohmann's SAX
// interface.
class Flattener {
 public:
  struct Value {
    bool seen = false;  // in this object
    std::string text;
  };

  // `unit` and `remedy`: for messages.
  Flattener(std::vector<std::string> columns, std::string unit, std::string remedy)
      : columns_(std::move(columns)), unit_(std::move(unit)), remedy_(std::move(remedy)) {
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

  // For rows of which only some cells are JSON. One that is not:
  bool cell(std::string_view column, std::string_view text) {
    path_ = column;
    return put(text);
  }
  // The keys of what the parser tells next stand below this column.
  void enter(std::string_view column) {
    path_ = column;
    levels_.assign(1, 0);
    lists_ = 0;
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
    return is_shallow();
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
    return is_shallow();
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

  bool is_shallow() {
    if (levels_.size() + lists_ <= kMaxDepth) return true;
    problem_ = fmt::format("nested deeper than {} levels", kMaxDepth);
    return false;
  }

  bool twice() {
    problem_ = fmt::format("the key {} occurs twice in this {}", shown(path_), unit_);
    return false;
  }

  // Nothing, and a problem, for a key that may not be.
  Value* column() {
    const auto known = numbers_.find(path_);
    if (known != numbers_.end()) return &values_[known->second];
    if (!open_) {
      problem_ =
          fmt::format("the key {} is not among the first {} {}s, which settle the columns; {}",
                      shown(path_), kFirstObjects, unit_, remedy_);
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
  std::string unit_, remedy_;
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

// Readers that flatten: those first rows that settle the columns are kept until they are asked for.
class FlatReader : public TableReader {
 public:
  const std::vector<std::string>& columns() const final { return row_.columns(); }
  bool next(std::vector<Cell>& cells) final;
  std::string where() const final { return given_ > 0 ? first_[given_ - 1].place : place(); }
  uint64_t row() const final { return given_ > 0 ? first_[given_ - 1].row : TableReader::row(); }

 protected:
  FlatReader(std::shared_ptr<RowTally> tally, Flattener row)
      : TableReader(std::move(tally)), row_(std::move(row)) {}
  FlatReader(const TableOptions& options, Flattener row)
      : TableReader(options), row_(std::move(row)) {}
  // The next row into row_, those left out that cannot be read; false at the end.
  virtual bool read_row() = 0;
  virtual std::string place() const = 0;  // of the row last read
  // To be called when read_row() can be. The columns stay open.
  void find_columns();

  Flattener row_;

 private:
  struct First {
    std::string place;
    uint64_t row;
    std::vector<std::string> cells;
  };
  std::vector<First> first_;  // the rows that the columns were taken from
  size_t given_ = 0;          // of those
};

}  // namespace kith
