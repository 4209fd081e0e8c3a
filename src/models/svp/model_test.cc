// SPDX-License-Identifier: Apache-2.0
#include "models/svp/model.h"

#include "models/ratings/test_completion.h"

namespace kith::svp {
namespace {

using test::low_rank;
using test::ratings_of;
using test::relative_error;

void exact(Svp& model, int rank) {
  model.config().dim = rank;
  model.config().biases = false;
  model.config().epochs = 200;
  model.config().tolerance = 1e-4;
}

double recovered(const Matrix& truth, int rank, double share, uint64_t seed) {
  Svp model;
  exact(model, rank);
  Job job;
  model.train(ratings_of(test::sampled(truth, share, seed)), job);
  return relative_error(model, truth);
}

// 2 n k - k^2 = 594 numbers determine a matrix of 100 x 100 and rank 3. Half of the entries are
// eight times as many: more than enough. 700 are enough only to count, not for the projection.
TEST(Svp, RecoversALowRankMatrixFromEnoughEntriesAndNotFromTooFew) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Matrix truth = low_rank(100, 100, 3, seed);
    EXPECT_LT(recovered(truth, 3, 0.5, seed), 1e-4);
    EXPECT_GT(recovered(truth, 3, 0.07, seed), 0.1);
  }
}

TEST(Svp, RecoversSmallMatricesByWholeDecompositions) {
  const Matrix truth = low_rank(30, 34, 2, 5);
  EXPECT_LT(recovered(truth, 2, 0.7, 6), 1e-4);
}

TEST(Svp, RecoversRectanglesToo) {
  EXPECT_LT(recovered(low_rank(300, 40, 2, 7), 2, 0.5, 8), 1e-4);
  EXPECT_LT(recovered(low_rank(40, 300, 2, 7), 2, 0.5, 8), 1e-4);
}

// Everything observed: the first step is the theorem of Eckart and Young.
TEST(Svp, FullyObservedItIsTheBestApproximationOfRankK) {
  const Matrix a = test::random_matrix(60, 50, 9);
  const Svd whole = dense_svd(a);
  Svp model;
  exact(model, 4);
  Job job;
  model.train(ratings_of(test::sampled(a, 1, 1)), job);
  double dropped = 0, squares = 0;
  for (size_t i = 0; i < whole.rank(); ++i) {
    (i < 4 ? squares : dropped) += whole.sigma[i] * whole.sigma[i];
  }
  EXPECT_NEAR(relative_error(model, a), std::sqrt(dropped / (dropped + squares)), 1e-5);
}

// The power method finds the same singular vectors, to the precision that it stops at; with them
// the same matrix is recovered.
TEST(Svp, ThePowerMethodRecoversTheSameMatrix) {
  const Matrix truth = low_rank(60, 50, 2, 7);
  Svp block, power;
  power.config().svd = Decomposition::kPower;
  for (Svp* model : {&block, &power}) {
    exact(*model, 2);
    Job job;
    model->train(ratings_of(test::sampled(truth, 0.5, 8)), job);
    EXPECT_LT(relative_error(*model, truth), 1e-3);
  }
  EXPECT_FALSE(test::same_bits(block.factors().user, power.factors().user)) << "it is another way";
}

TEST(Svp, TheErrorOfTheObservedNeverRises) {
  const Ratings ratings = test::noisy_ratings(80, 60, 0.3, false);
  Svp model;
  model.config().dim = 5;
  model.config().epochs = 40;
  model.config().tolerance = 0;
  Job job;
  double before = 1e300;
  job.on_progress = [&](const Progress& p) {
    EXPECT_LE(p.loss, before * (1 + 1e-6));  // the decomposition is exact to single precision
    before = p.loss;
  };
  model.train(ratings, job);
}

// Everything observed and of rank k, so a step of eta leaves 1 - eta of what was left. 3.9 would
// raise the error, half of it leaves -0.95: little is gained, but no run ends on a step that was
// halved.
TEST(Svp, AStepThatRaisesTheErrorIsHalved) {
  const Matrix truth = low_rank(30, 20, 2, 5);
  Svp model;
  exact(model, 2);
  model.config().step = 3.9;
  model.config().tolerance = 0.2;
  for (const int epochs : {1, 2, 5}) {
    model.config().epochs = epochs;
    Job job;
    model.train(ratings_of(test::sampled(truth, 1, 1)), job);
    EXPECT_NEAR(relative_error(model, truth), std::pow(0.95, epochs), 1e-4) << epochs;
  }
}

// What is taken back is taken back with its rank: a first step that was halved starts from as
// little as one that is as short from the beginning, and they go to the same place.
TEST(Svp, AStepThatIsTakenBackLeavesNothingBehind) {
  const Sparse observed = test::sampled(test::random_matrix(60, 50, 9), 1, 1);
  std::vector<Svp> models(2);
  for (Svp& model : models) {
    exact(model, 5);
    model.config().epochs = 1;
    model.config().step = &model == &models[0] ? 7 : 1.75;
    Job job;
    model.train(ratings_of(observed), job);
  }
  test::expect_same(models[0], models[1], "a step of 7 that was halved twice, and one of 7 / 4");
}

