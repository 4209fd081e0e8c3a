// SPDX-License-Identifier: Apache-2.0
// A block is a round of the grid: many threads, no two of which touch the same row.

#include "models/ratings/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "models/mf/kernel.h"
#include "models/mf/model.h"
#include "train/grid.h"

namespace kith::mf {
namespace {

constexpr uint64_t kTiny = 20000;          // ratings that are not worth a second thread
constexpr uint64_t kSegment = 20'000'000;  // ratings between two reports, about

}  // namespace

class MfTrainer final : public RatingsTrainer {
 public:
  MfTrainer(Mf& model, const Ratings& ratings, Job& job)
      : RatingsTrainer(model, ratings, job),
        m_(model),
        grid_(ratings.train(),
              Grid::groups_for(ratings.train(), row_width(model.f_.dim) * sizeof(float)), job.seed,
              [&](float v) { return model.value_of(v); }) {
    const KnownWhat what = m_.what(m_.f_.implicit);
    if (what.any(ratings_)) by_item_ = transposed(ratings_.train());
    for (Side& side : sides_) take_side(side, what);
  }

  uint64_t blocks() const override { return GridRounds::count(grid_, ranks()); }

  uint64_t segment() const override {
    const uint64_t per_round = std::max<uint64_t>(1, grid_.size() / blocks());
    return std::max<uint64_t>(1, kSegment / per_round);
  }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    const GridRounds rounds(grid_, ranks(), job_.seed, blocks.epoch);
    if (state().block > 0) show_means();
    if (blocks.first == 0) learn_means(blocks.epoch == 0);
    uint64_t done = 0;
    do {  // one at least: what rows are drawn to has changed already
      const uint64_t round = blocks.first + done;
      const double lr = rate.at(blocks.epoch * this->blocks() + round);
      std::vector<double> losses(rounds.width(), 0.0);
      std::vector<uint64_t> sizes(rounds.width(), 0);
      finish_shards(
          job_, rounds.width(),
          [&](size_t part) {
            const auto k = static_cast<uint32_t>(part);
            losses[k] = learn_part(rounds, blocks.epoch, round, k, lr, sizes[k]);
          },
          grid_.size() < kTiny ? 1 : rounds.width());
      for (uint32_t k = 0; k < rounds.width(); ++k) sum.add(losses[k], sizes[k]);
    } while (++done < blocks.count && !job_.cancelled());
    return {done};
  }

 private:
  // One axis of the ratings, and what is known of its rows besides.
  struct Side {
    Axis axis;
    std::vector<uint64_t> counts{};  // of ratings
    std::optional<MeansFit> fit{};   // if there is anything to learn from
    Matrix means{};                  // what vectors are drawn to, in their unit; once it is wanted
  };

  bool ranks() const { return m_.loss() == Loss::kBpr; }
  bool drawn() const { return sides_[0].fit || sides_[1].fit; }

  void take_side(Side& side, const KnownWhat& what) {
    const Axis axis = side.axis;
    Matrix& rows = m_.f_.rows(axis);
    side.counts.assign(rows.rows(), 0);
    if (axis == Axis::kUser) {
      for (uint32_t u = 0; u < ratings_.train().rows(); ++u) {
        side.counts[u] = ratings_.train().row(u).size();
      }
    } else {
      for (const uint32_t i : ratings_.train().column) ++side.counts[i];
    }
    std::vector<float> weights(rows.rows());
    for (size_t r = 0; r < rows.rows(); ++r) {
      const uint64_t n = side.counts[r];
      float* const extras = rows.view().row(r) + padded(m_.f_.dim);
      extras[kHold] = static_cast<float>(m_.hold(n));
      extras[kBiasHold] = static_cast<float>(m_.bias_hold(axis, n));
      weights[r] = extras[kHold] * static_cast<float>(n);
    }
    if (!what.any(ratings_)) return;
    side.fit.emplace(fit_of(axis, ratings_, by_item_, what, std::move(weights)));
    begin(*side.fit, state().block == 0, m_.f_.dim + 2, m_.known_.of(axis));
  }

  RowMeans& known(const Side& side) { return m_.known_.of(side.axis); }

