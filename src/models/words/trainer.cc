// SPDX-License-Identifier: Apache-2.0
// How words are learned: the text in blocks, a safe point after each.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "models/words/kernel.h"
#include "models/words/model.h"
#include "models/words/softmax.h"
#include "train/blocks.h"

namespace kith::words {
namespace {

// A block is what one thread does at a time. Small texts are cut finer, so that several threads
// and the held-out rhythm still make sense.
constexpr uint64_t kBlock = 10000, kTinyBlock = 100, kBlocksAtLeast = 200;
// Private copies (deterministic mode) want small blocks: a block sees nothing of its neighbours'
// work until the round ends, and a row that many blocks move far, each in ignorance of the others,
// overshoots when the changes are added up. An eighth of the vocabulary keeps that to a few moves
// of a common row per block.
constexpr uint64_t kSmallBlock = 1000, kSmallestBlock = 8, kWordsPerPosition = 8;
constexpr uint64_t kLongBlock = 100;         // of a round that is worth a second thread
constexpr uint64_t kSegmentWords = 2000000;  // between two reports, about

uint64_t block_size(const Corpus& corpus, bool deterministic) {
  if (deterministic) {
    const uint64_t words = corpus.vocabulary().words.size();
    return std::clamp(words / kWordsPerPosition, kSmallestBlock, kSmallBlock);
  }
  return std::clamp(corpus.length() / kBlocksAtLeast, kTinyBlock, kBlock);
}

// How often each word is there among so many that are drawn by count^alpha, on average.
std::vector<double> rates(const Vocabulary& vocabulary, double alpha, uint64_t draws) {
  std::vector<double> out;
  for (const uint64_t c : vocabulary.counts) {
    out.push_back(std::pow(static_cast<double>(c), alpha));
  }
  const double total = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& rate : out) rate *= static_cast<double>(draws) / total;
  return out;
}

// Of things that are drawn so often, those that are drawn at all.
double distinct(std::span<const double> rates) {
  double out = 0;
  for (const double rate : rates) out += 1 - std::exp(-rate);
  return out;
}

// Rows of both tables that a block of this size touches: its words, in one with their parts, in the
// other with noise.
uint64_t touches(const Config& config, const Vocabulary& vocabulary, const Bags& bags, size_t parts,
                 uint64_t block) {
  const auto window = static_cast<uint64_t>(config.window);
  const auto negatives = static_cast<uint64_t>(config.negatives);
  const uint64_t noise = config.noise == Noise::kPool   ? Scratch::pool_size(config) + block
                         : config.noise == Noise::kPair ? block * 2 * window * negatives
                                                        : block * negatives;
  const std::vector<double> words = rates(vocabulary, 1, block + 2 * window);
  if (config.loss == WordLoss::kHierarchical) {
    const Tree tree(vocabulary.counts);
    std::vector<double> nodes(words.size());
    for (uint32_t w = 0; w < words.size(); ++w) {
      for (const Tree::Step step : tree.path(w)) nodes[step.node] += words[w];
    }
    return static_cast<uint64_t>(distinct(words) + distinct(nodes));
  }
  double out = 2 * distinct(words) + distinct(rates(vocabulary, config.alpha, noise));
  if (parts > 0) {
    std::vector<double> of_parts(parts);
    for (uint32_t w = 0; w < words.size(); ++w) {
      for (const uint32_t row : bags.of(w).subspan(1)) of_parts[row - words.size()] += words[w];
    }
    out += distinct(of_parts);
  }
  return static_cast<uint64_t>(out);
}

// Rows have private copies, but biases and forms have none, and steps that have a state do not add
// up: then one thread takes all blocks in turn.
bool has_copies(const Config& config) {
  return config.loss != WordLoss::kNce && config.form == Form::kNone &&
         !has_state(config.optimiser);
}

// As the kernel takes it: without steps of its own for each row, it steps at the one rate.
Config with_steps(Config config) {
  if (config.optimiser != Optimiser::kRowAdaGrad) config.adapt_rate = 0;
  return config;
}

// Of the ways down the tree to all words.
uint64_t path_bytes(const Vocabulary& vocabulary) {
  const Tree tree(vocabulary.counts);
  uint64_t steps = 0;
  for (uint32_t w = 0; w < vocabulary.counts.size(); ++w) steps += tree.path(w).size();
  return 8 * steps;
}

}  // namespace

