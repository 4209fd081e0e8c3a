// SPDX-License-Identifier: Apache-2.0
#include "models/words/kernel.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "kernels/rows.h"
#include "kernels/test_targets.h"
#include "models/words/test_reference.h"

namespace kith::words {
namespace {

using reference::Vec;

class Word2VecKernel : public EveryTarget {};

// Two tables in both precisions.
struct Twin {
  Twin(size_t rows, size_t dim, unsigned seed) : in(rows, dim), out(rows, dim) {
    std::mt19937 rng(seed);
    for (size_t r = 0; r < rows; ++r) {
      for (auto [table, matrix] : {std::pair{&in_ref, &in}, std::pair{&out_ref, &out}}) {
        Vec v = reference::random_vec(dim, rng, 1 / std::sqrt(static_cast<double>(dim)));
        for (size_t i = 0; i < dim; ++i) {
          matrix->row(r)[i] = static_cast<float>(v[i]);
          v[i] = static_cast<double>(matrix->row(r)[i]);
        }
        table->push_back(v);
      }
    }
    in_energy.assign(rows, 1);
    out_energy.assign(rows, 1);
  }
  RowTable input() { return {in.view(), in_energy.data()}; }
  RowTable output() { return {out.view(), out_energy.data()}; }

  Matrix in, out;
  std::vector<Vec> in_ref, out_ref;
  std::vector<float> in_energy, out_energy;
};

void expect_rows(const Matrix& got, const std::vector<Vec>& expected, const std::string& what) {
  for (size_t r = 0; r < got.rows(); ++r) {
    for (size_t i = 0; i < got.cols(); ++i) {
      ASSERT_NEAR(got.row(r)[i], expected[r][i], 2e-6) << what << " row " << r << " at " << i;
    }
    // The padding must stay zero, or the next dot product is wrong.
    const float* const row = got.view().row(r);
    for (size_t i = got.cols(); i < got.stride(); ++i) ASSERT_EQ(row[i], 0) << what;
  }
}

// One mini-batch by the book: all gradients from the old rows.
double reference_skip_gram(Twin& t, const Window& w, double lr) {
  std::vector<uint32_t> outputs{w.centre};
  outputs.insert(outputs.end(), w.noise.begin(), w.noise.end());
  const auto old_in = t.in_ref, old_out = t.out_ref;
  double loss = 0;
  for (const uint32_t c : w.contexts) {
    for (size_t j = 0; j < outputs.size(); ++j) {
      const double label = j == 0;
      const Vec &x = old_in[c], &y = old_out[outputs[j]];
      loss += reference::pair_loss(x, y, label);
      reference::axpy(-lr, reference::pair_gradient(x, y, label), t.in_ref[c]);
      reference::axpy(-lr, reference::pair_gradient(y, x, label), t.out_ref[outputs[j]]);
    }
  }
  return loss;
}

double reference_cbow(Twin& t, const Window& w, double lr, bool exact) {
  std::vector<uint32_t> outputs{w.centre};
  outputs.insert(outputs.end(), w.noise.begin(), w.noise.end());
  const auto m = static_cast<double>(w.contexts.size());
  Vec h(t.in.cols(), 0.0), gradient(t.in.cols(), 0.0);
  for (const uint32_t c : w.contexts) reference::axpy(1 / m, t.in_ref[c], h);
  const auto old_out = t.out_ref;
  double loss = 0;
  for (size_t j = 0; j < outputs.size(); ++j) {
    const double label = j == 0;
    const Vec& y = old_out[outputs[j]];
    loss += reference::pair_loss(h, y, label);
    reference::axpy(1, reference::pair_gradient(h, y, label), gradient);
    reference::axpy(-lr, reference::pair_gradient(y, h, label), t.out_ref[outputs[j]]);
  }
  for (const uint32_t c : w.contexts) {
    reference::axpy(exact ? -lr / m : -lr, gradient, t.in_ref[c]);
  }
  return loss;
}

constexpr size_t kDims[] = {1, 3, 15, 16, 17, 100, 301};  // around the padding, and two real sizes

TEST_P(Word2VecKernel, WindowEqualsTheBook) {
  const AliasSampler sampler(std::vector<double>(40, 1.0));
  std::vector<uint32_t> contexts(10), noise(13);
  std::iota(contexts.begin(), contexts.end(), 0);
  std::iota(noise.begin(), noise.end(), 20);
  for (const size_t dim : kDims) {
    for (size_t m : {1, 2, 5, 10}) {
      for (size_t k : {1, 2, 4, 5, 6, 13}) {  // one tile, a padded tile, several tiles
        Config config{.dim = static_cast<int>(dim), .negatives = static_cast<int>(k)};
        Scratch scratch(config, padded(dim));
        Twin t(40, dim, 1);
        const Window w{std::span(contexts).first(m), 15, std::span(noise).first(k)};
        const Tally tally =
            train_window({config, &sampler}, w, 0.1f, t.input(), t.output(), scratch);
        const double loss = reference_skip_gram(t, w, 0.1);
        const auto what = fmt::format("dim {} contexts {} negatives {}", dim, m, k);
        EXPECT_NEAR(tally.loss, loss, 1e-5 * loss) << what;
        EXPECT_EQ(tally.pairs, m);
        expect_rows(t.in, t.in_ref, what + " input");
        expect_rows(t.out, t.out_ref, what + " output");
      }
    }
  }
}

TEST_P(Word2VecKernel, NoiseDrawnTwiceCountsTwice) {
  const AliasSampler sampler(std::vector<double>(10, 1.0));
  const std::vector<uint32_t> contexts{0, 1, 2}, noise{7, 8, 7, 7, 9};
  Config config{.dim = 20};
  Scratch scratch(config, padded(20));
  Twin t(10, 20, 2);
  const Window w{contexts, 5, noise};
  const Tally tally = train_window({config, &sampler}, w, 0.1f, t.input(), t.output(), scratch);
  EXPECT_NEAR(tally.loss, reference_skip_gram(t, w, 0.1), 1e-4);
  expect_rows(t.in, t.in_ref, "input");
  expect_rows(t.out, t.out_ref, "output");
}

TEST_P(Word2VecKernel, CbowEqualsTheBookInBothModes) {
  const AliasSampler sampler(std::vector<double>(40, 1.0));
  std::vector<uint32_t> contexts(10), noise(13);
  std::iota(contexts.begin(), contexts.end(), 0);
  std::iota(noise.begin(), noise.end(), 20);
  for (const size_t dim : kDims) {
    for (const Gradient gradient : {Gradient::kExact, Gradient::kReference}) {
      for (size_t k : {1, 5, 13}) {
        Config config{.objective = Objective::kCbow,
                      .dim = static_cast<int>(dim),
                      .negatives = static_cast<int>(k),
                      .gradient = gradient};
        Scratch scratch(config, padded(dim));
        Twin t(40, dim, 3);
        const Window w{std::span(contexts).first(7), 15, std::span(noise).first(k)};
        const Tally tally =
            train_window({config, &sampler}, w, 0.1f, t.input(), t.output(), scratch);
        const double loss = reference_cbow(t, w, 0.1, gradient == Gradient::kExact);
        EXPECT_NEAR(tally.loss, loss, 1e-5 * loss);
        EXPECT_EQ(tally.pairs, 1u);
        expect_rows(t.in, t.in_ref, fmt::format("dim {} input", dim));
        expect_rows(t.out, t.out_ref, fmt::format("dim {} output", dim));
      }
    }
  }
}

// The step of a row is lr / sqrt(energy), in every window; the energy then grows by adapt * squared
// slopes, those of one window in kEnergyEvery counted for all of them. Blocks of a single window,
// whose context is word 0, centre word 5 and noise always word 7.
TEST_P(Word2VecKernel, RowsAdaptByTheirEnergy) {
  std::vector<double> weights(10, 0.0);
  weights[7] = 1;
  const AliasSampler sampler(weights);
  const Config config{.dim = 12,
                      .window = 1,
                      .negatives = 1,
                      .noise = Noise::kWindow,
                      .adapt_rate = 2.0 / kEnergyEvery};
  Scratch scratch(config, padded(12));
  const std::vector<WordId> words{WordId{0}, WordId{5}};
  const Twin before(10, 12, 4);
  const Vec &x = before.in_ref[0], &y = before.out_ref[5], &z = before.out_ref[7];
  const double up = 1 - reference::sigma(reference::dot(x, y));
  const double down = -reference::sigma(reference::dot(x, z));
  constexpr int kBlocks = 100 * static_cast<int>(kEnergyEvery);
  int added = 0;
  for (int block = 0; block < kBlocks; ++block) {
    Twin t(10, 12, 4);
    t.in_energy[0] = 4;
    t.out_energy[5] = 9;
    Work work{words, 1, 2, 0.1f, Rng(1, static_cast<uint64_t>(block))};
    const Tally tally = train_block({config, &sampler}, work, t.input(), t.output(), scratch);
    ASSERT_EQ(tally.windows, 1u);
    const double times = t.out_energy[7] > 1 ? 2 : 0;  // this window counts, or it does not
    added += times > 0;
    ASSERT_NEAR(t.in_energy[0], 4 + times * (up * up + down * down), 1e-5);
    ASSERT_NEAR(t.out_energy[5], 9 + times * up * up, 1e-5);
    ASSERT_NEAR(t.out_energy[7], 1 + times * down * down, 1e-5);
    for (size_t i = 0; i < 12; ++i) {
      ASSERT_NEAR(t.in.row(0)[i], x[i] + 0.1 / 2 * (up * y[i] + down * z[i]), 1e-6);
      ASSERT_NEAR(t.out.row(5)[i], y[i] + 0.1 / 3 * up * x[i], 1e-6);
      ASSERT_NEAR(t.out.row(7)[i], z[i] + 0.1 * down * x[i], 1e-6);
    }
  }
  EXPECT_NEAR(added, 100, 50);  // five standard deviations
}

TEST_P(Word2VecKernel, PrivateCopiesMoveLikeSharedRows) {
  const AliasSampler sampler(std::vector<double>(30, 1.0));
  Config config{.dim = 33, .adapt_rate = 0.5};
  std::vector<WordId> words;
  for (uint32_t i = 0; i < 400; ++i) {
    words.push_back(i % 37 == 36 ? kSentenceEnd : WordId{(i * 7) % 30});
  }
  for (const Noise noise : {Noise::kPool, Noise::kWindow, Noise::kPair, Noise::kCentre}) {
    config.noise = noise;
    Twin shared(30, 33, 5), base(30, 33, 5);
    Scratch scratch(config, padded(33));
    Work work{words, 10, 390, 0.05f, Rng(1, 2)};
    const Tally a = train_block({config, &sampler}, work, shared.input(), shared.output(), scratch);
    RowOverlay in(30, padded(33)), out(30, padded(33));
    in.start(base.input());
    out.start(base.output());
    Scratch scratch2(config, padded(33));
    Work work2{words, 10, 390, 0.05f, Rng(1, 2)};
    const Tally b = train_block({config, &sampler}, work2, in, out, scratch2);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.pairs, b.pairs);
    for (size_t slot = 0; slot < in.touched().size(); ++slot) {
      const uint32_t row = in.touched()[slot];
      for (size_t i = 0; i < 33; ++i) ASSERT_EQ(in.copy(slot)[i], shared.in.row(row)[i]);
      ASSERT_EQ(in.energy(slot), shared.in_energy[row]);
    }
    EXPECT_GT(*std::ranges::max_element(shared.in_energy), 1) << "some window added its energy";
  }
}

TEST_P(Word2VecKernel, SigmaAndLossAreExactToOneInAMillion) {
  std::vector<float> z;
  for (float x = -30; x <= 30; x += 0.0078125f) z.push_back(x);
  for (float x : {-1e30f, -100.0f, -88.0f, 88.0f, 100.0f}) z.push_back(x);
  const size_t n = z.size();
  z.resize(padded(n), 0.0f);
  std::vector<float> sigma(z.size()), loss(z.size());
  logistic_for_test(z.data(), sigma.data(), loss.data(), z.size());
  for (size_t i = 0; i < n; ++i) {
    const double x = z[i];
    EXPECT_NEAR(sigma[i], 1 / (1 + std::exp(-x)), 1e-6) << x;
    const double exact = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    EXPECT_NEAR(loss[i], exact, 1e-6 * std::max(1.0, exact)) << x;
  }
}

TEST_P(Word2VecKernel, NanIsNeverSwallowed) {
  std::vector<float> z(16, NAN), sigma(16), loss(16);
  z[1] = INFINITY;
  z[2] = -INFINITY;
  logistic_for_test(z.data(), sigma.data(), loss.data(), 16);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_FALSE(std::isfinite(loss[i])) << i;
    EXPECT_TRUE(std::isnan(sigma[i])) << i;
  }
}

