// SPDX-License-Identifier: Apache-2.0
#include "api/simple_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "api/rows.h"
#include "api/training.h"
#include "core/error.h"
#include "data/ratings/triples.h"
#include "data/table/cells.h"
#include "data/table/table.h"
#include "kith/text.h"

namespace kith {
namespace {

// Rows times classes that are trained on, each against the rest, at most: some minutes.
constexpr uint64_t kMostWork = 1'500'000;
constexpr size_t kManyValues = 20;  // of a column whose biases are worth to be measured
constexpr std::string_view kYes = "yes", kNo = "no";

const Names& names_of(const Encoding& encoding, size_t group) {
  return encoding.spaces[encoding.groups[group].space].names;
}

// The same table, whose column says only whether a row is of the class.
class OneAgainstTheRest final : public TableReader {
 public:
  OneAgainstTheRest(std::unique_ptr<TableReader> all, const std::string& column, std::string name)
      : TableReader(all->tally()),
        all_(std::move(all)),
        at_(static_cast<size_t>(std::ranges::find(all_->columns(), column) -
                                all_->columns().begin())),
        name_(std::move(name)) {}
  const std::vector<std::string>& columns() const override { return all_->columns(); }
  bool next(std::vector<Cell>& cells) override {
    if (!all_->next(cells)) return false;
    if (at_ < cells.size() && cells[at_]) cells[at_] = trimmed(*cells[at_]) == name_ ? kYes : kNo;
    return true;
  }
  std::string where() const override { return all_->where(); }
  uint64_t bytes() const override { return all_->bytes(); }
  double share() const override { return all_->share(); }

 private:
  std::unique_ptr<TableReader> all_;
  size_t at_;
  std::string name_;
};

}  // namespace

class LinearRows::Sum {
 public:
  // `name`: of the class that stands against the others, if it is one of several.
  Sum(const TrainedOn& on, const std::optional<std::string>& name,
      const std::function<void(double)>& tell)
      : trained_(model("feat2vec").make()) {
    const Encoding& encoding = on.like.encoding();
    const std::string& target = encoding.groups[on.like.target()].column.name;
    const Section settings = trained_->settings();
    const std::vector<Setting> said{{"target", target}, {"dim", int64_t{0}}};
    apply_settings(said, {&settings, 1});
    TableOptions options;
    const Section section("The table", options);
    apply_settings(on.reading, {&section, 1});
    std::unique_ptr<TableReader> reader = open_table({on.source}, options);
    if (name) reader = std::make_unique<OneAgainstTheRest>(std::move(reader), target, *name);
    Schema schema;
    for (const std::string& column : reader->columns()) {
      const size_t g = encoding.find(column);
      schema.columns.push_back(g == Encoding::npos
                                   ? Column{.name = column, .type = ColumnType::kIgnore}
                                   : encoding.groups[g].column);
    }
    Table table = Table::read(*reader, schema, std::nullopt, nullptr, {}, trained_->wishes());
    Job job(on.context);
    job.on_progress = [&](const Progress& p) { tell(share_done(p)); };
    if (!trained_->fit(table, job, true)) on.context.check();
    rows_ = &dynamic_cast<const CompletesRows&>(*trained_);
    encoder_.emplace(rows_->encoding());
    for (const Group& g : rows_->encoding().groups) from_.push_back(encoding.find(g.column.name));
  }
  double number(std::span<const Cell> cells) { return rows_->target_value(see(cells)); }
  // How likely a value of its own target is; 0 for one that it has not seen.
  double share(std::span<const Cell> cells, std::string_view value) {
    const auto at = names_of(rows_->encoding(), rows_->target()).find(value);
    return at ? probabilities(rows_->class_scores(see(cells)).scores)[*at] : 0;
  }

