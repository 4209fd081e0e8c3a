// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "models/pmi/matrix.h"
#include "models/pmi/model.h"
#include "models/test_model.h"
#include "train/svd.h"

namespace kith::pmi {
namespace {

using test::same_bits;

// Words of `topics` topics stand mostly beside words of their own.
Sparse some_counts(uint32_t words, uint32_t topics = 3, double share = 0.7) {
  Sparse out;
  out.columns = words;
  Rng rng(3, 0);
  for (uint32_t r = 0; r < words; ++r) {
    for (uint32_t c = 0; c < words; ++c) {
      if (rng.uniform() > share) continue;
      const float own = r % topics == c % topics ? 20.0f : 2.0f;
      out.column.push_back(c);
      out.value.push_back(own * (0.5f + rng.uniform()) * (1 + 40.0f / static_cast<float>(1 + r)));
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

Counts counts_of(Sparse cells) {
  Vocabulary vocabulary;
  for (uint32_t w = 0; w < cells.rows(); ++w) {
    vocabulary.words.add("w" + std::to_string(w));
    vocabulary.counts.push_back(1000 - w);
  }
  return {std::move(vocabulary), std::move(cells), "", {}};
}

Matrix dense(const Sparse& s) {
  Matrix out(s.rows(), s.columns);
  for (uint32_t r = 0; r < s.rows(); ++r) {
    for (size_t k = 0; k < s.row(r).size(); ++k) {
      out.row(r)[s.row(r).columns[k]] = s.row(r).values[k];
    }
  }
  return out;
}

Pmi trained(const Counts& counts, const Config& config, int threads = 1) {
  Pmi model;
  model.config() = config;
  Job job(threads);
  EXPECT_TRUE(model.train(counts, job));
  return model;
}

TEST(PmiMatrix, IsWhatTheFormulaSays) {
  const Sparse n = some_counts(12);
  const Matrix counts = dense(n);
  for (const double smoothing : {1.0, 0.75, 0.0}) {
    for (const double shift : {1.0, 5.0}) {
      double total = 0, smoothed = 0;
      std::vector<double> row(12, 0.0), column(12, 0.0);
      for (size_t r = 0; r < 12; ++r) {
        for (size_t c = 0; c < 12; ++c) {
          row[r] += counts.row(r)[c];
          column[c] += counts.row(r)[c];
          total += counts.row(r)[c];
        }
      }
      for (const double x : column) smoothed += std::pow(x, smoothing);
      const Matrix all = dense(pmi_of(n, {false, shift, smoothing}));
      const Matrix positive = dense(pmi_of(n, {true, shift, smoothing}));
      for (size_t r = 0; r < 12; ++r) {
        for (size_t c = 0; c < 12; ++c) {
          const double x = counts.row(r)[c];
          const double expected = std::pow(column[c], smoothing) / smoothed;  // of a context
          const double value =
              x > 0 ? std::log(x / total / (row[r] / total * expected) / shift) : 0;
          EXPECT_NEAR(all.row(r)[c], value, 1e-5);
          EXPECT_NEAR(positive.row(r)[c], std::max(0.0, value), 1e-5);
        }
      }
    }
  }
}

// Signs are fixed, so equal products have equal vectors.
void expect_near(const Pmi& a, const Pmi& b, double tolerance, const char* what) {
  ASSERT_EQ(a.singular_values().size(), b.singular_values().size()) << what;
  for (size_t k = 0; k < a.singular_values().size(); ++k) {
    EXPECT_NEAR(a.singular_values()[k], b.singular_values()[k], tolerance) << what;
  }
  for (size_t r = 0; r < a.input().rows(); ++r) {
    for (size_t k = 0; k < a.input().cols(); ++k) {
      EXPECT_NEAR(a.input().row(r)[k], b.input().row(r)[k], 3 * tolerance) << what << " " << r;
      EXPECT_NEAR(a.output().row(r)[k], b.output().row(r)[k], 3 * tolerance) << what << " " << r;
    }
  }
}

// Eckart and Young, and with a penalty its kin: three ways, one answer, and it is that of a dense
// decomposition.
TEST(Pmi, ThreeWaysLeadToTheFirstSingularTriplets) {
  const Counts counts = counts_of(some_counts(30));
  const Svd whole = dense_svd(dense(pmi_of(counts.cells(), {true, 1, 0.75})));
  for (const double penalty : {0.0, 0.8}) {
    Config config{.dim = 3, .spectrum = 0.5, .penalty = penalty, .epochs = 300};
    const Pmi svd = trained(counts, config);
    ASSERT_GT(whole.sigma[2], 1.2 * whole.sigma[3]);  // else the third is not unique enough
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(svd.singular_values()[k], whole.sigma[k] - penalty, 1e-4);
      for (size_t r = 0; r < 30; ++r) {
        EXPECT_NEAR(svd.input().row(r)[k],
                    double{whole.u.row(r)[k]} * std::sqrt(whole.sigma[k] - penalty), 1e-3);
      }
    }
    config.solver = Solver::kAls;
    expect_near(svd, trained(counts, config), 1e-3, "als");
    config.solver = Solver::kGradient;
    config.epochs = 4000;
    expect_near(svd, trained(counts, config), 1e-3, "gradient");
  }
}

// |P - U V^T|^2 + lambda (|U|^2 + |V|^2), as it is told, from the vectors themselves.
TEST(Pmi, TheLossIsWhatIsLeftOfTheMatrix) {
  const Counts counts = counts_of(some_counts(25));
  const Matrix p = dense(pmi_of(counts.cells(), {true, 1, 0.75}));
  for (const Solver solver : {Solver::kSvd, Solver::kAls, Solver::kGradient}) {
    const Pmi m = trained(counts, {.dim = 4, .solver = solver, .spectrum = 0.5, .epochs = 300});
    double left = 0, all = 0;
    for (size_t r = 0; r < p.rows(); ++r) {
      for (size_t c = 0; c < p.cols(); ++c) {
        double score = 0;
        for (size_t k = 0; k < 4; ++k) score += double{m.input().row(r)[k]} * m.output().row(c)[k];
        left += std::pow(p.row(r)[c] - score, 2);
        all += std::pow(double{p.row(r)[c]}, 2);
      }
    }
    EXPECT_NEAR(m.state().loss, left / all, 1e-3);
  }
}

TEST(Pmi, StepsThatAreFarTooLongAreADivergence) {
  const Counts counts = counts_of(some_counts(40));
  Pmi m;
  m.config() = {.dim = 5, .solver = Solver::kGradient, .epochs = 50, .lr = 3.0};
  Job job(1);
  const std::string what = message_of(ErrorKind::kDiverged, [&] { m.train(counts, job); });
  EXPECT_NE(what.find("leave --lr out, or make it smaller"), std::string::npos) << what;
}

TEST(Pmi, StepsOfTheirOwnLengthNeverRaiseTheLoss) {
  const Counts counts = counts_of(some_counts(40));
  Pmi m;
  m.config() = {.dim = 5, .solver = Solver::kGradient, .penalty = 0.5, .epochs = 60};
  std::vector<double> losses;
  Job job(1);
  job.on_progress = [&](const Progress& p) {
    if (p.epoch_done) losses.push_back(p.loss);
  };
  m.train(counts, job);
  ASSERT_EQ(losses.size(), 60u);
  for (size_t e = 1; e < losses.size(); ++e) EXPECT_LE(losses[e], losses[e - 1] + 1e-9) << e;
}

// With a weight of w, cells that were counted are fitted better, and the loss of the weighted
// problem is lower than that of the answer without weights.
TEST(Pmi, WeightsDrawTheFactorsToCellsThatWereCounted) {
  const Counts counts = counts_of(some_counts(40, 3, 0.3));
  const Sparse p = pmi_of(counts.cells(), {true, 1, 0.75});
  const auto error = [&](const Pmi& m) {
    double out = 0;
    for (uint32_t r = 0; r < p.rows(); ++r) {
      for (size_t k = 0; k < p.row(r).size(); ++k) {
        double score = 0;
        for (size_t i = 0; i < m.input().cols(); ++i) {
          score += double{m.input().row(r)[i]} * m.output().row(p.row(r).columns[k])[i];
        }
        out += std::pow(p.row(r).values[k] - score, 2);
      }
    }
    return out;
  };
  Config config{.dim = 3, .solver = Solver::kAls, .spectrum = 0.5, .epochs = 40};
  const double flat = error(trained(counts, config));
  config.observed = 10;
  EXPECT_LT(error(trained(counts, config)), 0.5 * flat);
  // One weight for all is no weight.
  config.observed = 1;
  const Pmi closed = trained(counts, config);
  config.observed = 1 + 1e-9;
  expect_near(closed, trained(counts, config), 1e-3, "rows one by one");
}

TEST(Pmi, VectorsAreWeightedByTheSpectrum) {
  const Counts counts = counts_of(some_counts(30));
  const Pmi none = trained(counts, {.dim = 3, .spectrum = 0}),
            half = trained(counts, {.dim = 3, .spectrum = 0.5});
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(half.input().row(7)[k],
                double{none.input().row(7)[k]} * std::sqrt(none.singular_values()[k]), 1e-5);
  }
}

TEST(Pmi, TheSameBitsForAnyNumberOfThreadsAndAfterEveryStop) {
  const Counts counts = counts_of(some_counts(300));
  for (const Solver solver : {Solver::kSvd, Solver::kAls, Solver::kGradient}) {
    const Config config{.dim = 8, .solver = solver, .epochs = 5};
    const Pmi one = trained(counts, config, 1);
    for (const int threads : {2, 3, 8}) {
      const Pmi more = trained(counts, config, threads);
      EXPECT_TRUE(same_bits(one.input(), more.input())) << threads;
      EXPECT_TRUE(same_bits(one.output(), more.output())) << threads;
    }
    Pmi part;
    part.config() = config;
    for (int stops = 0; stops < 20; ++stops) {
      Job job(1);
      int reports = 0;
      job.on_progress = [&](const Progress&) {
        if (++reports == 2) job.cancel();
      };
      if (part.train(counts, job)) break;
      part = test::through_file(part, "pmi", true);
    }
    EXPECT_TRUE(same_bits(one.input(), part.input()));
    test::expect_same_file(part, "pmi");
  }
}

// Fewer words than coordinates, and a matrix of which nothing is left.
TEST(Pmi, HasZerosWhereThereIsNothing) {
  const Counts counts = counts_of(some_counts(5, 2, 1));
  const Pmi small = trained(counts, {.dim = 9});
  EXPECT_LE(small.singular_values().size(), 5u);
  EXPECT_EQ(small.input().cols(), 9u);
  for (size_t k = 5; k < 9; ++k) EXPECT_EQ(small.input().row(2)[k], 0);
  for (const Solver solver : {Solver::kSvd, Solver::kAls, Solver::kGradient}) {
    const Pmi none = trained(counts, {.dim = 2, .shift = 1e6, .solver = solver});
    EXPECT_TRUE(none.singular_values().empty());
    EXPECT_EQ(none.input().row(0)[0], 0);
  }
}

}  // namespace
}  // namespace kith::pmi
