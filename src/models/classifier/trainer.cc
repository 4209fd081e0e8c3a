// SPDX-License-Identifier: Apache-2.0
// How a classifier learns: texts in a new order each epoch, in blocks, a safe point after each.

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "models/classifier/class_weights.h"
#include "models/classifier/kernel.h"
#include "models/classifier/model.h"
#include "train/shuffle.h"

namespace kith::classifier {
namespace {

// A block is what one thread does at a time.
constexpr uint64_t kBlock = 500, kBlocksAtLeast = 200;
// Private copies (deterministic mode): a block sees nothing of its neighbours' work until the round
// ends, so a round is a small part of the texts.
constexpr uint64_t kPrivateBlock = 64, kPrivateBlocksAtLeast = 500;
constexpr uint64_t kLongBlock = 16;          // of a round that is worth a second thread
constexpr uint64_t kSegmentWords = 5000000;  // between two reports, about
constexpr uint64_t kShard = 500;             // held-out texts

bool in_rounds(const Config& config, const Job& job) {
  return job.deterministic && adds_up(config.optimiser);
}

uint64_t block_size(uint64_t texts, bool rounds) {
  return rounds ? std::clamp<uint64_t>(texts / kPrivateBlocksAtLeast, 1, kPrivateBlock)
                : std::clamp<uint64_t>(texts / kBlocksAtLeast, 1, kBlock);
}

Documents joined(const Documents& a, const Documents& b) {
  Documents out = a;
  for (size_t i = 0; i < b.size(); ++i) out.add(b.words_of(i), b.labels_of(i), b.weight(i));
  return out;
}

}  // namespace

class TextTrainer final : public Trainer {
 public:
  TextTrainer(Classifier& model, const Documents& texts, const Documents* held_out, Job& job)
      : m_(model),
        texts_(texts),
        held_out_(held_out),
        job_(job),
        weights_(class_weights(model.config_.class_weights, model.labels_, model.label_counts_,
                               texts.size())),
        problem_{&texts,
                 &model.features_,
                 model.config_.loss,
                 model.outputs(),
                 &model.tree_,
                 weights_,
                 model.config_.optimiser,
                 static_cast<size_t>(model.config_.dim)},
        in_rounds_(in_rounds(model.config_, job)),
        block_(block_size(texts.size(), in_rounds_)),
        blocks_((texts.size() + block_ - 1) / block_) {
    const size_t workers =
        std::max<size_t>(in_rounds_ ? Rounds::kBlocks : 1, static_cast<size_t>(job.threads()));
    for (size_t t = 0; t < workers; ++t) scratch_.emplace_back(problem_);
    if (in_rounds_) {
      rounds_.emplace(2, std::max(m_.input_.rows(), m_.output_.rows()), m_.input_.stride());
    }
  }

  uint64_t blocks() const override { return blocks_; }

  uint64_t segment() const override {
    const uint64_t words = std::max<uint64_t>(1, texts_.words.size() / texts_.size());
    return Rounds::segment(std::max<uint64_t>(1, kSegmentWords / (words * block_)), blocks_, job_);
  }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    const Shuffle order(texts_.size(), mix64(job_.seed) + blocks.epoch);
    const auto numbers = [&](uint64_t block) {
      std::vector<uint64_t> out;
      const uint64_t end = std::min<uint64_t>(texts_.size(), (block + 1) * block_);
      for (uint64_t i = block * block_; i < end; ++i) out.push_back(order[i]);
      return out;
    };
    const auto lr = [&](uint64_t block) {
      return static_cast<float>(rate.at(blocks.epoch * blocks_ + block));
    };
    return {in_rounds_ ? learn_in_rounds(blocks, numbers, lr, sum)
                       : learn_lock_free(blocks, numbers, lr, sum)};
  }

  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    const uint64_t total = texts_.size() * static_cast<uint64_t>(m_.config_.epochs);
    return {std::min(total, state.block * block_), total};
  }

  // The mean loss of a text, in the weights of training.
  std::optional<double> held_out_loss() override {
    if (!held_out_ || held_out_->size() == 0) return std::nullopt;
    Problem problem = problem_;
    problem.documents = held_out_;
    std::vector<Tally> done((held_out_->size() + kShard - 1) / kShard);
    for_each_shard(job_, done.size(), [&](size_t s, size_t worker) {
      std::vector<uint64_t> numbers(std::min<size_t>(kShard, held_out_->size() - s * kShard));
      std::iota(numbers.begin(), numbers.end(), s * kShard);
      done[s] = cost_of_texts(problem, numbers, std::as_const(m_.input_).view(),
                              std::as_const(m_.output_).view(), scratch_[worker]);
    });
    Tally all;
    for (const Tally& t : done) all += t;
    return all.weight > 0 ? std::optional(all.loss / all.weight) : std::nullopt;
  }

 private:
  RowTable table(Matrix& m) const {
    return {m.view(), nullptr, in_rounds_ ? m_.config_.optimiser : Optimiser::kSgd};
  }

  static void count(std::span<const Tally> done, LossSum& sum) {
    for (const Tally& t : done) sum.add(t.loss, t.texts);
  }

  // Plain steps of a deterministic run are one thread's.
  template <class Numbers, class Lr>
  uint64_t learn_lock_free(const Blocks& blocks, const Numbers& numbers, const Lr& lr,
                           LossSum& sum) {
    std::vector<Tally> done(blocks.count);
    const size_t count_done = run_shards(
        job_, blocks.count,
        [&](size_t b, size_t worker) {
          const uint64_t block = blocks.first + b;
          done[b] = train_texts(problem_, numbers(block), lr(block), table(m_.input_),
                                table(m_.output_), scratch_[worker]);
        },
        job_.deterministic ? 1 : blocks.count);
    count(std::span(done).first(count_done), sum);
    return count_done;
  }

  template <class Numbers, class Lr>
  uint64_t learn_in_rounds(const Blocks& blocks, const Numbers& numbers, const Lr& lr,
                           LossSum& sum) {
    const RowTable tables[]{table(m_.input_), table(m_.output_)};
    uint64_t b = 0;
    while (b < blocks.count) {
      const size_t size = std::min<uint64_t>(Rounds::kBlocks, blocks.count - b);
      std::vector<Tally> done(size);
      const bool went = rounds_->run(
          size, tables, job_, block_ < kLongBlock, [&](size_t i, std::span<RowOverlay> copies) {
            const uint64_t block = blocks.first + b + i;
            done[i] =
                train_texts(problem_, numbers(block), lr(block), copies[0], copies[1], scratch_[i]);
          });
      if (!went) break;
      count(done, sum);
      b += size;
    }
    return b;
  }

  Classifier& m_;
  const Documents& texts_;
  const Documents* const held_out_;
  Job& job_;
  const std::vector<float> weights_;
  const Problem problem_;
  const bool in_rounds_;
  const uint64_t block_, blocks_;  // texts in a block; blocks in an epoch
  std::vector<Scratch> scratch_;   // one per thread, or per block of a round
  std::optional<Rounds> rounds_;
};

