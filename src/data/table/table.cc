// SPDX-License-Identifier: Apache-2.0
#include "data/table/table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "data/holdout.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kUsualHoldout = 10000;  // rows, and at most 1 %
constexpr int kUsualKnots = 16;
constexpr uint64_t kRowsPerKnot = 100;
constexpr uint64_t kHoldoutSeed = 0x51ed27;
constexpr size_t kGrid = 256;               // values kept to predict a number from
constexpr uint64_t kReportEvery = 1 << 16;  // rows

// Numbers keys 0, 1, 2, ... as they come. Keys are 64-bit hashes: among ten million values the
// chance that two share one is 3 in a million.
class HashIndex {
 public:
  uint32_t add(uint64_t key) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    uint32_t& slot = slots_[place(key)];
    if (slot == 0) {
      keys_.push_back(key);
      slot = static_cast<uint32_t>(keys_.size());
    }
    return slot - 1;
  }
  size_t size() const { return keys_.size(); }

 private:
  size_t place(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = mix64(key) & mask;
    while (slots_[at] != 0 && keys_[slots_[at] - 1] != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_.assign(std::max<size_t>(64, 2 * slots_.size()), 0);
    for (uint32_t i = 0; i < keys_.size(); ++i) slots_[place(keys_[i])] = i + 1;
  }
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> slots_;
};

// Every pair of columns has a weight.
void check_columns(int64_t columns) {
  constexpr int64_t kMost = 16384;
  if (columns <= kMost) return;
  throw fault(
      ErrorKind::kLimit,
      "the table has {} columns, and more than {} are too many to relate each to every other; set "
      "some to ignore in the schema, or put them into one set or vector",
      grouped(static_cast<uint64_t>(columns)), grouped(kMost));
}

uint64_t hash_ids(std::span<const uint32_t> ids) {
  uint64_t h = ids.size();
  for (const uint32_t id : ids) h = fold_multiply(h ^ id ^ 0x9e3779b97f4a7c15, 0xa0761d6478bd642f);
  return h;
}

// Points at which a number's basis bends: quantiles of the distinct values weighted by the square
// root of their counts, so that neither a heap of equal values nor a thin tail takes them all.
std::vector<double> knots_of(std::span<const double> values, std::span<const uint64_t> counts,
                             size_t most) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return values[i]; });
  std::vector<double> out;
  if (order.size() <= most) {
    for (const uint32_t i : order) out.push_back(values[i]);
    return out;
  }
  double total = 0;
  for (const uint64_t c : counts) total += std::sqrt(static_cast<double>(c));
  double seen = 0;
  for (const uint32_t i : order) {
    const double next = seen + std::sqrt(static_cast<double>(counts[i]));
    const double want = total * static_cast<double>(out.size()) / static_cast<double>(most - 1);
    if (out.empty() || (next >= want && out.size() + 1 < most)) out.push_back(values[i]);
    seen = next;
  }
  if (out.back() < values[order.back()]) out.push_back(values[order.back()]);
  return out;
}

}  // namespace

class TableBuilder {
 public:
  TableBuilder(TableReader& reader, const Schema& schema, const Encoding* base)
      : reader_(reader), encoder_(begun(t_.encoding_, base)), going_on_(base != nullptr) {
    choose_groups(schema, base);
    const size_t n = t_.encoding_.groups.size();
    t_.entities_.resize(n);
    t_.profile_.groups.resize(n);
    build_.resize(n);
    old_names_.resize(t_.encoding_.spaces.size());
    for (size_t s = 0; s < old_names_.size(); ++s) {
      old_names_[s] = t_.encoding_.spaces[s].names.size();
    }
  }

