// SPDX-License-Identifier: Apache-2.0
// The chain: hyperparameters, users, items, noise, and so on; which of its samples are kept; when
// it takes in what was held out.

#include "models/ratings/trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "models/bmf/model.h"

namespace kith::bmf {
namespace {

constexpr uint64_t kShard = 4096;  // ratings (and rows) that one thread does at a time, about

// The mean squares of [q, 1] over all rows.
std::vector<double> mean_squares(const Matrix& rows, size_t dim) {
  std::vector<double> out(dim + 1, 0.0);
  for (size_t r = 0; r < rows.rows(); ++r) {
    for (size_t k = 0; k < dim; ++k) out[k] += double{rows.row(r)[k]} * rows.row(r)[k];
  }
  for (double& x : out) x /= static_cast<double>(std::max<size_t>(1, rows.rows()));
  out.back() = 1;
  return out;
}

std::span<const float> said_of(const Matrix& says, size_t row) {
  return says.rows() > 0 ? says.row(row) : std::span<const float>();
}

Drawn copy_of(const Drawn& drawn) { return {drawn.effects.copy(), drawn.betas}; }

std::vector<uint64_t> counts_of(const Sparse& a) {
  std::vector<uint64_t> out(a.rows());
  for (uint32_t r = 0; r < a.rows(); ++r) out[r] = a.row(r).size();
  return out;
}

}  // namespace

class BmfTrainer final : public RatingsTrainer {
 public:
  BmfTrainer(Bmf& model, const Ratings& ratings, Job& job)
      : RatingsTrainer(model, ratings, job), m_(model) {
    take(model.state().block >= turn() ? merged(ratings.train(), ratings.held_out())
                                       : ratings.train());
    for (const Axis axis : {Axis::kUser, Axis::kItem}) take_drawn(axis);
    for (int t = 0; t < job.threads(); ++t) scratch_.emplace_back(m_.rank());
  }

  uint64_t blocks() const override { return 1; }

  // One sweep, or, if it is cancelled, none.
  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    const uint64_t epoch = blocks.epoch;
    if (epoch == turn()) {
      take(merged(ratings_.train(), ratings_.held_out()));
      m_.kept_ = 0;
      m_.hyper_.clear();
    }
    Matrix user = m_.now_user_.copy(), item = m_.now_item_.copy();
    Drawn user_drawn = copy_of(m_.user_drawn_), item_drawn = copy_of(m_.item_drawn_);
    const double noise = m_.noise_;
    Rng rng(job_.seed ^ 0x6879706572, epoch);
    Hyper users, items;
    double errors = 0;
    try {
      users = draw_prior(Axis::kUser, epoch, rng);
      sweep(Axis::kUser, epoch, users);
      items = draw_prior(Axis::kItem, epoch, rng);
      errors = sweep(Axis::kItem, epoch, items);
      const auto n = static_cast<double>(user_.ratings.size());
      m_.noise_ = gamma(rng, (n + 1) / 2, (errors + 1) / 2);
      if (!std::isfinite(m_.noise_)) {
        throw fault(ErrorKind::kDiverged, "the noise is not finite in epoch {}", epoch + 1);
      }
      if (due(epoch)) take_means(users);
    } catch (...) {
      m_.now_user_ = std::move(user);
      m_.now_item_ = std::move(item);
      m_.user_drawn_ = std::move(user_drawn);
      m_.item_drawn_ = std::move(item_drawn);
      m_.noise_ = noise;
      for (const Axis axis : {Axis::kUser, Axis::kItem}) side(axis).says = Matrix();
      throw;
    }
    if (due(epoch)) {
      m_.keep_sample(without_features(users, user_.says, user_.counts),
                     without_features(items, item_.says, item_.counts));
    } else if (epoch < first(epoch)) {
      follow_current();
    }
    sum.add(errors, user_.ratings.size());
    return {1};
  }

  std::optional<double> held_out_loss() override {
    if (m_.state().block > turn()) return std::nullopt;  // no longer held out
    return RatingsTrainer::held_out_loss();
  }

