// SPDX-License-Identifier: Apache-2.0
// A target: what is learned of it by default, when learning stops, what its probabilities mean.

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"
#include "models/feat2vec/problem.h"
#include "models/feat2vec/test_tables.h"
#include "models/test_model.h"

namespace kith::feat2vec {
namespace {

constexpr const char* kThree = R"({"columns": [{"name": "a", "type": "category"},
  {"name": "b", "type": "category"}, {"name": "y", "type": "category"}]})";

Config with_target(const std::string& target) {
  Config out;
  out.target = target;
  return out;
}

// Rows of a in a0..a(n-1), b in b0..b4, and y by a rule.
template <class Rule>
std::string rows_of(int rows, int n, const Rule& rule) {
  std::mt19937 rng(7);
  std::string csv = "a,b,y\n";
  for (int i = 0; i < rows; ++i) {
    const int a = static_cast<int>(rng() % static_cast<unsigned>(n)),
              b = static_cast<int>(rng() % 5);
    csv += fmt::format("a{},b{},{}\n", a, b, rule(a, b, rng));
  }
  return csv;
}

TEST(Target, WhatIsUsualDependsOnItsValues) {
  const auto rule = [](int a, int, auto&) { return fmt::format("y{}", a % 3); };
  const Table three = reference::table_of(rows_of(300, 6, rule), kThree);
  const Config few = resolved(with_target("y"), three.encoding(), 300);
  EXPECT_EQ(few.loss, Loss::kSoftmax);
  EXPECT_EQ(few.early_stop, 5);
  EXPECT_EQ(few.dropout, 0);
  EXPECT_TRUE(scores_all(few, three.encoding()));
  Config drawn = with_target("y");
  drawn.negatives = 2;
  EXPECT_FALSE(scores_all(resolved(drawn, three.encoding(), 300), three.encoding()));
  EXPECT_EQ(resolved(drawn, three.encoding(), 300).early_stop, 0);

  const auto coin = [](int a, int, auto&) { return a % 2 ? "yes" : "no"; };
  const Table two = reference::table_of(rows_of(300, 6, coin), kThree);
  EXPECT_EQ(resolved(with_target("y"), two.encoding(), 300).loss, Loss::kLogistic);
  Config softmax = with_target("y");
  softmax.loss = Loss::kSoftmax;
  EXPECT_TRUE(scores_all(resolved(softmax, two.encoding(), 300), two.encoding()));

  const Config none = resolved({}, two.encoding(), 300);
  EXPECT_EQ(none.early_stop, 0);
  EXPECT_EQ(none.dropout, 0.5);
  EXPECT_FALSE(scores_all(none, two.encoding()));
}

// 4,097 values are too many to score all of them at every step.
TEST(Target, OfManyValuesIsLearnedByNoise) {
  for (const int values : {4096, 4097}) {
    std::string csv = "a,y\n";
    for (int i = 0; i < values; ++i) csv += fmt::format("a{},y{}\n", i % 3, i);
    const Table table = reference::table_of(csv, R"({"columns": [{"name": "a", "type": "category"},
      {"name": "y", "type": "category"}]})");
    EXPECT_EQ(scores_all(resolved(with_target("y"), table.encoding()), table.encoding()),
              values == 4096);
  }
}

// All values of the target stand against the truth, each once, and as they are: the loss is the
// surprise at the truth, -log p.
TEST(Target, OfFewValuesIsTheExactSoftmax) {
  const auto rule = [](int a, int b, auto&) { return fmt::format("y{}", (a + b) % 4); };
  const Table table = reference::table_of(rows_of(200, 6, rule), kThree);
  Config config = with_target("y");
  config.dim = 5;
  const Problem p = make_problem(table, resolved(config, table.encoding()));
  const reference::Tables at(p, 3);
  const reference::Parameters x = at.doubles(p);
  Example example;
  example.keep.resize(p.groups);
  for (uint64_t r = 0; r < 8; ++r) {
    Rng rng(1, r);
    ASSERT_TRUE(draw(p, table.row(r).data(), r, rng, example));
    std::vector<uint32_t> all = example.noise;
    all.push_back(example.entity);
    std::ranges::sort(all);
    EXPECT_EQ(all, (std::vector<uint32_t>{0, 1, 2, 3}));
    double total = 0;
    std::vector<uint32_t> row(table.row(r).begin(), table.row(r).end());
    const double truth = reference::score(p, x, row);
    for (uint32_t v = 0; v < 4; ++v) {
      row[2] = v;
      total += std::exp(reference::score(p, x, row));
    }
    Scratch scratch(p);
    reference::Tables copy(p, 3);
    EXPECT_NEAR(train_example(p, example, 0, copy.theta.view(), copy.view(), scratch),
                std::log(total) - truth, 1e-4);
  }
}

