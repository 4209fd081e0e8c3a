// SPDX-License-Identifier: Apache-2.0
// The kernel against the closed form in double, the theory of the sources, and the promises.

#include <sys/time.h>

#include <csignal>

#include "models/als/kernel.h"
#include "models/als/model.h"
#include "models/ratings/test_known.h"
#include "train/svd.h"

namespace kith::als {
namespace {

using test::Planted;

// What a row is solved for: ratings; interactions as the user sees them, and as the item does.
struct Case {
  bool implicit, biases, shifted;
};
constexpr Case kCases[] = {
    {false, true, true}, {true, false, true}, {true, true, false}, {true, false, false}};

// Random rows [q, one, c] and ratings of some of them.
struct Given {
  Given(size_t dim, size_t rows, size_t rated, unsigned seed) : others(rows, dim + 2) {
    std::mt19937 rng(seed);
    std::normal_distribution<float> normal;
    for (size_t r = 0; r < rows; ++r) {
      for (float& x : others.row(r)) x = normal(rng);
      others.row(r)[dim] = 0.5f + static_cast<float>(r % 3) / 2;
    }
    for (uint32_t k = 0; k < rated; ++k) {
      columns.push_back(k * static_cast<uint32_t>(rows / rated));
      values.push_back(std::abs(normal(rng)) + 0.5f);
    }
  }
  Sparse::Row row() const { return {columns, values}; }
  // Of whole rows.
  Matrix gram() const {
    Matrix out(others.cols(), others.cols());
    add_gram(others.view(), 0, others.rows(), others.cols(), out.view());
    return out;
  }
  Side side(const Case& c, const Matrix& gram, int steps, size_t block) const {
    const size_t dim = others.cols() - 2;
    return {.others = others.view(),
            .dim = dim,
            .own = dim,
            .theirs = dim + 1,
            .biases = c.biases,
            .shifted = c.shifted,
            .mean = 1.5f,
            .implicit = c.implicit,
            .unobserved = 0.3f,
            .gram = gram.view(),
            .steps = steps,
            .block = block};
  }
  Matrix others;
  std::vector<uint32_t> columns;
  std::vector<float> values;
};

constexpr float kOne = 0.8f;  // what meets the others' biases

std::vector<float> closed_form(const Given& given, const Case& c, std::span<const float> mean) {
  const size_t dim = given.others.cols() - 2, n = dim + 2;
  std::vector<double> gram(n * n, 0.0);
  Matrix others = given.others.copy();
  for (size_t r = 0; r < others.rows(); ++r) {
    if (!c.shifted) others.row(r)[dim + 1] = 0;
    for (size_t i = 0; i < n * n; ++i) {
      gram[i] += double{others.row(r)[i / n]} * others.row(r)[i % n];
    }
  }
  const RowProblem problem{.dim = dim,
                           .biases = c.biases,
                           .own = dim,
                           .penalty = 0.7,
                           .bias_penalty = 2,
                           .one = kOne,
                           .mean = {mean.begin(), mean.end()},
                           .unobserved = c.implicit ? 0.3 : 0.0,
                           .gram = gram};
  return solve_row(problem, others, 1.5, given.row());
}

// Around the padding and the four rows of a pass, few ratings and many, more ratings than a tile.
TEST(AlsKernel, SolversEqualTheClosedForm) {
  for (const Case& c : kCases) {
    for (const size_t dim : {1, 3, 15, 16, 17, 33}) {
      for (const size_t rated : {1, 2, 5, 40, 300}) {
        const Given given(dim, 2 * rated + 3, rated, static_cast<unsigned>(dim * 1000 + rated));
        const Matrix gram = given.gram();
        Matrix means(1, dim + 2);  // what the penalties draw it to
        for (size_t k = 0; k <= dim && rated % 2 == 0; ++k)
          means.row(0)[k] = 0.3f - 0.1f * float(k);
        const std::vector<float> expected = closed_form(given, c, means.row(0));
        const Side side = given.side(c, gram, 200, dim);
        for (const bool cg : {true, false}) {
          Scratch scratch(dim, dim);
          Matrix row(1, dim + 2);
          row.row(0)[dim + 1] = kOne;
          const Task task{given.row(), row.view().row(0), 0.7f, 2.0f,
                          rated % 2 == 0 ? std::as_const(means).view().row(0) : nullptr};
          cg ? solve_cg(side, {&task, 1}, scratch) : solve_blocks(side, {&task, 1}, scratch);
          for (size_t k = 0; k < dim + 2; ++k) {
            EXPECT_NEAR(row.row(0)[k], expected[k], 2e-3 * (1 + std::abs(expected[k])))
                << "dim " << dim << " rated " << rated << " k " << k << " cg " << cg << " case "
                << &c - kCases;
          }
        }
      }
    }
  }
}

// What a row leaves of its ratings, and, times -1/2, the slope of its objective: both in double,
// pair by pair.
struct Exact {
  double error = 0;
  std::vector<double> slope;
};
Exact exact_of(const Given& given, const Side& side, const Task& task) {
  Exact out{0, std::vector<double>(side.dim + 1, 0.0)};
  const double b = side.biases ? task.row[side.own] : 0;
  const auto add = [&](uint32_t j, double weight, double wanted) {
    const auto q = given.others.row(j);
    double left = wanted - b * q[side.own];
    if (side.shifted) left -= double{task.row[side.theirs]} * q[side.theirs];
    for (size_t i = 0; i < side.dim; ++i) left -= double{q[i]} * task.row[i];
    out.error += weight * left * left;
    for (size_t i = 0; i < side.dim; ++i) out.slope[i] += weight * left * q[i];
    out.slope[side.dim] += weight * left * q[side.own];
  };
  for (size_t k = 0; k < given.columns.size(); ++k) {
    side.implicit ? add(given.columns[k], given.values[k], 1)
                  : add(given.columns[k], 1, given.values[k] - side.mean);
  }
  for (uint32_t j = 0; side.implicit && j < given.others.rows(); ++j) add(j, side.unobserved, 0);
  for (size_t i = 0; i < side.dim; ++i) {
    out.slope[i] -= task.penalty * (task.row[i] - task.mean[i]);
  }
  out.slope[side.dim] -= task.bias_penalty * (b - task.mean[side.own]);
  return out;
}

// A sweep over blocks ends where the last block is the best for what those before it have become:
// its slopes are 0, and those of the others are not yet. And whoever solves tells the error alone.
TEST(AlsKernel, TheLastBlockFitsThoseBeforeItAndTheErrorHasNoPenaltyInIt) {
  constexpr size_t kDim = 10, kBlock = 4;
  const Given given(kDim, 83, 40, 5);
  const Matrix gram = given.gram();
  for (const Case& c : kCases) {
    const Side side = given.side(c, gram, 3, kBlock);
    for (const bool cg : {true, false}) {
      Scratch scratch(kDim, kBlock);
      Matrix row(1, kDim + 2);
      for (size_t k = 0; k < kDim; ++k) row.row(0)[k] = 0.1f * static_cast<float>(k);
      row.row(0)[kDim + 1] = kOne;
      const Matrix mean = row.copy();
      const Task task{given.row(), row.view().row(0), 0.7f, 2.0f, mean.view().row(0)};
      const double told =
          cg ? solve_cg(side, {&task, 1}, scratch) : solve_blocks(side, {&task, 1}, scratch);
      const Exact exact = exact_of(given, side, task);
      EXPECT_NEAR(told, exact.error, 1e-4 * exact.error) << cg << &c - kCases;
      if (cg) continue;
      for (size_t i = kDim / kBlock * kBlock; i < kDim + c.biases; ++i) {
        EXPECT_NEAR(exact.slope[i], 0, 2e-3) << i << &c - kCases;  // sums of 40 floats around 1
      }
      EXPECT_GT(std::abs(exact.slope[0]), 0.1) << &c - kCases;
    }
  }
}

double raw_score(const RatingsModel& model, uint32_t u, uint32_t i) {
  double score = model.factors().mean;
  const auto a = model.factors().user.row(u), b = model.factors().item.row(i);
  for (size_t k = 0; k < a.size(); ++k) score += double{a[k]} * b[k];
  return score;
}

double planted_objective(Als& model, const Ratings& ratings, int epochs) {
  model.config().epochs = epochs;
  model.config().early_stop = 0;
  test::train(model, ratings);
  return model.objective();
}

TEST(Als, TheObjectiveNeverRises) {
  Planted planted{.share = 0.3, .noise = 0.3};
  const Ratings explicit_ratings = planted.ratings();
  std::vector<Rating> pairs;
  for (uint32_t u = 0; u < 30; ++u) {
    for (uint32_t i = 0; i < 20; ++i) {
      if ((u + i) % 4 == 0) pairs.push_back({u, i, 1});
    }
  }
  const Ratings implicit_ratings =
      Ratings::of(test::numbered(30, "u"), test::numbered(20, "i"), pairs, {}, true);
  for (const Ratings* ratings : {&explicit_ratings, &implicit_ratings}) {
    for (const Solver solver : {Solver::kCg, Solver::kCholesky, Solver::kBlocks}) {
      double last = 1e300;
      for (int epochs = 1; epochs <= 8; ++epochs) {
        Als model;
        model.config().dim = 6;
        model.config().solver = solver;
        model.config().block = 4;
        model.config().choices = false;  // what they say is of another objective
        const double now = planted_objective(model, *ratings, epochs);
        EXPECT_LE(now, last * (1 + 1e-6)) << "epoch " << epochs;
        last = now;
      }
    }
  }
}

// That of the end of the last sweep, and without penalties.
TEST(Als, TheLossIsTheMeanSquareThatIsLeft) {
  Planted planted{.share = 0.5, .noise = 0.3};
  const Ratings ratings = planted.ratings();
  for (const Solver solver : {Solver::kCg, Solver::kCholesky}) {
    Als model;
    model.config().dim = 2;
    model.config().epochs = 1;
    model.config().solver = solver;
    test::train(model, ratings);
    double sum = 0;
    for (uint32_t u = 0; u < ratings.train().rows(); ++u) {
      const Sparse::Row row = ratings.train().row(u);
      for (size_t k = 0; k < row.size(); ++k) {
        sum += std::pow(raw_score(model, u, row.columns[k]) - row.values[k], 2);
      }
    }
    const double exact = sum / static_cast<double>(ratings.train().size());
    EXPECT_NEAR(model.state().loss, exact, 1e-3 * exact);
  }
}

// Everything seen, nearly no penalty: the best approximation of its rank (Eckart and Young), so the
// error is that of the singular values left out.
TEST(Als, FullyObservedIsTheTruncatedSvd) {
  Planted planted{.users = 30, .items = 20, .rank = 6, .share = 1, .mean = 0, .bias = 0};
  const Ratings ratings = planted.ratings();
  Matrix dense(30, 20);
  for (uint32_t u = 0; u < 30; ++u) {
    std::ranges::copy(ratings.train().row(u).values, dense.row(u).begin());
  }
  Als model;
  model.config() = {.dim = 3,
                    .epochs = 500,
                    .penalty = 1e-8,
                    .frequency = 0,
                    .biases = false,
                    .solver = Solver::kCholesky,
                    .early_stop = 0};
  // The mean is taken off first; without one the two problems are the same.
  double mean = 0;
  for (const float v : ratings.train().value) mean += v;
  mean /= 600;
  Matrix centred(30, 20);
  for (size_t u = 0; u < 30; ++u) {
    for (size_t i = 0; i < 20; ++i) centred.row(u)[i] = dense.row(u)[i] - static_cast<float>(mean);
  }
  const Svd best = dense_svd(centred);
  double left_out = 0;
  for (size_t k = 3; k < best.sigma.size(); ++k) left_out += best.sigma[k] * best.sigma[k];
  test::train(model, ratings);
  double error = 0;
  for (uint32_t u = 0; u < 30; ++u) {
    for (uint32_t i = 0; i < 20; ++i) {
      const double score = raw_score(model, u, i);
      error += (score - dense.row(u)[i]) * (score - dense.row(u)[i]);
    }
  }
  EXPECT_NEAR(error, left_out, 1e-3 * left_out);
}

// Source 002: incoherent, low rank, enough seen. No noise, so the truth comes back.
TEST(Als, RecoversAnIncoherentMatrix) {
  Planted planted{.users = 120, .items = 100, .rank = 3, .share = 0.4, .mean = 0, .bias = 0};
  const Ratings ratings = planted.ratings();
  Als model;
  model.config() = {.dim = 3,
                    .epochs = 300,
                    .penalty = 1e-9,
                    .frequency = 0,
                    .biases = false,
                    .solver = Solver::kCholesky,
                    .early_stop = 0};
  model.config().dim = 4;  // the mean that is taken off may cost one
  test::train(model, ratings);
  double size = 0, error = 0;
  for (const Rating& r : planted.rest) {  // beyond the range of what was seen as well: no clipping
    size += double{r.value} * r.value;
    error += std::pow(raw_score(model, r.user, r.item) - r.value, 2);
  }
  EXPECT_LT(std::sqrt(error / size), 1e-4);
}

TEST(Als, KeepsItsPromises) {
  Planted planted{.share = 0.4, .noise = 0.2};
  const Ratings ratings = planted.ratings(0.1);
  test::expect_promises<Als>("als", ratings, [](Als& m) { m.config().dim = 5; });
  Als model;
  model.config().dim = 2;
  model.config().penalty = 0.03;  // there is less noise than people make
  test::train(model, ratings);
  EXPECT_LT(test::rmse(model, planted.rest), 0.4);
  test::expect_folds_in(model, 0.3);
}

TEST(Als, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Solver solver : {Solver::kCg, Solver::kCholesky}) {
    test::expect_same_for_any_threads<Als>([&](Als& m) {
      m.config().dim = 3;
      m.config().epochs = 2;
      m.config().solver = solver;
    });
  }
}

// The penalty is in units of the ratings' noise, so it does not matter what they are counted in.
TEST(Als, RatingsInAnotherUnitArePredictedInIt) {
  Planted planted{.share = 0.5, .noise = 0.3};
  const Ratings ratings = planted.ratings();
  Sparse hundredfold = ratings.train();
  for (float& v : hundredfold.value) v *= 100;
  const auto trained = [](const Ratings& from) {
    auto model = std::make_unique<Als>();
    model->config().dim = 2;
    model->config().epochs = 200;
    model->config().solver = Solver::kCholesky;
    test::train(*model, from);
    return model;
  };
  const auto plain = trained(ratings), large = trained(ratings.with(std::move(hundredfold), {}));
  for (const Rating& r : planted.rest) {
    EXPECT_NEAR(raw_score(*large, r.user, r.item) / 100, raw_score(*plain, r.user, r.item), 0.01);
  }
}

// More rows on the other side than are summed up at a time, and each of them counts: an item as it
// was solved last is the closed form over all users.
TEST(Als, WhatNobodySawCountsForEveryUser) {
  constexpr uint32_t kUsers = 5000, kItems = 6;
  std::vector<Rating> pairs;
  for (uint32_t u = 0; u < kUsers; ++u) pairs.push_back({u, u / 7 % kItems, 1});
  for (uint32_t u = 0; u < kUsers; u += 2) pairs.push_back({u, (u / 7 + 2) % kItems, 1});
  const Ratings ratings =
      Ratings::of(test::numbered(kUsers, "u"), test::numbered(kItems, "i"), pairs, {}, true);
  Als model;
  model.config().dim = 3;
  model.config().epochs = 3;
  model.config().solver = Solver::kCholesky;
  test::train(model, ratings, 2);
  const Sparse by_item = transposed(ratings.train());
  for (uint32_t i = 0; i < kItems; ++i) {
    const auto exact = model.fold_in(Axis::kItem, by_item.row(i));
    for (size_t k = 0; k < 3; ++k) {
      const float learned = model.factors().item.row(i)[k];
      EXPECT_NEAR(learned, exact[k], 1e-3 * (1 + std::abs(exact[k]))) << i;
    }
  }
}

TEST(Als, ImplicitFeedbackRanksWhatFits) {
  std::vector<Rating> pairs;  // two kinds of users and items; a user has seen some of its kind
  for (uint32_t u = 0; u < 40; ++u) {
    for (uint32_t i = 0; i < 20; ++i) {
      if (u % 2 == i % 2 && (u * 7 + i * 3) % 5 != 0) pairs.push_back({u, i, 1});
    }
  }
  const Ratings ratings =
      Ratings::of(test::numbered(40, "u"), test::numbered(20, "i"), pairs, {}, true);
  for (const Solver solver : {Solver::kCg, Solver::kCholesky, Solver::kBlocks}) {
    Als model;
    model.config().dim = 2;
    model.config().solver = solver;
    test::train(model, ratings);
    for (uint32_t u = 0; u < 40; ++u) {
      for (uint32_t i = 0; i < 20; ++i) {
        for (uint32_t j = 0; j < 20; ++j) {
          if (u % 2 == i % 2 && u % 2 != j % 2) {
            EXPECT_GT(model.predict(u, i), model.predict(u, j));
          }
        }
      }
    }
    const auto row = model.fold_in(Axis::kUser, ratings.train().row(0));
    for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(row[k], model.factors().user.row(0)[k], 0.1);
  }
}

// As an item whose ratings are all held out: nothing is known, so nothing is said beyond biases.
TEST(Als, WhatHasNoRatingsHasNoVector) {
  for (const bool implicit : {false, true}) {
    std::vector<Rating> seen;
    for (uint32_t k = 0; k < 100; ++k) {
      const uint32_t u = k % 20, i = k / 20;
      if (u != 7 && i != 2) seen.push_back({u, i, static_cast<float>(1 + (u * i + u) % 5)});
    }
    Als model;
    model.config().dim = 3;
    model.config().epochs = 3;
    test::train(model,
                Ratings::of(test::numbered(20, "u"), test::numbered(5, "i"), seen, {}, implicit));
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(model.factors().user.row(7)[k], 0) << implicit;
      EXPECT_EQ(model.factors().item.row(2)[k], 0) << implicit;
      EXPECT_NE(model.factors().item.row(1)[k], 0) << implicit;
    }
  }
}

