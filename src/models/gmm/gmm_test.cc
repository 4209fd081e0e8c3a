// SPDX-License-Identifier: Apache-2.0
// What is true of mixtures and of EM, on data whose truth is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/gmm/model.h"
#include "models/gmm/sweep.h"
#include "models/gmm/test_mixtures.h"
#include "models/test_model.h"

namespace kith::gmm {
namespace {

constexpr std::array kAllForms{Covariance::kSpherical, Covariance::kDiagonal, Covariance::kFull,
                               Covariance::kTied};

Gmm trained(const MatrixData& data, const Config& config, uint64_t seed = 1, int threads = 1) {
  Gmm model;
  model.config() = config;
  Job job(threads);
  job.seed = seed;
  EXPECT_TRUE(model.train(data, job));
  return model;
}

// The components of a model by their first mean.
std::vector<size_t> in_order(const Gmm& model) {
  std::vector<size_t> out(model.components());
  for (size_t k = 0; k < out.size(); ++k) out[k] = k;
  std::ranges::sort(out, {}, [&](size_t k) { return model.means()[k * model.cols()]; });
  return out;
}

// Of rows in double: mean and covariance by the textbook.
struct Moment {
  std::vector<double> mean, covariance;
};
Moment moment_of(const Matrix& rows) {
  const size_t d = rows.cols();
  Moment out{std::vector<double>(d, 0), std::vector<double>(d * d, 0)};
  const auto n = static_cast<double>(rows.rows());
  for (size_t r = 0; r < rows.rows(); ++r) {
    for (size_t i = 0; i < d; ++i) out.mean[i] += rows.row(r)[i] / n;
  }
  for (size_t r = 0; r < rows.rows(); ++r) {
    for (size_t i = 0; i < d; ++i) {
      for (size_t j = 0; j < d; ++j) {
        out.covariance[i * d + j] +=
            (rows.row(r)[i] - out.mean[i]) * (rows.row(r)[j] - out.mean[j]) / n;
      }
    }
  }
  return out;
}

// --- EM ---

TEST(Gmm, TheLikelihoodNeverFalls) {
  const Matrix rows = drawn_from(overlapping(4, 5), 3000);
  const MatrixData data = MatrixData::of(rows.copy());
  for (const Covariance covariance : kAllForms) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      const Form form{covariance, false, 1e-6};
      const Frame frame = Frame::of(data.train().moments(), covariance == Covariance::kSpherical);
      const DataPoints points(data.train(), frame);
      const Context context(1);
      const Sample sample(points, 5, 100, 1, context);
      std::vector<double> means = seeds(sample, 5, 4, 1, context);
      const Sums sums = lloyd_step(5, means, points, context);
      Mixture m = around(form, 5, means, sums, points.size());
      double before = -1e300;
      for (int sweep = 0; sweep < 60; ++sweep) {
        Step step = swept(form, m, points, context, precision);
        // Rounding of a sum of 3,000 log-densities of about 8; of each of them, in single.
        const double rounding = precision == Precision::kDouble ? 1e-9 : 0.02;
        EXPECT_GE(step.objective, before - rounding)
            << "covariance " << static_cast<int>(covariance) << ", sweep " << sweep;
        before = step.objective;
        m = std::move(step.next);
      }
      EXPECT_EQ(m.raised, 0u);
    }
  }
}