TEST_P(Word2VecKernel, ChangesAddUp) {
  Twin t(4, 20, 8);
  Matrix change(1, 20);
  add_change(t.in.view().row(0), t.in.view().row(1), change.view().row(0), t.in.stride());
  add_change(t.in.view().row(2), t.in.view().row(1), change.view().row(0), t.in.stride());
  add_row(change.view().row(0), t.in.view().row(3), t.in.stride());
  for (size_t i = 0; i < 20; ++i) {
    const auto& r = t.in_ref;
    EXPECT_NEAR(t.in.row(3)[i], r[3][i] + r[0][i] + r[2][i] - 2 * r[1][i], 1e-6);
  }
}

// All rows zero and a rate of zero: every slope is one half, so energies count how often a row
// stood on a side, in one window of kEnergyEvery.
std::vector<double> noise_uses(Noise noise, std::span<const WordId> words,
                               const AliasSampler& sampler, size_t vocabulary) {
  Config config{
      .dim = 4, .window = 1, .fixed_window = true, .negatives = 1, .noise = noise, .adapt_rate = 4};
  Matrix in(vocabulary, 4), out(vocabulary, 4);
  std::vector<float> in_energy(vocabulary, 0), out_energy(vocabulary, 0);
  Scratch scratch(config, padded(4));
  std::vector<double> uses(vocabulary, 0);
  for (uint64_t part = 0; part < 20; ++part) {  // floats count exactly up to 2^24
    std::fill(in_energy.begin(), in_energy.end(), 1e-30f);
    std::fill(out_energy.begin(), out_energy.end(), 1e-30f);
    Work work{words, 0, words.size(), 0.0f, Rng(7, part)};
    train_block({config, &sampler}, work, {in.view(), in_energy.data()},
                {out.view(), out_energy.data()}, scratch);
    for (size_t i = 0; i < vocabulary; ++i) uses[i] += out_energy[i] / kEnergyEvery;
  }
  return uses;
}

