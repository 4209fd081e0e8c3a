// SPDX-License-Identifier: Apache-2.0
// A target that is a number: what is held out chooses how it is learned.

#include <cmath>
#include <random>

#include "models/feat2vec/problem.h"
#include "models/feat2vec/test_tables.h"
#include "models/test_model.h"

namespace kith::feat2vec {
namespace {

constexpr const char* kFive = R"({"columns": [{"name": "a", "type": "category"},
  {"name": "b", "type": "category"}, {"name": "c", "type": "category"},
  {"name": "d", "type": "category"}, {"name": "y", "type": "number"}]})";

// Four witnesses, each of whom is there or not, and near the truth if so. The answer is what those
// who are there say on average; a sum of what each says is wrong by how many they are.
std::string witnesses(int rows) {
  std::mt19937 rng(5);
  std::string csv = "a,b,c,d,y\n";
  for (int i = 0; i < rows; ++i) {
    const auto y = static_cast<int>(rng() % 60);
    for (const char who : {'a', 'b', 'c', 'd'}) {
      const int says = y + static_cast<int>(rng() % 7) - 3;
      if (rng() % 2) csv += fmt::format("{}{}", who, says);
      csv += ',';
    }
    csv += fmt::format("{}\n", y);
  }
  return csv;
}

// A product, which no sum of what each column says is.
std::string products(int rows, double noise) {
  std::mt19937 rng(6);
  std::normal_distribution<double> normal;
  std::string csv = "a,b,c,d,y\n";
  for (int i = 0; i < rows; ++i) {
    const auto a = static_cast<int>(rng() % 20), b = static_cast<int>(rng() % 20);
    const double y = (a % 2 ? 1 : -1) * (1 + a / 10.0) * (b % 3 - 1) + noise * normal(rng);
    csv += fmt::format("a{},b{},c{},d{},{:.3f}\n", a, b, rng() % 3, rng() % 3, y);
  }
  return csv;
}

Feat2Vec learned(const Table& table, std::optional<Loss> loss, std::optional<double> l2 = {}) {
  Feat2Vec out;
  out.config().target = "y";
  out.config().dim = 8;
  out.config().loss = loss;
  out.config().l2 = l2;
  train(out, table, 1, true);
  return out;
}

double guess(const Feat2Vec& model, const SeenRow& row) {
  if (model.scores_target()) return model.target_value(row);
  const std::vector<double> p = chances(model, row, 4);
  double out = 0;
  for (size_t v = 0; v < p.size(); ++v) out += p[v] * model.encoding().groups[4].values[v];
  return out;
}

// The root of the mean square, over rows that training has not seen.
double rmse(const Feat2Vec& model) {
  double sum = 0, count = 0;
  for (int y = 5; y < 55; ++y) {
    for (const auto& [a, b] : {std::pair{-2, 3}, {1, -3}, {2, 2}}) {
      const std::string first = fmt::format("a{}", y + a), second = fmt::format("b{}", y + b);
      for (const bool both : {false, true}) {
        const Cell other = both ? Cell(second) : std::nullopt;
        const double away =
            guess(model, see(model, {Cell(first), other, std::nullopt, std::nullopt, {}})) - y;
        sum += away * away;
        ++count;
      }
    }
  }
  return std::sqrt(sum / count);
}

TEST(Choice, WhereEachValueHasASayOfItsOwnTheSoftmaxIsTaken) {
  const Table table = reference::table_of(witnesses(3000), kFive, 300);
  const Feat2Vec chosen = learned(table, std::nullopt), scored = learned(table, Loss::kSquared);
  EXPECT_TRUE(scored.scores_target());
  EXPECT_FALSE(chosen.scores_target());
  EXPECT_LT(rmse(chosen), 0.8 * rmse(scored));
  // It is what one gets who asks for it, the count of its epochs and what is held out included.
  const Feat2Vec asked = learned(table, Loss::kSoftmax);
  EXPECT_TRUE(test::same_bits(chosen.values(0), asked.values(0)));
  EXPECT_EQ(chosen.state().held_out, asked.state().held_out);
  EXPECT_EQ(chosen.state().refit, asked.state().refit);
  test::expect_same_file(chosen, "feat2vec");
}