// With variances held up the step is still the best one that is allowed.
TEST(Gmm, TheLikelihoodNeverFallsWhereVariancesAreRaised) {
  Matrix rows = drawn_from(three_groups(), 200);
  for (size_t r = 0; r < 60; ++r) {  // equal points, and points on a line
    rows.row(r)[0] = r < 30 ? 20.0f : static_cast<float>(r);
    rows.row(r)[1] = r < 30 ? 20.0f : static_cast<float>(2 * r);
  }
  const MatrixData data = MatrixData::of(std::move(rows));
  for (const Covariance covariance : kAllForms) {
    const Form form{covariance, false, 1e-3};
    const Frame frame = Frame::of(data.train().moments(), covariance == Covariance::kSpherical);
    const DataPoints points(data.train(), frame);
    const Context context(1);
    const Sample sample(points, 2, 200, 1, context);
    std::vector<double> means = seeds(sample, 2, 6, 5, context);
    const Sums sums = lloyd_step(2, means, points, context);
    Mixture m = around(form, 2, means, sums, points.size());
    double before = -1e300;
    uint64_t raised = 0;
    for (int sweep = 0; sweep < 100; ++sweep) {
      Step step = swept(form, m, points, context);
      EXPECT_GE(step.objective, before - 1e-9) << static_cast<int>(covariance) << " " << sweep;
      before = step.objective;
      m = std::move(step.next);
      raised += m.raised;
    }
    EXPECT_TRUE(std::isfinite(before));
    EXPECT_TRUE(raised > 0 || covariance == Covariance::kTied) << static_cast<int>(covariance);
  }
}

TEST(Gmm, OneComponentIsMeanAndCovarianceOfTheRows) {
  const Matrix rows = drawn_from(overlapping(3, 4), 501);
  const Moment want = moment_of(rows);
  const MatrixData data = MatrixData::of(rows.copy());
  double mean_variance = 0;
  for (size_t i = 0; i < 4; ++i) mean_variance += want.covariance[i * 5] / 4;
  for (const Covariance covariance : kAllForms) {
    const Gmm model = trained(data, {.components = 1, .covariance = covariance});
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(model.means()[i], want.mean[i], 1e-12);
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        const double true_value = want.covariance[i * 4 + j];
        if (covariance == Covariance::kFull || covariance == Covariance::kTied) {
          EXPECT_NEAR(model.covariances()[i * 4 + j], true_value, 1e-12);
        }
      }
      if (covariance == Covariance::kDiagonal) {
        EXPECT_NEAR(model.covariances()[i], want.covariance[i * 5], 1e-12);
      }
    }
    if (covariance == Covariance::kSpherical) {
      EXPECT_NEAR(model.covariances()[0], mean_variance, 1e-12);
    }
    // -2 log L / n = d log 2 pi + log |S| + d.
    if (covariance == Covariance::kDiagonal) {
      double loss = 4 * std::log(2 * std::numbers::pi) + 4;
      for (size_t i = 0; i < 4; ++i) loss += std::log(want.covariance[i * 5]);
      EXPECT_NEAR(model.state().loss, loss / 2, 1e-12);
    }
  }
}

TEST(Gmm, RecoversAKnownMixture) {
  const std::vector<Normal> truth = three_groups();
  const MatrixData data = MatrixData::of(drawn_from(truth, 20000));
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Gmm model = trained(data, {.components = 3}, seed);
    const std::vector<size_t> order = in_order(model);
    const std::array<size_t, 3> true_order{0, 2, 1};  // by their first mean
    for (size_t k = 0; k < 3; ++k) {
      const Normal& want = truth[true_order[k]];
      // Five standard errors: sqrt(p (1 - p) / n) of a weight, deviation / sqrt(n p) of a mean, and
      // of a variance sqrt(2 / (n p)) times it.
      EXPECT_NEAR(model.weights()[order[k]], want.weight, 5 * 0.0036);
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(model.means()[order[k] * 2 + i], want.mean[i], 5 * 2.0 / std::sqrt(4000));
        for (size_t j = 0; j < 2; ++j) {
          double covariance = 0;
          for (size_t e = 0; e < 2; ++e) {
            covariance += want.root[i * 2 + e] * want.root[j * 2 + e];
          }
          EXPECT_NEAR(model.covariances()[(order[k] * 2 + i) * 2 + j], covariance,
                      5 * 4 * std::sqrt(2.0 / 4000));
        }
      }
    }
  }
}