 private:
  // One axis of the ratings, and what is known of its rows besides.
  struct Known {
    Sparse ratings;
    std::vector<uint64_t> counts;
    std::optional<RowPrior> prior;
    Matrix says;  // what the prior says of each row, as it was drawn last; empty without one
  };
  Known& side(Axis axis) { return axis == Axis::kUser ? user_ : item_; }
  Drawn& drawn(Axis axis) { return axis == Axis::kUser ? m_.user_drawn_ : m_.item_drawn_; }
  Matrix& now(Axis axis) { return axis == Axis::kUser ? m_.now_user_ : m_.now_item_; }

  void take(Sparse a) {
    for (float& v : a.value) v = static_cast<float>((v - m_.f_.mean) / m_.scale_);
    user_.ratings = std::move(a);
    item_.ratings = transposed(user_.ratings);
    user_.counts = counts_of(user_.ratings);
    item_.counts = counts_of(item_.ratings);
    const auto set = [&](Known& to, const Sparse& by_other, const RowFeatures& columns) {
      FeatureRows features(columns, to.ratings, by_other, m_.config_.choices);
      if (features.cols() > 0) to.prior.emplace(std::move(features));
      to.says = Matrix();
    };
    set(user_, item_.ratings, ratings_.user_features());
    set(item_, user_.ratings, ratings_.item_features());
  }

  // Where the chain starts, or goes on.
  void take_drawn(Axis axis) {
    Known& known = side(axis);
    if (!known.prior) return;
    const size_t cols = m_.rank() + 1;
    if (m_.state().block == 0) drawn(axis) = known.prior->start(cols);
    if (known.prior->fits(drawn(axis), cols)) return;
    throw fault(ErrorKind::kInput,
                "the checkpoint lacks what is needed to go on; start over without --resume");
  }

  // Means and precisions of one side, and what its features say, given its rows.
  Hyper draw_prior(Axis axis, uint64_t epoch, Rng& rng) {
    Known& known = side(axis);
    if (known.prior && known.says.rows() == 0) known.says = known.prior->says(drawn(axis), job_);
    Hyper out = draw_hyper(now(axis), known.says, m_.rank(), known.counts, rng);
    if (!known.prior) return out;
    const uint64_t stream = (2 * epoch + (axis == Axis::kItem)) * 0x100000000;
    known.prior->draw(now(axis), out, job_.seed ^ 0x7072696f72, stream, job_, drawn(axis));
    known.says = known.prior->says(drawn(axis), job_);
    return out;
  }

  // The sweep from which on the held-out ratings are learned from as well: after a third of them
  // they have told how good the model is. What is kept is from the sweeps after it.
  uint64_t turn() const {
    const auto sweeps = static_cast<uint64_t>(m_.config_.epochs);
    return m_.config_.refit && ratings_.held_out().size() > 0 ? std::max<uint64_t>(1, sweeps / 3)
                                                              : sweeps;
  }
  // The sweeps of the part that a sweep is in: without or with the held-out ratings.
  struct Part {
    uint64_t begin, end;
  };
  Part part(uint64_t epoch) const {
    const auto sweeps = static_cast<uint64_t>(m_.config_.epochs);
    return epoch < turn() ? Part{0, turn()} : Part{turn(), sweeps};
  }