class WordTrainer final : public Trainer {
 public:
  WordTrainer(WordsModel& model, const Corpus& corpus, Job& job)
      : m_(model),
        config_(model.common()),
        corpus_(corpus),
        job_(job),
        noise_(noise_weights(model.counts_, config_.alpha)),
        bags_(model.subwords_.size() > 0 ? model.subwords_.bags(model.names_, model.counts_)
                                         : Bags{}),
        tree_(config_.loss == WordLoss::kHierarchical ? Tree(model.counts_) : Tree()),
        log_noise_(log_noise(model)),
        contrast_{model.output_bias_, log_noise_},
        form_{model.form_.view(),          model.form_.cols(),
              config_.form == Form::kFull, static_cast<float>(config_.form_rate),
              config_.relations,           static_cast<size_t>(config_.window)},
        steps_(steps_of(model)),
        settings_{with_steps(config_),
                  &noise_,
                  model.subwords_.size() > 0 ? &bags_ : nullptr,
                  config_.loss == WordLoss::kNce ? &contrast_ : nullptr,
                  config_.loss == WordLoss::kHierarchical ? &tree_ : nullptr,
                  config_.form != Form::kNone ? &form_ : nullptr,
                  has_state(config_.optimiser) ? &steps_ : nullptr},
        thinning_(model.counts_, config_.sample, job.seed),
        block_(block_size(corpus, job.deterministic)),
        blocks_((corpus.length() + block_ - 1) / block_) {
    const size_t workers = in_rounds() ? Rounds::kBlocks : static_cast<size_t>(job.threads());
    for (size_t t = 0; t < workers; ++t) {
      readers_.emplace_back(corpus, thinning_, static_cast<size_t>(config_.window));
      scratch_.emplace_back(config_, m_.input_.stride(), bags_.longest, tree_.longest());
    }
    if (in_rounds()) rounds_.emplace(2, m_.input_.rows(), m_.input_.stride());
  }

  uint64_t blocks() const override { return blocks_; }