// Round components of one size are a special case of all forms.
TEST(Gmm, FormsAgreeWhereDataAreRound) {
  const std::vector<Normal> round{{0.5, {0, 0}, {1, 0, 0, 1}}, {0.5, {7, 3}, {1, 0, 0, 1}}};
  const MatrixData data = MatrixData::of(drawn_from(round, 20000));
  std::vector<double> losses;
  for (const Covariance covariance : kAllForms) {
    losses.push_back(trained(data, {.components = 2, .covariance = covariance}).state().loss);
  }
  // Each free parameter that is not needed gains 1 / (2 n) of a nat a row, on average.
  for (const double loss : losses) EXPECT_NEAR(loss, losses[0], 10.0 / 20000);
  EXPECT_LE(losses[2], losses[1] + 1e-9);  // full has all that diagonal has
  EXPECT_LE(losses[1], losses[0] + 1e-9);
  EXPECT_LE(losses[2], losses[3] + 1e-9);
}

// A + B x: densities are divided by |A|, and nothing else changes.
TEST(Gmm, FullCovariancesDoNotDependOnTheAxes) {
  const Matrix rows = drawn_from(three_groups(), 3000);
  Matrix turned(rows.rows(), 2);
  for (size_t r = 0; r < rows.rows(); ++r) {
    turned.row(r)[0] = 3 * rows.row(r)[0] + rows.row(r)[1] + 100;
    turned.row(r)[1] = -50 * rows.row(r)[0] + 20 * rows.row(r)[1] - 7;
  }
  const double log_volume = std::log(3 * 20 + 50.0);
  const Gmm a = trained(MatrixData::of(rows.copy()), {.components = 3});
  const Gmm b = trained(MatrixData::of(std::move(turned)), {.components = 3});
  // Floats of up to 600 are rounded to 3e-5.
  EXPECT_NEAR(b.state().loss, a.state().loss + log_volume, 1e-4);
  std::vector<double> wa = a.weights(), wb = b.weights();
  std::ranges::sort(wa);
  std::ranges::sort(wb);
  for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(wa[k], wb[k], 1e-3);
}

// Other units of a column change nothing but the unit.
TEST(Gmm, UnitsOfColumnsDoNotMatter) {
  const Matrix rows = drawn_from(three_groups(), 2000);
  Matrix scaled(rows.rows(), 2);
  for (size_t r = 0; r < rows.rows(); ++r) {
    scaled.row(r)[0] = rows.row(r)[0] * 1024;
    scaled.row(r)[1] = rows.row(r)[1] / 64;
  }
  for (const Covariance covariance :
       {Covariance::kDiagonal, Covariance::kFull, Covariance::kTied}) {
    const Config config{.components = 3, .covariance = covariance};
    const Gmm a = trained(MatrixData::of(rows.copy()), config);
    const Gmm b = trained(MatrixData::of(scaled.copy()), config);
    EXPECT_NEAR(b.state().loss, a.state().loss + std::log(1024.0 / 64), 1e-9);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(b.means()[2 * k], 1024 * a.means()[2 * k], 1e-6);
      EXPECT_NEAR(b.means()[2 * k + 1], a.means()[2 * k + 1] / 64, 1e-6);
    }
  }
}

