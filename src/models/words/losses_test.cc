// SPDX-License-Identifier: Apache-2.0
// Losses besides negative sampling: steps of the kernel against finite differences in double, and
// the softmax of the counts against that of the text.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "kernels/test_targets.h"
#include "models/words/kernel.h"
#include "models/words/softmax.h"
#include "models/words/test_reference.h"

namespace kith::words {
namespace {

using reference::dot;
using reference::Vec;

class WordLosses : public EveryTarget {};

Vec random_rows(Matrix& m, std::mt19937& rng) {
  Vec all;
  for (size_t r = 0; r < m.rows(); ++r) {
    const Vec v = reference::random_vec(m.cols(), rng);
    for (size_t i = 0; i < v.size(); ++i) {
      m.row(r)[i] = static_cast<float>(v[i]);
      all.push_back(static_cast<double>(m.row(r)[i]));
    }
  }
  return all;
}

// Inputs, then outputs, then biases, all in one vector: what a loss is a function of.
struct Parameters {
  static constexpr size_t kWords = 12;
  explicit Parameters(size_t dim, unsigned seed) : in(kWords, dim), out(kWords, dim) {
    std::mt19937 rng(seed);
    all = random_rows(in, rng);
    const Vec outputs = random_rows(out, rng);
    all.insert(all.end(), outputs.begin(), outputs.end());
    for (size_t w = 0; w < kWords; ++w) {
      bias.push_back(-0.25f * static_cast<float>(w % 5));
      all.push_back(static_cast<double>(bias.back()));
    }
    energy.assign(kWords, 1);
  }
  size_t dim() const { return in.cols(); }
  Vec x(const Vec& p, size_t w) const { return row(p, w); }
  Vec y(const Vec& p, size_t w) const { return row(p, kWords + w); }
  double b(const Vec& p, size_t w) const { return p[2 * kWords * dim() + w]; }
  Vec row(const Vec& p, size_t r) const {
    const auto at = p.begin() + static_cast<ptrdiff_t>(r * dim());
    return {at, at + static_cast<ptrdiff_t>(dim())};
  }
  // What is there now against `all` moved by -lr times the gradient.
  void expect_step(const Vec& gradient, double lr, const std::string& what) const {
    Vec there = all;
    reference::axpy(-lr, gradient, there);
    expect_at(there, 3e-6, what);
  }
  void expect_at(const Vec& there, double within, const std::string& what) const {
    Vec now;
    for (const Matrix* m : {&in, &out}) {
      for (size_t r = 0; r < m->rows(); ++r) {
        now.insert(now.end(), m->row(r).begin(), m->row(r).end());
      }
    }
    now.insert(now.end(), bias.begin(), bias.end());
    ASSERT_EQ(now.size(), there.size());
    for (size_t i = 0; i < now.size(); ++i) {
      ASSERT_NEAR(now[i], there[i], within) << what << " at " << i;
    }
  }

