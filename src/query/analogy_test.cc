// SPDX-License-Identifier: Apache-2.0
#include "query/analogy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "query/test_space.h"

namespace kith {
namespace {

// Royal and female are directions: queen = king - man + woman exactly. The given words are nearer
// to that target than anything else, which is why they are excluded; the rest are distractors.
TestSpace royals() {
  auto [names, matrix] = named({{"man", {1, 0, 0.2f, 0}},
                                {"woman", {1, 1, 0.2f, 0}},
                                {"king", {1, 0, 2, 0}},
                                {"queen", {1, 1, 2, 0}},
                                {"apple", {0, 0.3f, 0, 3}},
                                {"prince", {1, 0, 1.5f, 1}},
                                {"opposite", {-1, -1, -2, 0}}});
  return {std::move(names), matrix};
}

TEST(Analogy, FindsTheKnownAnswerByBothRules) {
  const TestSpace t = royals();
  const auto row = [&](const char* word) { return t.space.row(word); };
  for (const AnalogyRule rule : {AnalogyRule::kAdd, AnalogyRule::kMul}) {
    const auto found =
        analogy(t.space, row("man"), row("king"), row("woman"), rule, {.top = 10}, Context(1));
    ASSERT_EQ(found.size(), 4u);  // everybody but the three
    EXPECT_EQ(t.names[found[0].row], "queen");
    EXPECT_EQ(t.names[found[3].row], "opposite");
    for (const Hit& n : found) EXPECT_GE(n.row, 3u);
  }
}

// Scores of both rules from their definitions, in double precision.
double definition(const TestSpace& space, const Analogy& q, uint32_t x, AnalogyRule rule) {
  const Matrix& unit = space.unit;
  if (rule == AnalogyRule::kAdd) {
    std::vector<float> target(unit.cols());
    for (size_t i = 0; i < target.size(); ++i) {
      target[i] = unit.row(q.b)[i] - unit.row(q.a)[i] + unit.row(q.c)[i];
    }
    return exact_cosine(target, unit.row(x));
  }
  const auto shifted = [&](uint32_t w) { return (1 + exact_cosine(unit.row(w), unit.row(x))) / 2; };
  return shifted(q.b) * shifted(q.c) / (shifted(q.a) + 1e-3);
}

TEST(Analogy, ScoresFollowTheDefinitions) {
  constexpr uint32_t kRows = 1500, kLimit = 1000;
  const TestSpace t(random_matrix(kRows, 30, 1));
  std::vector<Analogy> questions;
  Rng rng(2, 0);
  for (int i = 0; i < 600; ++i) {  // more than a tile; words repeat
    questions.push_back({rng.below(40), rng.below(kRows), rng.below(40)});
  }
  for (const AnalogyRule rule : {AnalogyRule::kAdd, AnalogyRule::kMul}) {
    const auto found =
        analogies(t.space, questions, rule, {.top = 3, .restrict_to = kLimit}, Context(1));
    for (size_t q = 0; q < questions.size(); q += 37) {
      const Analogy& question = questions[q];
      std::vector<double> scores;
      for (uint32_t x = 0; x < kLimit; ++x) {
        if (x == question.a || x == question.b || x == question.c) continue;
        scores.push_back(definition(t, question, x, rule));
      }
      std::sort(scores.rbegin(), scores.rend());
      ASSERT_EQ(found[q].size(), 3u);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(found[q][i].score, scores[i], 1e-5);
        EXPECT_NEAR(found[q][i].score, definition(t, question, found[q][i].row, rule), 1e-5);
      }
    }
  }
}

TEST(Analogy, AddIsASearchForTheTarget) {
  const TestSpace t(random_matrix(800, 24, 3));
  const Matrix& unit = t.unit;
  Matrix target(1, 24);
  for (size_t i = 0; i < 24; ++i) {
    target.row(0)[i] = unit.row(5)[i] - unit.row(4)[i] + unit.row(6)[i];
  }
  const std::vector<std::vector<uint32_t>> given{{4, 5, 6}};
  const auto searched = nearest_of(t.space, target, given, {.top = 20}).front();
  const auto found = analogy(t.space, 4, 5, 6, AnalogyRule::kAdd, {.top = 20}, Context(1));
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(found[i].row, searched[i].row);
    EXPECT_NEAR(found[i].score, searched[i].score, 1e-6);
  }
}