// However short the blocks, rows gain adapt * their squared slopes on average. All slopes are one
// half, as above, and a window has 4 pairs with 2 of them each. A block of W windows adds those of
// one window kEnergyEvery times, by a chance of W / kEnergyEvery: its gain has a relative variance
// of kEnergyEvery / W - 1. The tolerance is five standard deviations of the mean over all blocks.
TEST(Word2VecEnergy, DoesNotDependOnHowTheTextIsCut) {
  const AliasSampler sampler(std::vector<double>(16, 1.0));
  constexpr double kRate = 0.5;
  const auto total = [](const std::vector<float>& energy) {
    return std::accumulate(energy.begin(), energy.end(), 0.0) - static_cast<double>(energy.size());
  };
  for (const Noise noise : {Noise::kPool, Noise::kWindow, Noise::kPair}) {
    for (const Objective objective : {Objective::kSkipGram, Objective::kCbow}) {
      for (const size_t length : {1, 8, 50}) {
        const Config config{.objective = objective,
                            .dim = 4,
                            .window = 2,
                            .fixed_window = true,
                            .negatives = 1,
                            .noise = noise,
                            .adapt_rate = kRate};
        Matrix in(16, 4), out(16, 4);
        std::vector<float> in_energy(16, 1), out_energy(16, 1);
        Scratch scratch(config, padded(4));
        std::vector<WordId> words;
        for (uint32_t i = 0; i < length + 4; ++i) words.push_back(WordId{i % 16});
        constexpr uint64_t kBlocks = 20000;
        double pairs = 0;
        for (uint64_t block = 0; block < kBlocks; ++block) {
          Work work{words, 2, 2 + length, 0.0f, Rng(5, block)};
          const Tally tally = train_block({config, &sampler}, work, {in.view(), in_energy.data()},
                                          {out.view(), out_energy.data()}, scratch);
          ASSERT_EQ(tally.windows, length);
          pairs += static_cast<double>(tally.pairs);
        }
        const double every = kEnergyEvery, windows = static_cast<double>(length);
        const double tolerance = 5 * std::sqrt((every / windows - 1) / double{kBlocks});
        const double truth = kRate * pairs * 2 * 0.25;
        const auto what = fmt::format("noise {} objective {} length {}", detail::show(noise),
                                      detail::show(objective), length);
        EXPECT_NEAR(total(out_energy) / truth, 1, tolerance) << what;
        // Each of the 4 contexts of a mean has a quarter of its slopes.
        const double share = objective == Objective::kCbow ? 0.25 : 1;
        EXPECT_NEAR(total(in_energy) / (share * truth), 1, tolerance) << what;
      }
    }
  }
}

