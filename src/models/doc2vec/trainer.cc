// SPDX-License-Identifier: Apache-2.0
// How documents are learned: the windows of words/kernel.h with the document as one more context,
// in blocks, a safe point after each.

#include <algorithm>
#include <memory>
#include <optional>

#include "core/error.h"
#include "models/doc2vec/model.h"
#include "models/words/kernel.h"
#include "train/blocks.h"

namespace kith::doc2vec {
namespace {

// As for words: a block is what one thread does at a time, and those of private copies
// (deterministic mode) are small, so that a common row is not moved far in ignorance of the others.
constexpr uint64_t kBlock = 10000, kTinyBlock = 100, kBlocksAtLeast = 200;
constexpr uint64_t kSmallBlock = 1000, kSmallestBlock = 8, kWordsPerPosition = 8;
constexpr uint64_t kLongBlock = 100;           // of a round that is worth a second thread
constexpr uint64_t kSegmentWords = 2000000;    // between two reports, about
constexpr uint64_t kHeldOutSeed = 0x68656c64;  // the same noise at every scoring, for every seed

uint64_t block_size(const DocumentSet& data, bool deterministic) {
  if (deterministic) {
    const uint64_t words = data.vocabulary().words.size();
    return std::clamp(words / kWordsPerPosition, kSmallestBlock, kSmallBlock);
  }
  return std::clamp(data.stream().size() / kBlocksAtLeast, kTinyBlock, kBlock);
}

}  // namespace

class DocumentTrainer final : public Trainer {
 public:
  DocumentTrainer(Doc2Vec& model, const DocumentSet& data, Job& job)
      : m_(model),
        data_(data),
        job_(job),
        noise_(noise_weights(model.counts_, model.config_.alpha)),
        settings_{model.config_.kernel(), &noise_},
        thinning_(model.counts_, model.config_.sample, job.seed),
        block_(block_size(data, job.deterministic)),
        blocks_((data.stream().size() + block_ - 1) / block_) {
    const size_t workers = job.deterministic ? Rounds::kBlocks : static_cast<size_t>(job.threads());
    const std::span<const WordId> stream = data.stream();
    for (size_t t = 0; t < workers; ++t) {
      readers_.emplace_back(
          stream.size(),
          [stream](uint64_t begin, std::span<WordId> out) {
            std::ranges::copy(stream.subspan(begin, out.size()), out.begin());
          },
          thinning_, static_cast<size_t>(model.config_.window));
      scratch_.emplace_back(settings_.config, m_.input_.stride());
    }
    if (job.deterministic) {
      rounds_.emplace(2, std::max(m_.input_.rows(), m_.output_.rows()), m_.input_.stride());
    }
  }

  uint64_t blocks() const override { return blocks_; }
  uint64_t segment() const override {
    return Rounds::segment(kSegmentWords / block_, blocks_, job_);
  }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    return {job_.deterministic ? learn_in_rounds(blocks, rate, sum)
                               : learn_lock_free(blocks, rate, sum)};
  }

  std::pair<uint64_t, uint64_t> progress(const RunState&) const override {
    const uint64_t total = data_.words() * static_cast<uint64_t>(m_.config_.epochs);
    return {std::min(m_.words_, total), total};
  }

  // The loss per held-out word, predicted from its document (and, for dm, from the words around the
  // place where it stood), always with the same noise.
  std::optional<double> held_out_loss() override {
    if (data_.held_out().empty()) return std::nullopt;
    words::Settings settings = settings_;
    settings.config.adapt_rate = 0;
    Rng rng(kHeldOutSeed, 0);
    std::vector<uint32_t> contexts, noise(static_cast<size_t>(settings.config.negatives));
    words::Tally all;
    for (const DocumentSet::HeldOut& h : data_.held_out()) {
      contexts_of(h, contexts);
      for (uint32_t& id : noise) id = noise_.draw(rng);
      all += words::train_window(settings, {contexts, row_of(h.word), noise}, 0.0f, input(),
                                 output(), scratch_[0]);
    }
    return all.loss / static_cast<double>(all.pairs);
  }

 private:
  void contexts_of(const DocumentSet::HeldOut& h, std::vector<uint32_t>& out) const {
    out.assign(1, static_cast<uint32_t>(m_.word_rows()) + h.document);
    if (m_.config_.method != Method::kDm) return;
    const std::span<const WordId> stream = data_.stream();
    const auto window = static_cast<uint64_t>(m_.config_.window);
    for (uint64_t i = h.position; i > 0 && h.position - i < window; --i) {
      if (stream[i - 1] == kSentenceEnd) break;
      out.push_back(row_of(stream[i - 1]));
    }
    for (uint64_t i = h.position; i < h.position + window && stream[i] != kSentenceEnd; ++i) {
      out.push_back(row_of(stream[i]));
    }
  }

  words::Work work(const BlockReader::Block& words, const Blocks& blocks, uint64_t b,
                   const Rate& rate) const {
    const uint64_t block = blocks.first + b, number = blocks.epoch * blocks_ + block;
    words::Work out{words.words, words.begin, words.end, static_cast<float>(rate.at(number)),
                    Rng(job_.seed, number)};
    out.document = static_cast<uint32_t>(m_.word_rows()) + data_.document_at(block * block_);
    out.neighbours = m_.config_.learns_words();
    return out;
  }