TEST(Choice, WhatIsTriedIsToldWhileItRuns) {
  const Table table = reference::table_of(witnesses(1000), kFive, 100);
  Feat2Vec model;
  model.config().target = "y";
  model.config().dim = 8;
  std::vector<TrialRun> told;
  Job job;
  job.on_trial = [&](const TrialRun& t) { told.push_back(t); };
  model.train(table, job);
  ASSERT_GT(told.size(), 10u);
  EXPECT_EQ(told.front().number, 1u);
  EXPECT_EQ(told.back().number, told.back().total);
  EXPECT_EQ(told.front().text, "y by how likely each of its values is");
  size_t better = 0;
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_GE(told[i].share, i == 0 ? 0 : told[i - 1].share);
    EXPECT_LE(told[i].share, 1);
    better += told[i].better;
    if (told[i].better) {
      EXPECT_NE(told[i].text.find("held-out RMSE"), std::string::npos) << told[i].text;
    }
  }
  EXPECT_GE(better, 1u);
  EXPECT_FALSE(model.scores_target());
}

TEST(Choice, WherePairsTellTheScoreIsTaken) {
  const Table table = reference::table_of(products(3000, 0.05), kFive, 300);
  EXPECT_TRUE(learned(table, std::nullopt).scores_target());
}

// Little noise and many rows for each value: the milder penalty is the better one.
TEST(Choice, ThePenaltyIsTheOneThatIsBetterForWhatIsHeldOut) {
  const Table table = reference::table_of(products(1500, 0.8), kFive, 300);
  const Matrix chosen = learned(table, std::nullopt).values(0);
  const Matrix usual = learned(table, Loss::kSquared).values(0);
  EXPECT_TRUE(test::same_bits(usual, learned(table, std::nullopt, 30).values(0)));
  EXPECT_TRUE(test::same_bits(chosen, learned(table, Loss::kSquared, 10).values(0)));
  EXPECT_FALSE(test::same_bits(chosen, usual));
}

TEST(Choice, ThereIsNoneWhereNothingIsOpen) {
  const Table table = reference::table_of(witnesses(300), kFive, 30);
  Config config;
  EXPECT_FALSE(loss_is_open(config, table.encoding()));  // no target
  config.target = "a";
  EXPECT_FALSE(loss_is_open(config, table.encoding()));  // no number
  config.target = "y";
  EXPECT_TRUE(loss_is_open(config, table.encoding()));
  for (const auto& set : {+[](Config& c) { c.loss = Loss::kHuber; }, +[](Config& c) { c.dim = 0; },
                          +[](Config& c) { c.paper = true; }}) {
    Config other = config;
    set(other);
    EXPECT_FALSE(loss_is_open(other, table.encoding()));
  }
  const Table all = reference::table_of(witnesses(300), kFive);  // nothing held out
  EXPECT_TRUE(learned(all, std::nullopt).scores_target());
}

// Wherever a run is stopped, before the choice or after it, what goes on gives the same model.
TEST(Choice, AResumedRunEqualsAnUninterruptedOne) {
  const Table table = reference::table_of(witnesses(600), kFive, 60);
  const auto run = [&](Feat2Vec& model, int stop) {
    Job job;
    job.deterministic = true;
    int reports = 0, first = 0;
    job.on_progress = [&](const Progress& p) {
      first += !p.refit;
      if (++reports == stop) job.cancel();
    };
    model.train(table, job);
    return std::pair(first, reports);
  };
  const auto start = [&] {
    Feat2Vec out;
    out.config().target = "y";
    out.config().dim = 8;
    return out;
  };
  Feat2Vec whole = start();
  const auto [first, reports] = run(whole, 0);
  ASSERT_FALSE(whole.scores_target());
  ASSERT_GT(reports, first + 1);
  for (const int stop : {first - 1, first, first + 1, reports - 1}) {
    Feat2Vec part = start();
    run(part, stop);
    ASSERT_FALSE(part.finished()) << stop;
    Feat2Vec resumed = test::through_file(part, "feat2vec", true);
    run(resumed, 0);
    EXPECT_TRUE(test::same_bits(resumed.values(0), whole.values(0))) << stop;
    EXPECT_EQ(resumed.state().held_out, whole.state().held_out) << stop;
  }
}

// A model that goes on with new rows goes on as it was learned.
TEST(Choice, StandsWhenAModelGoesOn) {
  const Table table = reference::table_of(witnesses(3000), kFive, 300);
  Feat2Vec model = learned(table, std::nullopt);
  model.reopen();
  const Table more = reference::table_of(witnesses(400), kFive, 40, &model.encoding());
  train(model, more, 1, true);
  EXPECT_FALSE(model.scores_target());
}

}  // namespace
}  // namespace kith::feat2vec