// After the epochs that were best for what is held out, all rows are learned from, as often.
TEST(Target, TheBestEpochIsFoundAndThenAllRowsAreLearned) {
  const auto noisy = [](int a, int, auto& rng) {
    return fmt::format("y{}", rng() % 10 < 6 ? a % 3 : static_cast<int>(rng() % 3));
  };
  const Table table = reference::table_of(rows_of(2000, 200, noisy), kThree, 400);
  ASSERT_GT(table.held_out(), 300u);
  Feat2Vec model;
  model.config() = with_target("y");
  model.config().dim = 8;
  train(model, table);
  const RunState& state = model.state();
  ASSERT_TRUE(state.refit);
  const auto best = std::ranges::min_element(state.held_out) - state.held_out.begin();
  EXPECT_EQ(*state.refit, static_cast<uint64_t>(best));
  // It overfits, so the last epoch is not the best one.
  EXPECT_GT(state.held_out.size(), static_cast<size_t>(best) + 4);
  EXPECT_EQ(model.steps(), *state.refit * (table.rows() + table.held_out()) +
                               (state.held_out.size() - 1) * table.rows());
}

// What is held out is as likely as scores times one number can make it.
TEST(Target, ProbabilitiesAreAsSharpAsWhatIsHeldOutAllows) {
  const auto noisy = [](int a, int, auto& rng) {
    return fmt::format("y{}", rng() % 10 < 6 ? a % 3 : static_cast<int>(rng() % 3));
  };
  const Table table = reference::table_of(rows_of(3000, 300, noisy), kThree, 600);
  for (const Loss loss : {Loss::kSoftmax, Loss::kNce}) {
    Feat2Vec model;
    model.config() = with_target("y");
    model.config().loss = loss;
    model.config().dim = 16;
    model.config().epochs = 30;
    model.config().early_stop = 0;  // so that it overfits, and is far too sure
    train(model, table);
    double as_it_is = 0, sharper = 0, softer = 0;
    for (uint64_t r = 0; r < table.held_out(); ++r) {
      const auto row = table.held_out_row(r);
      const std::string a(model.encoding().spaces[0].names[row[0]]);
      const std::string b(model.encoding().spaces[1].names[row[1]]);
      const auto p = chances(model, see(model, {Cell(a), Cell(b), std::nullopt}), 2);
      const auto surprise = [&](double k) {
        double total = 0;
        for (const double x : p) total += std::pow(x, k);
        return std::log(total) - k * std::log(p[row[2]]);
      };
      as_it_is += surprise(1);
      sharper += surprise(1.2);
      softer += surprise(0.8);
    }
    EXPECT_LT(as_it_is, sharper) << detail::show(loss);
    EXPECT_LT(as_it_is, softer) << detail::show(loss);
  }
}

// Of a cell with several values: how sure it is of the likeliest is how often that is one of them.
TEST(Target, ASetIsAsSureOfItsLikeliestValueAsThatComesTrue) {
  const auto noisy = [](int a, int, auto& rng) {
    const auto any = [&] { return static_cast<int>(rng() % 8); };
    return fmt::format("y{}|y{}", rng() % 10 < 5 ? a % 8 : any(), any());
  };
  const char* const schema = R"({"columns": [{"name": "a", "type": "category"},
    {"name": "b", "type": "category"}, {"name": "y", "type": "set", "separator": "|"}]})";
  const Table table = reference::table_of(rows_of(3000, 300, noisy), schema, 600);
  Feat2Vec model;
  model.config() = with_target("y");
  model.config().dim = 16;
  model.config().epochs = 30;
  model.config().early_stop = 0;  // so that it overfits, and is far too sure
  train(model, table);
  double said = 0, right = 0, as_it_is = 0, sharper = 0, softer = 0;
  for (uint64_t r = 0; r < table.held_out(); ++r) {
    const auto row = table.held_out_row(r);
    const std::string a(model.encoding().spaces[0].names[row[0]]);
    const std::string b(model.encoding().spaces[1].names[row[1]]);
    const auto p = chances(model, see(model, {Cell(a), Cell(b), std::nullopt}), 2);
    const auto best = std::ranges::max_element(p);
    Feature one{};
    const bool is_one =
        std::ranges::any_of(table.entities(2).bag(row[2], one), [&](const Feature& f) {
          return f.row - model.encoding().base(2) == static_cast<uint64_t>(best - p.begin());
        });
    const auto surprise = [&](double k) {
      double total = 0;
      for (const double x : p) total += std::pow(x, k);
      const double sure = std::pow(*best, k) / total;
      return -std::log(is_one ? sure : 1 - sure);
    };
    said += *best;
    right += is_one;
    as_it_is += surprise(1);
    sharper += surprise(1.2);
    softer += surprise(0.8);
  }
  EXPECT_LT(as_it_is, sharper);
  EXPECT_LT(as_it_is, softer);
  EXPECT_NEAR(said / right, 1, 0.15);  // one number cannot be right for all of them
}