  BlockReader::Block read(BlockReader& reader, uint64_t epoch, uint64_t block) const {
    return reader.read(epoch, block * block_,
                       std::min<uint64_t>(data_.stream().size(), (block + 1) * block_));
  }

  RowTable input() { return {m_.input_.view(), m_.input_energy_.data()}; }
  RowTable output() { return {m_.output_.view(), m_.output_energy_.data()}; }

  struct Done {
    words::Tally tally;
    uint64_t words = 0;
  };
  void count(std::span<const Done> done, LossSum& sum) {
    for (const Done& d : done) {
      sum.add(d.tally.loss, d.tally.pairs);
      m_.words_ += d.words;
    }
  }

  uint64_t learn_lock_free(const Blocks& blocks, const Rate& rate, LossSum& sum) {
    std::vector<Done> done(blocks.count);
    const size_t count_done = run_shards(job_, blocks.count, [&](size_t b, size_t worker) {
      const auto words = read(readers_[worker], blocks.epoch, blocks.first + b);
      words::Work block = work(words, blocks, b, rate);
      done[b] = {train_block(settings_, block, input(), output(), scratch_[worker]), words.seen};
    });
    count(std::span(done).first(count_done), sum);
    return count_done;
  }

  uint64_t learn_in_rounds(const Blocks& blocks, const Rate& rate, LossSum& sum) {
    const RowTable tables[]{input(), output()};
    uint64_t b = 0;
    while (b < blocks.count) {
      const size_t size = std::min<uint64_t>(Rounds::kBlocks, blocks.count - b);
      std::vector<Done> done(size);
      const bool went = rounds_->run(
          size, tables, job_, block_ < kLongBlock, [&](size_t i, std::span<RowOverlay> copies) {
            const auto words = read(readers_[i], blocks.epoch, blocks.first + b + i);
            words::Work block = work(words, blocks, b + i, rate);
            done[i] = {train_block(settings_, block, copies[0], copies[1], scratch_[i]),
                       words.seen};
          });
      if (!went) break;
      count(done, sum);
      b += size;
    }
    return b;
  }

  Doc2Vec& m_;
  const DocumentSet& data_;
  Job& job_;
  const AliasSampler noise_;
  const words::Settings settings_;
  const Thinning thinning_;
  const uint64_t block_, blocks_;     // stream positions in a block; blocks in an epoch
  std::vector<BlockReader> readers_;  // one per thread, or per block of a round
  std::vector<words::Scratch> scratch_;
  std::optional<Rounds> rounds_;
};

class DocumentCourse final : public ModelCourse {
 public:
  DocumentCourse(Doc2Vec& model, const DocumentSet& data, Job& job)
      : ModelCourse(model), m_(model), data_(data), job_(job) {}
  RunPlan plan() const override {
    return {.epochs = m_.config_.epochs,
            .lr = m_.config_.first_rate(),
            .early_stop = m_.config_.early_stop};
  }
  void start(Start) override { m_.start(data_, job_.seed); }
  std::unique_ptr<Trainer> trainer() override {
    return std::make_unique<DocumentTrainer>(m_, data_, job_);
  }
  void finish() override {
    ModelCourse::finish();
    // Nothing is trained further from them.
    m_.input_energy_.clear();
    m_.output_energy_.clear();
  }

 private:
  Doc2Vec& m_;
  const DocumentSet& data_;
  Job& job_;
};

bool Doc2Vec::learn(const DocumentSet& data, Job& job) {
  const size_t words = data.vocabulary().words.size(), texts = data.names().size();
  if (state_.started && (names_.size() != words || documents_.size() != texts)) {
    throw fault(ErrorKind::kInput,
                "there are {} words and {} documents, in the checkpoint {} and {}; resume with the "
                "same data and settings",
                words, texts, names_.size(), documents_.size());
  }
  DocumentCourse course(*this, data, job);
  return kith::train(course, state_, job);
}

uint64_t Doc2Vec::memory(const DocumentSet& data, const Job& job) const {
  const uint64_t words = data.vocabulary().words.size(), texts = data.names().size();
  const size_t stride = padded(static_cast<size_t>(config_.dim));
  const uint64_t row = stride * sizeof(float);
  const bool twice = config_.early_stop > 0 && !data.held_out().empty();  // the best epoch
  const uint64_t inputs = (config_.learns_words() ? words : 0) + texts;
  uint64_t bytes = (twice ? 2 : 1) * (inputs + words) * row + 4 * (inputs + words);
  bytes += data.vocabulary().words.bytes().size() + data.names().bytes().size();
  bytes += 16 * (words + texts);
  bytes += words * (8 + 8 + 4);  // counts, alias slots, thinning
  if (job.deterministic) {
    const auto negatives = static_cast<uint64_t>(config_.negatives);
    const auto window = static_cast<uint64_t>(config_.window);
    const uint64_t block = block_size(data, true);
    const uint64_t draws = config_.noise == words::Noise::kPair && config_.learns_words()
                               ? block * negatives * (2 * window + 1)
                               : block * (negatives + 1);
    const uint64_t touched = std::min(words, draws) + std::min(inputs, 3 * block);
    bytes += Rounds::memory_needed(2, std::max(words, inputs), stride, touched);
  }
  return bytes + kMemoryOfAll;
}

}  // namespace kith::doc2vec
