// SPDX-License-Identifier: Apache-2.0
#include "kith/score.h"

#include <algorithm>
#include <cmath>

#include "api/opened.h"
#include "api/rows.h"
#include "core/error.h"

namespace kith {
namespace {

// Scores of rows, and what each pair of columns adds to them. A pair is odd if it adds much less
// than it does on average: in standard deviations, so that pairs can be compared.
class Oddities {
 public:
  explicit Oddities(size_t pairs) : sum_(pairs), squares_(pairs), seen_(pairs) {}
  struct Row {
    std::string name;
    bool named;
    uint64_t number;
    std::vector<float> pairs;  // NaN where one of the two is missing
  };
  void add(Row row) {
    for (size_t p = 0; p < row.pairs.size(); ++p) {
      if (std::isnan(row.pairs[p])) continue;
      sum_[p] += row.pairs[p];
      squares_[p] += row.pairs[p] * row.pairs[p];
      ++seen_[p];
    }
    rows_.push_back(std::move(row));
  }
  std::span<const Row> rows() const { return rows_; }
  double mean(size_t p) const { return seen_[p] ? sum_[p] / static_cast<double>(seen_[p]) : 0; }
  double odd(const Row& row, size_t p) const {
    const double d = deviation(p);
    return d == 0 ? 0 : (mean(p) - row.pairs[p]) / d;
  }

 private:
  double deviation(size_t p) const {
    if (seen_[p] < 2) return 0;
    const double m = mean(p);
    return std::sqrt(std::max(0.0, squares_[p] / static_cast<double>(seen_[p]) - m * m));
  }
  std::vector<double> sum_, squares_;
  std::vector<uint64_t> seen_;
  std::vector<Row> rows_;
};

// Two groups of a table.
struct GroupPair {
  size_t a, b;
  std::string name;
};

std::vector<GroupPair> pairs_of(const Encoding& encoding) {
  std::vector<GroupPair> out;
  const auto& groups = encoding.groups;
  for (size_t a = 0; a < groups.size(); ++a) {
    for (size_t b = a + 1; b < groups.size(); ++b) {
      out.push_back({a, b, fmt::format("{} x {}", groups[a].column.name, groups[b].column.name)});
    }
  }
  return out;
}

ScoredRow scored(const Oddities& oddities, const Oddities::Row& row,
                 std::span<const GroupPair> pairs) {
  ScoredRow out;
  out.name = row.name;
  out.named = row.named;
  out.row = row.number;
  for (size_t p = 0; p < pairs.size(); ++p) {
    if (std::isnan(row.pairs[p])) continue;
    out.pairs.push_back({pairs[p].name, row.pairs[p], oddities.mean(p), oddities.odd(row, p)});
    out.score += row.pairs[p];
    out.odd += out.pairs.back().odd;
  }
  out.odd /= std::sqrt(static_cast<double>(std::max<size_t>(1, out.pairs.size())));
  return out;
}

}  // namespace

std::string because(const ScoredRow& row) {
  std::vector<const ScoredRow::Pair*> pairs;
  for (const ScoredRow::Pair& p : row.pairs) pairs.push_back(&p);
  std::ranges::stable_sort(pairs, [](auto* a, auto* b) { return a->odd > b->odd; });
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min<size_t>(2, pairs.size()) && pairs[i]->odd > 0; ++i) {
    out.push_back(fmt::format("{} {:.2f}, usually {:.2f}", pairs[i]->columns, pairs[i]->score,
                              pairs[i]->usual));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

std::vector<ScoredRow> score_rows(const Model& model, const std::vector<std::string>& sources,
                                  const ScoreOptions& options, std::span<const Setting> reading,
                                  const Context& context, Observer* observer) {
  RowAsker asker(model.impl(), "score");
  GroupedRows rows(asker.encoding(), sources, reading, context, observer);
  std::optional<size_t> name;
  if (!options.name.empty()) name = rows.column(options.name);
  const std::vector<GroupPair> pairs = pairs_of(asker.encoding());
  Oddities oddities(pairs.size());
  while (rows.next()) {
    const SeenRow& row = asker.see(rows.cells());
    const Cell label = name ? rows.raw()[*name] : std::nullopt;
    Oddities::Row found{
        label ? std::string(*label) : rows.where(), label.has_value(), rows.row(), {}};
    for (const GroupPair& p : pairs) {
      const bool there = row.present[p.a] && row.present[p.b];
      found.pairs.push_back(there ? static_cast<float>(asker.model().pair_score(row, p.a, p.b))
                                  : std::nanf(""));
    }
    oddities.add(std::move(found));
  }
  std::vector<ScoredRow> out;
  for (const Oddities::Row& row : oddities.rows()) {
    out.push_back(scored(oddities, row, pairs));
  }
  if (options.all) return out;
  std::ranges::stable_sort(out, [](auto& a, auto& b) { return a.odd > b.odd; });
  out.resize(std::min(out.size(), static_cast<size_t>(options.top)));
  return out;
}

}  // namespace kith