 private:
  const SeenRow& see(std::span<const Cell> cells) {
    cells_.clear();
    for (const size_t g : from_) cells_.push_back(cells[g]);
    rows_->see(*encoder_, cells_, seen_);
    return seen_;
  }
  std::unique_ptr<ModelBase> trained_;
  const CompletesRows* rows_ = nullptr;
  std::optional<CellEncoder> encoder_;
  std::vector<size_t> from_;  // by its own groups
  std::vector<Cell> cells_;
  SeenRow seen_;
};

LinearRows::LinearRows(const TrainedOn& on, const std::function<void(double)>& tell)
    : like_(on.like) {
  if (on.like.scores_target() || on.like.encoding().groups[on.like.target()].numeric()) {
    sums_.push_back(std::make_unique<Sum>(on, std::nullopt, tell));
    return;
  }
  const Names& names = names_of(on.like.encoding(), on.like.target());
  const auto all = static_cast<double>(names.size());
  for (size_t k = 0; k < names.size(); ++k) {
    sums_.push_back(std::make_unique<Sum>(on, std::string(names[k]), [&](double share) {
      tell((static_cast<double>(k) + share) / all);
    }));
  }
}

LinearRows::~LinearRows() = default;

std::string LinearRows::too_large(const CompletesRows& like) {
  const Encoding& encoding = like.encoding();
  const Group& group = encoding.groups[like.target()];
  if (like.scores_target() || group.numeric()) return "";
  const auto& counts = encoding.spaces[group.space].counts;
  const uint64_t rows = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  if (rows * counts.size() <= kMostWork) return "";
  return fmt::format(
      "a linear model is left out: it would be trained once for each of {} in {}, which takes long",
      count_of(counts.size(), "value"), count_of(rows, "row"));
}

double LinearRows::number(std::span<const Cell> cells) { return sums_.front()->number(cells); }

std::vector<double> LinearRows::shares(std::span<const Cell> cells) {
  const Names& names = names_of(like_.encoding(), like_.target());
  std::vector<double> out(names.size());
  for (size_t k = 0; k < out.size(); ++k) {
    out[k] = sums_.size() == 1 ? sums_[0]->share(cells, names[k]) : sums_[k]->share(cells, kYes);
  }
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& p : out) p = sum > 0 ? p / sum : 1 / static_cast<double>(out.size());
  return out;
}

uint32_t BiasesOfRows::number_of(const Encoding& encoding, size_t group, const Cell& cell) {
  const auto at = cell ? names_of(encoding, group).find(trimmed(*cell)) : std::nullopt;
  return at ? static_cast<uint32_t>(*at) : std::numeric_limits<uint32_t>::max();
}

std::optional<BiasesOfRows> BiasesOfRows::of(const TrainedOn& on, std::span<const uint8_t> given) {
  const Encoding& encoding = on.like.encoding();
  const Group& target = encoding.groups[on.like.target()];
  std::vector<size_t> able;
  for (size_t g = 0; g < encoding.groups.size(); ++g) {
    const bool category = encoding.groups[g].column.type == ColumnType::kCategory;
    if (given[g] && category && names_of(encoding, g).size() >= kManyValues) able.push_back(g);
  }
  if (able.size() < 2) return std::nullopt;
  std::ranges::stable_sort(able, std::greater<>(),
                           [&](size_t g) { return names_of(encoding, g).size(); });
  GroupedRows rows(encoding, {on.source}, on.reading, on.context, nullptr);
  Triples triples;
  while (rows.next()) {
    const Cell& cell = rows.cells()[on.like.target()];
    if (!cell) continue;
    const double value = numeric_cell(target.column, *cell).value.value_or(std::nan(""));
    const uint32_t first = number_of(encoding, able[0], rows.cells()[able[0]]);
    const uint32_t second = number_of(encoding, able[1], rows.cells()[able[1]]);
    const uint32_t unknown = std::numeric_limits<uint32_t>::max();
    if (std::isnan(value) || first == unknown || second == unknown) continue;
    triples.add({first, second, static_cast<float>(value)}, 0);
  }
  if (triples.size() == 0) return std::nullopt;
  const BuiltSparse built = build_sparse(triples, names_of(encoding, able[0]).size(),
                                         names_of(encoding, able[1]).size(), Duplicates::kMean);
  return BiasesOfRows(on.like, able[0], able[1], built.sparse);
}

double BiasesOfRows::number(std::span<const Cell> cells) const {
  const Encoding& encoding = like_->encoding();
  return biases_.predict(number_of(encoding, first_, cells[first_]),
                         number_of(encoding, second_, cells[second_]));
}

}  // namespace kith