TEST(Als, AnswersWhenThereIsLittleToKnow) {
  // One rating; a constant; a user and an item without any; a rank above the matrix; no penalty.
  const auto expect_sane = [](const Ratings& ratings, Config config, float expected) {
    Als model;
    model.config() = config;
    test::train(model, ratings);
    for (uint32_t u = 0; u < ratings.users().size(); ++u) {
      for (uint32_t i = 0; i < ratings.items().size(); ++i) {
        EXPECT_NEAR(model.predict(u, i), expected, 1e-3);
      }
    }
  };
  const Ratings one = Ratings::of(test::numbered(2, "u"), test::numbered(3, "i"), {{0, 1, 4}});
  expect_sane(one, {}, 4);
  expect_sane(one, {.dim = 500, .penalty = 0, .bias_penalty = 0}, 4);
  std::vector<Rating> same;
  for (uint32_t k = 0; k < 30; ++k) same.push_back({k % 5, k % 6, 2.5f});
  expect_sane(Ratings::of(test::numbered(6, "u"), test::numbered(7, "i"), same), {.penalty = 0},
              2.5);
}

TEST(Als, NewRatingsMoveTheirUserAlone) {
  Planted planted{.share = 0.4, .noise = 0.1};
  const Ratings ratings = planted.ratings();
  Als model;
  model.config().dim = 2;
  model.config().penalty = 0.03;
  test::train(model, ratings);
  const auto five = model.factors().user.row(5);
  const std::vector<float> before(five.begin(), five.end());
  Names users = ratings.users(), items = ratings.items();
  const uint32_t someone = users.add("someone"), something = items.add("something");
  std::vector<Rating> more;
  for (uint32_t i = 0; i < 20; ++i)
    more.push_back({someone, i, static_cast<float>(planted.truth(7, i))});
  more.push_back({someone, something, 3});
  const auto updated =
      model.update(Ratings::of(std::move(users), std::move(items), more), Context(2));
  EXPECT_EQ(std::ranges::count(updated.added, "user", &Updated::Added::column), 1);
  EXPECT_EQ(std::ranges::count(updated.added, "item", &Updated::Added::column), 1);
  EXPECT_EQ(updated.added.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(before, model.factors().user.row(5)));
  // It rates as user 7 does, so it is told what user 7 would say.
  double error = 0;
  for (uint32_t i = 20; i < 40; ++i)
    error += std::abs(model.predict(someone, i) - planted.truth(7, i));
  EXPECT_LT(error / 20, 0.4);
}