// Half is observed: a step of 1 goes about half of the way, and one that gains most goes all of it.
TEST(Svp, StepsThatGainMostGetFarther) {
  const Matrix truth = low_rank(100, 80, 2, 3);
  double errors[2];
  for (const bool automatic : {false, true}) {
    Svp model;
    exact(model, 2);
    model.config().epochs = 15;
    if (!automatic) model.config().step = 1;
    Job job;
    model.train(ratings_of(test::sampled(truth, 0.5, 4)), job);
    errors[automatic] = relative_error(model, truth);
  }
  EXPECT_LT(errors[1], errors[0] / 4);
}

TEST(Svp, BetterThanBiasesAndNeverWorse) {
  const Ratings good = test::noisy_ratings(120, 80, 0.3, true);
  Svp model;
  model.config().dim = 2;
  Job job;
  model.train(good, job);
  const std::vector<double>& errors = model.state().held_out;
  EXPECT_LT(*std::ranges::min_element(errors), 0.7 * errors.front());
  // Noise alone: nothing to learn beyond biases, so nothing is learned.
  Matrix noise = test::random_matrix(60, 50, 31);
  Svp idle;
  idle.config().dim = 5;
  idle.train(ratings_of(test::sampled(noise, 0.1, 32), true), job);
  const double best = *std::ranges::min_element(idle.state().held_out);
  EXPECT_LE(best, idle.state().held_out.front());
  if (best == idle.state().held_out.front()) {
    EXPECT_EQ(idle.factors().dim, 0u);
  }
}

// With a matrix that is large enough for many shards, and with one that fits in one.
TEST(Svp, Promises) {
  const auto configure = [](Svp& m) {
    m.config().dim = 5;
    m.config().epochs = 8;
    m.config().early_stop = 8;
  };
  for (const auto& [rows, cols] : {std::pair{500, 300}, std::pair{25, 20}}) {
    const Ratings ratings =
        test::noisy_ratings(static_cast<size_t>(rows), static_cast<size_t>(cols), 0.3, true);
    test::expect_promises<Svp>("svp", ratings, configure);
    Svp model;
    configure(model);
    test::train(model, ratings);
    test::expect_same_file(model, "svp");
  }
}

TEST(Svp, FoldingInIsAsGoodAsTraining) {
  const Ratings ratings = test::noisy_ratings(100, 80, 0.4, false);
  Svp model;
  model.config().dim = 2;
  Job job;
  model.train(ratings, job);
  for (const uint32_t u : {0, 17, 99}) {
    EXPECT_LT(test::fold_in_error(model, ratings.train(), u), 0.5) << u;  // noise 0.3; spread 2
  }
  const auto item = model.factors().item.row(3);
  EXPECT_NEAR(model.rating(model.fold_in(Axis::kUser, {}), item),
              model.factors().mean + item[model.factors().dim + 1], 1e-5);
}

// A row of one rating r on q is r q / (|q|^2 + penalty): the noise that training left, in units of
// how much the coordinates of the trained rows vary.
TEST(Svp, FoldingInShrinksByTheNoise) {
  const Ratings ratings = test::noisy_ratings(100, 80, 0.4, false);
  Svp model;
  model.config().dim = 2;
  model.config().biases = false;
  Job job;
  model.train(ratings, job);
  double squares = 0;
  for (size_t u = 0; u < 100; ++u) {
    const auto p = model.factors().user.row(u);
    squares += (double{p[0]} * p[0] + double{p[1]} * p[1]) / 200;
  }
  const double penalty = model.state().loss / squares;
  const auto q = model.factors().item.row(3);
  const double norm = double{q[0]} * q[0] + double{q[1]} * q[1];
  const uint32_t item = 3;
  const float rating = 4;
  const std::vector<float> folded = model.fold_in(Axis::kUser, {{&item, 1}, {&rating, 1}});
  EXPECT_GT(penalty, 0.01 * norm);
  for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(folded[k], 4 * q[k] / (norm + penalty), 1e-4);
}

TEST(Svp, RefusesWhatItCannotLearnFrom) {
  Svp model;
  Job job;
  EXPECT_NE(message_of(ErrorKind::kInput,
                       [&] {
                         model.train(
                             Ratings::of(test::numbered(2, "u"), test::numbered(2, "i"), {}), job);
                       })
                .find("no ratings"),
            std::string::npos);
  EXPECT_NE(message_of(ErrorKind::kUsage,
                       [&] {
                         model.train(Ratings::of(test::numbered(2, "u"), test::numbered(2, "i"),
                                                 {{0, 1, 1}}, {}, true),
                                     job);
                       })
                .find("train als, or nmf with --unrated zero"),
            std::string::npos);
  // One rating, and a rank larger than the matrix.
  Svp tiny;
  tiny.config().dim = 50;
  tiny.train(Ratings::of(test::numbered(2, "u"), test::numbered(2, "i"), {{0, 1, 3}}), job);
  EXPECT_NEAR(tiny.predict(0, 1), 3, 1e-3);
}

}  // namespace
}  // namespace kith::svp