  uint64_t segment() const override {
    return Rounds::segment(kSegmentWords / block_, blocks_, job_);
  }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    return {in_rounds() ? learn_in_rounds(blocks, rate, sum) : learn_lock_free(blocks, rate, sum)};
  }

  std::pair<uint64_t, uint64_t> progress(const RunState&) const override {
    const uint64_t total = corpus_.words() * static_cast<uint64_t>(config_.epochs);
    return {std::min(m_.words_, total), total};
  }

  // The loss per pair on the held-out words: the training step with a rate of zero, always with the
  // same windows and noise, so that the numbers of two epochs (or two seeds) can be compared.
  std::optional<double> held_out_loss() override {
    if (corpus_.held_out().empty()) return std::nullopt;
    Settings settings = settings_;
    settings.config.adapt_rate = 0;
    std::vector<WordId> words;
    const Thinning thinning(m_.counts_, config_.sample, kHeldOutSeed);
    for (size_t i = 0; i < corpus_.held_out().size(); ++i) {
      const WordId word = corpus_.held_out()[i];
      if (word == kSentenceEnd || thinning.keep(word, 0, i)) words.push_back(word);
    }
    Work block{words, 0, words.size(), 0.0f, Rng(kHeldOutSeed, 0)};
    const Tally tally = train_block(settings, block, contexts(), centres(), scratch_[0]);
    if (tally.pairs == 0) return std::nullopt;
    return tally.loss / static_cast<double>(tally.pairs);
  }

 private:
  bool in_rounds() const { return job_.deterministic && has_copies(config_); }

  Steps steps_of(WordsModel& model) const {
    if (!has_state(config_.optimiser)) return {};
    const Rows input = model.input_state_.view(), output = model.output_state_.view();
    return swapped() ? Steps{config_.optimiser, output, input}
                     : Steps{config_.optimiser, input, output};
  }

  // log(k q) of each word.
  static std::vector<float> log_noise(const WordsModel& model) {
    const Config& config = model.common();
    if (config.loss != WordLoss::kNce) return {};
    std::vector<double> weights = noise_weights(model.counts_, config.alpha);
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<float> out;
    for (const double w : weights) {
      out.push_back(static_cast<float>(std::log(config.negatives * w / all)));
    }
    return out;
  }

  Work work(const BlockReader::Block& words, uint64_t number, const Rate& rate) const {
    return {words.words, words.begin, words.end, static_cast<float>(rate.at(number)),
            Rng(job_.seed, number)};
  }

  BlockReader::Block read(BlockReader& reader, uint64_t epoch, uint64_t block) const {
    return reader.read(epoch, block * block_, std::min(corpus_.length(), (block + 1) * block_));
  }

  RowTable input() {
    return {.rows = m_.input_.view(), .energy = m_.input_energy_.data(), .energies = m_.rows_};
  }
  RowTable output() { return {m_.output_.view(), m_.output_energy_.data()}; }
  // Noise replaces the centre in the output table, or, with noise = centre, in the input table.
  bool swapped() const { return config_.noise == Noise::kCentre; }
  RowTable contexts() { return swapped() ? output() : input(); }
  RowTable centres() { return swapped() ? input() : output(); }

  struct Done {
    Tally tally;
    uint64_t words = 0;
  };
  void count(std::span<const Done> done, LossSum& sum) {
    for (const Done& d : done) {
      sum.add(d.tally.loss, d.tally.pairs);
      m_.windows_ += d.tally.windows;
      m_.pairs_ += d.tally.pairs;
      m_.words_ += d.words;
    }
  }

  uint64_t learn_lock_free(const Blocks& blocks, const Rate& rate, LossSum& sum) {
    std::vector<Done> done(blocks.count);
    const size_t count_done = run_shards(
        job_, blocks.count,
        [&](size_t b, size_t worker) {
          const auto words = read(readers_[worker], blocks.epoch, blocks.first + b);
          Work block = work(words, blocks.epoch * blocks_ + blocks.first + b, rate);
          done[b] = {train_block(settings_, block, contexts(), centres(), scratch_[worker]),
                     words.seen};
        },
        job_.deterministic ? 1 : detail::kAll);
    count(std::span(done).first(count_done), sum);
    return count_done;
  }

  uint64_t learn_in_rounds(const Blocks& blocks, const Rate& rate, LossSum& sum) {
    const RowTable tables[]{contexts(), centres()};
    uint64_t b = 0;
    while (b < blocks.count) {
      const size_t size = std::min<uint64_t>(Rounds::kBlocks, blocks.count - b);
      std::vector<Done> done(size);
      const bool alone = block_ < kLongBlock;
      const bool went =
          rounds_->run(size, tables, job_, alone, [&](size_t i, std::span<RowOverlay> copies) {
            const auto words = read(readers_[i], blocks.epoch, blocks.first + b + i);
            Work block = work(words, blocks.epoch * blocks_ + blocks.first + b + i, rate);
            done[i] = {train_block(settings_, block, copies[0], copies[1], scratch_[i]),
                       words.seen};
          });
      if (!went) break;
      count(done, sum);
      b += size;
    }
    return b;
  }

  WordsModel& m_;
  const Config& config_;
  const Corpus& corpus_;
  Job& job_;
  const AliasSampler noise_;
  const Bags bags_;                     // empty if words have no parts
  const Tree tree_;                     // of hierarchical softmax
  const std::vector<float> log_noise_;  // of NCE
  const Contrast contrast_;
  const FormTable form_;
  const Steps steps_;
  const Settings settings_;
  const Thinning thinning_;
  const uint64_t block_, blocks_;     // stream positions in a block; blocks in an epoch
  std::vector<BlockReader> readers_;  // one per thread, or per block of a round
  std::vector<Scratch> scratch_;      // likewise
  std::optional<Rounds> rounds_;
};