// A centre with one context, word 0; its row as the centre has a use of its own for each pair.
TEST(Word2VecNoise, FollowsItsWeightsAndIsNeverTheCentre) {
  constexpr size_t kWords = 12;
  std::vector<double> weights(kWords);
  for (size_t i = 0; i < kWords; ++i) weights[i] = 1.0 / static_cast<double>(i + 1);
  const AliasSampler sampler(weights);
  std::vector<WordId> words;
  constexpr int kSentences = 160 * static_cast<int>(kEnergyEvery);  // two windows each
  for (int i = 0; i < kSentences; ++i) {
    words.push_back(WordId{0});
    words.push_back(WordId{0});
    words.push_back(kSentenceEnd);
  }
  const double draws = 20.0 * 2 * kSentences / kEnergyEvery;
  const double total = std::accumulate(weights.begin() + 1, weights.end(), 0.0);
  for (const Noise noise : {Noise::kWindow, Noise::kPair, Noise::kPool}) {
    const auto uses = noise_uses(noise, words, sampler, kWords);
    EXPECT_EQ(uses[0], draws) << "the centre itself: only as the true word";
    double chi = 0;
    for (size_t i = 1; i < kWords; ++i) {
      const double expected = draws * weights[i] / total;
      chi += (uses[i] - expected) * (uses[i] - expected) / expected;
    }
    // 10 degrees of freedom: above 35 once in ten thousand runs. The pool may use a word more than
    // once, so its counts vary up to twice as much.
    EXPECT_LT(chi, noise == Noise::kPool ? 70.0 : 35.0) << static_cast<int>(noise);
  }
}

