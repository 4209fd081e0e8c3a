// SPDX-License-Identifier: Apache-2.0
// How Feat2Vec learns: the rows of the table in a new order each epoch, cut into blocks, a safe
// point after each.

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "models/feat2vec/choices.h"
#include "models/feat2vec/model.h"
#include "models/feat2vec/problem.h"
#include "train/overlay.h"
#include "train/shuffle.h"

namespace kith::feat2vec {
namespace {

constexpr uint64_t kBlock = 1024;  // rows that one thread does at a time
constexpr uint64_t kBlocksAtLeast = 64;
// Private copies (deterministic mode) see nothing of each other's work until a round ends, and a
// row that many blocks move overshoots when the changes are added up: so blocks are small.
constexpr uint64_t kSmallBlock = 32;
constexpr uint64_t kSegmentRows = 200000;      // between two reports, about
constexpr uint64_t kHeldOutSeed = 0x68656c64;  // the same noise at every scoring, for every seed

uint64_t block_size(uint64_t rows, bool in_rounds) {
  if (in_rounds) return kSmallBlock;
  return std::clamp<uint64_t>(rows / kBlocksAtLeast, 1, kBlock);
}

}  // namespace

class RowTrainer final : public Trainer {
 public:
  RowTrainer(Feat2Vec& model, const Table& table, Job& job)
      : m_(model),
        table_(table),
        job_(job),
        problem_(make_problem(table, model.used_)),
        in_rounds_(job.deterministic && adds_up(problem_.optimiser)),
        all_(table.rows() + (model.state_.refit ? table.held_out() : 0)),
        block_(block_size(all_, in_rounds_)),
        blocks_((all_ + block_ - 1) / block_) {
    m_.scale_target(table, problem_);
    if (*m_.used_.choices) take_choices();
    const size_t workers = in_rounds_ ? Rounds::kBlocks : at_once();
    for (size_t i = 0; i < workers; ++i) {
      scratch_.emplace_back(problem_);
      rows_.emplace_back();
      if (in_rounds_) dense_.emplace_back(m_.dense_.size());
    }
    if (in_rounds_) rounds_.emplace(1, m_.theta_.rows(), m_.theta_.stride());
  }

  uint64_t blocks() const override { return blocks_; }