TEST(Als, ColumnsTellOfRowsWithFewRatingsOrNone) {
  test::expect_columns_tell<Als>([](Als& m) { m.config().dim = 4; }, 0.8);
}

TEST(Als, WhoRatedWhatTells) {
  test::expect_choices_tell<Als>([](Als& m) { m.config().dim = 4; });
}

TEST(Als, WhatIsKnownOfRowsKeepsThePromises) {
  test::Grouped planted{.users = 60, .items = 40};
  test::expect_promises<Als>("als", planted.ratings(true, 0.1), [](Als& m) {
    m.config().dim = 3;
    m.config().epochs = 6;
  });
}

TEST(Als, FoldingInKnowsWhatTheChoicesSay) {
  test::Choosy choosy;
  Als model;
  model.config() = {.dim = 3, .epochs = 100, .solver = Solver::kCholesky, .early_stop = 0};
  test::train(model, choosy.ratings());
  test::expect_folds_in(model, 0.05);
}

TEST(Als, ACheckpointOfOtherColumnsDoesNotGoOn) { test::expect_the_same_columns<Als>("als"); }

// Cancels a job after so many microseconds, by a signal: wherever the only thread is then.
class CancelsLater {
 public:
  CancelsLater(Job& job, int64_t microseconds) {
    target() = &job;
    before_ = std::signal(SIGALRM, [](int) { target()->cancel(); });
    set(microseconds);
  }
  ~CancelsLater() {
    set(0);
    std::signal(SIGALRM, before_);
  }

