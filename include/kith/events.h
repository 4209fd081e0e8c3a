// SPDX-License-Identifier: Apache-2.0
#pragma once
// What long work tells while it goes. Nothing is printed: a front end takes what it wants to show.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// Something a person should read.
struct Note {
  enum class Level { kNote, kHint, kWarning } level = Level::kNote;
  std::string text;
};

// A line of what is known about a model.
struct Fact {
  std::string name, value;
  bool number = false;  // whether the value is one
};

// Which model was chosen for data that the caller named no model for.
struct Choice {
  std::string source, data;  // "films.csv", "a table"
  std::string model, summary;
  std::string why{};  // what the data were known by: "columns user, film and rating"; or nothing
};

// While data are read.
struct Reading {
  uint64_t bytes = 0;  // so far
  double seconds = 0;
  double share = -1;  // of all, in [0, 1], or below 0 when that is unknown
};

// What a column of a table seems to be.
struct ColumnSummary {
  std::string name, type;
  uint64_t distinct = 0, missing = 0, rows = 0;  // of the whole table
  std::vector<std::string> examples;
  std::string remark;
};

// What was read, before anything is learned from it.
struct Profile {
  std::string data;       // "text"
  std::string unit;       // what is counted: "word"
  uint64_t size = 0;      // units to learn from in an epoch
  uint64_t held_out = 0;  // units that score the model
  uint64_t bytes = 0;
  double seconds = 0;
  std::string summary;                                     // a sentence
  std::vector<std::pair<std::string, std::string>> lines;  // further ones, each with a label
  std::vector<ColumnSummary> columns;                      // of a table
  std::vector<Note> notes;
};

// Before training: what it will take.
struct Memory {
  uint64_t needed = 0;
  std::optional<uint64_t> limit;  // what there is, or what the caller allows
  bool asked = false;             // the caller set the limit
};

// At a safe point of training.
struct Training {
  uint64_t done = 0, total = 0;  // units of work
  int epoch = 0, epochs = 0;     // counted from 1
  bool epoch_done = false;       // this report closes the epoch
  double loss = 0;               // mean over the epoch so far
  double lr = 0;                 // 0 for models that have none
  std::optional<double> held_out;
  double per_second = 0;  // units
  double seconds_left = 0;
  std::string unit;
  std::string note;   // such as a rollback; may be empty
  bool kept = false;  // the end of a run: `held_out` is of what was kept, that of `epoch`
};

// A checkpoint was written, or could not be.
struct Checkpoint {
  std::string path;
  std::string failure;  // why not; empty if it was
};

// What three names of a model that was just trained are near to.
struct Examples {
  uint64_t vectors = 0, zero = 0;
  struct Near {
    std::string name;
    std::vector<std::string> to;
  };
  std::vector<Near> near;
};

// One of many runs: of a search for settings, of cross-validation, or of ways to learn that a model
// tries by itself.
struct Attempt {
  uint64_t number = 0, total = 0;  // total: 0 if it is not known
  double share = 0;                // of the whole work, in [0, 1]
  std::string text;
  bool better = false;  // than all before
};

// Receives events, on the thread that called. What is not overridden is passed over.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on(const Note&) {}
  virtual void on(const Choice&) {}
  virtual void on(const Reading&) {}
  virtual void on(const Profile&) {}
  virtual void on(const Memory&) {}
  virtual void on(const Training&) {}
  virtual void on(const Checkpoint&) {}
  virtual void on(const Examples&) {}
  virtual void on(const Attempt&) {}
};

}  // namespace KITH_VISIBLE
