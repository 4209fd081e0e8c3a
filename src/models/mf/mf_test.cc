// SPDX-License-Identifier: Apache-2.0
// The step against finite differences (sources 003 and 004), the theory of the sources, and the
// promises.

#include "models/mf/kernel.h"
#include "models/mf/model.h"
#include "models/ratings/test_ratings.h"

namespace kith::mf {
namespace {

using test::Planted;

constexpr Loss kNumberLosses[] = {Loss::kSquared,  Loss::kAbsolute, Loss::kHuber, Loss::kTukey,
                                  Loss::kLogistic, Loss::kHinge,    Loss::kKl};

// A pair of working rows with random contents.
struct Pair {
  explicit Pair(size_t dim) : user(1, row_width(dim)), item(2, row_width(dim)) {
    std::mt19937 rng(static_cast<unsigned>(dim));
    std::normal_distribution<float> normal(0, 0.5);
    for (Matrix* m : {&user, &item}) {
      for (size_t r = 0; r < m->rows(); ++r) {
        for (size_t k = 0; k < dim; ++k) m->row(r)[k] = normal(rng);
        m->row(r)[padded(dim) + kBias] = normal(rng);
        start_row(m->view().row(r), dim);
      }
    }
  }
  // Each row its own way; `drawn`: to somewhere, or to 0.
  void hold(bool drawn) {
    const size_t width = user.cols() - padded(kExtras);
    float lambda = 0.3f, beta = 0.2f, at = 0.7f;
    for (Matrix* m : {&user, &item}) {
      for (size_t r = 0; r < m->rows(); ++r) {
        const auto extras = m->row(r).subspan(width);
        extras[kHold] = lambda;
        extras[kBiasHold] = beta;
        if (drawn) extras[kDrawnBias] = at;
        lambda *= 0.6f, beta *= 1.5f, at *= -0.8f;
      }
    }
    if (!drawn) return;
    user_means = Matrix(1, width), item_means = Matrix(2, width);
    std::mt19937 rng(9);
    std::normal_distribution<float> normal(0, 0.5);
    for (const auto& [rows, means] : {std::pair{&user, &user_means}, {&item, &item_means}}) {
      for (size_t r = 0; r < rows->rows(); ++r) {
        for (size_t k = 0; k < width; ++k) {
          if (rows->row(r)[k] != 0) means->row(r)[k] = normal(rng);  // what is padded is 0
        }
      }
    }
  }
  Moving moving() {
    Moving out{user.view(), item.view()};
    if (user_means.rows() == 0) return out;
    out.user_means = std::as_const(user_means).view();
    out.item_means = std::as_const(item_means).view();
    return out;
  }
  Matrix user, item;
  Matrix user_means, item_means;  // none: 0
};

// loss(score) + lambda_u / 2 |p - m_u|^2 + lambda_i / 2 |q - m_i|^2 and the same of the biases with
// beta, by a step of rate zero.
double objective(Loss loss, Rates rates, size_t dim, const Pair& at, float value) {
  Pair copy(dim);
  copy.user = at.user.copy();
  copy.item = at.item.copy();
  rates.lr = 0;
  const Entry rating{0, 0, value};
  double out = train_block(loss, rates, dim, {&rating, 1}, copy.moving());
  for (const bool user : {true, false}) {
    const auto row = (user ? at.user : at.item).row(0);
    const Matrix& means = user ? at.user_means : at.item_means;
    const auto extras = row.subspan(padded(dim));
    for (size_t k = 0; k < dim; ++k) {
      const double away = row[k] - (means.rows() > 0 ? means.row(0)[k] : 0.0f);
      out += extras[kHold] / 2 * away * away;
    }
    const double away = extras[kBias] - extras[kDrawnBias];
    out += extras[kBiasHold] / 2 * away * away;
  }
  return out;
}

// A step moves every number against its derivative, by a rate that with `adapt` is divided by the
// root of the row's (or the bias's) energy. h is large because rows are floats: the error of a
// central difference is h^2 / 6 times the third derivative, below 1e-3 here. Roots are approximate.
void expect_gradient_step(Loss loss, size_t dim, bool adapt, bool drawn) {
  constexpr float kH = 0.01f, kRate = 1e-3f;
  const Rates rates{kRate, true, adapt};
  const float value = loss == Loss::kLogistic || loss == Loss::kHinge ? 1.0f : 1.7f;
  const auto pair = [&] {
    Pair out(dim);
    out.hold(drawn);
    return out;
  };
  const Pair before = pair();
  Pair after = pair();
  const Entry rating{0, 0, value};
  train_block(loss, rates, dim, {&rating, 1}, after.moving());
  for (const bool user : {true, false}) {
    const auto old = (user ? before.user : before.item).row(0);
    const auto now = (user ? after.user : after.item).row(0);
    for (size_t k = 0; k <= dim; ++k) {
      const size_t at = k < dim ? k : padded(dim) + kBias;
      Pair up = pair(), down = pair();
      (user ? up.user : up.item).row(0)[at] += kH;
      (user ? down.user : down.item).row(0)[at] -= kH;
      const double slope =
          (objective(loss, rates, dim, up, value) - objective(loss, rates, dim, down, value)) /
          (2 * kH);
      const float energy = now[padded(dim) + (k < dim ? kEnergy : kBiasEnergy)];
      const double moved = (now[at] - old[at]) / kRate * (adapt ? std::sqrt(energy) : 1);
      EXPECT_NEAR(moved, -slope, 5e-3 * (1 + std::abs(slope)))
          << static_cast<int>(loss) << " dim " << dim << " at " << at << " adapt " << adapt;
    }
  }
}

TEST(MfKernel, StepsFollowTheGradient) {
  for (const Loss loss : kNumberLosses) {
    for (const size_t dim : {1, 5, 16, 17, 64}) {
      for (const bool adapt : {false, true}) {
        for (const bool drawn : {false, true}) expect_gradient_step(loss, dim, adapt, drawn);
      }
    }
  }
}

TEST(MfKernel, SquaresStayWhatTheyAre) {
  constexpr size_t kDim = 20;
  const Entry rating{0, 0, 1.5f};
  const Rates rates{0.1f, true, true};
  for (const bool drawn : {false, true}) {
    Pair at(kDim);
    at.hold(drawn);
    for (int step = 0; step < 1000; ++step) {
      train_block(Loss::kSquared, rates, kDim, {&rating, 1}, at.moving());
    }
    for (const Matrix* m : {&at.user, &at.item}) {
      double square = 0;
      for (size_t k = 0; k < kDim; ++k) square += m->row(0)[k] * m->row(0)[k];
      EXPECT_NEAR(m->row(0)[padded(kDim) + kSquare], square, 1e-4 * square);
    }
  }
}

// However hard a row is held, a step ends where it is drawn to at the furthest. Of an error of 0
// nothing else moves it.
TEST(MfKernel, NoStepGoesPastWhatItIsDrawnTo) {
  constexpr size_t kDim = 5;
  for (const bool adapt : {false, true}) {
    Pair at(kDim);
    at.hold(true);
    for (Matrix* const m : {&at.user, &at.item}) {
      m->row(0)[padded(kDim) + kHold] = m->row(0)[padded(kDim) + kBiasHold] = 1e6f;
    }
    float score = at.user.row(0)[padded(kDim) + kBias] + at.item.row(0)[padded(kDim) + kBias];
    for (size_t k = 0; k < kDim; ++k) score += at.user.row(0)[k] * at.item.row(0)[k];
    const Entry rating{0, 0, score};
    train_block(Loss::kSquared, {0.1f, true, adapt}, kDim, {&rating, 1}, at.moving());
    for (size_t k = 0; k < kDim; ++k) {
      EXPECT_NEAR(at.user.row(0)[k], at.user_means.row(0)[k], 1e-5);
      EXPECT_NEAR(at.item.row(0)[k], at.item_means.row(0)[k], 1e-5);
    }
    for (const Matrix* m : {&at.user, &at.item}) {
      const auto extras = m->row(0).subspan(padded(kDim));
      EXPECT_NEAR(extras[kBias], extras[kDrawnBias], 1e-5);
    }
  }
}

// Of p - m and of the biases of items, held as each row is.
TEST(MfKernel, PairsFollowTheGradient) {
  constexpr float kH = 0.01f, kRate = 1e-3f;
  constexpr size_t kDim = 7;
  const Rates rates{kRate, true, false};
  const Entry rating{0, 0, 1};
  const std::vector<uint32_t> candidates{1};
  Sparse seen;
  seen.columns = 2;
  seen.offsets = {0, 1};
  seen.column = {0};
  seen.value = {1};
  const auto step = [&](Pair& at, float lr) {
    Rates own = rates;
    own.lr = lr;
    Rng rng(1, 1);
    return train_pairs(own, kDim, {&rating, 1}, candidates, seen, rng, at.moving());
  };
  for (const bool drawn : {false, true}) {
    const auto pair = [&] {
      Pair out(kDim);
      out.hold(drawn);
      return out;
    };
    Pair after = pair(), start = pair();
    step(after, kRate);
    for (const int row : {0, 1, 2}) {  // the user, what was seen, what was not
      const auto of = [&](Pair& p) { return row == 0 ? p.user.row(0) : p.item.row(row - 1); };
      const auto extras = of(start).subspan(padded(kDim));
      for (size_t k = 0; k <= kDim; ++k) {
        const size_t at = k < kDim ? k : padded(kDim) + kBias;
        Pair up = pair(), down = pair();
        of(up)[at] += kH;
        of(down)[at] -= kH;
        double slope = (step(up, 0) - step(down, 0)) / (2 * kH);
        const Matrix& means = row == 0 ? start.user_means : start.item_means;
        const float mean = means.rows() > 0 && k < kDim ? means.row(row == 2 ? 1 : 0)[k] : 0.0f;
        if (k < kDim) {
          slope += extras[kHold] * (of(start)[at] - mean);
        } else if (row > 0) {  // users have no bias here
          slope += extras[kBiasHold] * (extras[kBias] - extras[kDrawnBias]);
        }
        EXPECT_NEAR((of(after)[at] - of(start)[at]) / kRate, -slope, 5e-3) << row << " " << k;
      }
    }
  }
}

// Source 002, the scalar case: a = u v from a balanced start ends at a.
TEST(Mf, TheScalarCaseConverges) {
  Pair at(1);
  const size_t width = padded(1);
  at.user.row(0)[0] = at.item.row(0)[0] = 0.1f;
  at.user.row(0)[width + kBias] = at.item.row(0)[width + kBias] = 0;
  const Entry rating{0, 0, 2.0f};
  const Rates rates{0.05f, false, false};
  for (int step = 0; step < 2000; ++step) {
    train_block(Loss::kSquared, rates, 1, {&rating, 1}, at.moving());
    EXPECT_FLOAT_EQ(at.user.row(0)[0], at.item.row(0)[0]);  // balanced it stays
  }
  EXPECT_NEAR(at.user.row(0)[0] * at.item.row(0)[0], 2.0, 1e-4);
}

TEST(Mf, KeepsItsPromises) {
  Planted planted{.share = 0.5, .noise = 0.2};
  const Ratings ratings = planted.ratings(0.1);
  test::expect_promises<Mf>("mf", ratings, [](Mf& m) { m.config().dim = 5; });
}

TEST(Mf, AnyNumberOfThreadsGivesTheSameBits) {
  test::expect_same_for_any_threads<Mf>([](Mf& m) {
    m.config().dim = 3;
    m.config().epochs = 2;
  });
}

TEST(Mf, EveryLossLearnsAPlantedMatrix) {
  Planted planted{.users = 200, .items = 100, .share = 0.5, .noise = 0.1};
  const Ratings ratings = planted.ratings(0.05);
  Mf baseline;
  baseline.config().dim = 0;
  test::train(baseline, ratings);
  const double biases = test::rmse(baseline, planted.rest);
  for (const Loss loss : {Loss::kSquared, Loss::kAbsolute, Loss::kHuber, Loss::kTukey}) {
    Mf model;
    model.config().dim = 4;
    model.config().loss = loss;
    model.config().penalty = 0.01;
    model.config().epochs = 150;
    test::train(model, ratings);
    EXPECT_LT(test::rmse(model, planted.rest), biases / 3) << static_cast<int>(loss);
    test::expect_folds_in(model, 0.8);
  }
}

// b = sum t / (n + the penalty of n ratings), with t what mean and the items leave, as in training,
// and 1 more so that one rating is not believed alone.
TEST(Mf, ABiasThatIsFoldedInHasItsPenalty) {
  Planted planted{.noise = 0.2};
  Mf model;
  model.config().dim = 0;
  model.config().bias_penalty = 2;
  model.config().choices = false;
  test::train(model, planted.ratings());
  const std::vector<uint32_t> columns{1, 4};
  const std::vector<float> values{5, 4.5f};
  double left = 0;
  for (size_t k = 0; k < 2; ++k) {
    left += values[k] - model.factors().mean - model.factors().item.row(columns[k])[1];
  }
  const auto row = model.fold_in(Axis::kUser, {columns, values});
  EXPECT_NEAR(row[0], left / (2 + 2 * 2 + 1), 1e-4);
}

// Two kinds of users and items; a user likes (1) what is of its kind.
std::vector<Rating> kinds(bool only_liked) {
  std::vector<Rating> out;
  for (uint32_t u = 0; u < 60; ++u) {
    for (uint32_t i = 0; i < 30; ++i) {
      const bool likes = u % 2 == i % 2;
      if ((u * 7 + i * 3) % 4 != 0 && (likes || !only_liked)) {
        out.push_back({u, i, likes ? 1.0f : 0.0f});
      }
    }
  }
  return out;
}

TEST(Mf, ClassesAreTold) {
  const Ratings ratings =
      Ratings::of(test::numbered(60, "u"), test::numbered(30, "i"), kinds(false));
  for (const Loss loss : {Loss::kLogistic, Loss::kHinge}) {
    Mf model;
    model.config().dim = 4;
    model.config().loss = loss;
    model.config().epochs = 100;
    model.config().penalty = 0.01;
    test::train(model, ratings);
    const auto row = model.fold_in(Axis::kUser, ratings.train().row(0));
    for (uint32_t i = 0; i < 30; ++i) {
      for (uint32_t u = 0; u < 60; ++u) {
        EXPECT_EQ(model.predict(u, i) > 0.5, u % 2 == i % 2) << u << " " << i;
      }
      EXPECT_EQ(model.rating(row, model.factors().item.row(i)) > 0.5, i % 2 == 0);
    }
  }
  const Ratings many = Planted().ratings();
  Mf model;
  model.config().loss = Loss::kLogistic;
  EXPECT_THROW(test::train(model, many), Error);
}

TEST(Mf, RankingPutsWhatFitsFirst) {
  const Ratings ratings =
      Ratings::of(test::numbered(60, "u"), test::numbered(30, "i"), kinds(true), {}, true);
  Mf model;
  model.config().dim = 4;
  model.config().epochs = 100;
  model.config().lr = 0.1;
  model.config().penalty = 0.01;
  test::train(model, ratings);
  // Someone who has seen what user 1 has. What is of its kind but unseen is noise to it at times,
  // so not every pair need be right.
  const auto row = model.fold_in(Axis::kUser, ratings.train().row(1));
  int right = 0;
  for (uint32_t i = 0; i < 30; i += 2) {
    for (uint32_t j = 1; j < 30; j += 2) {
      EXPECT_GT(model.predict(2, i), model.predict(2, j));
      right += model.rating(row, model.factors().item.row(i)) <
               model.rating(row, model.factors().item.row(j));
    }
  }
  EXPECT_GT(right, 200);  // of 225
}

TEST(Mf, CountsAreLearnedByKl) {
  std::mt19937 rng(3);
  std::vector<Rating> counts;
  std::vector<double> rates;
  for (uint32_t u = 0; u < 80; ++u) {
    for (uint32_t i = 0; i < 40; ++i) {
      const double rate = 2.0 + 6.0 * (u % 4 == i % 4) + u % 3;
      if ((u + 3 * i) % 5 == 0) continue;
      counts.push_back({u, i, static_cast<float>(std::poisson_distribution<int>(rate)(rng))});
    }
  }
  const Ratings ratings = Ratings::of(test::numbered(80, "u"), test::numbered(40, "i"), counts);
  Mf model;
  model.config() = {.dim = 6, .epochs = 150, .loss = Loss::kKl, .penalty = 0.02};
  test::train(model, ratings);
  double error = 0, n = 0;
  for (uint32_t u = 0; u < 80; ++u) {
    for (uint32_t i = 0; i < 40; ++i) {
      if ((u + 3 * i) % 5 != 0) continue;
      const double rate = 2.0 + 6.0 * (u % 4 == i % 4) + u % 3;
      error += (model.predict(u, i) - rate) * (model.predict(u, i) - rate);
      ++n;
    }
  }
  EXPECT_LT(std::sqrt(error / n), 1.3);  // of rates of 2 to 10 with noise of 1.4 to 3.2
}

TEST(Mf, ConstantRatingsAndUnknownRowsAreFine) {
  std::vector<Rating> same;
  for (uint32_t k = 0; k < 30; ++k) same.push_back({k % 5, k % 6, 2.5f});
  Mf model;
  test::train(model, Ratings::of(test::numbered(6, "u"), test::numbered(7, "i"), same));
  for (uint32_t u = 0; u < 6; ++u) {
    for (uint32_t i = 0; i < 7; ++i) EXPECT_NEAR(model.predict(u, i), 2.5, 1e-6);
  }
}

}  // namespace
}  // namespace kith::mf