 private:
  static Job*& target() {
    static Job* job = nullptr;
    return job;
  }
  static void set(int64_t microseconds) {
    const itimerval once{{0, 0}, {microseconds / 1000000, microseconds % 1000000}};
    setitimer(ITIMER_REAL, &once, nullptr);
  }
  void (*before_)(int);
};

// Also between learning what is known of the rows and using it: half a sweep that has not begun
// begins again from where it was.
TEST(Als, ACancelAtAnyMomentGoesBackToTheLastSafePoint) {
  test::Grouped planted{.users = 60, .items = 40};
  const Ratings ratings = planted.ratings(true);
  const Config config{.dim = 3, .epochs = 4, .early_stop = 0};
  Als whole;
  whole.config() = config;
  test::train(whole, ratings);
  int stopped = 0, ended = 0;
  for (int64_t delay = 100; ended < 3 && stopped < 1000; delay += 10) {
    Als model;
    model.config() = config;
    Job job;
    bool done = false;
    {
      const CancelsLater later(job, delay);
      done = model.train(ratings, job);
    }
    ended += done;
    if (done) continue;
    ++stopped;
    Als resumed = test::through_file(model, "als", true);
    test::train(resumed, ratings);
    test::expect_same(whole, resumed, fmt::format("cancelled after {} us", delay));
  }
  EXPECT_GT(stopped, 0);
}

}  // namespace
}  // namespace kith::als