// Squares of a million lose all digits of a variance of 1 in single precision; differences do not.
TEST(Gmm, FarFromZeroNothingIsLost) {
  Matrix rows = drawn_from(three_groups(), 2000);
  Matrix far(rows.rows(), 2);
  for (size_t r = 0; r < rows.rows(); ++r) {
    for (size_t i = 0; i < 2; ++i) {
      rows.row(r)[i] = std::round(16 * rows.row(r)[i]) / 16;  // what floats around 1e6 can say
      far.row(r)[i] = rows.row(r)[i] + 1e6f;
    }
  }
  const MatrixData at_zero = MatrixData::of(rows.copy()), at_million = MatrixData::of(far.copy());
  for (const Covariance covariance : kAllForms) {
    const Config config{.components = 3, .covariance = covariance};
    const Gmm a = trained(at_zero, config), b = trained(at_million, config);
    EXPECT_NEAR(a.state().loss, b.state().loss, 1e-9);
    for (size_t i = 0; i < a.covariances().size(); ++i) {
      EXPECT_NEAR(a.covariances()[i], b.covariances()[i], 1e-6);
    }
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(a.means()[i] + 1e6, b.means()[i], 1e-6);
    // In single as well.
    const Form form = a.form();
    const Frame frame =
        Frame::of(at_million.train().moments(), covariance == Covariance::kSpherical);
    const Step single = swept(form, b.mixture(), DataPoints(at_million.train(), frame), Context(1),
                              Precision::kSingle);
    const Step twice = swept(form, b.mixture(), DataPoints(at_million.train(), frame), Context(1),
                             Precision::kDouble);
    for (size_t i = 0; i < single.next.covariances.size(); ++i) {
      EXPECT_NEAR(single.next.covariances[i], twice.next.covariances[i], 1e-5);
    }
  }
}

// --- k-means ---

double squared_distances(const Matrix& rows, const Gmm& model) {
  double sum = 0;
  for (size_t r = 0; r < rows.rows(); ++r) {
    double least = 1e300;
    for (size_t k = 0; k < model.components(); ++k) {
      double square = 0;
      for (size_t i = 0; i < rows.cols(); ++i) {
        square += std::pow(rows.row(r)[i] - model.means()[k * rows.cols() + i], 2);
      }
      least = std::min(least, square);
    }
    sum += least;
  }
  return sum;
}

TEST(Gmm, KmeansEndsWhereEveryMeanIsThatOfItsRows) {
  const Matrix rows = drawn_from(overlapping(4, 3), 2000);
  const Gmm model = trained(MatrixData::of(rows.copy()),
                            {.components = 4, .method = Method::kKmeans, .tolerance = 0});
  // Its loss is the mean squared distance, in the unit of the data.
  EXPECT_NEAR(model.state().loss, squared_distances(rows, model) / 2000, 1e-9);
  std::vector<double> sums(12, 0), count(4, 0);
  for (size_t r = 0; r < rows.rows(); ++r) {
    size_t nearest = 0;
    double least = 1e300;
    for (size_t k = 0; k < 4; ++k) {
      double square = 0;
      for (size_t i = 0; i < 3; ++i) {
        square += std::pow(rows.row(r)[i] - model.means()[k * 3 + i], 2);
      }
      if (square < least) nearest = k;
      least = std::min(least, square);
    }
    ++count[nearest];
    for (size_t i = 0; i < 3; ++i) sums[nearest * 3 + i] += rows.row(r)[i];
  }
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(model.weights()[k], count[k] / 2000, 1e-12);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(model.means()[k * 3 + i], sums[k * 3 + i] / count[k], 1e-6);
    }
  }
}

// Responsibilities of round components whose variance goes to 0 are those of the nearest mean, so
// from the same means EM goes where k-means goes.
TEST(Gmm, KmeansIsTheLimitOfVanishingVariance) {
  const Matrix rows = drawn_from(overlapping(3, 2), 1000);
  const MatrixData data = MatrixData::of(rows.copy());
  const Frame frame = Frame::of(data.train().moments(), true);
  const DataPoints points(data.train(), frame);
  const Context context(1);
  const Sample sample(points, 2, 1000, 1, context);
  std::vector<double> hard = seeds(sample, 2, 3, 4, context), soft = hard;
  for (int step = 0; step < 100; ++step) lloyd_step(2, hard, points, context);
  const auto end_of_em = [&](double variance) {
    const Form form{Covariance::kSpherical, false, 1e-12};
    Mixture m{3, 2, {1 / 3.0, 1 / 3.0, 1 / 3.0}, soft, {}, 0};
    for (int step = 0; step < 100; ++step) {
      m.weights.assign(3, 1 / 3.0);
      m.covariances.assign(3, variance);
      m = swept(form, m, points, context).next;
    }
    return m.means;
  };
  const auto distance = [&](const std::vector<double>& means) {
    double out = 0;
    for (size_t i = 0; i < means.size(); ++i) out = std::max(out, std::abs(means[i] - hard[i]));
    return out;
  };
  EXPECT_GT(distance(end_of_em(0.3)), 1e-3);
  EXPECT_LT(distance(end_of_em(1e-7)), 1e-5);
}

