// SPDX-License-Identifier: Apache-2.0
// The order of the steps. Users and items are cut into groups at random, ratings into the blocks of
// users x items; a round is a diagonal of blocks, no two of which share a row, so threads never
// meet, and the result does not depend on how many there are.

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "models/mf/kernel.h"
#include "models/mf/model.h"
#include "models/ratings_run.h"
#include "train/biases.h"

namespace kith::mf {
namespace {

constexpr size_t kCache = 1 << 20;         // bytes that the rows of a block may take
constexpr uint32_t kGroupsAtLeast = 8;     // so that a round has work for several threads
constexpr uint64_t kSmall = 100000;        // ratings below which fewer groups do
constexpr uint64_t kTiny = 20000;          // ratings that are not worth a second thread
constexpr uint64_t kSegment = 20'000'000;  // ratings between two safe points, about

uint32_t groups_for(uint64_t rows, size_t dim, uint64_t ratings) {
  const uint64_t fit = kCache / 2 / (row_width(dim) * sizeof(float));
  const uint64_t least = ratings < kSmall ? 4 : kGroupsAtLeast;
  return static_cast<uint32_t>(std::clamp<uint64_t>((rows + fit - 1) / fit,
                                                    std::min(least, std::max<uint64_t>(1, rows)),
                                                    std::max<uint64_t>(1, rows)));
}

// Which group each row is in: equal sizes, at random.
std::vector<uint32_t> cut(size_t rows, uint32_t groups, uint64_t seed) {
  std::vector<uint32_t> out(rows);
  for (size_t r = 0; r < rows; ++r) out[r] = static_cast<uint32_t>(r % groups);
  Rng rng(seed, 0x6d66);
  for (size_t r = rows; r > 1; --r) std::swap(out[r - 1], out[rng.below(static_cast<uint32_t>(r))]);
  return out;
}

std::vector<uint32_t> shuffled(uint32_t n, uint64_t seed, uint64_t stream) {
  std::vector<uint32_t> out(n);
  for (uint32_t i = 0; i < n; ++i) out[i] = i;
  Rng rng(seed, stream);
  for (uint32_t i = n; i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

// The ratings block by block, each block in random order.
class Grid {
 public:
  Grid(const Sparse& ratings, size_t dim, uint64_t seed, const std::function<float(float)>& value)
      : users_(groups_for(ratings.rows(), dim, ratings.size())),
        items_(groups_for(ratings.columns, dim, ratings.size())) {
    const auto user_group = cut(ratings.rows(), users_, seed);
    const auto item_group = cut(ratings.columns, items_, seed + 1);
    members_.resize(items_);
    for (uint32_t i = 0; i < ratings.columns; ++i) members_[item_group[i]].push_back(i);
    offsets_.assign(size_t{users_} * items_ + 1, 0);
    const auto block_of = [&](uint32_t u, uint32_t i) {
      return size_t{user_group[u]} * items_ + item_group[i];
    };
    for (uint32_t u = 0; u < ratings.rows(); ++u) {
      for (const uint32_t i : ratings.row(u).columns) ++offsets_[block_of(u, i) + 1];
    }
    for (size_t b = 1; b < offsets_.size(); ++b) offsets_[b] += offsets_[b - 1];
    ratings_.resize(ratings.size());
    std::vector<uint64_t> next(offsets_.begin(), offsets_.end() - 1);
    for (uint32_t u = 0; u < ratings.rows(); ++u) {
      const Sparse::Row row = ratings.row(u);
      for (size_t k = 0; k < row.size(); ++k) {
        ratings_[next[block_of(u, row.columns[k])]++] = {u, row.columns[k], value(row.values[k])};
      }
    }
    for (size_t b = 0; b + 1 < offsets_.size(); ++b) {
      Rng rng(seed, 0x10000 + b);
      for (uint64_t k = offsets_[b + 1]; k > offsets_[b] + 1; --k) {
        const auto other = offsets_[b] + rng.below(static_cast<uint32_t>(k - offsets_[b]));
        std::swap(ratings_[k - 1], ratings_[other]);
      }
    }
  }

  uint64_t size() const { return ratings_.size(); }
  uint32_t user_groups() const { return users_; }
  uint32_t item_groups() const { return items_; }
  std::span<const Rating> ratings(uint32_t user_group, uint32_t item_group) const {
    const size_t block = size_t{user_group} * items_ + item_group;
    return {ratings_.data() + offsets_[block], ratings_.data() + offsets_[block + 1]};
  }
  std::span<const uint32_t> items_of(uint32_t group) const { return members_[group]; }

 private:
  uint32_t users_, items_;  // groups
  std::vector<uint64_t> offsets_;
  std::vector<Rating> ratings_;
  std::vector<std::vector<uint32_t>> members_;  // items of each group
};

// An epoch: which groups meet in which round. Groups of items go alone, or in pairs where items are
// compared with each other (ranking): the pairs are others in every epoch, so that in time every
// item is compared with every other.
class Rounds {
 public:
  Rounds(const Grid& grid, bool pairs, uint64_t seed, uint64_t epoch)
      : users_(shuffled(grid.user_groups(), seed, 2 * epoch)),
        items_(shuffled(grid.item_groups(), seed, 2 * epoch + 1)),
        together_(pairs ? 2 : 1) {}
  static uint32_t count(const Grid& grid, bool pairs) {
    return std::max(grid.user_groups(), item_sets(grid.item_groups(), pairs ? 2 : 1));
  }
  uint32_t width() const { return std::min(static_cast<uint32_t>(users_.size()), sets()); }
  // The groups of the k-th part of a round; no two parts of one share any.
  uint32_t user_group(uint64_t round, uint32_t k) const {
    return users_[tall() ? (k + round) % users_.size() : k];
  }
  std::span<const uint32_t> item_groups(uint64_t round, uint32_t k) const {
    const size_t set = tall() ? k : (k + round) % sets();
    const size_t first = set * together_;
    return std::span(items_).subspan(first, std::min<size_t>(together_, items_.size() - first));
  }

 private:
  static uint32_t item_sets(uint32_t groups, uint32_t together) {
    return (groups + together - 1) / together;
  }
  uint32_t sets() const { return item_sets(static_cast<uint32_t>(items_.size()), together_); }
  bool tall() const { return users_.size() >= sets(); }
  std::vector<uint32_t> users_, items_;
  uint32_t together_;
};

}  // namespace

class Trainer final : public RatingsRun {
 public:
  Trainer(Mf& model, const Ratings& ratings, Grid grid, Job& job)
      : RatingsRun(model, ratings,
                   {Rounds::count(grid, model.loss() == Loss::kBpr), model.config_.epochs,
                    model.lr(), model.early_stop(), !model.implicit_},
                   job),
        m_(model),
        grid_(std::move(grid)) {}

  static Grid grid_of(const Mf& model, const Ratings& ratings, uint64_t seed) {
    return {ratings.train(), model.dim(), seed, [&](float v) { return model.value_of(v); }};
  }

 private:
  Sum train(uint64_t epoch, uint64_t first, uint64_t count) override {
    const Rounds rounds(grid_, ranks(), job_.seed, epoch);
    const Config& c = m_.config_;
    double total = 0;
    uint64_t steps = 0;
    for (uint64_t r = first; r < first + count; ++r) {
      const Rates rates{static_cast<float>(rate(epoch, r)), static_cast<float>(m_.penalty()),
                        static_cast<float>(c.bias_penalty), c.biases, c.adapt};
      std::vector<double> sums(rounds.width(), 0.0);
      std::vector<uint64_t> sizes(rounds.width(), 0);
      const Job& crew = grid_.size() < kTiny ? alone_ : job_;
      crew.for_each_shard(rounds.width(), [&](size_t part) {
        const auto k = static_cast<uint32_t>(part);
        const uint32_t users = rounds.user_group(r, k);
        const auto groups = rounds.item_groups(r, k);
        std::vector<uint32_t> candidates;
        for (size_t g = 0; ranks() && g < groups.size(); ++g) {
          std::ranges::copy(grid_.items_of(groups[g]), std::back_inserter(candidates));
        }
        for (const uint32_t items : groups) {
          const auto ratings = grid_.ratings(users, items);
          Rng rng(job_.seed, (epoch << 32) + uint64_t{users} * grid_.item_groups() + items);
          sums[k] += ranks() ? train_pairs(rates, m_.dim(), ratings, candidates, *m_.seen_, rng,
                                           m_.user_.view(), m_.item_.view())
                             : train_block(m_.loss(), rates, m_.dim(), ratings, m_.user_.view(),
                                           m_.item_.view());
          sizes[k] += ratings.size();
        }
      });
      for (uint32_t k = 0; k < rounds.width(); ++k) {
        total += sums[k];
        steps += sizes[k];
      }
    }
    return {total, steps};
  }

  bool ranks() const { return m_.loss() == Loss::kBpr; }

  uint64_t segment_blocks() const override {
    const uint64_t per_round = std::max<uint64_t>(1, grid_.size() / Rounds::count(grid_, ranks()));
    return std::max<uint64_t>(1, kSegment / per_round);
  }

  Mf& m_;
  const Grid grid_;
  Job alone_;  // one thread
};

bool Mf::run(const Ratings& ratings, Job& job) {
  return Trainer(*this, ratings, Trainer::grid_of(*this, ratings, job.seed), job).run();
}

}  // namespace kith::mf
