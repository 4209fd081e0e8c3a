// SPDX-License-Identifier: Apache-2.0
#include "models/svp/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "train/linear_operator.h"
#include "train/residual.h"

namespace kith::svp {
namespace {

constexpr double kGrowth = 1.5;    // of the step at most, from 1 on
constexpr uint64_t kDense = 1024;  // entries up to which a whole decomposition is cheap

}  // namespace

class SvpTrainer final : public RatingsTrainer {
 public:
  SvpTrainer(Svp& model, const Ratings& ratings, Job& job)
      : RatingsTrainer(model, ratings, job),
        m_(model),
        residual_(ratings.train()),
        error_(residual_.update(m_.f_.user, m_.f_.item, m_.f_.mean, job)) {}

  uint64_t blocks() const override { return 1; }

  // One step, or, if it is cancelled, none. The observed error f never rises. Its gradient G =
  // -P_Omega(A* - A) has Lipschitz constant 1, so f(B) <= f(A) + <G, B - A> + |B - A|^2 / (2 eta)
  // for eta <= 1, and the projection is the B of rank k that makes the right side least: no more
  // than f(A). A longer step is halved until it does not raise the error.
  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    const double before = error_;
    const FactorPair from{m_.f_.user.copy(), m_.f_.item.copy()};
    const size_t rank = m_.rank_;
    const auto go_back = [&] {
      m_.f_.user = from.p.copy();
      m_.f_.item = from.q.copy();
      m_.rank_ = rank;
    };
    double eta = m_.config_.step ? *m_.config_.step : std::min(m_.step_, best_step());
    bool halved = false;
    try {
      for (;;) {
        m_.put(balanced(projected(eta, blocks.epoch)));
        error_ = residual_.update(m_.f_.user, m_.f_.item, m_.f_.mean, job_);
        if (error_ <= before || eta <= 1) break;
        eta = std::max(1.0, eta / 2);
        halved = true;
        go_back();
        residual_.update(m_.f_.user, m_.f_.item, m_.f_.mean, job_);
      }
    } catch (...) {
      go_back();
      throw;
    }
    m_.step_ = eta * kGrowth;
    sum.add(error_, ratings_.train().size());
    // A step that was halved may gain little and the next one much.
    return {1, !halved && before - error_ <= m_.config_.tolerance * before};
  }

 private:
  // The step that lowers the error most as long as the column space U stays the same (Tanner, Wei
  // 2013): |U U^T E|^2 / |P_Omega(U U^T E)|^2 with E = P_Omega(A* - A). About 1 / the share of the
  // ratings that is known where they are spread evenly.
  double best_step() const {
    if (m_.rank_ == 0) return 1;
    const SparsePlusLowRank e(residual_.by_user(), residual_.by_item());
    Matrix u(m_.f_.user.rows(), m_.rank_);
    std::vector<double> squares(m_.rank_, 0.0);
    for (size_t r = 0; r < u.rows(); ++r) {
      for (size_t k = 0; k < u.cols(); ++k) squares[k] += std::pow(double{m_.f_.user.row(r)[k]}, 2);
    }
    for (size_t r = 0; r < u.rows(); ++r) {
      for (size_t k = 0; k < u.cols(); ++k) {
        u.row(r)[k] = static_cast<float>(m_.f_.user.row(r)[k] / std::sqrt(squares[k]));
      }
    }
    const Matrix w = e.multiply_transposed(u, job_);  // U U^T E = u w^T
    double all = 0;
    for (size_t r = 0; r < w.rows(); ++r) {
      for (const float x : w.row(r)) all += double{x} * x;
    }
    const double seen = observed_square(residual_.by_user(), u, w, job_);
    return seen > 0 ? std::max(1.0, all / seen) : 1;
  }

  // [A + eta P_Omega(A* - A)]_k, sparse plus low rank.
  Svd projected(double eta, uint64_t epoch) const {
    const size_t k = m_.f_.dim;
    const SparsePlusLowRank a(residual_.by_user(), residual_.by_item(), eta,
                              {&m_.f_.user, &m_.f_.item, m_.rank_});
    const bool power = m_.config_.svd == Decomposition::kPower;
    if (!power && a.rows() * a.cols() <= kDense) return truncated(dense_svd(dense_of(a)), k);
    if (power) {
      return power_method(a, {.rank = k, .seed = job_.seed + epoch}, job_);
    }
    // The singular vectors change little from step to step: those of the last one are the start.
    return randomised_svd(a,
                          {.rank = k,
                           .oversample = m_.rank_ > 0 ? 5u : 10u,
                           .power = m_.rank_ > 0 ? 1 : 4,
                           .seed = job_.seed + epoch,
                           .start = &m_.f_.item,
                           .start_cols = m_.rank_},
                          job_);
  }

  Matrix dense_of(const LinearOperator& a) const {
    Matrix identity(a.cols(), a.cols());
    for (size_t i = 0; i < a.cols(); ++i) identity.row(i)[i] = 1;
    return a.multiply(identity, job_);
  }

  Svp& m_;
  Residual residual_;
  double error_;
};

void Svp::start(const Ratings& ratings, Start, const Job&) {
  const size_t most = std::min(ratings.users().size(), ratings.items().size());
  begin(ratings, std::min(most, static_cast<size_t>(config_.dim)));
  step_ = 1;
}

std::unique_ptr<Trainer> Svp::trainer(const Ratings& ratings, Job& job) {
  return std::make_unique<SvpTrainer>(*this, ratings, job);
}

void Svp::finish(const Ratings&, const Job&) {
  compact();
  set_fold_in(state_.loss);
}

uint64_t Svp::memory(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const auto dim = static_cast<size_t>(config_.dim);
  // The rows, those before a step, the best ones if there are any; and blocks of vectors while they
  // are decomposed, two of users and three of items at a time.
  const uint64_t copies = config_.early_stop > 0 && ratings.held_out().size() > 0 ? 3 : 2;
  const uint64_t blocks = 2 * ratings.users().size() + 3 * ratings.items().size();
  const uint64_t tables = 4 * (rows * copies * padded(dim + 2) + blocks * padded(dim + 5));
  // The residual in two orders, each with the ratings.
  return tables + (ratings.train().size() + ratings.held_out().size()) * 24 + rows * 48 +
         memory_of_all(ratings);
}

void Svp::visit(Parts& parts) {
  CompletionModel::visit(parts);
  parts.number("svp.step", step_);
  parts.check(step_ > 0 && std::isfinite(step_), "the length of a step is not above 0");
}

ModelInfo info() {
  return model_info<Svp>("svp",
                         "users and items of ratings: completion by singular value projection");
}

}  // namespace kith::svp
