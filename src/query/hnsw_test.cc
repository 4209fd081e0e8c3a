// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "query/index.h"
#include "query/test_space.h"

namespace kith {
namespace {

// Clusters with noise as large as the distance between their centres: like word vectors, neither
// islands nor a uniform ball.
Matrix clustered(size_t rows, size_t dim) {
  const Matrix centres = random_matrix(std::max<size_t>(1, rows / 40), dim, 1);
  Matrix m = random_matrix(rows, dim, 2);
  for (size_t i = 0; i < rows; ++i) {
    const auto centre = centres.row(Rng(3, i).below(static_cast<uint32_t>(centres.rows())));
    for (size_t k = 0; k < dim; ++k) m.row(i)[k] += centre[k];
  }
  return m;
}

std::vector<std::vector<uint32_t>> own_rows(size_t count) {
  std::vector<std::vector<uint32_t>> own(count);
  for (uint32_t i = 0; i < count; ++i) own[i] = {i};
  return own;
}

TEST(Hnsw, FindsNearlyAllAndScoresExactly) {
  constexpr size_t kRows = 4000, kQueries = 200;
  const Matrix m = clustered(kRows, 40);
  const TestSpace t(m);
  const HnswIndex index(t.space, Context(2));
  // hnswlib reaches .99 here; below .9 something is broken rather than approximate.
  EXPECT_GT(index.recall(Context(1)), 0.9);
  EXPECT_LE(index.recall(Context(1)), 1.0);
  EXPECT_LT(index.recall(Context(1), 500, 1), index.recall(Context(1), 500, 200));

  Matrix queries(kQueries, 40);
  for (size_t q = 0; q < kQueries; ++q) {
    std::copy(m.row(q).begin(), m.row(q).end(), queries.row(q).begin());
  }
  const auto own = own_rows(kQueries);
  const auto found = index.search(queries, own, {.top = 10}, Context(2));
  const auto exact = nearest_of(t.space, queries, own, {.top = 10});
  size_t right = 0;
  for (uint32_t q = 0; q < kQueries; ++q) {
    ASSERT_EQ(found[q].size(), 10u);
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_NE(found[q][i].row, q);
      for (const Hit& n : exact[q]) {
        if (n.row != found[q][i].row) continue;
        ++right;
        EXPECT_EQ(n.score, found[q][i].score);  // the bits of the exact search
      }
      if (i > 0) {
        EXPECT_GE(found[q][i - 1].score, found[q][i].score);
      }
    }
  }
  EXPECT_GT(right, kQueries * 9);
}

// Half of the rows are hardly trusted, and one not at all: the graph finds what the exact search
// does.
TEST(Hnsw, DoubtsWhatTheExactSearchDoubts) {
  constexpr size_t kRows = 2000;
  const TestSpace t(clustered(kRows, 20));
  std::vector<float> trust(kRows, 1.0f);
  for (size_t r = 0; r < kRows; r += 2) trust[r] = 0.1f;
  trust[7] = 0;
  const Index doubted(t.names, std::make_shared<MatrixVectors>(t.vectors, 0, kRows, 20, trust));
  const HnswIndex index(doubted, Context(1));
  EXPECT_GT(index.recall(Context(1), 300), 0.9);
  const auto found = index.search(t.vectors, own_rows(kRows), {.top = 10}, Context(1));
  for (const auto& hits : found) {
    for (const Hit& hit : hits) EXPECT_NE(hit.row, 7u);
  }
}

TEST(Hnsw, OneThreadBuildsTheSameGraphTwice) {
  const Matrix m = clustered(1500, 20);
  const TestSpace t(m);
  const Context one_thread(1);
  const HnswIndex first(t.space, one_thread), second(t.space, one_thread);
  const Matrix queries = random_matrix(100, 20, 5);
  // A narrow beam shows differences that a wide one hides.
  const auto one = first.search(queries, {}, {.top = 5}, Context(1), 5);
  EXPECT_TRUE(same(one, second.search(queries, {}, {.top = 5}, Context(1), 5)));
  EXPECT_TRUE(same(one, first.search(queries, {}, {.top = 5}, Context(8), 5)));
}

TEST(Hnsw, KeepsTheContractAtTheEdges) {
  Matrix m = clustered(300, 12);
  for (const size_t zero : {0, 7}) std::fill(m.row(zero).begin(), m.row(zero).end(), 0.0f);
  const TestSpace t(m);
  const HnswIndex index(t.space, Context(1));
  Matrix queries = random_matrix(2, 12, 6);
  std::fill(queries.row(1).begin(), queries.row(1).end(), 0.0f);

  const auto all = index.search(queries, {}, {.top = 1000}, Context(1));
  EXPECT_TRUE(same(all, nearest_of(t.space, queries, {}, {.top = 1000})));
  EXPECT_EQ(all[0].size(), 298u);
  EXPECT_TRUE(all[1].empty());

  const SearchOptions few{.top = 5, .restrict_to = 50};
  EXPECT_TRUE(
      same(index.search(queries, {}, few, Context(1)), nearest_of(t.space, queries, {}, few)));

  // Everybody excluded but three, one of whom is zero, in disorder and some twice.
  std::vector<std::vector<uint32_t>> exclude(2);
  for (uint32_t row = 300; row-- > 10;) exclude[0].push_back(row);
  for (uint32_t row = 3; row < 20; ++row) {
    if (row != 7) exclude[0].push_back(row);
  }
  const auto left = index.search(queries, exclude, {.top = 10}, Context(1));
  ASSERT_EQ(left[0].size(), 2u);
  EXPECT_EQ((std::set{left[0][0].row, left[0][1].row}), (std::set<uint32_t>{1, 2}));
  EXPECT_TRUE(index.search(queries, {}, {.top = 0}, Context(1))[0].empty());
}

TEST(Hnsw, WhatTheGraphCannotReachIsFoundAllTheSame) {
  // Islands of equal vectors and as few links as there can be: most of the graph is out of reach.
  Matrix m = random_matrix(600, 8, 7);
  for (size_t i = 0; i < 600; ++i) std::copy_n(m.row(i / 60 * 60).data(), 8, m.row(i).data());
  const TestSpace t(m);
  const HnswIndex index(t.space, Context(1), 2, 1);
  const Matrix queries = random_matrix(5, 8, 8);
  EXPECT_TRUE(same(index.search(queries, {}, {.top = 600}, Context(1)),
                   nearest_of(t.space, queries, {}, {.top = 600})));
}

TEST(Hnsw, NothingToFind) {
  const TestSpace empty{Matrix(0, 3)}, zeros{Matrix(4, 3)}, one(random_matrix(1, 3, 1));
  const Matrix query = random_matrix(1, 3, 2);
  EXPECT_TRUE(HnswIndex(empty.space, Context(1)).search(query, {}, {}, Context(1))[0].empty());
  EXPECT_TRUE(HnswIndex(zeros.space, Context(1)).search(query, {}, {}, Context(1))[0].empty());
  EXPECT_EQ(HnswIndex(one.space, Context(1)).search(query, {}, {}, Context(1))[0].size(), 1u);
  EXPECT_EQ(HnswIndex(empty.space, Context(1)).recall(Context(1)), 1.0);
  EXPECT_EQ(HnswIndex(one.space, Context(1)).recall(Context(1)), 1.0);
}

TEST(Hnsw, SaysWhatDoesNotFit) {
  const TestSpace t(random_matrix(5, 3, 1));
  EXPECT_EQ(message_of(ErrorKind::kUsage, [&] { HnswIndex(t.space, Context(1), 1); }),
            "a graph takes 2 to 1000 links and an effort of 1 to 1000000; got 1 and 200");
  const HnswIndex index(t.space, Context(1));
  EXPECT_EQ(message_of(ErrorKind::kUsage,
                       [&] { index.search(random_matrix(1, 4, 1), {}, {}, Context(1)); }),
            "queries of 4 numbers do not fit vectors of 3");
}

TEST(GraphPays, OnlyForManyQueriesAgainstManyRows) {
  EXPECT_FALSE(graph_pays(0, 0));
  EXPECT_FALSE(graph_pays(1'000'000, 1));
  EXPECT_FALSE(graph_pays(30'000, 20'000));       // evaluation of analogies
  EXPECT_FALSE(graph_pays(1000, 100'000'000));    // small enough to compare with everybody
  EXPECT_TRUE(graph_pays(3'000'000, 3'000'000));  // everybody's neighbours
}

}  // namespace
}  // namespace kith
