// SPDX-License-Identifier: Apache-2.0
#include "models/softimpute/model.h"

#include "models/ratings/test_completion.h"
#include "models/softimpute/trainer.h"
#include "train/noise_level.h"

namespace kith::softimpute {
namespace {

using test::low_rank;
using test::ratings_of;
using test::relative_error;

double shrunk(const Matrix& truth, double share, uint64_t seed) {
  SoftImpute model;
  model.config().method = Method::kShrink;
  model.config().biases = false;
  model.config().tolerance = 2e-5;
  model.config().epochs = 600;
  Job job;
  model.train(ratings_of(test::sampled(truth, share, seed)), job);
  return relative_error(model, truth);
}

// Theorem 15, and the bound below which nothing can be recovered: a matrix of 100 x 100 and rank 3
// has 2 n k - k^2 = 591 degrees of freedom, of which half the entries are 8 times as many.
TEST(SoftImpute, TheLeastNuclearNormIsTheTruthAboveTheThresholdAndNotBelow) {
  for (const uint64_t seed : {1, 2}) {
    const Matrix truth = low_rank(100, 100, 3, seed);
    EXPECT_LT(shrunk(truth, 0.5, seed), 1e-4);
    EXPECT_GT(shrunk(truth, 0.07, seed), 0.1);
  }
}

// The same by the penalised problem with lambda near 0.
TEST(SoftImpute, ASmallPenaltyRecoversToo) {
  const Matrix truth = low_rank(100, 80, 3, 4);
  for (const Method method : {Method::kImpute, Method::kAls}) {
    SoftImpute model;
    model.config().method = method;
    model.config().biases = false;
    model.config().penalty = 0.003;
    model.config().decay = 0.5;
    model.config().tolerance = 1e-9;
    model.config().iterations = 60;
    Job job;
    model.train(ratings_of(test::sampled(truth, 0.6, 5)), job);
    EXPECT_LT(relative_error(model, truth), 1e-4) << detail::show(method);
    EXPECT_EQ(model.rank(), 3u) << detail::show(method);
  }
}

// Fully observed, Z is the matrix itself: one step is shrink_lambda (theorem 13).
TEST(SoftImpute, FullyObservedItIsShrink) {
  const Matrix a = test::random_matrix(50, 40, 6);
  const Svd whole = dense_svd(a);
  const double lambda = whole.sigma[5] + 1e-3;
  const Matrix expected = test::product(shrink(whole, lambda));
  for (const Method method : {Method::kImpute, Method::kAls}) {
    SoftImpute model;
    model.config().method = method;
    model.config().biases = false;
    model.config().penalty = lambda;
    model.config().tolerance = 1e-9;
    Job job;
    model.train(ratings_of(test::sampled(a, 1, 1)), job);
    EXPECT_EQ(model.rank(), 5u);
    EXPECT_LT(relative_error(model, expected), 2e-3) << detail::show(method);
  }
}

// Conditions of the optimum of |P(A - M)|^2 / 2 + lambda |M|_*: the residual E has no singular
// value above lambda, and E v = lambda u on the singular vectors of M.
TEST(SoftImpute, TheResidualIsASubgradient) {
  const Sparse sparse = test::sampled(low_rank(70, 60, 4, 8), 0.5, 9);
  for (const Method method : {Method::kImpute, Method::kAls}) {
    SoftImpute model;
    model.config().method = method;
    model.config().biases = false;
    model.config().penalty = 20;
    model.config().tolerance = 1e-8;
    model.config().iterations = 300;
    Job job;
    model.train(ratings_of(sparse), job);
    Residual residual(sparse);
    residual.update(model.factors().user, model.factors().item, 0, job);
    EXPECT_NEAR(largest_singular_value(residual.by_user(), job), 20, 0.05) << detail::show(method);
    // E q = lambda p, since p = U s^(1/2) and q = V s^(1/2).
    const SparsePlusLowRank e(residual.by_user(), residual.by_item());
    const Matrix eq = e.multiply(model.factors().item, job);
    double off = 0, all = 0;
    for (size_t r = 0; r < eq.rows(); ++r) {
      for (size_t k = 0; k < model.rank(); ++k) {
        const double p = 20 * model.factors().user.row(r)[k];
        off += std::pow(eq.row(r)[k] - p, 2);
        all += p * p;
      }
    }
    EXPECT_LT(std::sqrt(off / all), 0.02) << detail::show(method);
  }
}

TEST(SoftImpute, BothFormsReachTheSameOptimum) {
  const Ratings ratings = test::noisy_ratings(80, 60, 0.4, false);
  std::vector<SoftImpute> models(2);
  for (const Method method : {Method::kImpute, Method::kAls}) {
    SoftImpute& m = models[method == Method::kAls];
    m.config().method = method;
    m.config().penalty = 5;
    m.config().tolerance = 1e-8;
    m.config().iterations = 300;
    Job job;
    m.train(ratings, job);
  }
  for (uint32_t u = 0; u < 80; u += 7) {
    for (uint32_t i = 0; i < 60; i += 5) {
      EXPECT_NEAR(models[0].predict(u, i), models[1].predict(u, i), 0.02);
    }
  }
}

TEST(SoftImpute, ThePathFindsALambdaThatBeatsBiases) {
  const Ratings ratings = test::noisy_ratings(150, 100, 0.3, true);
  SoftImpute model;
  Job job;
  model.train(ratings, job);
  const std::vector<double>& errors = model.state().held_out;
  EXPECT_LT(*std::ranges::min_element(errors), 0.6 * errors.front());
  EXPECT_GT(model.rank(), 1u);
  EXPECT_GT(model.penalty(), 0);
  // Nothing held out: the penalty comes from what noise could make.
  SoftImpute alone;
  alone.train(test::noisy_ratings(150, 100, 0.3, false), job);
  EXPECT_GE(alone.rank(), 2u);
  EXPECT_LT(alone.rank(), 100u);
}

TEST(SoftImpute, DebiasingGivesTheSingularValuesBack) {
  const Matrix truth = low_rank(100, 80, 3, 11);
  const Ratings ratings = ratings_of(test::sampled(truth, 0.6, 12));
  double errors[2];
  for (const bool debiased : {false, true}) {
    SoftImpute model;
    model.config().biases = false;
    model.config().penalty = 10;
    model.config().debias = debiased;
    Job job;
    model.train(ratings, job);
    EXPECT_EQ(model.rank(), 3u);
    errors[debiased] = relative_error(model, truth);
  }
  EXPECT_LT(errors[1], 0.5 * errors[0]);
}

TEST(SoftImpute, Promises) {
  const Ratings ratings = test::noisy_ratings(300, 120, 0.2, true);
  for (const Method method : {Method::kImpute, Method::kAls, Method::kShrink}) {
    SCOPED_TRACE(detail::show(method));
    const auto configure = [&](SoftImpute& m) {
      m.config().method = method;
      m.config().epochs = 5;
      m.config().iterations = 10;
      m.config().debias = true;
    };
    test::expect_promises<SoftImpute>("softimpute", ratings, configure);
    SoftImpute model;
    configure(model);
    test::train(model, ratings);
    test::expect_same_file(model, "softimpute");
  }
}

// At the optimum every row is the ridge regression that folding in solves.
TEST(SoftImpute, FoldingInGivesTheTrainedRow) {
  const Sparse sparse = test::sampled(low_rank(80, 60, 3, 14), 0.6, 15);
  SoftImpute model;
  model.config().biases = false;
  model.config().penalty = 4;
  model.config().tolerance = 1e-9;
  model.config().iterations = 500;
  Job job;
  model.train(ratings_of(sparse), job);
  for (const uint32_t u : {0, 40, 79}) {
    const std::vector<float> folded = model.fold_in(Axis::kUser, sparse.row(u));
    for (size_t k = 0; k < model.factors().dim; ++k) {
      EXPECT_NEAR(folded[k], model.factors().user.row(u)[k], 0.02);
    }
  }
}

TEST(SoftImpute, RefusesWhatItCannotLearnFrom) {
  SoftImpute model;
  Job job;
  EXPECT_NE(message_of(ErrorKind::kInput,
                       [&] {
                         model.train(
                             Ratings::of(test::numbered(2, "u"), test::numbered(2, "i"), {}), job);
                       })
                .find("no ratings"),
            std::string::npos);
  for (const std::optional<Method> method : {std::optional<Method>(), {Method::kShrink}}) {
    SoftImpute tiny;  // one rating
    tiny.config().method = method;
    tiny.train(Ratings::of(test::numbered(2, "u"), test::numbered(2, "i"), {{0, 1, 3}}), job);
    EXPECT_NEAR(tiny.predict(0, 1), 3, 1e-3);
  }
}

}  // namespace
}  // namespace kith::softimpute
