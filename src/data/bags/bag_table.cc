// SPDX-License-Identifier: Apache-2.0
#include "data/bags/bag_table.h"

#include <utility>

#include "core/error.h"
#include "data/labelled/label_source.h"

namespace kith {
namespace {

class BagTable final : public TableReader {
 public:
  BagTable(RawBags bags, std::string where)
      : TableReader(std::make_shared<RowTally>()),
        bags_(std::move(bags)),
        where_(std::move(where)) {}

  const std::vector<std::string>& columns() const override { return columns_; }
  bool next(std::vector<Cell>& cells) override {
    if (at_ == bags_.counts.size()) return false;
    while (bags_.counts.offsets[document_ + 1] <= at_) ++document_;
    count_ = fmt::format("{}", static_cast<uint64_t>(bags_.counts.value[at_]));
    cells.assign({bags_.names[document_], bags_.words[bags_.counts.column[at_]], count_});
    ++at_;
    tally()->add_row();
    return true;
  }
  std::string where() const override {
    return fmt::format("{}: document {}", where_, document_ + 1);
  }
  uint64_t bytes() const override { return bags_.profile.bytes; }
  double share() const override {
    return static_cast<double>(at_) / static_cast<double>(bags_.counts.size());
  }

 private:
  const std::vector<std::string> columns_{"document", "word", "count"};
  RawBags bags_;
  std::string where_, count_;
  uint64_t at_ = 0;
  uint32_t document_ = 0;
};

}  // namespace

std::unique_ptr<TableReader> bag_table(const std::vector<std::string>& sources,
                                       const std::string& vocab, const OnRead& on_read) {
  return std::make_unique<BagTable>(read_bag_files(sources, vocab, nullptr, on_read),
                                    name_of_sources(sources));
}

}  // namespace kith