  Table read(std::optional<double> holdout, const std::function<void(uint64_t, double)>& on_read,
             const Wishes& wishes) {
    std::vector<Cell> cells;
    const size_t n = build_.size();
    for (; reader_.next(cells); ++t_.rows_) {
      for (size_t g = 0; g < n; ++g) {
        const bool there = columns_[g] != Encoding::npos;
        t_.ids_.push_back(entity(g, there ? cells[columns_[g]] : std::nullopt));
      }
      if (on_read && t_.rows_ % kReportEvery == 0) on_read(reader_.bytes(), reader_.share());
    }
    t_.profile_.rows = t_.rows_;
    t_.profile_.bytes = reader_.bytes();
    t_.notes_ = reader_.tally()->finish();
    if (t_.rows_ == 0) {
      throw fault(ErrorKind::kInput, "{}: the table has no rows", reader_.where());
    }
    for (size_t g = 0; g < n && !going_on_; ++g) {
      if (build_[g].index.size() == 0 && build_[g].by_member.empty()) {
        throw fault(ErrorKind::kInput,
                    "column {}: not one of {} cells has a value that a {} column can read; set its "
                    "type to ignore",
                    column(g).name, t_.rows_, detail::show(column(g).type));
      }
    }
    count();
    order_names();
    const bool few = target_is_of_few(wishes);
    int knots = kUsualKnots;
    if (few) {  // where there are rows enough to tell one from the next
      const auto most = static_cast<int>(std::min<uint64_t>(t_.rows_ / kRowsPerKnot, 1024));
      knots = std::max(knots, std::min(wishes.knots.value_or(knots), most));
    }
    for (size_t g = 0; g < n; ++g) learn_basis(g, knots);
    t_.encoding_.check_size();
    // Only now is it known how many rows each space has, and so where the next begins.
    for (size_t g = 0; g < n; ++g) encode_entities(g);
    take_held_out(holdout ? holdout : few ? wishes.holdout : std::nullopt);
    fingerprint();
    return std::move(t_);
  }

 private:
  struct Build {
    HashIndex index;                   // of whole cells
    std::vector<uint32_t> by_member;   // category: the entity of a value, or kNoEntity
    std::vector<uint64_t> offsets{0};  // members of each entity
    std::vector<uint32_t> members;     // names of the space as they were first seen
    std::vector<double> numbers;
    std::vector<float> components;
    size_t width = 0;  // of a vector
  };

  // An encoder says what it does when it is made.
  static const Encoding& begun(Encoding& encoding, const Encoding* base) {
    if (base) encoding = *base;
    return encoding;
  }

  const Column& column(size_t g) const { return t_.encoding_.groups[g].column; }
  ValueSpace& space(size_t g) { return t_.encoding_.spaces[t_.encoding_.groups[g].space]; }

  void choose_groups(const Schema& schema, const Encoding* base) {
    const auto& names = reader_.columns();
    const auto place = [&](const std::string& name) {
      return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
    };
    if (base) {  // a column that the new rows lack is missing in all of them
      for (const Group& g : base->groups) {
        const size_t at = place(g.column.name);
        columns_.push_back(at == names.size() ? Encoding::npos : at);
      }
      if (std::ranges::count(columns_, Encoding::npos) == std::ssize(columns_)) {
        throw fault(ErrorKind::kInput, "{}: none of its columns ({}) is one of the model's",
                    reader_.where(), fmt::join(names, ", "));
      }
      return;
    }
    check_columns(std::ranges::count_if(
        schema.columns, [](const Column& c) { return c.type != ColumnType::kIgnore; }));
    for (const Column& c : schema.columns) {
      if (c.type == ColumnType::kIgnore) continue;
      if (place(c.name) == names.size()) {
        throw fault(ErrorKind::kInput, "the table has no column {}, which the schema names",
                    c.name);
      }
      columns_.push_back(place(c.name));
      add_group(t_.encoding_, c);
    }
    if (columns_.size() < 2) {
      throw fault(ErrorKind::kInput,
                  "vectors are learned from columns that go together, so two are needed; of the {} "
                  "here {}; see the schema",
                  count_of(names.size(), "column"),
                  columns_.empty()
                      ? "none can be used"
                      : fmt::format("only {} can be used", t_.encoding_.groups[0].column.name));
    }
  }

  uint32_t unreadable(size_t g, std::string_view cell) {
    TableProfile::Cells& cells = t_.profile_.groups[g];
    if (cells.unreadable++ == 0) {
      cells.first = fmt::format("{}: \"{:.40}\"", reader_.where(), cell);
    }
    return kNoEntity;
  }

  uint32_t missing(size_t g) {
    ++t_.profile_.groups[g].missing;
    return kNoEntity;
  }

