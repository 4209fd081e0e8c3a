// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "kernels/test_targets.h"
#include "models/glove/kernel.h"
#include "models/glove/model.h"
#include "models/test_model.h"
#include "train/svd.h"

namespace kith::glove {
namespace {

using test::same_bits;

Vocabulary words(uint32_t size) {
  Vocabulary out;
  for (uint32_t w = 0; w < size; ++w) {
    out.words.add("w" + std::to_string(w));
    out.counts.push_back(1000 - w);
  }
  return out;
}

// log N is a planted score: vectors of `rank` numbers and biases, on a share of the cells.
struct Planted {
  uint32_t words = 80, rank = 3;
  double share = 0.6, middle = 2, bias = 1;
  double score(uint32_t r, uint32_t c) const {
    const auto number = [&](uint64_t stream, uint64_t k) {
      Rng rng(stream, k);
      return 2 * double{rng.uniform()} - 1;
    };
    double out = bias * (number(1, r) + number(2, c)) + middle;
    for (uint32_t k = 0; k < rank; ++k) {
      out += number(3, r * 100 + k) * number(4, c * 100 + k);
    }
    return out;
  }
  Counts counts(double holdout = 0) const {
    Sparse cells;
    cells.columns = words;
    Rng rng(5, 0);
    for (uint32_t r = 0; r < words; ++r) {
      for (uint32_t c = 0; c < words; ++c) {
        if (rng.uniform() > share) continue;
        cells.column.push_back(c);
        cells.value.push_back(static_cast<float>(std::exp(score(r, c))));
      }
      cells.offsets.push_back(cells.column.size());
    }
    Counts out(kith::glove::words(words), std::move(cells), "", {});
    out.hold_out(holdout);
    return out;
  }
};

Glove trained(const Counts& counts, const Config& config, int threads = 1) {
  Glove model;
  model.config() = config;
  Job job(threads);
  EXPECT_TRUE(model.train(counts, job));
  return model;
}

double score_of(const Glove& m, uint32_t r, uint32_t c) {
  double out = double{m.input_bias()[r]} + m.output_bias()[c];
  for (size_t k = 0; k < m.input().cols(); ++k) {
    out += double{m.input().row(r)[k]} * m.output().row(c)[k];
  }
  return out;
}

// The cost of a cell as the paper has it.
double cost_of(const Steps& s, std::span<const double> x, std::span<const double> y, double log_n) {
  double score = x[s.dim] + y[s.dim + 1];
  for (size_t k = 0; k < s.dim; ++k) score += x[k] * y[k];
  const double f = std::min(1.0, std::exp(double{s.alpha} * (log_n - s.log_x_max)));
  return 0.5 * f * (score - log_n) * (score - log_n);
}

struct Rows2 {
  Matrix word, context;
  explicit Rows2(size_t dim) : word(1, row_width(dim)), context(1, row_width(dim)) {
    Rng rng(9, dim);
    for (size_t k = 0; k < dim + 2; ++k) {
      word.row(0)[k] = rng.uniform() - 0.5f;
      context.row(0)[k] = rng.uniform() - 0.5f;
    }
    word.row(0)[dim + 1] = context.row(0)[dim] = 1;
    for (size_t k = parameters(dim); k < row_width(dim); ++k) {
      word.row(0)[k] = context.row(0)[k] = kFirstSquare;
    }
  }
  std::vector<double> values(const Matrix& m, size_t dim) const {
    const auto row = m.row(0).first(dim + 2);
    return {row.begin(), row.end()};
  }
};

// A plain step moves every number by lr times the slope of the cost, which finite differences give.
using GloveKernel = EveryTarget;

TEST_P(GloveKernel, AStepFollowsTheGradient) {
  {
    for (const size_t dim : {1u, 14u, 15u, 16u, 62u, 100u}) {
      for (const float log_n : {-1.0f, 0.7f, 5.0f}) {
        Rows2 rows(dim);
        const Steps steps{Optimiser::kSgd, 0.01f, std::log(10.0f), 0.75f, dim};
        const std::vector<double> x = rows.values(rows.word, dim);
        const std::vector<double> y = rows.values(rows.context, dim);
        const Entry cell{0, 0, log_n};
        const double cost = train_cells(steps, {&cell, 1}, rows.word.view(), rows.context.view());
        EXPECT_NEAR(cost, cost_of(steps, x, y, log_n), 1e-5 * (1 + cost));
        const auto expect_moved = [&](const Matrix& now, const std::vector<double>& before,
                                      size_t fixed, bool word) {
          for (size_t k = 0; k < dim + 2; ++k) {
            auto up = before, down = before;
            up[k] += 1e-5;
            down[k] -= 1e-5;
            const double slope =
                k == fixed ? 0
                : word     ? (cost_of(steps, up, y, log_n) - cost_of(steps, down, y, log_n)) / 2e-5
                           : (cost_of(steps, x, up, log_n) - cost_of(steps, x, down, log_n)) / 2e-5;
            EXPECT_NEAR(now.row(0)[k], before[k] - 0.01 * slope, 2e-6) << k;
          }
        };
        expect_moved(rows.word, x, dim + 1, true);
        expect_moved(rows.context, y, dim, false);
      }
    }
  }
}

// h += g^2, then lr g / sqrt(h): biases too.
TEST_P(GloveKernel, AdaGradHasARateForEveryNumber) {
  {
    constexpr size_t kDim = 20;
    Rows2 rows(kDim), plain(kDim);
    Steps steps{Optimiser::kAdaGrad, 0.5f, 0.0f, 1.0f, kDim};
    const Entry cell{0, 0, 3};
    train_cells(steps, {&cell, 1}, rows.word.view(), rows.context.view());
    const Rows2 before(kDim);
    steps.optimiser = Optimiser::kSgd;
    steps.lr = 1;
    train_cells(steps, {&cell, 1}, plain.word.view(), plain.context.view());
    for (size_t k = 0; k < kDim + 1; ++k) {  // the bias of the word stands at kDim
      const double g = double{before.word.row(0)[k]} - plain.word.row(0)[k];
      const double h = kFirstSquare + g * g;
      const double moved = double{before.word.row(0)[k]} - rows.word.row(0)[k];
      EXPECT_NEAR(moved, 0.5 * g / std::sqrt(h), 1e-3 * std::abs(g)) << k;
      EXPECT_NEAR(rows.word.row(0)[parameters(kDim) + k], h, 1e-4 * h) << k;
    }
  }
}

TEST_P(GloveKernel, TheCostAloneMovesNothing) {
  Rows2 rows(30), before(30);
  const Steps steps{Optimiser::kAdaGrad, 0.5f, 0.0f, 1.0f, 30};
  const Entry cell{0, 0, 3};
  const double cost = cost_of_cells(steps, {&cell, 1}, std::as_const(rows.word).view(),
                                    std::as_const(rows.context).view());
  EXPECT_TRUE(same_bits(rows.word, before.word));
  EXPECT_NEAR(train_cells(steps, {&cell, 1}, rows.word.view(), rows.context.view()), cost,
              1e-6 * cost);
}

INSTANTIATE_TEST_SUITE_P(All, GloveKernel, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

TEST(Glove, RecoversPlantedScoresAlsoOfCellsThatItHasNotSeen) {
  const Planted planted;
  const Counts counts = planted.counts(0.1);
  ASSERT_GT(counts.held_out().size(), 100u);
  const Glove m = trained(counts, {.dim = 4, .epochs = 200, .lr = 0.3});
  double worst = 0;
  for (uint32_t r = 0; r < planted.words; ++r) {
    for (const uint32_t c : counts.held_out().row(r).columns) {
      worst = std::max(worst, std::abs(score_of(m, r, c) - planted.score(r, c)));
    }
  }
  EXPECT_LT(worst, 0.1);  // scores are spread over 2 +- 3
  EXPECT_LT(*m.state().held_out_now(), 1e-3 * m.state().held_out.front());
}

// f = 1 and no biases: half the squared distance of the matrix of log counts from one of rank k,
// whose least is the tail of its spectrum (Eckart and Young).
TEST(Glove, WithoutWeightsAndBiasesItFindsTheNearestMatrixOfItsRank) {
  const Planted planted{.words = 40, .share = 1};
  Matrix log_counts(40, 40);
  for (uint32_t r = 0; r < 40; ++r) {
    for (uint32_t c = 0; c < 40; ++c) {
      log_counts.row(r)[c] = static_cast<float>(planted.score(r, c));
    }
  }
  const Svd whole = dense_svd(log_counts);
  double tail = 0;
  for (size_t k = 2; k < whole.sigma.size(); ++k) tail += 0.5 * whole.sigma[k] * whole.sigma[k];
  const Glove m = trained(planted.counts(), {.dim = 2, .epochs = 500, .alpha = 0, .biases = false});
  EXPECT_EQ(std::ranges::count(m.input_bias(), 0.0f), 40);
  EXPECT_EQ(std::ranges::count(m.output_bias(), 0.0f), 40);
  double cost = 0;
  for (uint32_t r = 0; r < 40; ++r) {
    for (uint32_t c = 0; c < 40; ++c) {
      cost += 0.5 * std::pow(score_of(m, r, c) - double{log_counts.row(r)[c]}, 2);
    }
  }
  EXPECT_GE(cost, tail * (1 - 1e-5));
  EXPECT_LE(cost, tail * 1.01);  // steps end short of the least
}

// The slopes of sum f (w . c - log N)^2 / 2 at what was learned, beside the sum of their sizes: 0
// at a minimum of this f, and not of another.
double slope_share(const Glove& m, const Counts& counts, double x_max, double alpha) {
  const size_t dim = m.input().cols();
  double slopes = 0, sizes = 0;
  std::vector<double> of_row(dim);
  for (uint32_t r = 0; r < counts.cells().rows(); ++r) {
    const Sparse::Row row = counts.cells().row(r);
    std::ranges::fill(of_row, 0.0);
    for (size_t k = 0; k < row.size(); ++k) {
      const double f = std::min(1.0, std::pow(row.values[k] / x_max, alpha));
      const double e = f * (score_of(m, r, row.columns[k]) - std::log(double{row.values[k]}));
      for (size_t d = 0; d < dim; ++d) {
        const double slope = e * m.output().row(row.columns[k])[d];
        of_row[d] += slope;
        sizes += std::abs(slope);
      }
    }
    for (const double slope : of_row) slopes += std::abs(slope);
  }
  return slopes / sizes;
}

// f(N) = min(1, N): log counts from -3 to 4, so that half of them weigh less than 1.
TEST(Glove, TheWeightsAreThoseOfTheSettings) {
  const Counts counts = Planted{.words = 60, .middle = 0.5, .bias = 2}.counts();
  for (const auto& [x_max, alpha] : {std::pair{1.0, 1.0}, {1.0, 0.0}, {20.0, 0.5}}) {
    const Glove m =
        trained(counts, {.dim = 2, .epochs = 400, .x_max = x_max, .alpha = alpha, .biases = false});
    EXPECT_LT(slope_share(m, counts, x_max, alpha), 0.03) << x_max << " " << alpha;
    EXPECT_GT(slope_share(m, counts, 1, alpha == 0 ? 1 : 0), 0.1) << x_max << " " << alpha;
  }
}

TEST(Glove, TheCostFalls) {
  const Counts counts = Planted{}.counts(0.1);
  std::vector<double> losses;
  Glove m;
  m.config() = {.dim = 5, .epochs = 12};
  Job job(1);
  job.on_progress = [&](const Progress& p) {
    if (p.epoch_done) losses.push_back(p.loss);
  };
  m.train(counts, job);
  ASSERT_EQ(losses.size(), 12u);
  for (size_t e = 1; e < losses.size(); ++e) EXPECT_LT(losses[e], losses[e - 1]) << e;
}

TEST(Glove, TheSameBitsForAnyNumberOfThreads) {
  const Counts counts = Planted{.words = 400}.counts(0.01);  // worth several threads
  ASSERT_GT(counts.cells().size(), 20000u);
  const Config config{.dim = 10, .epochs = 2};
  const Glove one = trained(counts, config, 1);
  for (const int threads : {2, 3, 8}) {
    const Glove more = trained(counts, config, threads);
    EXPECT_TRUE(same_bits(one.input(), more.input())) << threads;
    EXPECT_TRUE(same_bits(one.output(), more.output())) << threads;
    EXPECT_EQ(one.input_bias(), more.input_bias()) << threads;
  }
}

TEST(Glove, ARunThatWasStoppedGoesOnToTheSameBits) {
  const Counts counts = Planted{}.counts(0.05);
  for (const int early_stop : {0, 2}) {
    const Config config{.dim = 6, .epochs = 8, .lr = 1.0, .early_stop = early_stop};
    const Glove whole = trained(counts, config);
    Glove part;
    part.config() = config;
    for (int stops = 0; stops < 100; ++stops) {
      Job job(1);
      int reports = 0;
      job.on_progress = [&](const Progress&) {
        if (++reports == 2) job.cancel();
      };
      if (part.train(counts, job)) break;
      part = test::through_file(part, "glove", true);
    }
    EXPECT_TRUE(part.finished());
    EXPECT_TRUE(same_bits(whole.input(), part.input())) << early_stop;
    EXPECT_TRUE(same_bits(whole.output(), part.output())) << early_stop;
    EXPECT_EQ(whole.output_bias(), part.output_bias());
    test::expect_same_file(part, "glove");
  }
}

TEST(Glove, SumOfBothVectorsUnlessOneIsAskedFor) {
  const Glove m = trained(Planted{.words = 30}.counts(), {.dim = 4, .epochs = 2});
  const auto row = [&](std::optional<Side> side) {
    return read_all(*m.vectors_of(side).front().vectors);
  };
  EXPECT_TRUE(same_bits(row(Side::kInput), m.input()));
  EXPECT_TRUE(same_bits(row(Side::kOutput), m.output()));
  const Matrix sum = row({});
  EXPECT_EQ(sum.row(3)[2], m.input().row(3)[2] + m.output().row(3)[2]);
}

TEST(Glove, OtherCountsThanThoseOfTheCheckpointAreRefused) {
  const Counts counts = Planted{}.counts();
  Glove part;
  part.config() = {.dim = 6, .epochs = 8};
  Job job(1);
  job.on_progress = [&](const Progress&) { job.cancel(); };
  ASSERT_FALSE(part.train(counts, job));
  Job again(1);
  EXPECT_EQ(
      message_of(ErrorKind::kInput, [&] { part.train(Planted{.words = 50}.counts(), again); }),
      "the counts have 50 words, the checkpoint 80; resume with the same counts and settings");
}

}  // namespace
}  // namespace kith::glove
