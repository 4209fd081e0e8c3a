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

// One iteration is enough for that, however many singular values are above the penalty and however
// far the penalty is from where the path begins: one that is given is reached.
TEST(SoftImpute, FullyObservedOneIterationIsShrink) {
  const Matrix a = test::random_matrix(50, 40, 6);
  const Svd whole = dense_svd(a);
  const double lambda = (whole.sigma[19] + whole.sigma[20]) / 2;
  SoftImpute model;
  model.config().biases = false;
  model.config().penalty = lambda;
  model.config().epochs = 1;
  model.config().iterations = 1;
  Job job;
  model.train(ratings_of(test::sampled(a, 1, 1)), job);
  EXPECT_EQ(model.penalty(), lambda);
  EXPECT_EQ(model.rank(), 20u);
  EXPECT_LT(relative_error(model, test::product(shrink(whole, lambda))), 2e-3);
}

// Fully observed the second iteration finds what the first found, and the rest are left out. With a
// small penalty nearly all of the objective is the norm: the error is rounding.
TEST(SoftImpute, APenaltyIsDoneWhenTheObjectiveNoLongerChanges) {
  SoftImpute model;
  model.config().biases = false;
  model.config().penalty = 1e-5;
  model.config().epochs = 1;
  model.config().iterations = 30;
  Job job;
  int reports = 0;
  job.on_progress = [&](const Progress&) { ++reports; };
  model.train(ratings_of(test::sampled(low_rank(50, 40, 3, 6), 1, 1)), job);
  EXPECT_LE(reports, 4);
}

// With everything observed each singular value s goes its own way: m = shrink(y), y += step (s -
// m), from the last multiple of step s at which no m was above 0. With long steps m falls to 0 on
// the way and rises again.
TEST(SoftImpute, FullyObservedTheStepsOfShrinkAreThoseOfNumbers) {
  const Matrix a = low_rank(20, 15, 2, 6);
  Svd expected = truncated(dense_svd(a), 2);
  const std::vector<double> sigma = expected.sigma;
  const double tau = 5 * sigma[0], step = 2.2;
  const double begin = step * std::ceil(tau / (step * sigma[0]));
  std::vector<double> y{begin * sigma[0], begin * sigma[1]};
  bool fell = false;
  for (int epochs = 1; epochs <= 6; ++epochs) {
    for (size_t k = 0; k < 2; ++k) {
      const double before = epochs == 1 ? 0 : expected.sigma[k];
      expected.sigma[k] = std::max(0.0, y[k] - tau);
      fell = fell || (before > 0 && expected.sigma[k] == 0);
      y[k] += step * (sigma[k] - expected.sigma[k]);
    }
    SoftImpute model;
    model.config().method = Method::kShrink;
    model.config().biases = false;
    model.config().penalty = tau;
    model.config().step = step;
    model.config().epochs = epochs;
    model.config().tolerance = 0;
    Job job;
    model.train(ratings_of(test::sampled(a, 1, 1)), job);
    const Matrix m = test::product(model.factors().user, model.factors().item);
    const double off = test::squared_distance(m, test::product(expected));
    EXPECT_LT(std::sqrt(off / test::squared_norm(a)), 1e-4) << epochs;
  }
  EXPECT_TRUE(fell);
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

// Least squares: what is left is orthogonal to every p_uk q_ik, and biases stay what they explain.
TEST(SoftImpute, DebiasedValuesAreLeastSquaresBesideBiases) {
  const Ratings ratings = test::noisy_ratings(100, 80, 0.4, false);
  SoftImpute model;
  model.config().penalty = 10;
  model.config().debias = true;
  Job job;
  model.train(ratings, job);
  const RatingFactors& f = model.factors();
  ASSERT_GE(model.rank(), 2u);
  std::vector<double> along(f.dim, 0.0), size(f.dim, 0.0);
  double left = 0;
  for (const Rating& r : test::triples(ratings.train())) {
    const double e = r.value - f.mean - test::dot(f.user, r.user, f.item, r.item);
    left += e * e;
    for (size_t k = 0; k < f.dim; ++k) {
      const double x = double{f.user.row(r.user)[k]} * f.item.row(r.item)[k];
      along[k] += e * x;
      size[k] += x * x;
    }
  }
  for (size_t k = 0; k < f.dim; ++k) {
    EXPECT_GT(size[k], 0);
    EXPECT_LT(std::abs(along[k]) / std::sqrt(left * size[k]), 1e-4) << k;
  }
}

// Much too small a penalty: an earlier one is better on what is held out, but this one was given.
TEST(SoftImpute, APenaltyThatIsGivenIsUsed) {
  const Ratings ratings = test::noisy_ratings(80, 60, 0.5, true);
  SoftImpute model;
  model.config().penalty = 0.05;
  Job job;
  model.train(ratings, job);
  const std::vector<double>& errors = model.state().held_out;
  EXPECT_GT(errors.back(), *std::ranges::min_element(errors));
  EXPECT_EQ(model.penalty(), 0.05);
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