  // What rows are drawn to, learned anew at the start of an epoch. All or nothing.
  void learn_means(bool first) {
    if (!drawn()) return;
    std::array<Matrix, 2> before, now;
    for (size_t s = 0; s < sides_.size(); ++s) {
      before[s] = known(sides_[s]).effects.copy();
      make_room(sides_[s]);
    }
    try {
      for (size_t s = 0; s < sides_.size(); ++s) {
        fit(sides_[s]);
        now[s] = says(sides_[s]);
      }
    } catch (...) {  // cancelled on the way: a run that goes on learns them from where they were
      for (size_t s = 0; s < sides_.size(); ++s) known(sides_[s]).effects = std::move(before[s]);
      throw;
    }
    for (size_t s = 0; s < sides_.size(); ++s) {
      put_means(sides_[s], now[s], first ? Put::kFirst : Put::kMoves);
    }
  }
  // Of a run that goes on, as they were.
  void show_means() {
    if (!drawn() || sides_[0].means.rows() > 0) return;
    for (Side& side : sides_) {
      make_room(side);
      put_means(side, says(side), Put::kShows);
    }
  }
  void make_room(Side& side) {
    if (side.means.rows() == 0) side.means = Matrix(m_.f_.rows(side.axis).rows(), m_.f_.dim);
  }

  void fit(const Side& side) {
    if (side.fit->features() == 0) return;
    const Matrix& rows = m_.f_.rows(side.axis);
    Matrix wanted(rows.rows(), m_.f_.dim + 2);
    for (size_t r = 0; r < rows.rows(); ++r) m_.put_row(side.axis, rows.row(r), wanted.row(r));
    side.fit->fit(wanted, m_.f_.one(side.axis), m_.config_.column_penalty, job_.context(),
                  known(side));
  }
  // In the unit of the ratings; nothing if nothing is known.
  Matrix says(const Side& side) {
    if (side.fit->features() == 0) return {};
    return side.fit->means(known(side), job_.context());
  }

  // When what a row is drawn to moves, the row moves with it: what it has learned is its way from
  // there. The first time there is no such way. A row without ratings is what it is drawn to.
  enum class Put { kFirst, kMoves, kShows };
  void put_means(Side& side, const Matrix& now, Put put) {
    Matrix& rows = m_.f_.rows(side.axis);
    const size_t dim = m_.f_.dim, own = m_.f_.own(side.axis);
    const auto root = static_cast<float>(std::sqrt(m_.scale_));
    const auto whole = static_cast<float>(m_.scale_);
    for (size_t r = 0; r < now.rows(); ++r) {
      float* const row = rows.view().row(r);
      float* const extras = row + padded(dim);
      const std::span<float> mean = side.means.row(r);
      const std::span<const float> to = now.row(r);
      const float bias = to[own] / whole;
      const bool unrated = side.counts[r] == 0;
      for (size_t k = 0; k < dim; ++k) {
        const float m = to[k] / root;
        if (put == Put::kMoves) row[k] += m - mean[k];
        if (put != Put::kShows && unrated) row[k] = m;
        mean[k] = m;
      }
      if (put == Put::kMoves) extras[kBias] += bias - extras[kDrawnBias];
      if (put != Put::kShows && unrated) extras[kBias] = bias;
      extras[kDrawnBias] = bias;
      if (put != Put::kShows) measure_row(row, dim);
    }
  }

  double learn_part(const GridRounds& rounds, uint64_t epoch, uint64_t round, uint32_t k, double lr,
                    uint64_t& size) {
    const Config& c = m_.config_;
    const Rates rates{static_cast<float>(lr), c.biases, c.adapt};
    Moving rows{m_.f_.user.view(), m_.f_.item.view()};
    if (drawn()) {
      rows.user_means = std::as_const(sides_[0].means).view();
      rows.item_means = std::as_const(sides_[1].means).view();
    }
    const uint32_t users = rounds.row_group(round, k);
    const auto groups = rounds.column_groups(round, k);
    std::vector<uint32_t> candidates;
    for (size_t g = 0; ranks() && g < groups.size(); ++g) {
      std::ranges::copy(grid_.columns_of(groups[g]), std::back_inserter(candidates));
    }
    double loss = 0;
    for (const uint32_t items : groups) {
      const auto ratings = grid_.entries(users, items);
      Rng rng(job_.seed, (epoch << 32) + uint64_t{users} * grid_.column_groups() + items);
      loss += ranks() ? train_pairs(rates, m_.f_.dim, ratings, candidates, *m_.f_.seen, rng, rows)
                      : train_block(m_.loss(), rates, m_.f_.dim, ratings, rows);
      size += ratings.size();
    }
    return loss;
  }

  std::span<const float> learned_row(Axis axis, uint32_t number,
                                     std::vector<float>& scratch) const override {
    scratch.resize(m_.f_.dim + 2);
    m_.put_row(axis, m_.f_.rows(axis).row(number), scratch);
    return scratch;
  }

  Mf& m_;
  const Grid grid_;
  Sparse by_item_;  // if anything is known besides
  std::array<Side, 2> sides_{Side{Axis::kUser}, Side{Axis::kItem}};
};

std::unique_ptr<Trainer> Mf::trainer(const Ratings& ratings, Job& job) {
  return std::make_unique<MfTrainer>(*this, ratings, job);
}

}  // namespace kith::mf