  uint64_t segment() const override {
    return Rounds::segment(kSegmentRows / block_, blocks_, job_);
  }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    if (choices_) ask_company(blocks.epoch);
    problem_.l2 = static_cast<float>(*m_.used_.l2 * noise_left(blocks.epoch));
    const Shuffle order(all_, job_.seed * 0x9e3779b97f4a7c15 + blocks.epoch);
    return {in_rounds_ ? learn_in_rounds(order, blocks, rate, sum)
                       : learn_lock_free(order, blocks, rate, sum)};
  }

  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    const uint64_t epochs = state.block / blocks_, blocks = state.block % blocks_;
    // An epoch of the second run counts as many rows as one of the first.
    const uint64_t rows = table_.rows();
    return {epochs * rows + std::min(rows, blocks * block_ * rows / all_),
            rows * static_cast<uint64_t>(*m_.used_.epochs)};
  }

  std::optional<double> held_out_loss() override {
    if (table_.held_out() == 0 || m_.state_.refit) return std::nullopt;
    Example x;
    x.keep.resize(problem_.groups);
    Tally tally;
    for (uint64_t r = 0; r < table_.held_out(); ++r) {
      if (r % block_ == 0) job_.context().check();
      Rng rng(kHeldOutSeed, r);
      if (!draw(problem_, table_.held_out_row(r).data(), table_.rows() + r, rng, x)) continue;
      tally.loss += train_example(problem_, x, 0, m_.theta_.view(), m_.dense_view(), scratch_[0]);
      ++tally.steps;
    }
    if (tally.steps == 0) return std::nullopt;
    return tally.loss / static_cast<double>(tally.steps);
  }

 private:
  // The penalty of a target that is a number is in units of the noise: the square of what is left
  // before the epoch, of a target whose variance is 1, which is twice the loss. What is held out
  // tells it best; in the second run, what was held out of the first.
  double noise_left(uint64_t epoch) const {
    if (problem_.target == kNoRow || is_of_classes(problem_.head) || epoch == 0) return 1;
    const std::vector<double>& held_out = m_.state_.held_out;
    const double loss = held_out.empty()          ? m_.state_.loss
                        : epoch < held_out.size() ? held_out[epoch]
                                                  : held_out.back();
    return std::min(1.0, 2 * loss);
  }

  void take_choices() {
    const std::vector<uint32_t> columns = columns_of_choices(table_, m_.used_);
    if (columns.empty()) {
      throw fault(ErrorKind::kInput,
                  "--choices wants two columns of categories with {} values or more besides the "
                  "target; leave it out",
                  kValuesOfChoices);
    }
    choices_.emplace(table_, columns, all_);
    if (m_.fitted_ > 0 && m_.effects_.rows() != choices_->features()) {
      throw fault(ErrorKind::kInput,
                  "the checkpoint is of other values than the table has; resume with the same");
    }
  }

  // Once an epoch, before it: where it draws vectors to.
  void ask_company(uint64_t epoch) {
    if (m_.fitted_ != epoch + 1) {
      choices_->fit(m_.theta_, m_.dim() + m_.biases(), job_.context(), m_.effects_);
      m_.fitted_ = epoch + 1;
    } else if (problem_.means.rows() > 0) {
      return;
    }
    problem_.means = choices_->means(m_.effects_, m_.theta_.rows(), problem_.width, job_.context());
  }

  // Block `b` of an epoch, `number` over all of them.
  Work work(const Shuffle& order, uint64_t b, uint64_t number, const Rate& rate,
            std::vector<uint64_t>& rows) const {
    rows.clear();
    for (uint64_t i = b * block_; i < std::min(all_, (b + 1) * block_); ++i) {
      rows.push_back(order[i]);
    }
    return {rows, static_cast<float>(rate.at(number)), Rng(job_.seed, number)};
  }

  void count(std::span<const Tally> done, LossSum& sum) {
    for (const Tally& t : done) {
      sum.add(t.loss, t.steps);
      m_.steps_ += t.steps;
      m_.pairs_ += t.pairs;
    }
  }

  // One thread is deterministic, too.
  size_t at_once() const { return job_.deterministic ? 1 : static_cast<size_t>(job_.threads()); }

  uint64_t learn_lock_free(const Shuffle& order, const Blocks& blocks, const Rate& rate,
                           LossSum& sum) {
    std::vector<Tally> tallies(blocks.count);
    const auto one = [&](size_t i, size_t worker) {
      const uint64_t b = blocks.first + i;
      Work block = work(order, b, blocks.epoch * blocks_ + b, rate, rows_[worker]);
      tallies[i] =
          train_block(problem_, block, m_.theta_.view(), m_.dense_view(), scratch_[worker]);
    };
    const size_t done = run_shards(job_, blocks.count, one, at_once());
    count(std::span(tallies).first(done), sum);
    return done;
  }

  uint64_t learn_in_rounds(const Shuffle& order, const Blocks& blocks, const Rate& rate,
                           LossSum& sum) {
    const auto apart = problem_.apart ? std::optional(problem_.dim) : std::nullopt;
    const RowTable table[]{{m_.theta_.view(), nullptr, problem_.optimiser, apart}};
    const Dense shared = m_.dense_view();
    uint64_t done = 0;
    while (done < blocks.count) {
      const size_t size = std::min<uint64_t>(Rounds::kBlocks, blocks.count - done);
      std::vector<Tally> tallies(size);
      const bool went =
          rounds_->run(size, table, job_, false, [&](size_t i, std::span<RowOverlay> copy) {
            dense_[i] = m_.dense_;
            const uint64_t b = blocks.first + done + i;
            Work block = work(order, b, blocks.epoch * blocks_ + b, rate, rows_[i]);
            tallies[i] = train_block(problem_, block, copy[0],
                                     {dense_[i].data(), shared.groups, shared.units}, scratch_[i]);
          });
      if (!went) break;
      combine_dense(std::span(dense_).first(size));
      count(tallies, sum);
      done += size;
    }
    return done;
  }

  // As Rounds combine rows: by the squares of all blocks.
  void combine_dense(std::span<const std::vector<float>> blocks) {
    const std::vector<float> before = m_.dense_;
    const size_t n = m_.dense_view().size();  // numbers; behind them their squares
    const size_t g = m_.dense_view().groups;
    const auto squares = [&](const std::vector<float>& of, size_t k) {  // a pair has two places
      return of[n + k] + (k < g * g ? of[n + k % g * g + k / g] : 0);
    };
    for (size_t k = n; k < before.size(); ++k) {
      for (const std::vector<float>& b : blocks) m_.dense_[k] += b[k] - before[k];
    }
    for (size_t k = 0; k < n; ++k) {
      const float h = squares(m_.dense_, k);
      if (h == 0) continue;
      for (const std::vector<float>& b : blocks) {
        m_.dense_[k] += std::sqrt(squares(b, k) / h) * (b[k] - before[k]);
      }
    }
  }

  Feat2Vec& m_;
  const Table& table_;
  Job& job_;
  Problem problem_;
  const bool in_rounds_;           // else block by block: by one thread, or lock-free
  const uint64_t all_;             // rows of a run: in the second the held-out ones follow
  const uint64_t block_, blocks_;  // rows in a block; blocks in an epoch
  std::optional<Choices> choices_;
  std::vector<Scratch> scratch_;  // one per thread, or per block of a round
  std::vector<std::vector<uint64_t>> rows_;
  std::vector<std::vector<float>> dense_;
  std::optional<Rounds> rounds_;
};