TEST(Target, ANumberStaysWithinWhatWasSeen) {
  // The highest of both columns never stand together: their sum would be 8.
  std::string csv = "a,b,y\n";
  for (int i = 0; i < 600; ++i) {
    const int a = i % 5, b = i / 5 % 5;
    if (a + b <= 5) csv += fmt::format("a{},b{},{}\n", a, b, a + b);
  }
  const Table table = reference::table_of(csv, R"({"columns": [{"name": "a", "type": "category"},
    {"name": "b", "type": "category"}, {"name": "y", "type": "number"}]})");
  Feat2Vec model;
  model.config() = with_target("y");
  model.config().dim = 0;
  model.config().l2 = 0;
  model.config().epochs = 100;
  train(model, table);
  EXPECT_EQ(model.target_value(see(model, {Cell("a4"), Cell("b4"), std::nullopt})), 5);
  EXPECT_NEAR(model.target_value(see(model, {Cell("a2"), Cell("b2"), std::nullopt})), 4, 0.2);
}

// What few rows speak of is held back more than what many do; in units of the noise, so that
// numbers without any are learned as they are.
TEST(Target, APenaltyHoldsBackWhatFewRowsSpeakOf) {
  const auto effect = [](double noise, std::optional<double> l2) {
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    std::string csv = "a,b,y\n";
    const auto add = [&](const char* a, int rows, double y) {
      for (int i = 0; i < rows; ++i) {
        csv += fmt::format("{},b{},{:.6f}\n", a, i % 2, y + noise * normal(rng));
      }
    };
    add("rare", 4, 2);
    add("common", 400, 2);
    add("other", 1600, 0);
    const Table table = reference::table_of(csv, R"({"columns": [{"name": "a", "type": "category"},
      {"name": "b", "type": "category"}, {"name": "y", "type": "number"}]})");
    Feat2Vec model;
    model.config() = with_target("y");
    model.config().dim = 0;
    model.config().l2 = l2;
    model.config().epochs = 60;
    train(model, table);
    const auto of = [&](const char* a) {
      return model.target_value(see(model, {Cell(a), std::nullopt, std::nullopt}));
    };
    return std::pair((of("rare") - of("other")) / 2, (of("common") - of("other")) / 2);
  };
  const auto [rare, common] = effect(0.5, std::nullopt);
  EXPECT_LT(rare, 0.8);
  EXPECT_NEAR(common, 1, 0.15);
  const auto [free, as_free] = effect(0.5, 0);
  EXPECT_GT(free, rare + 0.1);
  EXPECT_NEAR(as_free, 1, 0.15);
  const auto [clean, as_clean] = effect(0, std::nullopt);
  EXPECT_GT(clean, 0.95);
  EXPECT_GT(as_clean, 0.95);
}

TEST(Target, SharesTheWorkByTheMix) {
  const auto rule = [](int a, int b, auto&) { return fmt::format("y{}", (a + b) % 4); };
  const Table table = reference::table_of(rows_of(200, 6, rule), kThree);
  Config config = with_target("y");
  config.mix = 0.4;
  const Problem p = make_problem(table, resolved(config, table.encoding()));
  double sum = 0;
  for (const Unit& unit : p.units) sum += unit.probability;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_GT(p.units[p.unit_of[2]].probability, 0.6);
  EXPECT_LT(p.units[p.unit_of[2]].probability, 1);
}

TEST(Target, YesIsTheOneThatCountsHoweverItIsWritten) {
  for (const auto& [yes, no] : {std::pair{"yes", "no"}, {"YES", "no"}}) {
    for (const bool swapped : {false, true}) {  // whichever is seen first
      const auto rule = [&](int a, int, auto&) { return (a % 2 == 1) != swapped ? yes : no; };
      const Table table = reference::table_of(rows_of(400, 4, rule), kThree);
      Feat2Vec model;
      model.config() = with_target("y");
      model.config().dim = 4;
      train(model, table);
      const double odd = model.target_value(see(model, {Cell("a1"), std::nullopt, std::nullopt}));
      EXPECT_EQ(odd > 0.5, !swapped) << yes;
    }
  }
}

TEST(Settings, ThoseThatFollowFromOthers) {
  const auto rule = [](int a, int, auto&) { return fmt::format("y{}", a % 3); };
  const Table table = reference::table_of(rows_of(100, 6, rule), kThree);
  Config config;
  config.optimiser = Optimiser::kMomentum;
  EXPECT_EQ(resolved(config, table.encoding()).lr, 0.01);
  EXPECT_EQ(resolved({}, table.encoding()).lr, 0.1);
  Feat2Vec model;
  EXPECT_FALSE(model.wishes().pooling);
  model.config().paper = true;
  EXPECT_EQ(model.wishes().pooling, 0);  // plain sums
}

TEST(Settings, AColumnInteractsWithThoseThatItNames) {
  const auto rule = [](int a, int, auto&) { return fmt::format("y{}", a % 3); };
  const Table table = reference::table_of(rows_of(100, 6, rule), R"({"columns": [
    {"name": "a", "type": "category", "interacts": ["b"]}, {"name": "b", "type": "category"},
    {"name": "y", "type": "category", "weight": 2}]})");
  EXPECT_EQ(first_pairs(table.encoding()),
            (std::vector<float>{0, 1, 0,     // a: b alone
                                1, 0, 2,     // b: everyone
                                0, 2, 0}));  // y: not a, which does not name it
}

}  // namespace
}  // namespace kith::feat2vec