  uint32_t entity(size_t g, const Cell& cell) {
    if (!cell) return missing(g);
    Build& b = build_[g];
    const Group& group = t_.encoding_.groups[g];
    if (group.numeric()) {
      const NumericCell found = numeric_cell(group.column, *cell);
      if (found.unreadable) return unreadable(g, *cell);
      if (!found.value) return missing(g);
      const double value = *found.value + 0.0;  // -0 is 0
      const uint32_t e = b.index.add(std::bit_cast<uint64_t>(value));
      if (e == b.numbers.size()) b.numbers.push_back(value);
      return e;
    }
    if (group.column.type == ColumnType::kVector) {
      const auto values = vector_cell(group.column, *cell);
      if (values && values->empty()) return missing(g);
      if (values && b.width == 0) b.width = group.mean.empty() ? values->size() : group.mean.size();
      if (!values || values->size() != b.width) return unreadable(g, *cell);
      const std::string_view bytes(reinterpret_cast<const char*>(values->data()),
                                   values->size() * sizeof(float));
      const uint32_t e = b.index.add(stable_hash(bytes));
      if (e * b.width == b.components.size()) {
        b.components.insert(b.components.end(), values->begin(), values->end());
      }
      return e;
    }
    const auto names = encoder_.members(group.column, *cell);
    if (names.empty()) return missing(g);
    members_.clear();
    Names& all = space(g).names;
    for (const std::string_view name : names) members_.push_back(all.add(name));
    return group.column.type == ColumnType::kSet || group.column.type == ColumnType::kText
               ? bag(b, group.column.type)
               : value(b, members_[0]);
  }

  static uint32_t value(Build& b, uint32_t member) {
    if (member >= b.by_member.size()) b.by_member.resize(member + 1, kNoEntity);
    uint32_t& e = b.by_member[member];
    if (e == kNoEntity) {
      e = static_cast<uint32_t>(b.members.size());
      b.members.push_back(member);
      b.offsets.push_back(b.members.size());
    }
    return e;
  }

  uint32_t bag(Build& b, ColumnType type) {
    if (type == ColumnType::kSet) {
      std::ranges::sort(members_);
      members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    }
    const uint32_t e = b.index.add(hash_ids(members_));
    if (e + 1 == b.offsets.size()) {
      b.members.insert(b.members.end(), members_.begin(), members_.end());
      b.offsets.push_back(b.members.size());
    }
    return e;
  }

  size_t entity_count(size_t g) const {
    return t_.encoding_.groups[g].named() ? build_[g].offsets.size() - 1 : build_[g].index.size();
  }

  uint64_t distinct(size_t g) {
    if (column(g).type != ColumnType::kSet) return entity_count(g);
    std::vector<bool> seen(space(g).names.size());
    for (const uint32_t member : build_[g].members) seen[member] = true;
    return static_cast<uint64_t>(std::ranges::count(seen, true));
  }

  // How often each entity stands in the table, and each name.
  void count() {
    const size_t n = build_.size();
    for (size_t g = 0; g < n; ++g) {
      Entities& e = t_.entities_[g];
      e.size = entity_count(g);
      e.counts.assign(e.size, 0);
      for (uint64_t r = 0; r < t_.rows_; ++r) {
        const uint32_t id = t_.ids_[r * n + g];
        if (id != kNoEntity) ++e.counts[id];
      }
      t_.profile_.groups[g].distinct = distinct(g);
    }
    for (ValueSpace& s : t_.encoding_.spaces) s.counts.resize(s.names.size());
    for (size_t g = 0; g < n; ++g) {
      if (!t_.encoding_.groups[g].named()) continue;
      const Build& b = build_[g];
      for (size_t e = 0; e + 1 < b.offsets.size(); ++e) {
        for (uint64_t m = b.offsets[e]; m < b.offsets[e + 1]; ++m) {
          space(g).counts[b.members[m]] += t_.entities_[g].counts[e];
        }
      }
    }
  }

