// SPDX-License-Identifier: Apache-2.0
#include "models/svp/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/linear_operator.h"
#include "train/residual.h"

namespace kith::svp {
namespace {

constexpr double kGrowth = 1.5;    // of the step at most, from 1 on
constexpr uint64_t kDense = 1024;  // entries up to which a whole decomposition is cheap

}  // namespace

class Trainer final : public CompletionRun {
 public:
  Trainer(Svp& model, const Ratings& ratings, Job& job)
      : CompletionRun(model, ratings, model.config_.epochs, model.config_.early_stop, job),
        m_(model),
        residual_(ratings.train()),
        error_(residual_.update(m_.user_, m_.item_, m_.mean_, job)) {}

 private:
  // One step. The observed error f never rises. Its gradient G = -P_Omega(A* - A) has Lipschitz
  // constant 1, so f(B) <= f(A) + <G, B - A> + |B - A|^2 / (2 eta) for eta <= 1, and the projection
  // is the B of rank k that makes the right side least: no more than f(A). A longer step is halved
  // until it does not raise the error.
  Sum train(uint64_t epoch, uint64_t, uint64_t) override {
    const double before = error_;
    const Factors from{m_.user_.copy(), m_.item_.copy()};
    const size_t rank = m_.rank_;
    double eta = m_.config_.step > 0 ? m_.config_.step : std::min(m_.step_, best_step());
    bool halved = false;
    for (;;) {
      m_.put(balanced(projected(eta, epoch)));
      error_ = residual_.update(m_.user_, m_.item_, m_.mean_, job_);
      if (error_ <= before || eta <= 1) break;
      eta = std::max(1.0, eta / 2);
      halved = true;
      m_.user_ = from.p.copy();
      m_.item_ = from.q.copy();
      m_.rank_ = rank;
      residual_.update(m_.user_, m_.item_, m_.mean_, job_);
    }
    // A step that was halved may gain little and the next one much.
    if (!halved && before - error_ <= m_.config_.tolerance * before) converged();
    m_.step_ = eta * kGrowth;
    return {error_, ratings_.train().size()};
  }

  // The step that lowers the error most as long as the column space U stays the same (Tanner, Wei
  // 2013): |U U^T E|^2 / |P_Omega(U U^T E)|^2 with E = P_Omega(A* - A). About 1 / the share of the
  // ratings that is known where they are spread evenly.
  double best_step() const {
    if (m_.rank_ == 0) return 1;
    const SparsePlusLowRank e(residual_.by_user(), residual_.by_item());
    Matrix u(m_.user_.rows(), m_.rank_);
    std::vector<double> squares(m_.rank_, 0.0);
    for (size_t r = 0; r < u.rows(); ++r) {
      for (size_t k = 0; k < u.cols(); ++k) squares[k] += std::pow(double{m_.user_.row(r)[k]}, 2);
    }
    for (size_t r = 0; r < u.rows(); ++r) {
      for (size_t k = 0; k < u.cols(); ++k) {
        u.row(r)[k] = static_cast<float>(m_.user_.row(r)[k] / std::sqrt(squares[k]));
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
    const auto k = static_cast<size_t>(m_.config_.dim);
    const SparsePlusLowRank a(residual_.by_user(), residual_.by_item(), eta,
                              {&m_.user_, &m_.item_, m_.rank_});
    if (a.rows() * a.cols() <= kDense) return truncated(dense_svd(dense_of(a)), k);
    // The singular vectors change little from step to step: those of the last one are the start.
    return randomised_svd(a,
                          {.rank = k,
                           .oversample = m_.rank_ > 0 ? 5u : 10u,
                           .power = m_.rank_ > 0 ? 1 : 4,
                           .seed = job_.seed + epoch,
                           .start = &m_.item_,
                           .start_cols = m_.rank_},
                          job_);
  }

  Matrix dense_of(const LinearOperator& a) const {
    Matrix identity(a.cols(), a.cols());
    for (size_t i = 0; i < a.cols(); ++i) identity.row(i)[i] = 1;
    return a.multiply(identity, job_);
  }

  void restart() override {
    CompletionRun::restart();
    error_ = residual_.update(m_.user_, m_.item_, m_.mean_, job_);
  }

  Svp& m_;
  Residual residual_;
  double error_;
};

void Svp::initialise(const Ratings& ratings, const Job&) {
  want_explicit(ratings, "svp");
  const size_t most = std::min(ratings.users().size(), ratings.items().size());
  begin(ratings, std::min(most, static_cast<size_t>(config_.dim)));
  step_ = 1;
}

bool Svp::run(const Ratings& ratings, Job& job) { return Trainer(*this, ratings, job).run(); }

void Svp::finish(const Ratings&, const Job&) {
  compact();
  set_fold_in(state_.loss);
}

uint64_t Svp::memory_needed(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const auto dim = static_cast<size_t>(config_.dim);
  // The rows, those before a step, the best ones; and three blocks while they are decomposed.
  const uint64_t tables = rows * 4 * (3 * padded(dim + 2) + 3 * padded(dim + 10));
  // The residual in two orders, each with the ratings.
  return tables + (ratings.train().size() + ratings.held_out().size()) * 32 + rows * 16 +
         (uint64_t{8} << 20);
}

void Svp::pack(ArchiveWriter& out, bool checkpoint) const {
  CompletionModel::pack(out, checkpoint);
  out.metadata["svp.step"] = fmt::format("{}", step_);
}

void Svp::restore(const Archive& in) {
  Svp other;
  other.read(in);
  other.step_ = in.number_at<double>("svp.step");
  if (!(other.step_ > 0 && std::isfinite(other.step_))) {
    throw Error(ErrorKind::kInput, "{}: the length of a step is not above 0; the file is damaged",
                in.where());
  }
  *this = std::move(other);
}

ModelInfo info() {
  return {"svp", "users and items of ratings: completion by singular value projection",
          InputKind::kRatings, []() -> std::unique_ptr<Model> { return std::make_unique<Svp>(); }};
}

}  // namespace kith::svp
