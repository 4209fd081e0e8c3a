// SPDX-License-Identifier: Apache-2.0
#include "models/nmf/model.h"

#include "core/error.h"
#include "models/ratings/test_completion.h"

namespace kith::nmf {
namespace {

using test::ratings_of;
using test::relative_error;

// A truth of non-negative parts: entries of p and q are 0 with chance 1/2, so that they are its
// only non-negative factors.
Matrix planted(size_t rows, size_t cols, size_t parts, uint64_t seed) {
  const auto half = [](Matrix m) {
    for (size_t r = 0; r < m.rows(); ++r) {
      for (float& x : m.row(r)) x = std::max(0.0f, x);
    }
    return m;
  };
  Matrix out = test::product(half(test::random_matrix(rows, parts, seed)),
                             half(test::random_matrix(cols, parts, seed + 1)));
  return out;
}

struct Case {
  Method method;
  Loss loss;
  Unrated unrated;
  bool biases;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Method method : {Method::kHals, Method::kMultiplicative}) {
    for (const Loss loss : {Loss::kSquared, Loss::kKl}) {
      for (const Unrated unrated : {Unrated::kMissing, Unrated::kZero}) {
        out.push_back({method, loss, unrated, false});
      }
    }
    out.push_back({method, Loss::kSquared, Unrated::kMissing, true});
  }
  return out;
}

std::string name_of(const Case& c) {
  return fmt::format("{} {} {}{}", detail::show(c.method), detail::show(c.loss),
                     detail::show(c.unrated), c.biases ? " biases" : "");
}

void configure(Nmf& model, const Case& c) {
  model.config().method = c.method;
  model.config().loss = c.loss;
  model.config().unrated = c.unrated;
  model.config().biases = c.biases;
}

bool nonnegative(const Nmf& model) {
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    const Matrix& m = model.factors().rows(axis);
    for (size_t r = 0; r < m.rows(); ++r) {
      for (const float x : m.row(r).first(model.factors().dim)) {
        if (x < 0) return false;
      }
    }
  }
  return true;
}

TEST(Nmf, NoSweepRaisesTheObjective) {
  const Ratings ratings = ratings_of(test::sampled(planted(40, 30, 4, 1), 0.5, 2));
  for (const Case& c : cases()) {
    for (const double penalty : {0.0, 0.5}) {
      Nmf model;
      configure(model, c);
      model.config().dim = 5;
      model.config().epochs = 30;
      model.config().penalty = penalty;
      model.config().sparsity = penalty / 5;
      model.config().tolerance = 0;
      Job job;
      double before = 1e300;
      job.on_progress = [&](const Progress& p) {
        if (!p.epoch_done) return;  // between the users and the items
        const double now = model.objective();
        // Rows are rounded to single precision after each update.
        ASSERT_LE(now, before * (1 + 1e-6) + 1e-6)
            << name_of(c) << ", penalty " << penalty << ", epoch " << p.epoch;
        before = now;
      };
      model.train(ratings, job);
      EXPECT_TRUE(nonnegative(model)) << name_of(c);
      EXPECT_LT(before, 1e300);
    }
  }
}

// One row with the others as they are is a convex problem: whatever the method, it ends where no
// coordinate can be moved for the better, penalties included.
TEST(Nmf, ARowEndsAtItsMinimum) {
  constexpr size_t kDim = 3;
  Matrix rows(6, kDim + 2);
  for (size_t r = 0; r < 6; ++r) {
    for (size_t k = 0; k < kDim; ++k)
      rows.row(r)[k] = 0.2f + static_cast<float>((3 * r + 2 * k) % 7);
  }
  const std::vector<uint32_t> columns{0, 1, 2, 3, 4, 5};
  const std::vector<float> values{3, 9, 4, 12, 7, 5};
  const Penalties penalties{20, 3, 0};
  for (const Method method : {Method::kHals, Method::kMultiplicative}) {
    for (const Loss loss : {Loss::kSquared, Loss::kKl}) {
      const Others others{.rows = rows,
                          .dim = kDim,
                          .own = kDim,
                          .biases = false,
                          .mean = 0,
                          .zero = false,
                          .method = method,
                          .loss = loss};
      Scratch scratch;
      const auto objective = [&](const Matrix& at) {
        Matrix copy = at.copy();
        const double left = update_row(others, {}, {columns, values}, 0, copy.row(0), scratch);
        double sum = loss == Loss::kSquared ? left / 2 : left;
        for (const double x : at.row(0).first(kDim)) {
          sum += penalties.l2 * x * x / 2 + penalties.l1 * x;
        }
        return sum;
      };
      Matrix row(1, kDim + 2);
      for (float& x : row.row(0).first(kDim)) x = 0.5f;
      update_row(others, penalties, {columns, values}, 5000, row.row(0), scratch);
      const double least = objective(row);
      for (size_t k = 0; k < kDim; ++k) {
        for (const float step : {-0.01f, 0.01f}) {
          Matrix near = row.copy();
          near.row(0)[k] = std::max(0.0f, near.row(0)[k] + step);
          EXPECT_GE(objective(near), least - 1e-5) << detail::show(method) << detail::show(loss);
        }
      }
    }
  }
}

TEST(Nmf, RecoversPlantedParts) {
  const Matrix truth = planted(80, 60, 3, 3);
  for (const Case& c : cases()) {
    const bool zero = c.unrated == Unrated::kZero;
    Nmf model;
    configure(model, c);
    model.config().dim = 3;
    model.config().epochs = 1500;
    model.config().penalty = 0;
    model.config().tolerance = 0;
    Job job;
    model.train(ratings_of(test::sampled(truth, zero ? 1 : 0.7, 4)), job);
    // Multiplicative updates are slow near 0, where they cannot get in finite time; biases have
    // penalties, and the truth has none.
    EXPECT_LT(relative_error(model, truth),
              (c.method == Method::kHals ? 0.01 : 0.05) * (c.biases ? 3 : 1))
        << name_of(c);
    EXPECT_TRUE(nonnegative(model)) << name_of(c);
  }
}

