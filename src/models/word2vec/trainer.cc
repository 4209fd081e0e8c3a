// SPDX-License-Identifier: Apache-2.0
// How Word2Vec learns: the text in blocks, blocks in segments, a safe point after each segment.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "models/word2vec/model.h"
#include "models/word2vec/rounds.h"
#include "train/blocks.h"

namespace kith::word2vec {
namespace {

// A block is what one thread does at a time. Small texts are cut finer, so that several threads
// and the held-out rhythm still make sense.
constexpr uint64_t kBlock = 10000, kTinyBlock = 100, kBlocksAtLeast = 200;
// Private copies (deterministic mode) want small blocks: a block sees nothing of its neighbours'
// work until the round ends, and a row that many blocks move far, each in ignorance of the others,
// overshoots when the changes are added up. An eighth of the vocabulary keeps that to a few moves
// of a common row per block.
constexpr uint64_t kSmallBlock = 1000, kSmallestBlock = 8, kWordsPerPosition = 8;
constexpr uint64_t kSegmentWords = 2000000;    // between two safe points, about
constexpr uint64_t kHeldOutSeed = 0x68656c64;  // the same noise at every scoring, for every seed

uint64_t block_size(const Corpus& corpus, bool deterministic) {
  if (deterministic) {
    const uint64_t words = corpus.vocabulary().words.size();
    return std::clamp(words / kWordsPerPosition, kSmallestBlock, kSmallBlock);
  }
  return std::clamp(corpus.size() / kBlocksAtLeast, kTinyBlock, kBlock);
}

uint64_t blocks_of(const Corpus& corpus, bool deterministic) {
  const uint64_t block = block_size(corpus, deterministic);
  return (corpus.size() + block - 1) / block;
}

double first_rate(const Config& config) {
  if (config.lr > 0) return config.lr;
  if (config.objective == Objective::kSkipGram) return 0.08;
  return config.gradient == Gradient::kExact ? 0.2 : 0.05;
}

// Rows of one table that a block of this size can touch.
uint64_t touches(const Config& config, uint64_t block) {
  const auto window = static_cast<uint64_t>(config.window);
  const auto negatives = static_cast<uint64_t>(config.negatives);
  const uint64_t words = block + 2 * window;
  if (config.noise == Noise::kPool)
    return 2 * words + Scratch::pool_size(config) + negatives * block;
  if (config.noise == Noise::kPair) return words + block * 2 * window * negatives;
  return words + block * negatives;
}

}  // namespace

class Trainer final : public TrainRun {
 public:
  Trainer(Word2Vec& model, const Corpus& corpus, Job& job)
      : TrainRun({blocks_of(corpus, job.deterministic), model.config_.epochs,
                  first_rate(model.config_), model.config_.early_stop},
                 model.state_, job),
        m_(model),
        corpus_(corpus),
        job_(job),
        noise_(noise_weights(model.counts_, model.config_.alpha)),
        settings_{model.config_, &noise_},
        thinning_(model.counts_, model.config_.sample, job.seed),
        block_(block_size(corpus, job.deterministic)),
        blocks_(blocks_of(corpus, job.deterministic)) {
    for (int t = 0; t < std::max(job.threads, static_cast<int>(Rounds::kBlocks)); ++t) {
      readers_.emplace_back(corpus, thinning_, static_cast<size_t>(m_.config_.window));
    }
    if (job.deterministic) {
      rounds_.emplace(settings_, m_.names_.size(), block_, touches(m_.config_, block_));
    } else {
      for (int t = 0; t < job.threads; ++t) scratch_.emplace_back(m_.config_, m_.input_.stride());
    }
  }

 private:
  Sum train(uint64_t epoch, uint64_t first, uint64_t count) override {
    const Tally tally = job_.deterministic ? train_rounds(epoch, first, count)
                                           : train_lock_free(epoch, first, count);
    m_.state_.windows += tally.windows;
    m_.state_.pairs += tally.pairs;
    return {tally.loss, tally.pairs};
  }

  std::pair<uint64_t, uint64_t> progress() const override {
    const uint64_t total = corpus_.words() * static_cast<uint64_t>(m_.config_.epochs);
    return {std::min(m_.state_.words, total), total};
  }

  uint64_t segment_blocks() const override {
    const uint64_t blocks = std::max<uint64_t>(1, std::min(kSegmentWords / block_, blocks_ / 4));
    if (job_.deterministic)
      return (blocks + Rounds::kBlocks - 1) / Rounds::kBlocks * Rounds::kBlocks;
    return std::max(blocks, 8 * static_cast<uint64_t>(job_.threads));
  }

  bool finite() const override { return m_.finite(); }

  Work work(BlockReader::Block words, uint64_t epoch, uint64_t block) const {
    return {words.words, words.begin, words.end, static_cast<float>(rate(epoch, block)),
            Rng(job_.seed, epoch * blocks_ + block)};
  }

  BlockReader::Block read(BlockReader& reader, uint64_t epoch, uint64_t block) const {
    return reader.read(epoch, block * block_, std::min(corpus_.size(), (block + 1) * block_));
  }