class RowCourse final : public ModelCourse {
 public:
  RowCourse(Feat2Vec& model, const Table& table, Job& job)
      : ModelCourse(model), m_(model), table_(table), job_(job) {}
  RunPlan plan() const override {
    return {.epochs = *m_.used_.epochs, .lr = *m_.used_.lr, .early_stop = *m_.used_.early_stop};
  }
  // What an earlier run learned would have to be kept to start from it again.
  bool refits() const override {
    return !m_.used_.target.empty() && *m_.used_.early_stop > 0 && table_.held_out() > 0 &&
           !m_.continued_ && !m_.trial_;
  }
  void take_everything() override { forget_best(); }
  void start(Start start) override {
    if (start == Start::kFirst) {
      m_.grow(table_, job_.seed);
      return;
    }
    m_.calibrate(table_, job_);
    m_.choose_settings(table_, job_);
    m_.initialise(job_.seed);
  }
  std::unique_ptr<Trainer> trainer() override {
    return std::make_unique<RowTrainer>(m_, table_, job_);
  }
  void restart() override {
    if (m_.continued_) {
      throw fault(ErrorKind::kDiverged,
                  "training diverged, and starting over would lose what the model knew before; try "
                  "a smaller --lr");
    }
    m_.steps_ = m_.pairs_ = 0;
    m_.initialise(job_.seed);
  }
  void finish() override {
    ModelCourse::finish();
    if (m_.trial_) return;
    if (!m_.state_.refit) m_.calibrate(table_, job_);
    m_.learn_maps(table_, job_);
  }

 private:
  Feat2Vec& m_;
  const Table& table_;
  Job& job_;
};

bool Feat2Vec::learn(const Table& table, Job& job) {
  if (state_.started && encoding_.rows() != table.encoding().rows()) {
    throw fault(ErrorKind::kInput,
                "the table has {} features, the checkpoint {}; resume with the same table and "
                "settings",
                table.encoding().rows(), encoding_.rows());
  }
  if (state_.started) check_goes_on(table);
  RowCourse course(*this, table, job);
  return kith::train(course, state_, job);
}

uint64_t Feat2Vec::memory(const Table& table, const Job& job) const {
  const Config used = resolved(config_, table.encoding(), table.rows());
  const uint64_t width = padded(static_cast<size_t>(*used.dim) + (*used.biases ? 1 : 0));
  const uint64_t stride = width + state_width(*used.optimiser, width);
  const uint64_t rows = table.encoding().rows(), n = table.groups();
  const bool keeps_best = *used.early_stop > 0 && table.held_out() > 0;
  // The rows; then the best ones, or those of another model and its best, or at the end the means
  // that maps are learned from.
  const uint64_t copies = !keeps_best ? 0 : loss_is_open(config_, table.encoding()) ? 2 : 1;
  uint64_t bytes = rows * stride * sizeof(float) +
                   std::max(copies * rows * stride * sizeof(float), rows * width * 4);
  uint64_t entities = 0;
  for (size_t g = 0; g < n; ++g) entities += table.entities(g).size;
  bytes += entities * 12;  // noise
  uint64_t fit = 0;
  for (const ValueSpace& s : table.encoding().spaces) {
    bytes += s.names.bytes().size() + 24 * s.names.size();
    if (s.names.size() > 0) bytes += width * width * sizeof(float);  // its map
    fit = std::max<uint64_t>(fit, std::min<uint64_t>(s.names.size(), kMapValues));
  }
  // What a map is fitted to, and two systems with as many rows as it has examples or inputs.
  bytes += (2 * fit * width + 2 * std::min(fit, width) * std::min(fit, width)) * sizeof(double);
  const bool in_rounds = job.deterministic && adds_up(*used.optimiser);
  if (*used.choices || (loss_is_open(config_, table.encoding()) && config_.choices != false)) {
    bytes += Choices::memory(table, config_, width);
  }
  if (!used.target.empty()) {  // all its values: in the buffers of each worker, and to calibrate
    const Group& group = table.encoding().groups[table.encoding().group(used.target)];
    const uint64_t values = table.encoding().spaces[group.space].names.size();
    const uint64_t workers = in_rounds ? Rounds::kBlocks : static_cast<uint64_t>(job.threads());
    if (scores_all(used, table.encoding())) bytes += workers * values * (width + 2) * sizeof(float);
    bytes += std::min(table.held_out() * values, kMostScores) * sizeof(float) +
             values * width * sizeof(float);
  }
  bytes += (in_rounds ? 2 + Rounds::kBlocks : 2) * 2 * n * n * sizeof(float);  // pairs
  if (in_rounds) {
    const uint64_t touched = kSmallBlock * static_cast<uint64_t>(noise_values(used) + 16);
    bytes += Rounds::memory_needed(1, rows, stride, touched);
  }
  return bytes + kMemoryOfAll;
}

}  // namespace kith::feat2vec
