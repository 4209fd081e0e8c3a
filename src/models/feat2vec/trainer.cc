// SPDX-License-Identifier: Apache-2.0
// How Feat2Vec learns: the rows of the table in a new order each epoch, cut into blocks, blocks in
// segments, a safe point after each segment.

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/feat2vec/model.h"
#include "models/feat2vec/problem.h"
#include "train/shuffle.h"

namespace kith::feat2vec {
namespace {

constexpr uint64_t kBlock = 1024;  // rows that one thread does at a time
constexpr uint64_t kBlocksAtLeast = 64;
// Private copies (deterministic mode) see nothing of each other's work until a round ends, and a
// row that many blocks move overshoots when the changes are added up: so blocks are small.
constexpr uint64_t kSmallBlock = 32;
constexpr size_t kRoundBlocks = 8;
constexpr uint64_t kSegmentRows = 200000;      // between two safe points, about
constexpr uint64_t kHeldOutSeed = 0x68656c64;  // the same noise at every scoring, for every seed

uint64_t block_size(const Table& table, bool deterministic) {
  if (deterministic) return kSmallBlock;
  return std::clamp<uint64_t>(table.rows() / kBlocksAtLeast, 1, kBlock);
}

}  // namespace

class Trainer final : public TrainRun {
 public:
  Trainer(Feat2Vec& model, const Table& table, Job& job)
      : TrainRun({(table.rows() + block_size(table, job.deterministic) - 1) /
                      block_size(table, job.deterministic),
                  model.used_.epochs, model.used_.lr, model.used_.early_stop},
                 model.state_, job),
        m_(model),
        table_(table),
        job_(job),
        problem_(make_problem(table, model.used_)),
        block_(block_size(table, job.deterministic)),
        blocks_((table.rows() + block_ - 1) / block_) {
    m_.scale_target(table, problem_);
    const size_t buffers =
        job.deterministic ? kRoundBlocks : static_cast<size_t>(std::max(1, job.threads));
    for (size_t i = 0; i < buffers; ++i) {
      scratch_.emplace_back(problem_);
      rows_.emplace_back();
    }
    if (job.deterministic) {
      for (size_t i = 0; i < kRoundBlocks; ++i) {
        overlays_.emplace_back(m_.theta_.rows(), m_.theta_.stride());
        dense_.emplace_back(m_.dense_.size());
      }
      chains_.emplace(m_.theta_.rows());
    }
  }

 private:
  Sum train(uint64_t epoch, uint64_t first, uint64_t count) override {
    const Shuffle order(table_.rows(), job_.seed * 0x9e3779b97f4a7c15 + epoch);
    const Tally tally = job_.deterministic ? train_rounds(order, epoch, first, count)
                                           : train_lock_free(order, epoch, first, count);
    m_.state_.steps += tally.steps;
    m_.state_.pairs += tally.pairs;
    return {tally.loss, tally.steps};
  }

  std::pair<uint64_t, uint64_t> progress() const override {
    const uint64_t epochs = m_.state_.block / blocks_, blocks = m_.state_.block % blocks_;
    return {epochs * table_.rows() + std::min(table_.rows(), blocks * block_),
            table_.rows() * static_cast<uint64_t>(m_.used_.epochs)};
  }

  uint64_t segment_blocks() const override {
    const uint64_t blocks = std::max<uint64_t>(1, std::min(kSegmentRows / block_, blocks_ / 4));
    if (job_.deterministic) return (blocks + kRoundBlocks - 1) / kRoundBlocks * kRoundBlocks;
    return std::max(blocks, 8 * static_cast<uint64_t>(job_.threads));
  }

  bool finite() const override { return m_.finite(); }

  Work work(const Shuffle& order, uint64_t epoch, uint64_t block, std::vector<uint64_t>& rows) {
    rows.clear();
    for (uint64_t i = block * block_; i < std::min(table_.rows(), (block + 1) * block_); ++i) {
      rows.push_back(order[i]);
    }
    return {rows, static_cast<float>(rate(epoch, block)), Rng(job_.seed, epoch * blocks_ + block)};
  }

  Tally train_lock_free(const Shuffle& order, uint64_t epoch, uint64_t first, uint64_t count) {
    struct alignas(64) Sum {
      Tally tally;
    };
    std::vector<Sum> sums(scratch_.size());
    job_.for_each_shard(count, [&](size_t b, size_t worker) {
      Work block = work(order, epoch, first + b, rows_[worker]);
      sums[worker].tally +=
          train_block(problem_, block, m_.theta_.view(), m_.dense_view(), scratch_[worker]);
    });
    Tally total;
    for (const Sum& s : sums) total += s.tally;
    return total;
  }

