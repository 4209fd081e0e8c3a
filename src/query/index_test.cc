// SPDX-License-Identifier: Apache-2.0
#include "query/index.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "query/search.h"
#include "query/test_space.h"

namespace kith {
namespace {

using Lists = std::vector<std::vector<uint32_t>>;

// Small integers: every product and sum is exact, so that ties are ties.
Matrix integer_matrix(size_t rows, size_t dim, uint64_t seed) {
  Matrix m(rows, dim);
  for (size_t i = 0; i < rows; ++i) {
    Rng rng(seed, i);
    for (float& x : m.row(i)) x = static_cast<float>(rng.below(3)) - 1;
  }
  return m;
}

struct Allowed {
  size_t restrict_to;
  std::set<uint32_t> excluded;
};
// Every row compared and sorted, in double precision on the space's own unit vectors.
std::vector<Hit> brute_force(const TestSpace& space, std::span<const float> query, size_t top,
                             const Allowed& allowed) {
  std::vector<std::pair<double, uint32_t>> all;
  for (uint32_t row = 0; row < std::min(space.names.size(), allowed.restrict_to); ++row) {
    const auto unit = space.unit.row(row);
    const bool zero = std::all_of(unit.begin(), unit.end(), [](float x) { return x == 0; });
    if (!zero && !allowed.excluded.contains(row)) all.emplace_back(-exact_cosine(query, unit), row);
  }
  std::sort(all.begin(), all.end());
  std::vector<Hit> best;
  for (size_t i = 0; i < all.size() && i < top; ++i) {
    best.push_back({all[i].second, static_cast<float>(-all[i].first)});
  }
  return best;
}

// The same scores in the same places; rows may change places only where scores nearly tie.
void expect_same(const std::vector<Hit>& got, const std::vector<Hit>& expected,
                 const TestSpace& space, std::span<const float> query) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i].score, expected[i].score, 1e-5) << "place " << i;
    ASSERT_NEAR(got[i].score, exact_cosine(query, space.unit.row(got[i].row)), 1e-5);
    if (i > 0) {
      ASSERT_TRUE(query::better(got[i - 1], got[i])) << "place " << i;
    }
  }
}

TEST(ExactHits, EqualsBruteForce) {
  for (const size_t rows : {1, 3, 50, 1000}) {
    for (const size_t dim : {1, 5, 16, 33, 300}) {
      const TestSpace t(random_matrix(rows, dim, 1));
      const Matrix queries = random_matrix(9, dim, 2);
      const auto found = nearest_of(t.space, queries, {}, {.top = 7});
      ASSERT_EQ(found.size(), 9u);
      for (size_t q = 0; q < 9; ++q) {
        expect_same(found[q], brute_force(t, queries.row(q), 7, {rows, {}}), t, queries.row(q));
      }
    }
  }
}

TEST(ExactHits, LeavesOutExcludedAndRareRows) {
  constexpr size_t kRows = 700, kLimit = 411;
  const TestSpace t(random_matrix(kRows, 20, 3));
  const Matrix queries = random_matrix(40, 20, 4);
  Lists exclude(40);
  for (size_t q = 0; q < 40; ++q) {
    // The five best, in no order and one of them twice; and a row that does not exist.
    for (const Hit& n : brute_force(t, queries.row(q), 5, {kLimit, {}})) {
      exclude[q].insert(exclude[q].begin(), n.row);
    }
    exclude[q].push_back(exclude[q][0]);
    exclude[q].push_back(99999);
  }
  const auto found = nearest_of(t.space, queries, exclude, {.top = 10, .restrict_to = kLimit});
  for (size_t q = 0; q < 40; ++q) {
    const std::set<uint32_t> out(exclude[q].begin(), exclude[q].end());
    expect_same(found[q], brute_force(t, queries.row(q), 10, {kLimit, out}), t, queries.row(q));
    for (const Hit& n : found[q]) {
      EXPECT_LT(n.row, kLimit);
      EXPECT_FALSE(out.contains(n.row));
    }
  }
}

TEST(ExactHits, TiesGoToTheLowerRow) {
  // 3000 rows of only a few directions: whole crowds share each place.
  const TestSpace t(integer_matrix(3000, 3, 5));
  const Matrix queries = integer_matrix(30, 3, 6);
  for (const size_t top : {1, 10, 200}) {
    const auto found = nearest_of(t.space, queries, {}, {.top = top}, 2);
    for (size_t q = 0; q < 30; ++q) {
      for (size_t i = 1; i < found[q].size(); ++i) {
        ASSERT_TRUE(query::better(found[q][i - 1], found[q][i]));
      }
      // Nobody who was left out beats, or equals with a lower row, the last who was taken.
      std::set<uint32_t> taken;
      for (const Hit& n : found[q]) taken.insert(n.row);
      Matrix again(1, 3);
      std::copy(queries.row(q).begin(), queries.row(q).end(), again.row(0).begin());
      const auto all = nearest_of(t.space, again, {}, {.top = 3000}).front();
      for (const Hit& n : all) {
        if (!taken.contains(n.row)) {
          ASSERT_TRUE(query::better(found[q].back(), n));
        }
      }
    }
  }
}

