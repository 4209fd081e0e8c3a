// SPDX-License-Identifier: Apache-2.0
// Values that training never saw.

#include "models/feat2vec/test_tables.h"

namespace kith::feat2vec {
namespace {

TEST(ColdStart, NewValuesArePlacedByTheirRows) {
  Feat2Vec model;
  model.config().dim = 16;
  train(model, reference::table_of(planted(1500), kPlanted));
  std::string csv = "director,cast,year,genre\n";
  for (int topic = 0; topic < 4; ++topic) {
    for (int i = 0; i < 4; ++i)
      csv += fmt::format("new{},c{}_{},{},\n", topic, topic, i, 1905 + 25 * topic);
  }
  const Table more = reference::table_of(csv, kPlanted, 0, &model.encoding());
  const Updated updated = model.update(more, Context(1));
  ASSERT_EQ(updated.added.size(), 4u);
  for (const auto& added : updated.added) {
    EXPECT_EQ(added.column, "director");
    EXPECT_EQ(added.rows, 4u) << added.id;
  }
  const Names& names = model.encoding().spaces[0].names;
  for (int topic = 0; topic < 4; ++topic) {
    const std::string genre = fmt::format("g{}", topic);
    const auto p =
        chances(model, see(model, {std::nullopt, std::nullopt, std::nullopt, Cell(genre)}), 0);
    // Among the new ones the right one is best, and it ranks fairly among the trained: neither
    // above all of them nor below those of other topics.
    const double own = p[*names.find(fmt::format("new{}", topic))];
    double best_trained = 0, best_other = 0;
    for (size_t v = 0; v < p.size(); ++v) {
      if (names[v].starts_with("new")) {
        if (names[v] != fmt::format("new{}", topic)) {
          EXPECT_LT(p[v], own);
        }
      } else if (names[v].starts_with(fmt::format("d{}_", topic))) {
        best_trained = std::max(best_trained, p[v]);
      } else {
        best_other = std::max(best_other, p[v]);
      }
    }
    EXPECT_GT(own, best_other);
    EXPECT_LT(own, 3 * best_trained);
  }
}

// Directors that come again under other names, in the rows that they had: all that the maps of cold
// start were learned from.
struct Renamed {
  explicit Renamed(const std::string& csv) {
    model.config().dim = 8;
    train(model, reference::table_of(csv, kPlanted));
    std::string again = "director,cast,year,genre\n";
    for (size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1) {
      again += "new_" + csv.substr(at, csv.find('\n', at) + 1 - at);
    }
    model.update(reference::table_of(again, kPlanted, 0, &model.encoding()), Context(1));
    names = &model.encoding().spaces[0].names;
    values = model.values(0);
  }
  std::span<const float> of(const std::string& name) const {
    return values.row(*names->find(name));
  }
  Feat2Vec model;
  const Names* names;
  Matrix values;
};

TEST(ColdStart, NewValuesAreAsLongAsTrainedOnes) {
  const Renamed r(planted(1500));
  double trained = 0, placed = 0;
  for (size_t v = 0; v < r.names->size(); ++v) {
    double& sum = (*r.names)[v].starts_with("new_") ? placed : trained;
    for (size_t k = 0; k < 8; ++k) sum += r.values.row(v)[k] * r.values.row(v)[k];
  }
  EXPECT_GT(trained, 1);
  EXPECT_NEAR(placed / trained, 1, 1e-3);
}

// Who directs says nothing about the rest, only some do so far more often than others.
TEST(ColdStart, NewValuesThatAreFrequentAreMoreLikely) {
  std::string csv = "director,cast,year,genre\n";
  Rng rng(5, 5);
  for (int i = 0; i < 4000; ++i) {
    const double draw = rng.uniform();  // of 40: each a tenth rarer than the one before
    const int director = std::min(39, static_cast<int>(-std::log(1 - 0.98 * draw) * 10));
    csv += fmt::format("d{},c{},{},g{}\n", director, rng.below(10), 1900 + rng.below(50),
                       rng.below(4));
  }
  const Renamed r(csv);
  const auto bias = [&](const std::string& name) { return r.of(name)[8]; };
  const double trained = bias("d0") - bias("d35"), placed = bias("new_d0") - bias("new_d35");
  EXPECT_GT(trained, 1);
  EXPECT_NEAR(placed / trained, 1, 0.4);
}

}  // namespace
}  // namespace kith::feat2vec