  // Every row of one side, each from its own random stream. Returns the squared errors left.
  double sweep(Axis axis, uint64_t epoch, const Hyper& hyper) {
    const Sparse& rows = side(axis).ratings;
    const Matrix &says = side(axis).says, &others = now(other(axis));
    Matrix& own = now(axis);
    const size_t n = m_.rank() + 1;
    const uint64_t per =
        std::max<uint64_t>(1, kShard * rows.rows() / (rows.size() + rows.rows() + 1));
    const size_t shards = (rows.rows() + per - 1) / per;
    std::vector<double> errors(shards, 0.0);
    for_each_shard(job_, shards, [&](size_t s, size_t worker) {
      Scratch& scratch = scratch_[worker];
      for (uint64_t r = s * per; r < std::min<uint64_t>(rows.rows(), (s + 1) * per); ++r) {
        const auto row = rows.row(static_cast<uint32_t>(r));
        const auto said = said_of(says, r);
        float* const x = own.view().row(r);
        if (row.size() == 0) {  // nothing is known of it but what such rows are like
          for (size_t k = 0; k < n; ++k) {
            x[k] = static_cast<float>(hyper.mean[k]) + (said.empty() ? 0.0f : said[k]);
          }
          continue;
        }
        const double squares = normal_equations(others.view(), m_.rank(), row, scratch);
        Rng rng(job_.seed, (2 * epoch + (axis == Axis::kItem)) * 0x100000000 + r);
        solve(hyper, said, m_.noise_ * x[n], scratch, &rng, x);
        const double left = squares_left(scratch, squares, {x, n});
        const double nu = m_.config_.noise_prior, count = static_cast<double>(row.size());
        if (nu > 0) {
          x[n] = static_cast<float>(gamma(rng, (nu + count) / 2, (nu + m_.noise_ * left) / 2));
        }
        errors[s] += left * x[n];
      }
    });
    double sum = 0;
    for (const double e : errors) sum += e;
    return sum;
  }

  // What is kept of a user is not the draw but the mean that the items of the sample imply: the
  // same on average, and less noise (Rao and Blackwell). What this leaves open is kept beside it.
  void take_means(const Hyper& hyper) {
    const std::vector<double> squares = mean_squares(m_.now_item_, m_.rank());
    const uint64_t per = 64, rows = user_.ratings.rows();
    Matrix means(rows, m_.rank() + 2);
    for_each_shard(job_, (rows + per - 1) / per, [&](size_t s, size_t worker) {
      for (uint64_t r = s * per; r < std::min(rows, (s + 1) * per); ++r) {
        float* const x = means.view().row(r);
        normal_equations(std::as_const(m_.now_item_).view(), m_.rank(),
                         user_.ratings.row(static_cast<uint32_t>(r)), scratch_[worker]);
        const float weight = m_.now_user_.row(r)[m_.rank() + 1];
        solve(hyper, said_of(user_.says, r), m_.noise_ * weight, scratch_[worker], nullptr, x);
        x[m_.rank() + 1] = static_cast<float>(spread_of(scratch_[worker], squares));
      }
    });
    m_.user_mean_ = std::move(means);
  }

  // The first sweep of a part that may be kept.
  uint64_t first(uint64_t epoch) const {
    const Part p = part(epoch);
    const auto burn_in = static_cast<uint64_t>(m_.config_.burn_in);
    return p.begin + std::min(p.begin > 0 ? burn_in / 3 : burn_in, (p.end - p.begin) / 2);
  }
  // Whether a sample is to be kept after this sweep: `samples` of them, evenly spread, the last one
  // of the part among them.
  bool due(uint64_t epoch) const {
    if (epoch < first(epoch)) return false;
    const uint64_t span = part(epoch).end - first(epoch), i = epoch - first(epoch);
    const uint64_t wanted = std::min<uint64_t>(static_cast<uint64_t>(m_.config_.samples), span);
    return (i + 1) * wanted / span != i * wanted / span;
  }
  // Until samples are kept, the model answers with the current one.
  void follow_current() {
    m_.kept_ = 0;
    m_.hyper_.clear();
    m_.user_mean_ = Matrix(m_.now_user_.rows(), m_.rank() + 2);
    for (size_t u = 0; u < m_.now_user_.rows(); ++u) {
      std::copy_n(m_.now_user_.row(u).begin(), m_.rank() + 1, m_.user_mean_.row(u).begin());
    }
    const Hyper none{std::vector<double>(m_.rank() + 1, 1.0), std::vector<double>(m_.rank() + 1)};
    m_.keep_sample(none, none);
    m_.kept_ = 0;
    m_.hyper_.clear();
  }

  Bmf& m_;
  Known user_, item_;
  std::vector<Scratch> scratch_;
};

std::unique_ptr<Trainer> Bmf::trainer(const Ratings& ratings, Job& job) {
  return std::make_unique<BmfTrainer>(*this, ratings, job);
}

}  // namespace kith::bmf
