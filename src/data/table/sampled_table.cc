// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "data/table/schema.h"

namespace kith {
namespace {

constexpr size_t kMaxSampleBytes = size_t{64} << 20;

}  // namespace

struct SampledTable::Impl {
  std::unique_ptr<TableReader> rest;
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::vector<std::string> places;  // of the rows
  size_t given = 0;
};

SampledTable::SampledTable(std::unique_ptr<TableReader> rest, size_t rows)
    : TableReader(rest->tally()), impl_(std::make_unique<Impl>()) {
  impl_->rest = std::move(rest);
  size_t bytes = 0;
  std::vector<Cell> cells;
  while (impl_->rows.size() < rows && bytes < kMaxSampleBytes && impl_->rest->next(cells)) {
    auto& row = impl_->rows.emplace_back(cells.begin(), cells.end());
    impl_->places.push_back(impl_->rest->where());
    for (const auto& cell : row) bytes += sizeof(cell) + (cell ? cell->size() : 0);
  }
}

SampledTable::~SampledTable() = default;

const std::vector<std::string>& SampledTable::columns() const { return impl_->rest->columns(); }

bool SampledTable::next(std::vector<Cell>& cells) {
  if (impl_->given < impl_->rows.size()) {
    const auto& row = impl_->rows[impl_->given++];
    cells.assign(row.begin(), row.end());
    return true;
  }
  impl_->given = impl_->rows.size() + 1;
  return impl_->rest->next(cells);
}

std::string SampledTable::where() const {
  const size_t given = impl_->given;
  if (given == 0 || given > impl_->rows.size()) return impl_->rest->where();
  return impl_->places[given - 1];
}

uint64_t SampledTable::bytes() const { return impl_->rest->bytes(); }
double SampledTable::share() const { return impl_->rest->share(); }

const std::vector<std::vector<std::optional<std::string>>>& SampledTable::sample() const {
  return impl_->rows;
}

}  // namespace kith