class WordCourse final : public ModelCourse {
 public:
  WordCourse(WordsModel& model, const Corpus& corpus, Job& job)
      : ModelCourse(model), m_(model), corpus_(corpus), job_(job) {}
  RunPlan plan() const override {
    return {
        .epochs = m_.common().epochs, .lr = m_.first_rate(), .early_stop = m_.common().early_stop};
  }
  void start(Start) override { m_.grow(corpus_.vocabulary(), job_.seed); }
  std::unique_ptr<Trainer> trainer() override {
    if (m_.common().loss == WordLoss::kSoftmax) return softmax_trainer(m_, corpus_, job_);
    return std::make_unique<WordTrainer>(m_, corpus_, job_);
  }
  void restart() override {
    m_.words_ = m_.windows_ = m_.pairs_ = 0;
    if (m_.learned_rows_ > 0) {
      throw fault(ErrorKind::kDiverged,
                  "training diverged, and starting over would lose what the model knew before; try "
                  "a smaller --lr");
    }
    m_.initialise(job_.seed, 0, std::vector<bool>(m_.subwords_.size()));
  }
  void finish() override {
    ModelCourse::finish();
    m_.finish(job_);
  }

 private:
  WordsModel& m_;
  const Corpus& corpus_;
  Job& job_;
};

bool WordsModel::learn(const Corpus& corpus, Job& job) {
  const size_t size = corpus.vocabulary().words.size();
  if (state_.started && names_.size() != size) {
    throw fault(ErrorKind::kInput,
                "the text has {} words in its vocabulary, the checkpoint {}; "
                "resume with the same text and settings",
                size, names_.size());
  }
  if (size < 2) throw fault(ErrorKind::kInput, "the vocabulary needs at least 2 words");
  check_settings(size);
  WordCourse course(*this, corpus, job);
  return kith::train(course, state_, job);
}

uint64_t WordsModel::memory(const Corpus& corpus, const Job& job) const {
  const Config& config = common();
  const Vocabulary& vocabulary = corpus.vocabulary();
  const uint64_t rows = vocabulary.words.size();
  check_settings(rows);
  Subwords subwords;
  if (parts_of_words().longest > 0) {
    subwords = Subwords(parts_of_words(), vocabulary.words, subwords_);
  }
  const uint64_t inputs = rows + subwords.size();
  const uint64_t row = padded(static_cast<size_t>(config.dim)) * sizeof(float);
  const bool twice = config.early_stop > 0 && corpus.held_out_words() > 0;  // the best epoch
  uint64_t bytes = (twice ? 2 : 1) * (inputs + rows) * row + 8 * rows;      // and energies
  bytes += vocabulary.words.bytes().size() + 16 * rows;
  bytes += rows * (8 + 8 + 8 + 4);  // counts here and there, alias slots, thinning
  bytes += (twice ? 2 : 1) * form_rows() * row;
  bytes += 2 * rows * 4 * state_floats();
  if (has_biases()) bytes += (twice ? 2 : 1) * 4 * rows;
  if (config.loss == WordLoss::kNce) bytes += 4 * rows;
  if (config.loss == WordLoss::kHierarchical) bytes += rows * (8 + 4) + path_bytes(vocabulary);
  if (config.loss == WordLoss::kSoftmax) {
    return bytes + memory_of_softmax(corpus, config) + kMemoryOfAll;
  }
  // The parts: what they are, and the rows of each word.
  const Bags bags = subwords.size() > 0 ? subwords.bags(vocabulary.words) : Bags{};
  bytes += subwords.memory() + bags.memory();
  // Private copies, or, when they are gone, what the end makes.
  uint64_t copies = 0;
  if (job.deterministic && has_copies(config)) {
    const uint64_t touched =
        touches(config, vocabulary, bags, subwords.size(), block_size(corpus, true));
    copies = Rounds::memory_needed(2, inputs, padded(static_cast<size_t>(config.dim)), touched);
  }
  return bytes + std::max(copies, memory_of_finish(corpus)) + kMemoryOfAll;
}

}  // namespace kith::words
