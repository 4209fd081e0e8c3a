// SPDX-License-Identifier: Apache-2.0
#include "data/table/sampled_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/table/distinct_cells.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

const std::vector<std::string> kX{"x"};

std::vector<Row> numbered(size_t n) {
  std::vector<Row> out;
  for (size_t i = 1; i <= n; ++i) out.push_back({std::to_string(i)});
  return out;
}

std::vector<uint64_t> numbers_of(const SampledTable& table) {
  std::vector<uint64_t> out;
  for (const SampledRow* row : table.sample()) out.push_back(row->number);
  return out;
}

void expect_every_row_once(SampledTable& table, const std::vector<Row>& rows) {
  std::vector<Cell> cells;
  for (size_t r = 0; r < rows.size(); ++r) {
    ASSERT_TRUE(table.next(cells));
    EXPECT_EQ(Row(cells.begin(), cells.end()), rows[r]);
    EXPECT_EQ(table.where(), fmt::format("fixed:{}", r + 1));
  }
  EXPECT_FALSE(table.next(cells));
  EXPECT_FALSE(table.next(cells));
  EXPECT_EQ(table.columns(), kX);
}

TEST(SampledTable, GivesEveryRowOnce) {
  const std::vector<Row> rows{{"1"}, {kMissing}, {"3"}, {"4"}};
  for (const size_t most : {1, 2, 3, 4, 5}) {
    SampledTable once(std::make_unique<FixedTable>(kX, rows), most);
    EXPECT_EQ(once.sample().size(), std::min<size_t>(most, 4));
    EXPECT_TRUE(once.whole());
    size_t opened = 0;
    const auto open = [&] {
      ++opened;
      return std::make_unique<FixedTable>(kX, rows);
    };
    SampledTable twice(open, most);
    EXPECT_EQ(numbers_of(twice), numbers_of(once)) << "the same rows either way";
    EXPECT_EQ(twice.again(), most < 4);
    for (const SampledRow* row : twice.sample()) {
      EXPECT_EQ(row->cells, rows[row->number - 1]);
      EXPECT_EQ(row->where, fmt::format("fixed:{}", row->number));
    }
    expect_every_row_once(once, rows);
    expect_every_row_once(twice, rows);
    EXPECT_EQ(opened, most < 4 ? 2u : 1u) << "what was kept whole is not read again";
  }
}

TEST(SampledTable, IsDrawnFromAllRows) {
  const std::vector<Row> rows = numbered(50000);
  const SampledTable table([&] { return std::make_unique<FixedTable>(kX, rows); }, 1000);
  const auto numbers = numbers_of(table);
  ASSERT_EQ(numbers.size(), 1000u);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
  for (uint64_t from = 0; from < 50000; from += 10000) {
    const auto part =
        std::ranges::count_if(numbers, [&](uint64_t n) { return n > from && n <= from + 10000; });
    EXPECT_NEAR(static_cast<double>(part), 200, 5 * std::sqrt(160)) << "five standard deviations";
  }
}

// Rows of a mebibyte: 64 of them are kept, of a pipe the first ones.
TEST(SampledTable, KeepsNoMoreThanItMay) {
  class LongRows final : public TableReader {
   public:
    LongRows() : TableReader(TableOptions{}) {}
    const std::vector<std::string>& columns() const override { return kX; }
    bool next(std::vector<Cell>& cells) override {
      if (at_ == 200) return false;
      cells.assign(1, std::string_view(text_));
      return ++at_ > 0;
    }
    std::string where() const override { return fmt::format("row {}", at_); }
    uint64_t bytes() const override { return at_ << 20; }
    double share() const override { return static_cast<double>(at_) / 200; }

   private:
    std::string text_ = std::string(size_t{1} << 20, 'x');
    uint64_t at_ = 0;
  };
  SampledTable twice([] { return std::make_unique<LongRows>(); });
  EXPECT_NEAR(static_cast<double>(twice.sample().size()), 63, 1);
  EXPECT_GT(twice.sample().back()->number, 150u);
  EXPECT_EQ(twice.looked_at(), 200u);
  SampledTable once(std::make_unique<LongRows>());
  EXPECT_EQ(once.sample().size(), 64u);
  EXPECT_EQ(once.sample().back()->number, 64u);
  EXPECT_FALSE(once.whole());
  EXPECT_EQ(rows_of(once).size(), 200u);
  EXPECT_EQ(rows_of(twice).size(), 200u);
  EXPECT_EQ(twice.bytes_before(), 200u << 20);
}

TEST(SampledTable, RowsAreTalliedOnce) {
  TableOptions options{.bad_rows = BadRows::kSkip};
  options.tally = std::make_shared<RowTally>(options.bad_rows);
  std::string text = "a,b\n";
  for (int i = 0; i < 50; ++i) text += i % 10 == 3 ? "1,2,3\n" : "1,2\n";
  SampledTable table([&] { return table_of(text, options); }, 10);
  EXPECT_EQ(rows_of(table).size(), 45u);
  const auto notes = table.tally()->finish();
  ASSERT_EQ(notes.size(), 1u);
  expect_part("5 rows could not be read", notes[0].text);
}

TEST(SampledTable, ATableWithOtherColumnsTheSecondTimeIsRefused) {
  std::vector<std::string> names{"x"};
  SampledTable table([&] { return std::make_unique<FixedTable>(names, numbered(20)); }, 5);
  names = {"y"};
  std::vector<Cell> cells;
  expect_part("its columns are not those of a moment ago",
              message_of(ErrorKind::kInput, [&] { table.next(cells); }));
}

TEST(SampledTable, LookingCanBeStopped) {
  size_t asked = 0;
  const auto stop = [&](uint64_t, double) {
    if (++asked == 3) throw fault(ErrorKind::kCancelled, "stop");
  };
  const std::vector<Row> rows = numbered(50000);
  message_of(ErrorKind::kCancelled, [&] {
    SampledTable([&] { return std::make_unique<FixedTable>(kX, rows); }, 100, stop);
  });
  EXPECT_EQ(asked, 3u);
}

TEST(SampledTable, CountsWhatIsRead) {
  std::vector<Row> rows = numbered(3000);
  for (size_t i = 0; i < rows.size(); i += 3) rows[i][0] = kMissing;
  for (size_t i = 1; i < rows.size(); i += 3) rows[i][0] = "same";
  SampledTable table([&] { return std::make_unique<FixedTable>(kX, rows); }, 10);
  table.count(std::vector<size_t>{0});
  rows_of(table);
  const auto count = table.counted(0);
  ASSERT_TRUE(count);
  EXPECT_EQ(count->missing, 1000u);
  EXPECT_EQ(count->distinct, 1001u);
  EXPECT_TRUE(count->exact);
  EXPECT_FALSE(table.counted(1));
}

TEST(DistinctCells, ExactUpToAPointThenNearlySo) {
  DistinctCells few(4096);
  for (int i = 0; i < 8192; ++i) few.add(std::to_string(i % 4096));
  EXPECT_TRUE(few.exact());
  EXPECT_EQ(few.count(), 4096u);
  DistinctCells many(4096);
  for (int i = 0; i < 300000; ++i) many.add(std::to_string(i % 100000));
  EXPECT_FALSE(many.exact());
  // Between 2,048 and 4,096 are kept: their standard deviation is 2.2 % at most.
  EXPECT_NEAR(static_cast<double>(many.count()), 100000, 4 * 2200);
}

}  // namespace
}  // namespace kith