// --- How many ---

TEST(Gmm, BicFindsHowManyGroupsThereAre) {
  const MatrixData data = MatrixData::of(drawn_from(three_groups(), 1500));
  for (const Covariance covariance : {Covariance::kFull, Covariance::kDiagonal}) {
    const Gmm model = trained(data, {.covariance = covariance});
    // The first group is correlated, which one diagonal component cannot say.
    EXPECT_TRUE(model.components() == 3 ||
                (covariance == Covariance::kDiagonal && model.components() > 3));
    const auto best = std::ranges::min_element(model.bics()) - model.bics().begin();
    EXPECT_EQ(static_cast<size_t>(best) + 1, model.components());
  }
  const std::vector<Normal> round{{0.4, {0, 0}, {1, 0, 0, 1}},
                                  {0.3, {20, 0}, {1, 0, 0, 1}},
                                  {0.2, {0, 20}, {1, 0, 0, 1}},
                                  {0.1, {20, 20}, {1, 0, 0, 1}}};
  const MatrixData four = MatrixData::of(drawn_from(round, 1000));
  EXPECT_EQ(trained(four, {}).components(), 4u);
  EXPECT_EQ(trained(four, {.method = Method::kKmeans}).components(), 4u);
  EXPECT_EQ(trained(four, {.covariance = Covariance::kTied}).components(), 4u);
  EXPECT_EQ(trained(four, {.max_components = 2}).components(), 2u);
}

TEST(Gmm, BicIsThatOfItsLikelihood) {
  const MatrixData data = MatrixData::of(drawn_from(three_groups(), 1500));
  const Gmm model = trained(data, {});
  const double parameters = 2 + 3 * 2 + 3 * 3;
  EXPECT_NEAR(model.bics()[2], 2 * 1500 * model.state().loss + parameters * std::log(1500), 1e-6);
}

// A start that is worse is never what is kept, so more of them never end lower.
TEST(Gmm, MoreStartsAreNoWorse) {
  const MatrixData data = MatrixData::of(drawn_from(overlapping(6, 2), 800));
  double before = 1e300;
  for (const int restarts : {1, 3, 30}) {
    const Gmm model = trained(data, {.components = 6, .restarts = restarts}, 3);
    EXPECT_LE(model.state().loss, before + 1e-6);
    before = model.state().loss;
  }
}

TEST(Gmm, WhatCollapsedComesLast) {
  Mixture sound, collapsed;
  collapsed.raised = 1;
  EXPECT_FALSE(is_better(collapsed, 1e9, sound, 0));
  EXPECT_TRUE(is_better(sound, 0, collapsed, 1e9));
  EXPECT_TRUE(is_better(sound, 1, sound, 0));
  EXPECT_TRUE(is_better(collapsed, 1, collapsed, 0));
  EXPECT_FALSE(is_better(sound, 0, sound, 0));
}

// --- Data at the edge ---

TEST(Gmm, EqualPointsDoNotMakeTheLikelihoodInfinite) {
  Matrix rows(100, 2);
  for (size_t r = 0; r < 100; ++r) {
    rows.row(r)[0] = r < 50 ? 1.0f : 5.0f;
    rows.row(r)[1] = r < 50 ? 2.0f : -3.0f;
  }
  const MatrixData data = MatrixData::of(rows.copy());
  for (const Covariance covariance : kAllForms) {
    const Gmm model = trained(data, {.components = 2, .covariance = covariance});
    EXPECT_TRUE(std::isfinite(model.state().loss));
    const std::vector<size_t> order = in_order(model);
    EXPECT_NEAR(model.means()[order[0] * 2], 1, 1e-9);
    EXPECT_NEAR(model.means()[order[1] * 2 + 1], -3, 1e-9);
    const std::vector<Note> said = model.remarks();
    ASSERT_EQ(said.size(), 1u) << static_cast<int>(covariance);
    EXPECT_NE(said[0].text.find("collapsed"), std::string::npos) << said[0].text;
    EXPECT_NE(said[0].text.find("--regularise"), std::string::npos);
  }
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { trained(data, {.components = 3}); }),
            "only 2 rows differ from one another, fewer than 3 components; try --components 2");
  // Where the number is not given, there are no more than can be told apart.
  EXPECT_LE(trained(data, {}).components(), 2u);
}