  Table input() { return {m_.input_.view(), m_.input_energy_.data()}; }
  Table output() { return {m_.output_.view(), m_.output_energy_.data()}; }
  // Noise replaces the centre in the output table, or, with noise = centre, in the input table.
  bool swapped() const { return m_.config_.noise == Noise::kCentre; }
  Table contexts() { return swapped() ? output() : input(); }
  Table centres() { return swapped() ? input() : output(); }

  Tally train_lock_free(uint64_t epoch, uint64_t first, uint64_t count) {
    struct alignas(64) Sum {
      Tally tally;
      uint64_t words = 0;
    };
    std::vector<Sum> sums(static_cast<size_t>(job_.threads));
    job_.for_each_shard(count, [&](size_t b, size_t worker) {
      const auto words = read(readers_[worker], epoch, first + b);
      Work block = work(words, epoch, first + b);
      sums[worker].tally += train_block(settings_, block, contexts(), centres(), scratch_[worker]);
      sums[worker].words += words.seen;
    });
    Tally total;
    for (const Sum& s : sums) {
      total += s.tally;
      m_.state_.words += s.words;
    }
    return total;
  }

  Tally train_rounds(uint64_t epoch, uint64_t first, uint64_t count) {
    Tally total;
    for (uint64_t b = 0; b < count; b += Rounds::kBlocks) {
      const size_t blocks = std::min<uint64_t>(Rounds::kBlocks, count - b);
      std::vector<uint64_t> seen(blocks);
      total += rounds_->run(
          blocks,
          [&](size_t i) {
            const auto words = read(readers_[i], epoch, first + b + i);
            seen[i] = words.seen;
            return work(words, epoch, first + b + i);
          },
          contexts(), centres(), job_);
      for (const uint64_t words : seen) m_.state_.words += words;
    }
    return total;
  }

  // The loss per pair on the held-out words: the training step with a rate of zero, always with the
  // same windows and noise, so that the numbers of two epochs (or two seeds) can be compared.
  std::optional<double> held_out_loss() override {
    if (corpus_.held_out().empty()) return std::nullopt;
    Settings settings = settings_;
    settings.config.adapt = 0;
    std::vector<WordId> words;
    const Thinning thinning(m_.counts_, m_.config_.sample, kHeldOutSeed);
    for (size_t i = 0; i < corpus_.held_out().size(); ++i) {
      const WordId word = corpus_.held_out()[i];
      if (word == kSentenceEnd || thinning.keep(word, 0, i)) words.push_back(word);
    }
    Work block{words, 0, words.size(), 0.0f, Rng(kHeldOutSeed, 0)};
    Scratch scratch(settings.config, m_.input_.stride());
    const Tally tally = train_block(settings, block, contexts(), centres(), scratch);
    if (tally.pairs == 0) return std::nullopt;
    return tally.loss / static_cast<double>(tally.pairs);
  }

  void keep_best() override {
    m_.best_input_ = m_.input_.copy();
    m_.best_output_ = m_.output_.copy();
  }
  void take_best() override {
    if (m_.best_input_.rows() != m_.input_.rows()) return;
    m_.input_ = std::move(m_.best_input_);
    m_.output_ = std::move(m_.best_output_);
  }

  void restart() override {
    m_.state_ = State{};
    m_.initialise(job_.seed, m_.learned_rows_);
    if (m_.learned_rows_ > 0 && !m_.finite()) {
      throw Error(
          ErrorKind::kDiverged,
          "training diverged and there is no checkpoint to return to; try a smaller --lr or "
          "--checkpoint-every 60");
    }
  }

  Word2Vec& m_;
  const Corpus& corpus_;
  Job& job_;
  const AliasSampler noise_;
  const Settings settings_;
  const Thinning thinning_;
  const uint64_t block_, blocks_;  // stream positions in a block; blocks in an epoch
  std::vector<BlockReader> readers_;
  std::vector<Scratch> scratch_;  // one per thread
  std::optional<Rounds> rounds_;
};

void Word2Vec::train(const Corpus& corpus, Job& job) {
  const size_t size = corpus.vocabulary().words.size();
  if (state_.block == 0 && !state_.finished) {
    grow(corpus.vocabulary(), job.seed);
  } else if (names_.size() != size) {
    throw Error(ErrorKind::kInput,
                "the text has {} words in its vocabulary, the checkpoint {}; "
                "resume with the same text and settings",
                size, names_.size());
  }
  if (size < 2) throw Error(ErrorKind::kInput, "the vocabulary needs at least 2 words");
  if (Trainer(*this, corpus, job).run()) state_.finished = true;
}

uint64_t Word2Vec::memory_needed(const Corpus& corpus, const Job& job) const {
  const uint64_t rows = corpus.vocabulary().words.size();
  const uint64_t row = padded(static_cast<size_t>(config_.dim)) * sizeof(float);
  const uint64_t table = rows * (row + sizeof(float));
  const uint64_t names = corpus.vocabulary().words.bytes().size() + 24 * rows;
  uint64_t bytes = 2 * table + 2 * names + rows * (8 + 4);  // alias slots, thinning
  if (config_.early_stop > 0) bytes += 2 * table;
  const uint64_t block = block_size(corpus, job.deterministic);
  if (job.deterministic) bytes += Rounds::memory_needed(config_, rows, touches(config_, block));
  return bytes + (uint64_t{8} << 20);
}

}  // namespace kith::word2vec