  Matrix in, out;
  std::vector<float> bias, energy;
  Vec all;
};

double log_sigma(double s) { return -std::log1p(std::exp(-s)); }

const std::vector<uint32_t> kContexts{0, 1, 4}, kNoise{7, 8, 7, 5, 9};  // 5 is the centre
constexpr uint32_t kCentre = 5;
constexpr double kLr = 0.1;

// The rows that predict: each context, or their mean.
std::vector<Vec> predictors(const Parameters& at, const Vec& p, Objective objective,
                            const std::vector<uint32_t>& contexts = kContexts) {
  std::vector<Vec> out;
  for (const uint32_t c : contexts) out.push_back(at.x(p, c));
  if (objective == Objective::kSkipGram) return out;
  Vec mean(at.dim(), 0.0);
  for (const Vec& x : out) reference::axpy(1.0 / static_cast<double>(out.size()), x, mean);
  return {mean};
}

// s = <x, y> + b - log(k q); true: -log sigma(s), noise, the true word too: -log sigma(-s).
TEST_P(WordLosses, NceStepIsTheGradient) {
  const AliasSampler sampler(std::vector<double>(Parameters::kWords, 1.0));
  std::vector<float> log_noise;
  for (size_t w = 0; w < Parameters::kWords; ++w) {
    log_noise.push_back(std::log(5.0f * static_cast<float>(w + 1) / 78.0f));
  }
  for (const Objective objective : {Objective::kSkipGram, Objective::kCbow}) {
    for (const size_t dim : {1, 3, 16, 17}) {
      Parameters at(dim, 3);
      const auto loss = [&](const Vec& p) {
        double sum = 0;
        const auto score = [&](const Vec& x, uint32_t w) {
          return dot(x, at.y(p, w)) + at.b(p, w) - static_cast<double>(log_noise[w]);
        };
        for (const Vec& x : predictors(at, p, objective)) {
          sum -= log_sigma(score(x, kCentre));
          for (const uint32_t n : kNoise) sum -= log_sigma(-score(x, n));
        }
        return sum;
      };
      const Config config{.objective = objective, .dim = static_cast<int>(dim)};
      Scratch scratch(config, padded(dim));
      const Contrast contrast{at.bias, log_noise};
      const RowTable in{at.in.view(), at.energy.data()}, out{at.out.view(), at.energy.data()};
      const Tally tally = train_window({config, &sampler, nullptr, &contrast},
                                       {kContexts, kCentre, kNoise}, kLr, in, out, scratch);
      EXPECT_NEAR(tally.loss, loss(at.all), 1e-4);
      at.expect_step(reference::numeric_gradient(loss, at.all), kLr, fmt::format("dim {}", dim));
    }
  }
}

// -log of the product of the decisions on the way to the word.
TEST_P(WordLosses, HierarchicalStepIsTheGradient) {
  const AliasSampler sampler(std::vector<double>(Parameters::kWords, 1.0));
  std::vector<uint64_t> counts;
  for (uint64_t w = 0; w < Parameters::kWords; ++w) counts.push_back(uint64_t{1} << w);
  const Tree tree(counts);  // as deep as it can be: ways of 1 to 11 nodes
  for (const Objective objective : {Objective::kSkipGram, Objective::kCbow}) {
    for (uint32_t centre = 0; centre < Parameters::kWords; ++centre) {
      Parameters at(17, 4);
      const auto loss = [&](const Vec& p) {
        double sum = 0;
        for (const Vec& x : predictors(at, p, objective)) {
          for (const Tree::Step step : tree.path(centre)) {
            sum -= log_sigma((step.right ? 1 : -1) * dot(x, at.y(p, step.node)));
          }
        }
        return sum;
      };
      const Config config{.objective = objective, .dim = 17, .negatives = 2};
      Scratch scratch(config, padded(17), 0, tree.longest());
      const RowTable in{at.in.view(), at.energy.data()}, out{at.out.view(), at.energy.data()};
      const Tally tally = train_window({config, &sampler, nullptr, nullptr, &tree},
                                       {kContexts, centre, {}}, kLr, in, out, scratch);
      EXPECT_NEAR(tally.loss, loss(at.all), 1e-4);
      at.expect_step(reference::numeric_gradient(loss, at.all), kLr,
                     fmt::format("centre {}", centre));
    }
  }
}

// The formulas of train/optimiser.h, a row at a time, in double.
class TextbookSteps {
 public:
  TextbookSteps(Optimiser optimiser, double lr, size_t values, size_t rows)
      : optimiser_(optimiser), lr_(lr), first_(values), second_(values), steps_(rows) {}

  void move(Vec& p, const Vec& g, size_t row, size_t dim) {
    const int t = ++steps_[row];
    for (size_t i = row * dim; i < (row + 1) * dim; ++i) {
      double &v = first_[i], &h = second_[i];
      if (optimiser_ == Optimiser::kAdaGrad) {
        h += g[i] * g[i];
        p[i] -= lr_ * g[i] / std::sqrt(h);
      } else if (optimiser_ == Optimiser::kAdam) {
        v = 0.9 * v + 0.1 * g[i];
        h = 0.999 * h + 0.001 * g[i] * g[i];
        p[i] -= lr_ * v / (1 - std::pow(0.9, t)) / std::sqrt(h / (1 - std::pow(0.999, t)));
      } else {
        v = 0.9 * v - lr_ * g[i];
        p[i] += optimiser_ == Optimiser::kNesterov ? 0.9 * v - lr_ * g[i] : v;
      }
    }
  }

 private:
  Optimiser optimiser_;
  double lr_;
  Vec first_, second_;
  std::vector<int> steps_;
};

struct Given {
  std::vector<uint32_t> contexts;
  uint32_t centre;
  std::vector<uint32_t> noise;