  Tally train_rounds(const Shuffle& order, uint64_t epoch, uint64_t first, uint64_t count) {
    Tally total;
    const Dense shared = m_.dense_view();
    for (uint64_t b = 0; b < count; b += kRoundBlocks) {
      const size_t blocks = std::min<uint64_t>(kRoundBlocks, count - b);
      std::vector<Tally> tallies(blocks);
      job_.for_each_shard(blocks, [&](size_t i) {
        overlays_[i].start(m_.theta_.view());
        dense_[i] = m_.dense_;
        Work block = work(order, epoch, first + b + i, rows_[i]);
        tallies[i] = train_block(problem_, block, overlays_[i],
                                 {dense_[i].data(), shared.groups, shared.units}, scratch_[i]);
      });
      add_changes(std::span(overlays_).first(blocks), m_.theta_.view(), *chains_, job_);
      const std::vector<float> before = m_.dense_;
      for (size_t i = 0; i < blocks; ++i) {
        for (size_t k = 0; k < before.size(); ++k) m_.dense_[k] += dense_[i][k] - before[k];
        total += tallies[i];
      }
    }
    return total;
  }

  std::optional<double> held_out_loss() override {
    if (table_.held_out() == 0) return std::nullopt;
    Example x;
    x.keep.resize(problem_.groups);
    Tally tally;
    for (uint64_t r = 0; r < table_.held_out(); ++r) {
      Rng rng(kHeldOutSeed, r);
      if (!draw(problem_, table_.held_out_row(r).data(), table_.rows() + r, rng, x)) continue;
      tally.loss += train_example(problem_, x, 0, m_.theta_.view(), m_.dense_view(), scratch_[0]);
      ++tally.steps;
    }
    if (tally.steps == 0) return std::nullopt;
    return tally.loss / static_cast<double>(tally.steps);
  }

  void keep_best() override {
    m_.best_theta_ = m_.theta_.copy();
    m_.best_dense_ = m_.dense_;
  }
  void take_best() override {
    if (m_.best_theta_.rows() != m_.theta_.rows()) return;
    m_.theta_ = std::move(m_.best_theta_);
    m_.dense_ = std::move(m_.best_dense_);
  }

  void restart() override {
    if (std::ranges::any_of(m_.learned_, [](uint8_t l) { return l != 0; })) {
      throw Error(
          ErrorKind::kDiverged,
          "training diverged and there is no checkpoint to return to; try a smaller --lr or "
          "--checkpoint-every 60");
    }
    m_.state_ = State{};
    m_.initialise(job_.seed);
  }

  Feat2Vec& m_;
  const Table& table_;
  Job& job_;
  Problem problem_;
  const uint64_t block_, blocks_;  // rows in a block; blocks in an epoch
  std::vector<Scratch> scratch_;
  std::vector<std::vector<uint64_t>> rows_;
  std::vector<RowOverlay> overlays_;
  std::vector<std::vector<float>> dense_;
  std::optional<RoundChains> chains_;
};

void Feat2Vec::train(const Table& table, Job& job) {
  if (state_.block == 0 && !state_.finished) {
    grow(table, job.seed);
  } else if (encoding_.rows() != table.encoding().rows()) {
    throw Error(ErrorKind::kInput,
                "the table has {} features, the checkpoint {}; resume with the same table and "
                "settings",
                table.encoding().rows(), encoding_.rows());
  }
  if (!Trainer(*this, table, job).run()) return;
  learn_maps(table);
  state_.finished = true;
}

uint64_t Feat2Vec::memory_needed(const Table& table, const Job& job) const {
  const Config used = resolved(config_, table.encoding(), table.rows());
  const uint64_t width = padded(static_cast<size_t>(used.dim) + used.biases);
  const uint64_t row = (width + state_width(used.optimiser, width)) * sizeof(float);
  const uint64_t rows = table.encoding().rows();
  uint64_t bytes = rows * row * (used.early_stop > 0 ? 2 : 1);
  uint64_t entities = 0;
  for (size_t g = 0; g < table.groups(); ++g) entities += table.entities(g).size;
  bytes += entities * 12 + rows * width * 4;  // noise; the maps' means
  if (job.deterministic) {
    const uint64_t touched = kSmallBlock * static_cast<uint64_t>(used.negatives + 16);
    bytes += kRoundBlocks * (rows * 4 + std::min(rows, touched) * row) + rows * 8;
  }
  return bytes + (uint64_t{8} << 20);
}

}  // namespace kith::feat2vec
