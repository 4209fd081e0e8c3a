// SPDX-License-Identifier: Apache-2.0
// How GloVe learns. A block is a round of the grid: many threads, no two of which touch the same
// row, so the bits do not depend on how many there are.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "models/glove/kernel.h"
#include "models/glove/model.h"
#include "train/grid.h"

namespace kith::glove {
namespace {

constexpr uint64_t kTiny = 20000;          // cells that are not worth a second thread
constexpr uint64_t kSegment = 20'000'000;  // cells between two reports, about
constexpr uint64_t kShard = 10000;         // held-out cells

}  // namespace

class CellTrainer final : public Trainer {
 public:
  CellTrainer(Glove& model, const Counts& counts, Job& job)
      : m_(model),
        job_(job),
        grid_(counts.cells(),
              Grid::groups_for(counts.cells(),
                               row_width(static_cast<size_t>(m_.config_.dim)) * sizeof(float)),
              job.seed, [](float n) { return std::log(n); }) {
    const Sparse& held_out = counts.held_out();
    for (uint32_t r = 0; r < held_out.rows(); ++r) {
      const Sparse::Row row = held_out.row(r);
      for (size_t k = 0; k < row.size(); ++k) {
        held_out_.push_back({r, row.columns[k], std::log(row.values[k])});
      }
    }
  }

  uint64_t blocks() const override { return GridRounds::count(grid_, false); }

  uint64_t segment() const override {
    const uint64_t per_round = std::max<uint64_t>(1, grid_.size() / blocks());
    return std::max<uint64_t>(1, kSegment / per_round);
  }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    const GridRounds rounds(grid_, false, job_.seed, blocks.epoch);
    uint64_t done = 0;
    for (; done < blocks.count && !job_.cancelled(); ++done) {
      const uint64_t round = blocks.first + done;
      const Steps steps = steps_at(rate.at(blocks.epoch * this->blocks() + round));
      std::vector<double> costs(rounds.width(), 0.0);
      std::vector<uint64_t> sizes(rounds.width(), 0);
      finish_shards(
          job_, rounds.width(),
          [&](size_t part) {
            const auto k = static_cast<uint32_t>(part);
            for (const uint32_t group : rounds.column_groups(round, k)) {
              const auto cells = grid_.entries(rounds.row_group(round, k), group);
              costs[k] += train_cells(steps, cells, m_.input_.view(), m_.output_.view());
              sizes[k] += cells.size();
            }
          },
          grid_.size() < kTiny ? 1 : rounds.width());
      for (uint32_t k = 0; k < rounds.width(); ++k) sum.add(costs[k], sizes[k]);
    }
    return {done};
  }

  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    const auto epochs = static_cast<uint64_t>(m_.config_.epochs);
    const double share = static_cast<double>(state.block) /
                         static_cast<double>(std::max<uint64_t>(1, blocks() * epochs));
    const uint64_t total = grid_.size() * epochs;
    return {std::min(total, static_cast<uint64_t>(share * static_cast<double>(total))), total};
  }

  std::optional<double> held_out_loss() override {
    if (held_out_.empty()) return std::nullopt;
    const Steps steps = steps_at(0);
    std::vector<double> costs((held_out_.size() + kShard - 1) / kShard);
    finish_shards(job_, costs.size(), [&](size_t s) {
      const size_t first = s * kShard;
      const auto cells =
          std::span(held_out_).subspan(first, std::min<size_t>(kShard, held_out_.size() - first));
      costs[s] = cost_of_cells(steps, cells, std::as_const(m_.input_).view(),
                               std::as_const(m_.output_).view());
    });
    double sum = 0;
    for (const double c : costs) sum += c;
    return sum / static_cast<double>(held_out_.size());
  }

 private:
  Steps steps_at(double lr) const {
    const Config& c = m_.config_;
    return {c.optimiser,
            static_cast<float>(lr),
            static_cast<float>(std::log(c.x_max)),
            static_cast<float>(c.alpha),
            static_cast<size_t>(c.dim),
            c.biases ? 1.0f : 0.0f};
  }

  Glove& m_;
  Job& job_;
  const Grid grid_;
  std::vector<Entry> held_out_;
};

std::unique_ptr<Trainer> Glove::trainer(const Counts& counts, Job& job) {
  return std::make_unique<CellTrainer>(*this, counts, job);
}

uint64_t Glove::memory(const Counts& counts, const Job&) const {
  Glove planned;
  planned.config_ = config_;
  planned.rows_ = counts.vocabulary().words.size();
  planned.working_ = true;
  MemorySum sum(config_.early_stop > 0 && counts.held_out().size() > 0);
  planned.visit(sum);
  const uint64_t cells = counts.cells().size() + counts.held_out().size();
  const auto groups =
      Grid::groups_for(counts.cells(), row_width(static_cast<size_t>(config_.dim)) * sizeof(float));
  const uint64_t offsets = 16 * uint64_t{groups.rows} * groups.columns;  // twice while it is made
  return sum.bytes() + cells * sizeof(Entry) + offsets + memory_of_words(counts);
}

}  // namespace kith::glove