  // Names by falling count, those of the base in front as they were; rare ones lose their row.
  void order_names() {
    auto& spaces = t_.encoding_.spaces;
    renamed_.resize(spaces.size());
    seen_names_.resize(spaces.size());
    for (size_t s = 0; s < spaces.size(); ++s) {
      ValueSpace& old = spaces[s];
      uint64_t min_count = 1;
      for (const Group& g : t_.encoding_.groups) {
        if (g.space == s) {
          min_count = std::max(min_count, static_cast<uint64_t>(g.column.min_count));
        }
      }
      std::vector<uint32_t> order(old.names.size());
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin() + static_cast<int64_t>(old_names_[s]), order.end(),
                       [&](uint32_t a, uint32_t b) { return old.counts[a] > old.counts[b]; });
      renamed_[s].assign(old.names.size(), kNoRow);
      Names names;
      std::vector<uint64_t> counts;
      for (const uint32_t i : order) {
        if (i >= old_names_[s] && old.counts[i] < min_count) continue;
        renamed_[s][i] = names.add(old.names[i]);
        counts.push_back(old.counts[i]);
      }
      seen_names_[s] = std::exchange(old.names, std::move(names));
      old.counts = std::move(counts);
    }
  }

  void learn_basis(size_t g, int usual_knots) {
    Group& group = t_.encoding_.groups[g];
    Build& b = build_[g];
    Entities& e = t_.entities_[g];
    ValueSpace& s = space(g);
    if (group.numeric()) {
      if (group.knots.empty()) {
        group.knots = knots_of(b.numbers, e.counts,
                               static_cast<size_t>(group.column.knots.value_or(usual_knots)));
      }
      keep_grid(group, b.numbers, e.counts);
    } else if (group.column.type == ColumnType::kVector && group.mean.empty()) {
      standardise(group, b);
    }
    if (!group.named()) {
      s.basis = basis_rows(group.column, group.knots.size(), group.mean.size());
    }
  }

  void encode_entities(size_t g) {
    const Group& group = t_.encoding_.groups[g];
    Build& b = build_[g];
    Entities& e = t_.entities_[g];
    const ValueSpace& s = space(g);
    const uint32_t base = t_.encoding_.base32(group.space);
    if (group.named()) {
      const bool plain =
          group.column.type == ColumnType::kCategory || group.column.type == ColumnType::kBoolean;
      if (plain && s.buckets == 0 && e.size == s.names.size()) {
        renumber(g, base);
      } else {
        encode_members(g, base);
      }
    } else {
      e.offsets.push_back(0);
      for (uint64_t i = 0; i < e.size; ++i) {
        if (group.numeric()) {
          append_numeric(group, b.numbers[i], base, e.features);
        } else {
          append_vector({&b.components[i * b.width], b.width}, group, base, e.features);
        }
        e.offsets.push_back(e.features.size());
      }
    }
    e.numbers = std::move(b.numbers);
    b = Build{};
  }

  // Every value has a row of its own: then the entity is the row.
  void renumber(size_t g, uint32_t base) {
    const size_t n = build_.size();
    Build& b = build_[g];
    Entities& e = t_.entities_[g];
    const auto& renamed = renamed_[t_.encoding_.groups[g].space];
    std::vector<uint32_t> row(e.size);
    std::vector<uint64_t> counts(e.size);
    for (size_t i = 0; i < e.size; ++i) {
      row[i] = renamed[b.members[i]];
      counts[row[i]] = e.counts[i];
    }
    for (uint64_t r = 0; r < t_.rows_; ++r) {
      uint32_t& id = t_.ids_[r * n + g];
      if (id != kNoEntity) id = row[id];
    }
    e.counts = std::move(counts);
    e.first = base;
  }

  void encode_members(size_t g, uint32_t base) {
    const Group& group = t_.encoding_.groups[g];
    const Build& b = build_[g];
    Entities& e = t_.entities_[g];
    const Names& seen = seen_names_[group.space];
    std::vector<std::string_view> names;
    std::vector<uint32_t> rows;
    e.offsets.push_back(0);
    for (uint64_t i = 0; i < e.size; ++i) {
      names.clear();
      rows.clear();
      for (uint64_t m = b.offsets[i]; m < b.offsets[i + 1]; ++m) {
        names.push_back(seen[b.members[m]]);
        rows.push_back(renamed_[group.space][b.members[m]]);
      }
      append_members(group.column, space(g), names, rows, base, e.features);
      e.offsets.push_back(e.features.size());
    }
  }

  // At most kGrid values that stand for all, each with the count of those nearest to it. Those of
  // the base are counted in, so that a few new rows do not decide what can be predicted.
  static void keep_grid(Group& group, std::vector<double> numbers, std::vector<uint64_t> counts) {
    numbers.insert(numbers.end(), group.values.begin(), group.values.end());
    counts.insert(counts.end(), group.value_counts.begin(), group.value_counts.end());
    std::vector<uint32_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](uint32_t i) { return numbers[i]; });
    group.values.clear();
    group.value_counts.clear();
    const uint64_t total = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
    const uint64_t share = order.size() <= kGrid ? 0 : total / kGrid;
    uint64_t held = 0;
    double mean = 0;  // of those held; a sum of large numbers would leave the range
    for (size_t i = 0; i < order.size(); ++i) {
      held += counts[order[i]];
      const double part =
          held ? static_cast<double>(counts[order[i]]) / static_cast<double>(held) : 1;
      mean = mean * (1 - part) + numbers[order[i]] * part;
      const bool last = i + 1 == order.size();
      if (!last && numbers[order[i + 1]] == numbers[order[i]]) continue;
      if (held > share || last) {
        group.values.push_back(mean);
        group.value_counts.push_back(held);
        held = 0;
        mean = 0;
      }
    }
  }

  static void standardise(Group& group, const Build& b) {
    const size_t d = b.width, rows = b.components.size() / std::max<size_t>(1, d);
    group.mean.assign(d, 0);
    group.scale.assign(d, 1);
    for (size_t i = 0; i < d; ++i) {
      double sum = 0, squares = 0;
      for (size_t r = 0; r < rows; ++r) {
        const double x = b.components[r * d + i];
        sum += x;
        squares += x * x;
      }
      const double mean = sum / static_cast<double>(rows);
      const double variance = std::max(0.0, squares / static_cast<double>(rows) - mean * mean);
      group.mean[i] = static_cast<float>(mean);
      // Divided by the root of d as well, so that phi has the size of one row.
      group.scale[i] = variance > 0
                           ? static_cast<float>(1 / std::sqrt(variance * static_cast<double>(d)))
                           : 0.0f;
    }
  }

  // Whether there is a target that is a number, or has few values.
  bool target_is_of_few(const Wishes& wishes) const {
    const size_t g = wishes.target.empty() ? Encoding::npos : t_.encoding_.find(wishes.target);
    if (g == Encoding::npos) return false;
    const Group& group = t_.encoding_.groups[g];
    return group.numeric() ||
           (group.named() && t_.encoding_.spaces[group.space].names.size() <= wishes.few);
  }

  // A fixed rule picks them, so the same table always loses the same rows.
  void take_held_out(std::optional<double> holdout) {
    const size_t n = build_.size();
    const uint64_t usual = std::min(kUsualHoldout, t_.rows_ / 100);
    const uint64_t wanted = HoldOut::wanted(holdout, t_.rows_, usual);
    if (wanted > 0) {
      const HoldOut rule(static_cast<double>(wanted) / static_cast<double>(t_.rows_));
      uint64_t kept = 0;
      for (uint64_t r = 0; r < t_.rows_; ++r) {
        const auto row = t_.ids_.begin() + static_cast<int64_t>(r * n);
        if (rule.takes(r + kHoldoutSeed) && t_.held_out_ids_.size() / n < wanted) {
          t_.held_out_ids_.insert(t_.held_out_ids_.end(), row, row + static_cast<int64_t>(n));
          for (size_t g = 0; g < n; ++g) {
            if (row[static_cast<int64_t>(g)] != kNoEntity) {
              --t_.entities_[g].counts[row[static_cast<int64_t>(g)]];
            }
          }
        } else {
          std::copy(row, row + static_cast<int64_t>(n),
                    t_.ids_.begin() + static_cast<int64_t>(kept++ * n));
        }
      }
      t_.rows_ = kept;
      t_.ids_.resize(kept * n);
    }
    t_.profile_.held_out = t_.held_out();
  }

  void fingerprint() {
    uint64_t h = hash_ids(t_.ids_) ^ hash_ids(t_.held_out_ids_);
    for (const ValueSpace& s : t_.encoding_.spaces) {
      h = fold_multiply(h ^ stable_hash(s.names.bytes()) ^ s.rows(), 0xe7037ed1a0b428db);
    }
    for (const Entities& e : t_.entities_) {
      for (const Feature& f : e.features) {
        h = fold_multiply(h ^ f.row ^ uint64_t{std::bit_cast<uint32_t>(f.weight)} << 32,
                          0x8ebc6af09c88c6e3);
      }
    }
    t_.fingerprint_ = h;
  }

  TableReader& reader_;
  Table t_;
  CellEncoder encoder_;
  const bool going_on_;          // with an encoding that is there
  std::vector<size_t> columns_;  // of the reader, by group; npos for one that it lacks
  std::vector<Build> build_;
  std::vector<uint32_t> members_;
  std::vector<size_t> old_names_;               // by space: names of the base
  std::vector<std::vector<uint32_t>> renamed_;  // by space: first-seen number -> row
  std::vector<Names> seen_names_;
};

Table Table::read(TableReader& reader, const Schema& schema, std::optional<double> holdout,
                  const Encoding* base, const std::function<void(uint64_t, double)>& on_read,
                  const Wishes& wishes) {
  return TableBuilder(reader, schema, base).read(holdout, on_read, wishes);
}

}  // namespace kith