class TextCourse final : public ModelCourse {
 public:
  TextCourse(Classifier& model, const Labelled& data, Job& job)
      : ModelCourse(model), m_(model), data_(data), job_(job) {}
  RunPlan plan() const override {
    const Config& c = m_.config_;
    const double usual = c.optimiser == Optimiser::kSgd ? 0.5 : 0.8;
    return {.epochs = c.epochs, .lr = c.lr.value_or(usual), .early_stop = c.early_stop};
  }
  bool refits() const override { return m_.refits(data_); }
  void take_everything() override { all_ = joined(data_.train(), data_.held_out()); }
  void start(Start) override {
    forget_best();  // its tables have the rows of the run before
    m_.start(data_, texts(), job_.seed);
  }
  std::unique_ptr<Trainer> trainer() override {
    return std::make_unique<TextTrainer>(m_, texts(), all_ ? nullptr : &data_.held_out(), job_);
  }
  void finish() override {
    ModelCourse::finish();
    m_.finish();
  }

 private:
  const Documents& texts() const { return all_ ? *all_ : data_.train(); }
  Classifier& m_;
  const Labelled& data_;
  Job& job_;
  std::optional<Documents> all_;
};

bool Classifier::learn(const Labelled& data, Job& job) {
  const size_t words = data.vocabulary().words.size(), labels = data.labels().size();
  if (state_.started && (!working_ || words_.size() != words || labels_.size() != labels)) {
    throw fault(ErrorKind::kInput,
                "the texts have {} words and {} labels, the checkpoint {} and {}; resume with the "
                "same texts and settings",
                words, labels, words_.size(), labels_.size());
  }
  if (state_.started) prepare();
  TextCourse course(*this, data, job);
  return kith::train(course, state_, job);
}

uint64_t Classifier::memory_of_run(const Labelled& data, const Job& job, bool again) const {
  const auto dim = static_cast<size_t>(config_.dim);
  Classifier planned;
  planned.config_ = config_;
  planned.rows_ = data.vocabulary().words.size();
  planned.classes_ = data.labels().size();
  planned.runs_ = Features(static_cast<uint32_t>(planned.rows_), config_.word_ngrams,
                           static_cast<uint64_t>(config_.buckets), data.train(),
                           again ? &data.held_out() : nullptr)
                      .runs()
                      .size();
  planned.working_ = true;
  const bool watched = !again && config_.early_stop > 0 && data.held_out().size() > 0;
  MemorySum tables(false), with_best(true);
  planned.visit(tables);
  planned.visit(with_best);
  const uint64_t rows = planned.rows_ + planned.runs_;
  uint64_t training = watched ? with_best.bytes() - tables.bytes() : 0;
  const bool rounds = in_rounds(config_, job);
  const uint64_t workers = rounds ? Rounds::kBlocks : static_cast<uint64_t>(job.threads());
  training += workers * planned.classes_ * 24;
  if (rounds) {
    const uint64_t texts = std::max<uint64_t>(1, data.train().size());
    const uint64_t words = 1 + data.train().words.size() / texts;
    const uint64_t touches =
        words * static_cast<uint64_t>(config_.word_ngrams) * block_size(texts, true);
    training += Rounds::memory_needed(2, std::max(rows, planned.classes_), row_width(dim),
                                      std::max(planned.classes_, touches));
  }
  // Vectors are made of the working rows when training has given up the rest.
  const uint64_t vectors = rows * padded(dim) * sizeof(float);
  const uint64_t copies = again ? data.train().bytes() + data.held_out().bytes() : 0;
  return tables.bytes() + std::max(training, vectors) + copies;
}

uint64_t Classifier::memory(const Labelled& data, const Job& job) const {
  uint64_t bytes = memory_of_run(data, job, false);
  if (refits(data)) bytes = std::max(bytes, memory_of_run(data, job, true));
  if (config_.word_ngrams > 1) {
    bytes += 2 * BucketSet::memory(static_cast<uint64_t>(config_.buckets));
  }
  return bytes + data.bytes() + kMemoryOfAll;  // names and texts stand in the data as well
}

bool Classifier::refits(const Labelled& data) const {
  return config_.refit && config_.early_stop > 0 && !data.validated() && data.held_out().size() > 0;
}

}  // namespace kith::classifier
