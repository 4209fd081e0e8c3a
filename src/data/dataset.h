// SPDX-License-Identifier: Apache-2.0
#pragma once
// What models learn from. A kind of data is a folder and a line in datasets.def: how it looks, its
// settings, how it is read. Everything above this layer treats all kinds alike.

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/context.h"
#include "kith/events.h"
#include "kith/settings.h"

namespace kith {

class DataReader;

// What a source is to a kind of data, by its name and first bytes, or a database's columns.
struct Look {
  double sure = 0;    // that it holds such data: 0 (not) to 1
  std::string why{};  // "columns user, film and rating", if the noun alone does not say it
};

struct DataKind {
  std::string_view name;                    // "table"
  std::string_view noun;                    // "a table", behind "FILE: "
  std::string_view unit;                    // what is counted: "row"
  std::string_view to_save_memory;          // what a user can do about it
  std::optional<double> holdout_to_tune{};  // where that of training is too small
  // A setting that says that a source is to be read as this, whatever it looks like.
  std::string_view chosen_by{};
  // Another kind whose files its reader takes as well.
  std::string_view takes{};
  // `query`: the table of a database or a SELECT, if one was named. Error for a database that
  // cannot be looked at.
  Look (*look_at)(const std::string& source, const std::string& query);
  std::unique_ptr<DataReader> (*reader)();  // settings at their defaults
};

// Data that are read and ready.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DataKind& kind() const = 0;
  virtual uint64_t size() const = 0;     // units to learn from in an epoch
  virtual uint64_t vectors() const = 0;  // names that have a vector after training
  virtual uint64_t bytes() const = 0;    // that they take in memory
  virtual uint64_t fingerprint() const = 0;
  // What the model file says of them. Nothing here may depend on time, machine or threads.
  virtual std::map<std::string, std::string> metadata() const = 0;
  virtual Profile profile() const = 0;
  // A name that a model trained on them can be asked about.
  virtual std::string example() const = 0;
};

// What a model would have its data read like.
struct Wishes {
  std::string target{};             // a column that must be there
  std::optional<double> pooling{};  // of all sets and texts
  // Where nothing else is said, if the target is a number or has at most `few` values:
  uint64_t few = 0;
  std::optional<int> knots{};       // of all numbers and dates, if there are rows enough
  std::optional<double> holdout{};  // as in the settings
  std::string_view needs_all{};     // why nothing may be held out; empty: it may
  bool features = false;            // ratings: what other columns say of users and of items
};

struct ReadRequest {
  std::vector<std::string> sources{};
  std::string scratch = ".";  // a folder for what does not fit in memory
  std::string schema_path{};  // where a table writes down what its columns seem to be; or not
  Wishes wishes{};
  const Context* context = nullptr;  // whose threads may be used; null: the caller's alone
  std::any base{};                   // what a model to go on from knows: of the kind's own type
  bool keep_all = false;             // hold nothing out, whatever the settings say
  bool keep_times = false;           // for splits by time
  // Called now and then with bytes and share read so far, or -1; may throw to stop.
  std::function<void(uint64_t, double)> on_read{};
};

// How a kind of data is read.
class DataReader {
 public:
  virtual ~DataReader() = default;
  virtual std::vector<Section> settings() = 0;  // what a user can say about it
  // Those of them that say how sources are read, also where nothing is learned from them.
  virtual std::vector<Section> reading() { return settings(); }
  virtual std::unique_ptr<Dataset> read(const ReadRequest& request) = 0;
};

std::span<const DataKind* const> data_kinds();
// The kind that a source looks most like, and how it looks to that.
struct SeenAs {
  const DataKind* kind;
  Look look;
};
SeenAs seen_as(const std::string& source, const std::string& query = "");

// A database and not a file.
bool is_database(std::string_view source);

}  // namespace kith
