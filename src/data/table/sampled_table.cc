// SPDX-License-Identifier: Apache-2.0
#include "data/table/sampled_table.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "data/table/distinct_cells.h"

namespace kith {
namespace {

constexpr size_t kMaxSampleBytes = size_t{64} << 20;
constexpr uint64_t kReportEvery = 1 << 12;  // rows
constexpr uint64_t kSampleSeed = 0x9d2c5a;
constexpr size_t kMaxHashes = 1 << 20;  // of different cells, over all columns that are counted
constexpr size_t kHashesOfColumn = 1 << 16;
constexpr size_t kFewestHashes = 1 << 10;

size_t heap_bytes(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

size_t bytes_of(const SampledRow& row) {
  size_t out = sizeof(row) + heap_bytes(row.where);
  for (const auto& cell : row.cells) out += sizeof(cell) + (cell ? heap_bytes(*cell) : 0);
  return out;
}

// Rows with the smallest of these are a random sample, which more rows only make denser.
uint64_t priority(uint64_t number) { return mix64(number + kSampleSeed); }
bool before(const SampledRow& a, const SampledRow& b) {
  return priority(a.number) < priority(b.number);
}

}  // namespace

struct SampledTable::Impl {
  std::unique_ptr<TableReader> rest;
  Open open;                    // empty if it can be opened once only
  std::deque<SampledRow> rows;  // kept and not given yet, in their order
  std::vector<const SampledRow*> sample;
  uint64_t looked = 0, bytes_looked = 0;
  bool whole = false;  // the end was seen
  bool again = false;  // some rows were not kept
  bool reading = false;
  std::optional<SampledRow> row;  // the one last given, if it was kept
  struct Counted {
    size_t column;
    DistinctCells distinct;
    uint64_t missing = 0;
  };
  std::vector<Counted> counted;

  bool look(std::vector<Cell>& cells, const OnRead& on_read) {
    if (on_read && looked % kReportEvery == 0) on_read(rest->bytes(), rest->share());
    whole = !rest->next(cells);
    looked += !whole;
    return !whole;
  }

  SampledRow copy(const std::vector<Cell>& cells) const {
    return {looked, {cells.begin(), cells.end()}, rest->where()};
  }

  void keep_first(size_t most, const OnRead& on_read) {
    std::vector<Cell> cells;
    for (size_t bytes = 0; bytes < kMaxSampleBytes && look(cells, on_read);) {
      bytes += bytes_of(rows.emplace_back(copy(cells)));
    }
    for (const SampledRow& kept : rows) sample.push_back(&kept);
    if (sample.size() <= most) return;
    const auto end = sample.begin() + static_cast<int64_t>(most);
    std::nth_element(sample.begin(), end, sample.end(),
                     [](const auto* a, const auto* b) { return before(*a, *b); });
    sample.erase(end, sample.end());
    std::ranges::sort(sample, {}, &SampledRow::number);
  }

  // A heap with the largest priority at the front: a row that would leave it at once is not copied.
  void keep_sample(size_t most, const OnRead& on_read) {
    std::vector<Cell> cells;
    size_t bytes = 0;
    uint64_t limit = ~uint64_t{0};
    while (look(cells, on_read)) {
      if (priority(looked) >= limit) continue;
      bytes += bytes_of(rows.emplace_back(copy(cells)));
      std::ranges::push_heap(rows, before);
      while (rows.size() > most || (bytes > kMaxSampleBytes && rows.size() > 1)) {
        std::ranges::pop_heap(rows, before);
        limit = priority(rows.back().number);
        bytes -= bytes_of(rows.back());
        rows.pop_back();
        again = true;
      }
    }
    std::ranges::sort(rows, {}, &SampledRow::number);
    for (const SampledRow& kept : rows) sample.push_back(&kept);
  }

  // From here on the rows are read, and nobody looks at the sample any more.
  void start_reading() {
    reading = true;
    sample.clear();
    if (!again) return;
    rows.clear();
    bytes_looked = rest->bytes();
    rest->tally()->restart();
    const std::vector<std::string> columns = rest->columns();
    const std::string place = rest->where();
    rest.reset();
    rest = open();
    if (rest->columns() == columns) return;
    throw fault(ErrorKind::kInput,
                "{}: its columns are not those of a moment ago; train again when nobody writes it",
                place);
  }

  bool next(std::vector<Cell>& cells) {
    if (!reading) start_reading();
    if (rows.empty()) {
      row.reset();
      return rest->next(cells);
    }
    row = std::move(rows.front());
    rows.pop_front();
    cells.assign(row->cells.begin(), row->cells.end());
    return true;
  }
};

SampledTable::SampledTable(std::unique_ptr<Impl> impl)
    : TableReader(impl->rest->tally()), impl_(std::move(impl)) {}

SampledTable::SampledTable(std::unique_ptr<TableReader> once, size_t rows, const OnRead& on_read)
    : SampledTable([&] {
        auto impl = std::make_unique<Impl>();
        impl->rest = std::move(once);
        impl->keep_first(rows, on_read);
        return impl;
      }()) {}

SampledTable::SampledTable(Open open, size_t rows, const OnRead& on_read)
    : SampledTable([&] {
        auto impl = std::make_unique<Impl>();
        impl->open = std::move(open);
        impl->rest = impl->open();
        impl->keep_sample(rows, on_read);
        return impl;
      }()) {}

SampledTable::~SampledTable() = default;

const std::vector<std::string>& SampledTable::columns() const { return impl_->rest->columns(); }

bool SampledTable::next(std::vector<Cell>& cells) {
  if (!impl_->next(cells)) return false;
  for (Impl::Counted& c : impl_->counted) {
    if (cells[c.column]) {
      c.distinct.add(*cells[c.column]);
    } else {
      ++c.missing;
    }
  }
  return true;
}

std::string SampledTable::where() const {
  return impl_->row ? impl_->row->where : impl_->rest->where();
}

uint64_t SampledTable::bytes() const { return impl_->rest->bytes(); }
double SampledTable::share() const { return impl_->rest->share(); }

const std::vector<const SampledRow*>& SampledTable::sample() const { return impl_->sample; }
uint64_t SampledTable::looked_at() const { return impl_->looked; }
bool SampledTable::whole() const { return impl_->whole; }
bool SampledTable::again() const { return impl_->again; }
uint64_t SampledTable::bytes_before() const { return impl_->bytes_looked; }

void SampledTable::count(std::span<const size_t> columns) {
  const size_t share = kMaxHashes / std::max<size_t>(1, columns.size());
  const size_t each = std::clamp(share, kFewestHashes, kHashesOfColumn);
  for (const size_t c : columns) impl_->counted.push_back({c, DistinctCells(each)});
}

std::optional<SampledTable::Count> SampledTable::counted(size_t column) const {
  const auto found = std::ranges::find(impl_->counted, column, &Impl::Counted::column);
  if (found == impl_->counted.end()) return std::nullopt;
  return Count{found->missing, found->distinct.count(), found->distinct.exact()};
}

}  // namespace kith