TEST(Gmm, AConstantColumnIsLeftOutAndSaid) {
  const Matrix plain = drawn_from(three_groups(), 500);
  Matrix rows(500, 3);
  for (size_t r = 0; r < 500; ++r) {
    rows.row(r)[0] = plain.row(r)[0];
    rows.row(r)[1] = 42;
    rows.row(r)[2] = plain.row(r)[1];
  }
  for (const Covariance covariance : kAllForms) {
    const Config config{.components = 3, .covariance = covariance};
    const Gmm a = trained(MatrixData::of(plain.copy()), config);
    const Gmm b = trained(MatrixData::of(rows.copy()), config);
    EXPECT_EQ(a.state().loss, b.state().loss);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(b.means()[k * 3 + 1], 42);
      EXPECT_EQ(b.means()[k * 3 + 2], a.means()[k * 2 + 1]);
    }
    ASSERT_EQ(b.remarks().size(), 1u);
    EXPECT_EQ(b.remarks()[0].text, "1 column is the same in every row and left out: 2");
    test::expect_same_file(b, "gmm");
  }
  Matrix all(10, 2);
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { trained(MatrixData::of(std::move(all)), {}); }),
            "every column is the same in all rows, so there is nothing to tell groups by");
}

TEST(Gmm, RefusesWhatCannotBe) {
  const MatrixData data = MatrixData::of(drawn_from(three_groups(), 5));
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { trained(data, {.components = 7}); }),
            "5 rows are fewer than 7 components; try --components 5");
  EXPECT_EQ(message_of(ErrorKind::kUsage,
                       [&] {
                         trained(data, {.components = 2,
                                        .covariance = Covariance::kFull,
                                        .method = Method::kKmeans});
                       }),
            "--covariance full is for --method em: components of k-means are all spherical and of "
            "one size");
  // As many components as rows, and fewer columns than a covariance wants rows.
  EXPECT_TRUE(std::isfinite(trained(data, {.components = 5}).state().loss));
  EXPECT_TRUE(std::isfinite(
      trained(MatrixData::of(drawn_from(overlapping(1, 20), 6)), {.components = 2}).state().loss));
}

// Rows that are mostly 0 are read as any others.
TEST(Gmm, SparseRowsAreRowsOfNumbers) {
  Matrix rows = drawn_from(three_groups(), 300);
  Sparse sparse;
  sparse.columns = 2;
  for (size_t r = 0; r < rows.rows(); ++r) {
    if (r % 3 == 0) rows.row(r)[r % 2] = 0;
    for (uint32_t c = 0; c < 2; ++c) {
      if (rows.row(r)[c] == 0) continue;
      sparse.column.push_back(c);
      sparse.value.push_back(rows.row(r)[c]);
    }
    sparse.offsets.push_back(sparse.column.size());
  }
  for (const Covariance covariance : kAllForms) {
    const Config config{.components = 2, .covariance = covariance};
    const Gmm dense = trained(MatrixData::of(rows.copy()), config);
    const Gmm same = trained(MatrixData::of(Sparse(sparse)), config);
    EXPECT_NEAR(dense.state().loss, same.state().loss, 1e-6);
  }
}

// --- The same bits ---

