// SPDX-License-Identifier: Apache-2.0
// A block is a round of the grid: many threads, no two of which touch the same row.

#include "models/ratings/trainer.h"

#include <algorithm>
#include <iterator>

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
              [&](float v) { return model.value_of(v); }) {}

  uint64_t blocks() const override { return GridRounds::count(grid_, ranks()); }

  uint64_t segment() const override {
    const uint64_t per_round = std::max<uint64_t>(1, grid_.size() / blocks());
    return std::max<uint64_t>(1, kSegment / per_round);
  }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    const GridRounds rounds(grid_, ranks(), job_.seed, blocks.epoch);
    uint64_t done = 0;
    for (; done < blocks.count && !job_.cancelled(); ++done) {
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
    }
    return {done};
  }

 private:
  bool ranks() const { return m_.loss() == Loss::kBpr; }

  double learn_part(const GridRounds& rounds, uint64_t epoch, uint64_t round, uint32_t k, double lr,
                    uint64_t& size) {
    const Config& c = m_.config_;
    const Rates rates{static_cast<float>(lr), static_cast<float>(m_.penalty()),
                      static_cast<float>(c.bias_penalty), c.biases, c.adapt};
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
      loss += ranks() ? train_pairs(rates, m_.f_.dim, ratings, candidates, *m_.f_.seen, rng,
                                    m_.f_.user.view(), m_.f_.item.view())
                      : train_block(m_.loss(), rates, m_.f_.dim, ratings, m_.f_.user.view(),
                                    m_.f_.item.view());
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
};

std::unique_ptr<Trainer> Mf::trainer(const Ratings& ratings, Job& job) {
  return std::make_unique<MfTrainer>(*this, ratings, job);
}

}  // namespace kith::mf