// Dynamic windows: the number of contexts tells the radius.
TEST(Word2VecWindow, EveryRadiusIsEquallyLikely) {
  const AliasSampler sampler(std::vector<double>(4, 1.0));
  for (const int window : {2, 4, 5, 8}) {  // powers of two broke the reference program
    Config config{.dim = 4, .window = window};
    Matrix in(4, 4), out(4, 4);
    std::vector<float> energy(4, 1);
    Scratch scratch(config, padded(4));
    std::vector<WordId> words(41, WordId{1});
    std::vector<double> seen(static_cast<size_t>(window), 0), pairs(seen.size() * seen.size(), 0);
    size_t last = 0;
    constexpr int kDraws = 20000;
    Work work{words, 20, 21, 0.0f, Rng(3, 0)};
    for (int i = 0; i < kDraws; ++i) {
      work.rng = Rng(3, static_cast<uint64_t>(i));
      const Tally t = train_block({config, &sampler}, work, {in.view(), energy.data()},
                                  {out.view(), energy.data()}, scratch);
      const size_t radius = t.pairs / 2 - 1;
      ASSERT_LT(radius, seen.size());
      ++seen[radius];
      ++pairs[last * seen.size() + radius];
      last = radius;
    }
    double chi = 0, chi_pairs = 0;
    for (const double n : seen) {
      chi += std::pow(n - 1.0 * kDraws / window, 2) / (1.0 * kDraws / window);
    }
    for (const double n : pairs) {
      const double expected = 1.0 * kDraws / window / window;
      chi_pairs += std::pow(n - expected, 2) / expected;
    }
    EXPECT_LT(chi, window + 5 * std::sqrt(2.0 * window)) << window;
    EXPECT_LT(chi_pairs, window * window + 5 * std::sqrt(2.0) * window) << window;
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, Word2VecKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace kith::words