  double loss(const Parameters& at, const Vec& p, Objective objective, bool nce) const {
    double sum = 0;
    const auto score = [&](const Vec& x, uint32_t word) {
      return dot(x, at.y(p, word)) + (nce ? at.b(p, word) + 1.5 : 0);
    };
    for (const Vec& x : predictors(at, p, objective, contexts)) {
      sum -= log_sigma(score(x, centre));
      for (const uint32_t n : noise) sum -= log_sigma(-score(x, n));
    }
    return sum;
  }
  // Of both tables, those of outputs behind those of inputs.
  std::set<size_t> rows() const {
    std::set<size_t> out(contexts.begin(), contexts.end());
    out.insert(Parameters::kWords + centre);
    for (const uint32_t n : noise) out.insert(Parameters::kWords + n);
    return out;
  }
};
const std::vector<Given> kWindows{{{0, 1, 1}, 5, {7, 8, 7, 9}}, {{1, 2}, 7, {3, 5}}};

void expect_textbook_steps(Optimiser optimiser, Objective objective, bool nce, size_t dim) {
  constexpr size_t words = Parameters::kWords;
  const AliasSampler sampler(std::vector<double>(words, 1.0));
  const std::vector<float> log_noise(words, -1.5f);
  Parameters at(dim, 3);
  const Config config{.objective = objective,
                      .dim = static_cast<int>(dim),
                      .adapt_rate = 0,
                      .optimiser = optimiser};
  const size_t width = state_width(optimiser, padded(dim));
  Matrix in_state(words, width), out_state(words, width);
  const Steps steps{optimiser, in_state.view(), out_state.view()};
  Scratch scratch(config, padded(dim));
  const Contrast contrast{at.bias, log_noise};
  const Settings settings{config,  &sampler, nullptr, nce ? &contrast : nullptr,
                          nullptr, nullptr,  &steps};
  const RowTable in{at.in.view(), at.energy.data()}, out{at.out.view(), at.energy.data()};
  const auto train = [&](const Given& w, float lr) {
    train_window(settings, {w.contexts, w.centre, w.noise}, lr, in, out, scratch);
  };
  Vec p = at.all;
  TextbookSteps textbook(optimiser, kLr, p.size(), 2 * words);
  for (const Given& w : kWindows) {
    const Vec gradient =
        reference::numeric_gradient([&](const Vec& q) { return w.loss(at, q, objective, nce); }, p);
    for (const size_t row : w.rows()) textbook.move(p, gradient, row, dim);
    for (size_t i = 2 * words * dim; i < p.size(); ++i) p[i] -= kLr * gradient[i];
    train(w, kLr);
    at.expect_at(p, 5e-5, fmt::format("{} dim {}", static_cast<int>(optimiser), dim));
  }
  const Matrix before = at.in.copy();
  train(kWindows[0], 0);
  for (size_t r = 0; r < words; ++r) {
    EXPECT_TRUE(std::ranges::equal(before.row(r), std::as_const(at.in).row(r))) << "a rate of 0";
  }
}

// Windows move the rows that they touch by one step each, along the gradient of all of the window.
TEST_P(WordLosses, RowsMoveAsTheirOptimiserSays) {
  for (const Optimiser optimiser :
       {Optimiser::kMomentum, Optimiser::kNesterov, Optimiser::kAdaGrad, Optimiser::kAdam}) {
    for (const Objective objective : {Objective::kSkipGram, Objective::kCbow}) {
      for (const bool nce : {false, true}) {
        for (const size_t dim : {3, 17}) expect_textbook_steps(optimiser, objective, nce, dim);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, WordLosses,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

// --- Softmax ---

// log p(c | w) of the textbook.
double log_p(const Parameters& at, const Vec& p, size_t w, size_t c) {
  double sum = 0;
  const auto score = [&](size_t v) { return dot(at.x(p, w), at.y(p, v)) + at.b(p, v); };
  for (size_t v = 0; v < Parameters::kWords; ++v) sum += std::exp(score(v));
  return score(c) - std::log(sum);
}

std::vector<WordId> random_text(size_t length) {
  Rng rng(5, 5);
  std::vector<WordId> out;
  for (size_t i = 0; i < length; ++i) {
    out.push_back(rng.below(9) == 0 ? kSentenceEnd : WordId{rng.below(Parameters::kWords - 1)});
  }
  return out;
}

const std::vector<uint32_t> kAll = [] {
  std::vector<uint32_t> out(Parameters::kWords);
  std::iota(out.begin(), out.end(), 0);
  return out;
}();

Softmax softmax_of(const Parameters& at) { return {at.in.view(), at.out.view(), at.bias, kAll}; }

// The log-likelihood is a function of the counts alone: what the counts give is what the sum over
// the text gives, each pair as often as the drawn radius reaches it.
TEST(WordSoftmax, LikelihoodOfTheCountsIsThatOfTheText) {
  const std::vector<WordId> text = random_text(300);
  const Parameters at(7, 8);
  for (const Neighbours side : {Neighbours::kBoth, Neighbours::kLeft, Neighbours::kRight}) {
    for (const bool fixed : {false, true}) {
      const Config config{.window = 3, .fixed_window = fixed, .side = side};
      double loss = 0, pairs = 0;
      for (int radius = 1; radius <= 3; ++radius) {
        if (fixed && radius < 3) continue;
        for (int t = 0; t < std::ssize(text); ++t) {
          for (const int direction : {-1, 1}) {
            if (direction == 1 && side == Neighbours::kLeft) continue;
            if (direction == -1 && side == Neighbours::kRight) continue;
            for (int d = 0; d <= radius; ++d) {
              const int i = t + direction * d;
              if (i < 0 || i >= std::ssize(text) || text[i] == kSentenceEnd) break;
              if (d == 0) continue;
              loss -= log_p(at, at.all, row_of(text[i]), row_of(text[t]));
              pairs += 1;
            }
          }
        }
      }
      PairCounts counts(config, Parameters::kWords);
      counts.add(text, 0, 100);
      counts.add(text, 100, text.size());
      const Sparse n = counts.take();
      const Context context(2);
      EXPECT_NEAR(mean_loss(softmax_of(at), n, context), loss / pairs, 1e-5);
      const double all = std::accumulate(n.value.begin(), n.value.end(), 0.0);
      EXPECT_EQ(all, pairs * (fixed ? 3 : 1));
    }
  }
}

// d loss / d score of c is N(w) times the residual; that of the rows follows from it.
TEST(WordSoftmax, ResidualIsTheGradient) {
  const Parameters at(5, 9);
  PairCounts counts(Config{.window = 2}, Parameters::kWords);
  const std::vector<WordId> text = random_text(200);
  counts.add(text, 0, text.size());
  const Sparse n = counts.take();
  for (const uint32_t w : {0u, 3u, 10u}) {
    Matrix residual(1, Parameters::kWords);
    const double loss = softmax_of(at).loss(w, n, residual.view().row(0));
    const auto book = [&](const Vec& p) {
      double sum = 0;
      for (size_t i = 0; i < n.row(w).size(); ++i) {
        sum -= static_cast<double>(n.row(w).values[i]) * log_p(at, p, w, n.row(w).columns[i]);
      }
      return sum;
    };
    EXPECT_NEAR(loss, book(at.all), 1e-5 * loss);
    const auto values = n.row(w).values;
    const double count = std::accumulate(values.begin(), values.end(), 0.0);
    const Vec numeric = reference::numeric_gradient(book, at.all);
    Vec x(5, 0.0);
    for (size_t c = 0; c < Parameters::kWords; ++c) {
      const double slope = count * static_cast<double>(residual.row(0)[c]);
      EXPECT_NEAR(numeric[2 * Parameters::kWords * 5 + c], slope, 1e-4) << "bias";
      reference::axpy(slope, at.y(at.all, c), x);
      for (size_t k = 0; k < 5; ++k) {
        EXPECT_NEAR(numeric[(Parameters::kWords + c) * 5 + k], slope * at.x(at.all, w)[k], 1e-4);
      }
    }
    for (size_t k = 0; k < 5; ++k) EXPECT_NEAR(numeric[w * 5 + k], x[k], 1e-4);
  }
}

TEST(WordSoftmax, CountsDoNotDependOnWhenTheyAreMerged) {
  const std::vector<WordId> text = random_text(400000);  // more pairs than are kept as they come
  const Config config{.window = 2, .fixed_window = true};
  PairCounts counts(config, Parameters::kWords);
  counts.add(text, 0, text.size());
  const Sparse n = counts.take();
  std::vector<double> expected(Parameters::kWords * Parameters::kWords);
  for (size_t t = 0; t < text.size(); ++t) {
    for (size_t d = 1; d <= 2 && d <= t; ++d) {
      if (text[t] == kSentenceEnd || text[t - d] == kSentenceEnd) break;
      expected[row_of(text[t]) * Parameters::kWords + row_of(text[t - d])] += 2;
      expected[row_of(text[t - d]) * Parameters::kWords + row_of(text[t])] += 2;
    }
  }
  for (uint32_t w = 0; w < Parameters::kWords; ++w) {
    for (size_t i = 0; i < n.row(w).size(); ++i) {
      EXPECT_EQ(n.row(w).values[i], expected[w * Parameters::kWords + n.row(w).columns[i]]);
    }
  }
}

}  // namespace
}  // namespace kith::words