void expect_same(const Gmm& a, const Gmm& b) {
  EXPECT_EQ(a.weights(), b.weights());
  EXPECT_EQ(a.means(), b.means());
  EXPECT_EQ(a.covariances(), b.covariances());
  EXPECT_EQ(a.state().loss, b.state().loss);
  EXPECT_EQ(a.state().held_out, b.state().held_out);
  EXPECT_EQ(a.bics(), b.bics());
}

TEST(Gmm, ThreadsDoNotMatter) {
  const MatrixData data = MatrixData::of(drawn_from(overlapping(3, 4), 9000), 0.1);
  for (const Covariance covariance : kAllForms) {
    const Config config{.components = 3, .covariance = covariance, .restarts = 2, .epochs = 30};
    const Gmm one = trained(data, config);
    EXPECT_GT(one.state().held_out.size(), 2u);
    EXPECT_LT(one.state().held_out.back(), one.state().held_out.front());
    expect_same(one, trained(data, config, 1, 2));
    expect_same(one, trained(data, config, 1, 8));
  }
  const Config config{.components = 5, .method = Method::kKmeans};
  expect_same(trained(data, config), trained(data, config, 1, 8));
}

TEST(Gmm, StartsAreOnASampleOfManyRows) {
  const MatrixData data = MatrixData::of(drawn_from(three_groups(), 40000));
  const Config config{.components = 3, .restarts = 2};
  const Gmm one = trained(data, config);
  expect_same(one, trained(data, config, 1, 3));
  EXPECT_NEAR(one.weights()[in_order(one)[2]], 0.3, 0.02);
}

TEST(Gmm, StoppedAndResumedIsTheSame) {
  const MatrixData data = MatrixData::of(drawn_from(overlapping(3, 2), 600), 60);
  for (const Config& config :
       {Config{.components = 3, .restarts = 3, .epochs = 12},
        Config{
            .max_components = 3, .covariance = Covariance::kDiagonal, .restarts = 2, .epochs = 5},
        Config{.components = 4, .method = Method::kKmeans, .restarts = 2, .tolerance = 0}}) {
    const Gmm whole = trained(data, config);
    int points = 0;
    Job job;
    job.on_progress = [&](const Progress&) { ++points; };
    Gmm counted;
    counted.config() = config;
    counted.train(data, job);
    for (int stop = 1; stop < points; ++stop) {
      expect_same(whole, test::interrupted<Gmm>(config, data, "gmm", stop, false));
    }
    test::expect_same_file(whole, "gmm");
    expect_same(whole, test::through_file(whole, "gmm"));
  }
}

// A checkpoint is written while the trainer is at its safe point, and the run may be killed then.
TEST(Gmm, KilledAtASafePointAndResumedIsTheSame) {
  const MatrixData data = MatrixData::of(drawn_from(overlapping(3, 2), 600), 60);
  const Config config{.max_components = 3, .restarts = 2, .epochs = 4};
  const Gmm whole = trained(data, config);
  std::vector<Gmm> seen;
  Gmm model;
  model.config() = config;
  Job job;
  job.on_progress = [&](const Progress& p) {
    if (p.done < p.total) seen.push_back(test::through_file(model, "gmm", true));
  };
  model.train(data, job);
  ASSERT_GT(seen.size(), 8u);
  for (Gmm& killed : seen) {
    Job rest;
    EXPECT_TRUE(killed.train(data, rest));
    expect_same(whole, killed);
  }
}

// What a file says of its training rows is what the model finds in them.
TEST(Gmm, AFileHasTheLikelihoodThatItSays) {
  const Matrix rows = drawn_from(three_groups(), 700);
  const MatrixData data = MatrixData::of(rows.copy());
  for (const Covariance covariance : kAllForms) {
    const Gmm model =
        test::through_file(trained(data, {.components = 3, .covariance = covariance}), "gmm");
    EXPECT_NEAR(-model.likelihood(data.train(), Context(1)).log_likelihood / 700,
                model.state().loss, 1e-9);
  }
}

}  // namespace
}  // namespace kith::gmm
