// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table ready for training. Each distinct cell of a column is an entity; a row is one entity per
// group, an entity is a bag of features (encoding.h). In memory: 4 bytes per row and group, 8 bytes
// per feature of each entity (none for plain categories), the names once.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "data/dataset.h"
#include "data/table/encoding.h"
#include "data/table/schema.h"

namespace kith {

inline constexpr uint32_t kNoEntity = 0xffffffff;  // the cell is missing

// What a model keeps of nothing but the data: all entities of one group.
struct Entities {
  uint64_t size = 0;
  std::vector<uint64_t> counts;  // rows that hold each, held-out ones not counted
  // The bag of entity e is features[offsets[e] .. offsets[e + 1]), with rows numbered over all
  // spaces. No offsets: entity e is row first + e with weight 1.
  std::vector<uint64_t> offsets;
  std::vector<Feature> features;
  uint32_t first = 0;
  std::vector<double> numbers;  // number, date: the value of each

  // `one` is room for a bag that is not stored.
  std::span<const Feature> bag(uint32_t entity, Feature& one) const {
    if (offsets.empty()) {
      one = {first + entity, 1.0f};
      return {&one, 1};
    }
    return {features.data() + offsets[entity], features.data() + offsets[entity + 1]};
  }
};

struct TableProfile {
  uint64_t bytes = 0, rows = 0, held_out = 0;
  struct Cells {
    uint64_t missing = 0;
    uint64_t distinct = 0;    // values; of a set its members
    uint64_t unreadable = 0;  // not what the column's type can read; taken as missing
    std::string first;        // of those: where, and what stood there
  };
  std::vector<Cells> groups;
};

// How a table is taken, beyond how it is read.
struct TableUse {
  std::string schema{};
  std::string types{};
  std::optional<double> holdout{};

  static constexpr std::tuple fields{
      field("schema", &TableUse::schema,
            "what the columns are, as JSON; if there is no such file, it is written"),
      field("types", &TableUse::types,
            "types of some columns, such as year=category,notes=ignore; may be given several times")
          .adding_up(),
      field("holdout", &TableUse::holdout,
            "rows to hold out to score the model: a share, or a number; 0 for none")
          .between(0, 1e12)
          .automatic("10,000 rows, at most 1 %; a tenth with a numeric target or one of few values")
          .formerly("holdout", 10000),
  };
};

class Table final : public Dataset {
 public:
  using Base = Encoding;  // of a model to go on from

  // Reads everything once. `base`: an encoding to go on with; its values keep their numbers and new
  // ones follow, its knots stay. Columns of type ignore take no part. `holdout`: as in TableUse.
  // `on_read(bytes, share)` is called now and then. Of the wishes: those for a target.
  // Error(kInput) if there is no row, fewer than two columns that take part, or a column without
  // any value.
  static Table read(TableReader& reader, const Schema& schema, std::optional<double> holdout,
                    const Encoding* base = nullptr,
                    const std::function<void(uint64_t, double)>& on_read = {},
                    const Wishes& wishes = {});

  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return rows_; }
  uint64_t vectors() const override { return encoding_.rows(); }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override { return fingerprint_; }
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override;
  // What the columns seem to be, and what else should be said of them; for the profile.
  void describe(std::vector<ColumnSummary> columns, std::vector<Note> notes);

  const Encoding& encoding() const { return encoding_; }
  const TableProfile& counts() const { return profile_; }
  size_t groups() const { return entities_.size(); }
  uint64_t rows() const { return rows_; }  // to train on
  std::span<const uint32_t> row(uint64_t r) const { return {&ids_[r * groups()], groups()}; }
  uint64_t held_out() const { return held_out_ids_.size() / groups(); }
  std::span<const uint32_t> held_out_row(uint64_t r) const {
    return {&held_out_ids_[r * groups()], groups()};
  }
  // The rows to train on, and behind them those held out.
  std::span<const uint32_t> any_row(uint64_t r) const {
    return r < rows_ ? row(r) : held_out_row(r - rows_);
  }
  const Entities& entities(size_t group) const { return entities_[group]; }

 private:
  friend class TableBuilder;
  Table() = default;
  Encoding encoding_;
  TableProfile profile_;
  std::vector<Entities> entities_;
  std::vector<uint32_t> ids_, held_out_ids_;
  std::vector<ColumnSummary> columns_;
  std::vector<Note> notes_;
  uint64_t rows_ = 0, fingerprint_ = 0;
};

}  // namespace kith