TEST(Analogy, ThreadsDoNotChangeABit) {
  const TestSpace t(random_matrix(4000, 20, 4));
  std::vector<Analogy> questions;
  for (uint32_t i = 0; i < 1100; ++i) questions.push_back({i, i + 1, 3 * i % 4000});
  for (const AnalogyRule rule : {AnalogyRule::kAdd, AnalogyRule::kMul}) {
    for (const size_t count : {1, 1100}) {
      const auto asked = std::span(questions).first(count);
      const auto one = analogies(t.space, asked, rule, {.top = 5}, Context(1));
      EXPECT_TRUE(same(one, analogies(t.space, asked, rule, {.top = 5}, Context(2))));
      EXPECT_TRUE(same(one, analogies(t.space, asked, rule, {.top = 5}, Context(8))));
    }
  }
}

TEST(Analogy, ATargetWithoutDirectionHasNoAnswer) {
  auto [names, matrix] = named({{"zero", {0, 0}}, {"b", {-1, 0}}, {"-b", {1, 0}}, {"d", {1, 1}}});
  const TestSpace t(std::move(names), matrix);
  EXPECT_TRUE(analogy(t.space, 0, 1, 2, AnalogyRule::kAdd, {.top = 1}, Context(1)).empty());
  // b is to b as -b is to ?: the target is -b, and d the nearest that was not given.
  EXPECT_EQ(analogy(t.space, 1, 1, 2, AnalogyRule::kAdd, {.top = 9}, Context(1)).size(), 1u);
  EXPECT_NEAR(analogy(t.space, 1, 1, 2, AnalogyRule::kAdd, {.top = 9}, Context(1))[0].score,
              std::sqrt(0.5), 1e-6);
}

TEST(Cosine, IsTheCosine) {
  const Matrix m = random_matrix(10, 33, 5);
  const TestSpace t(m);
  for (uint32_t a = 0; a < 10; ++a) {
    for (uint32_t b = 0; b < 10; ++b) {
      EXPECT_NEAR(cosine(t.space, a, b), exact_cosine(m.row(a), m.row(b)), 1e-6);
    }
  }
}

TEST(OddOneOut, IsTheOneThatPointsElsewhere) {
  auto [names, matrix] = named({{"breakfast", {1, 0.1f, 0}},
                                {"lunch", {1, 0, 0.1f}},
                                {"car", {0, 1, 1}},
                                {"dinner", {50, 5, 5}}});  // length does not count
  const TestSpace t(std::move(names), matrix);
  const std::vector<uint32_t> rows{0, 1, 2, 3};
  const std::vector<float> fits = fit_with_others(t.space, rows);
  ASSERT_EQ(fits.size(), 4u);
  EXPECT_EQ(std::min_element(fits.begin(), fits.end()) - fits.begin(), 2);

  std::vector<float> others(3);  // by the definition: the mean of the other three
  for (const uint32_t row : {0, 1, 3}) {
    for (size_t i = 0; i < 3; ++i) others[i] += t.unit.row(row)[i];
  }
  EXPECT_NEAR(fits[2], exact_cosine(others, t.unit.row(2)), 1e-6);
}

TEST(OddOneOut, AloneNobodyFits) {
  const TestSpace t(random_matrix(2, 4, 6));
  const std::vector<uint32_t> one{1};
  EXPECT_EQ(fit_with_others(t.space, one), std::vector<float>{0});
  EXPECT_TRUE(fit_with_others(t.space, {}).empty());
}

}  // namespace
}  // namespace kith