TEST(ExactHits, ThreadsAndCompanyDoNotChangeABit) {
  const TestSpace t(random_matrix(5000, 50, 7));
  for (const size_t count : {1, 2, 5, 600, 1300}) {  // row ranges, and tiles of queries
    const Matrix queries = random_matrix(count, 50, 8);
    const auto one = nearest_of(t.space, queries, {}, {.top = 10}, 1);
    for (const int threads : {2, 8}) {
      EXPECT_TRUE(same(one, nearest_of(t.space, queries, {}, {.top = 10}, threads)))
          << count << " queries, " << threads << " threads";
    }
    Matrix last(1, 50);
    std::copy(queries.row(count - 1).begin(), queries.row(count - 1).end(), last.row(0).begin());
    EXPECT_TRUE(same({one.back()}, nearest_of(t.space, last, {}, {.top = 10})));
  }
}

TEST(ExactHits, RowsWithoutDirectionNeverMatch) {
  Matrix m = random_matrix(60, 4, 9);
  for (const size_t zero : {0, 17, 59}) std::fill(m.row(zero).begin(), m.row(zero).end(), 0.0f);
  m.row(20)[2] = std::numeric_limits<float>::quiet_NaN();
  m.row(21)[0] = std::numeric_limits<float>::infinity();
  const TestSpace t(m);
  Matrix queries = random_matrix(3, 4, 10);
  std::fill(queries.row(1).begin(), queries.row(1).end(), 0.0f);
  const auto found = nearest_of(t.space, queries, {}, {.top = 100});
  EXPECT_EQ(found[0].size(), 55u);  // everybody else, those at an obtuse angle too
  EXPECT_LT(found[0].back().score, 0);
  for (const Hit& n : found[0]) {
    EXPECT_FALSE((std::set<uint32_t>{0, 17, 20, 21, 59}.contains(n.row))) << n.row;
  }
  EXPECT_TRUE(found[1].empty());
  EXPECT_EQ(found[2].size(), 55u);
}

TEST(ExactHits, AcceptsNothing) {
  const TestSpace t(random_matrix(5, 3, 11)), empty{Matrix(0, 3)};
  EXPECT_TRUE(nearest_of(t.space, Matrix(0, 3), {}, {}).empty());
  EXPECT_TRUE(nearest_of(t.space, random_matrix(1, 3, 1), {}, {.top = 0}).front().empty());
  EXPECT_TRUE(nearest_of(empty.space, random_matrix(1, 3, 1), {}, {}).front().empty());
  const Lists all{{0, 1, 2, 3, 4}};
  EXPECT_TRUE(nearest_of(t.space, random_matrix(1, 3, 1), all, {}).front().empty());
}

TEST(ExactHits, SaysWhatDoesNotFit) {
  const TestSpace t(random_matrix(5, 3, 11));
  EXPECT_EQ(
      message_of(ErrorKind::kUsage, [&] { nearest_of(t.space, random_matrix(1, 4, 1), {}, {}); }),
      "queries of 4 numbers do not fit vectors of 3");
  EXPECT_EQ(message_of(ErrorKind::kUsage,
                       [&] { nearest_of(t.space, random_matrix(1, 3, 1), Lists(2), {}); }),
            "2 lists of excluded rows do not fit 1 queries");
  const Names names;
  const Matrix one(1, 3);
  EXPECT_EQ(
      message_of(ErrorKind::kUsage, [&] { Index(names, std::make_shared<MatrixVectors>(one)); }),
      "0 names do not fit 1 vectors");
}

TEST(Index, LengthsDoNotCountHoweverLargeOrSmall) {
  Matrix m = random_matrix(4, 10, 12);
  std::ranges::copy(std::as_const(m).row(0), m.row(1).begin());
  std::ranges::copy(std::as_const(m).row(0), m.row(2).begin());
  for (float& x : m.row(1)) x *= 1e-30f;  // squares vanish in single precision
  for (float& x : m.row(2)) x *= 1e30f;   // and overflow here
  const TestSpace t(m);
  Matrix query(1, 10);
  std::ranges::copy(std::as_const(m).row(0), query.row(0).begin());
  const auto found = nearest_of(t.space, query, {}, {.top = 3}).front();
  ASSERT_EQ(found.size(), 3u);
  for (const Hit& h : found) {
    EXPECT_LT(h.row, 3u);
    EXPECT_NEAR(h.score, 1, 1e-6) << h.row;
  }
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(exact_cosine(t.space.unit_row(i), m.row(0)), 1, 1e-6) << i;
  }
}