TEST(Nmf, BetterThanBiasesAndNeverWorse) {
  Job job;
  Nmf model;
  model.config().dim = 6;
  model.train(test::noisy_ratings(150, 100, 0.4, true), job);
  const std::vector<double>& errors = model.state().held_out;
  EXPECT_LT(*std::ranges::min_element(errors), 0.75 * errors.front());
  Nmf idle;  // noise alone
  idle.train(ratings_of(test::sampled(test::random_matrix(60, 50, 31), 0.1, 32), true), job);
  if (std::ranges::min_element(idle.state().held_out) == idle.state().held_out.begin()) {
    EXPECT_EQ(idle.factors().dim, 0u);
  }
}

TEST(Nmf, NegativeRatingsAreRefusedWithTheirPlaceUnlessThereAreBiases) {
  const auto ratings = [] {
    return Ratings::of(test::numbered(3, "u"), test::numbered(2, "i"),
                       {{0, 0, 4}, {1, 1, -2.5f}, {2, 0, 1}, {2, 1, 3}});
  };
  Job job;
  for (const Case& c : cases()) {
    Nmf model;
    configure(model, c);
    if (c.biases) {
      model.train(ratings(), job);
      continue;
    }
    const std::string told = message_of(ErrorKind::kInput, [&] { model.train(ratings(), job); });
    for (const char* part : {"u1", "i1", "-2.5", "--biases"}) {
      EXPECT_NE(told.find(part), std::string::npos) << told;
    }
  }
}

TEST(Nmf, ImplicitFeedbackIsZeroWhereNothingWasSeen) {
  // Two groups of users, each with its own half of the items.
  std::vector<Rating> train;
  for (uint32_t u = 0; u < 20; ++u) {
    for (uint32_t i = 0; i < 20; ++i) {
      if (u / 10 == i / 10 && (u + i) % 4 != 0) train.push_back({u, i, 1});
    }
  }
  for (const Loss loss : {Loss::kSquared, Loss::kKl}) {
    Nmf model;
    model.config().dim = 2;
    model.config().loss = loss;
    Job job;
    model.train(Ratings::of(test::numbered(20, "u"), test::numbered(20, "i"), train, {}, true),
                job);
    EXPECT_GT(model.predict(3, 1), 0.5);   // one that was left out, of the own half
    EXPECT_LT(model.predict(3, 15), 0.1);  // one of the other half
    // A new user of the second group.
    const uint32_t seen[]{12, 17};
    const float ones[]{1, 1};
    const std::vector<float> folded = model.fold_in(Axis::kUser, {seen, ones});
    EXPECT_GT(model.rating(folded, model.factors().item.row(14)),
              5 * model.rating(folded, model.factors().item.row(4)));
  }
}

TEST(Nmf, FoldingInIsNonNegativeAndAsGoodAsTraining) {
  const Matrix truth = planted(80, 60, 3, 5);
  const Ratings ratings = ratings_of(test::sampled(truth, 0.6, 6));
  for (const Case& c : cases()) {
    if (c.unrated == Unrated::kZero) continue;
    Nmf model;
    configure(model, c);
    model.config().dim = 3;
    model.config().penalty = 0.01;
    model.config().epochs = 500;
    Job job;
    model.train(ratings, job);
    for (const uint32_t u : {0, 41, 79}) {
      const std::vector<float> folded = model.fold_in(Axis::kUser, ratings.train().row(u));
      for (size_t k = 0; k < model.factors().dim; ++k) EXPECT_GE(folded[k], 0);
      EXPECT_LT(test::fold_in_error(model, ratings.train(), u), 0.2) << name_of(c);
    }
    // Somebody of whom nothing is known is as the others on the whole.
    const double unknown =
        model.rating(model.fold_in(Axis::kUser, {}), model.factors().item.row(0));
    EXPECT_GT(unknown, 0);
    EXPECT_TRUE(std::isfinite(unknown));
  }
}

TEST(Nmf, Promises) {
  const Ratings ratings = ratings_of(test::sampled(planted(250, 120, 3, 9), 0.3, 10), true);
  for (const Case& c : cases()) {
    SCOPED_TRACE(name_of(c));
    const auto settings = [&](Nmf& m) {
      configure(m, c);
      m.config().dim = 4;
      m.config().epochs = 4;
      m.config().tolerance = 0;
    };
    test::expect_promises<Nmf>("nmf", ratings, settings);
    Nmf model;
    settings(model);
    test::train(model, ratings);
    test::expect_same_file(model, "nmf");
  }
}

TEST(Nmf, SparsityLeavesFewerParts) {
  const Ratings ratings = ratings_of(test::sampled(planted(80, 60, 4, 11), 0.7, 12));
  const auto zeros = [&](double sparsity) {
    Nmf model;
    model.config().dim = 6;
    model.config().biases = false;
    model.config().penalty = 0.1;
    model.config().sparsity = sparsity;
    Job job;
    model.train(ratings, job);
    size_t count = 0;
    const Matrix& m = model.factors().user;
    for (size_t r = 0; r < m.rows(); ++r) {
      count += static_cast<size_t>(std::ranges::count(m.row(r).first(model.factors().dim), 0.0f));
    }
    return count;
  };
  EXPECT_GT(zeros(1), zeros(0));
}

}  // namespace
}  // namespace kith::nmf