// The rows of a file as they stand, without padding, give the same answers to the last bit.
TEST(Index, WhatIsTrustedLessScoresLess) {
  constexpr size_t kRows = 200;
  const TestSpace plain(random_matrix(kRows, 5, 1));
  std::vector<float> trust(kRows);
  for (size_t r = 0; r < kRows; ++r) trust[r] = static_cast<float>(r + 1) / kRows;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> senseless{0, -1, 2, kNaN, kInfinity};  // a mapped file may have them
  std::ranges::copy(senseless, trust.begin());
  const Index doubted(plain.names,
                      std::make_shared<MatrixVectors>(plain.vectors, 0, kRows, 5, trust));
  const Matrix queries = random_matrix(3, 5, 2);
  for (size_t q = 0; q < 3; ++q) {
    Matrix one(1, 5);
    std::ranges::copy(queries.row(q), one.row(0).begin());
    for (const Matrix* asked : {&queries, &std::as_const(one)}) {  // by panels, and row by row
      const auto hits = nearest_of(doubted, *asked, {}, {.top = kRows})[asked == &one ? 0 : q];
      ASSERT_EQ(hits.size(), kRows - senseless.size());
      for (const Hit& hit : hits) {
        ASSERT_GE(hit.row, senseless.size());
        const double cosine = exact_cosine(queries.row(q), plain.unit.row(hit.row));
        EXPECT_NEAR(hit.score, trust[hit.row] * cosine, 1e-5);
      }
    }
  }
  // Who asks is not doubted, and two names have their cosine.
  EXPECT_NEAR(exact_cosine(doubted.unit_row(9), doubted.unit_row(9)), 1, 1e-6);
  EXPECT_EQ(cosine(doubted, 9, 10), cosine(plain.space, 9, 10));
}

TEST(Index, AMappedTableGivesTheSameBits) {
  const Matrix m = random_matrix(700, 33, 5), queries = random_matrix(70, 33, 6);
  std::vector<float> file;
  for (size_t r = 0; r < m.rows(); ++r) file.insert(file.end(), m.row(r).begin(), m.row(r).end());
  const auto keep = std::make_shared<int>();
  const Matrix mapped = Matrix::borrowed(file.data(), m.rows(), m.cols(), keep);
  const TestSpace own(m);
  const Index in_place(own.names, std::make_shared<MatrixVectors>(mapped));
  EXPECT_TRUE(same(nearest_of(own.space, queries, {}, {}), nearest_of(in_place, queries, {}, {})));
}

TEST(Index, UnknownNamesGetTheNearestSpellings) {
  auto [names, matrix] = named({{"king", {1}}, {"kind", {1}}, {"queen", {1}}, {"ring", {1}}});
  const TestSpace t(std::move(names), matrix);
  EXPECT_EQ(t.space.row("queen"), 2u);
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { t.space.row("kint"); }),
            "kint is not in the vocabulary; nearest spellings: king, kind");
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { t.space.row("xylophone"); }),
            "xylophone is not in the vocabulary");
  const std::string page(10000, 'x');
  EXPECT_LT(message_of(ErrorKind::kInput, [&] { t.space.row(page); }).size(), 100u);
}

TEST(TopList, KeepsTheBestInAnyOrder) {
  std::vector<Hit> all;
  for (uint32_t i = 0; i < 200; ++i) all.push_back({i, static_cast<float>(i * 37 % 20)});
  std::vector<Hit> expected = all;
  std::sort(expected.begin(), expected.end(), query::better);
  expected.resize(15);
  std::reverse(all.begin(), all.end());
  query::TopList best(15);
  for (const Hit& n : all) best.offer(n);
  EXPECT_TRUE(same({best.take()}, {expected}));
}

// Integers, so that sums are exact and ties are ties: every row compared, lengths included.
TEST(HighestProducts, EqualComparingEveryRow) {
  const Matrix rows = integer_matrix(700, 19, 1), queries = integer_matrix(130, 19, 2);
  Lists exclude(queries.rows());
  for (uint32_t q = 0; q < exclude.size(); ++q) {
    for (uint32_t r = q; r < rows.rows(); r += 7) exclude[q].push_back(r);
  }
  for (const int threads : {1, 4}) {
    const auto found = highest_products(rows, queries, exclude, {.top = 12}, Context(threads));
    for (size_t q = 0; q < queries.rows(); ++q) {
      std::vector<Hit> all;
      for (uint32_t r = 0; r < rows.rows(); ++r) {
        if (std::ranges::find(exclude[q], r) != exclude[q].end()) continue;
        float product = 0;
        for (size_t k = 0; k < 19; ++k) product += rows.row(r)[k] * queries.row(q)[k];
        all.push_back({r, product});
      }
      std::ranges::sort(all, query::better);
      ASSERT_EQ(found[q].size(), 12u);
      for (size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(found[q][i].row, all[i].row);
        EXPECT_EQ(found[q][i].score, all[i].score);
      }
    }
  }
}

TEST(HighestProducts, ZeroQueriesAreAnsweredToo) {
  const auto found =
      highest_products(integer_matrix(5, 3, 1), Matrix(1, 3), {}, {.top = 2}, Context(1));
  ASSERT_EQ(found[0].size(), 2u);
  EXPECT_EQ(found[0][0].row, 0u);
  EXPECT_EQ(found[0][1].row, 1u);
}

}  // namespace
}  // namespace kith
