// SPDX-License-Identifier: Apache-2.0
#include "models/words/softmax.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "kernels/skinny.h"
#include "models/words/model.h"
#include "train/blocks.h"
#include "train/shuffle.h"

namespace kith::words {
namespace {

constexpr size_t kBatch = 32;          // words whose rows move together
constexpr uint64_t kPasses = 4;        // over the counts, in an epoch: five epochs are enough
constexpr size_t kMerge = 1 << 20;     // pairs that are kept as they come, at least
constexpr size_t kRowsPerShard = 128;  // of the output table
constexpr uint64_t kReadBlock = 10000;

}  // namespace

void PairCounts::add_pair(WordId w, WordId c, uint64_t count) {
  if (entries_.size() >= std::max(kMerge, 2 * merged_)) merge();
  entries_.push_back({uint64_t{row_of(w)} << 32 | row_of(c), count});
}

void PairCounts::add(std::span<const WordId> words, size_t begin, size_t end) {
  const auto window = static_cast<uint64_t>(config_.window);
  const uint64_t left = config_.side == Neighbours::kRight ? 0 : window;
  const uint64_t right = config_.side == Neighbours::kLeft ? 0 : window;
  const auto weight = [&](uint64_t d) { return config_.fixed_window ? window : window + 1 - d; };
  for (size_t c = begin; c < end; ++c) {
    if (words[c] == kSentenceEnd) continue;
    for (size_t d = 1; d <= left && d <= c && words[c - d] != kSentenceEnd; ++d) {
      add_pair(words[c - d], words[c], weight(d));
    }
    for (size_t d = 1; d <= right && c + d < words.size() && words[c + d] != kSentenceEnd; ++d) {
      add_pair(words[c + d], words[c], weight(d));
    }
  }
}

void PairCounts::merge() {
  std::ranges::sort(entries_, {}, &Entry::pair);
  size_t to = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (to > 0 && entries_[to - 1].pair == entries_[i].pair) {
      entries_[to - 1].count += entries_[i].count;
    } else {
      entries_[to++] = entries_[i];
    }
  }
  entries_.resize(to);
  merged_ = to;
}

Sparse PairCounts::take() {
  merge();
  Sparse out;
  out.columns = static_cast<uint32_t>(words_);
  out.offsets.assign(words_ + 1, 0);
  out.column.reserve(entries_.size());
  out.value.reserve(entries_.size());
  for (const Entry& e : entries_) {
    ++out.offsets[(e.pair >> 32) + 1];
    out.column.push_back(static_cast<uint32_t>(e.pair));
    out.value.push_back(static_cast<float>(e.count));
  }
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  entries_ = {};
  return out;
}

double Softmax::loss(uint32_t w, const Sparse& pairs, float* residual) const {
  const Sparse::Row row = pairs.row(w);
  const size_t n = all.size();
  dot_rows(input.row(w), output, all.data(), n, output.stride, residual);
  for (size_t v = 0; v < n; ++v) residual[v] += bias[v];
  const float top = *std::max_element(residual, residual + n);
  double scores = 0, count = 0, sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    scores += double{row.values[i]} * (residual[row.columns[i]] - top);
    count += row.values[i];
  }
  for (size_t v = 0; v < n; ++v) {
    residual[v] = std::exp(residual[v] - top);
    sum += residual[v];
  }
  const auto scale = static_cast<float>(1 / sum);
  for (size_t v = 0; v < n; ++v) residual[v] *= scale;
  for (size_t i = 0; i < row.size(); ++i) {
    residual[row.columns[i]] -= static_cast<float>(row.values[i] / count);
  }
  return count * std::log(sum) - scores;
}

double mean_loss(const Softmax& softmax, const Sparse& pairs, const Context& context) {
  std::vector<double> losses(pairs.rows());
  Matrix scratch(static_cast<size_t>(context.threads()), softmax.all.size());
  for_each_shard(context, losses.size(), [&](size_t w, size_t worker) {
    const auto word = static_cast<uint32_t>(w);
    if (pairs.row(word).size() == 0) return;
    losses[w] = softmax.loss(word, pairs, scratch.view().row(worker));
  });
  const double count = std::accumulate(pairs.value.begin(), pairs.value.end(), 0.0);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / count;
}

// Batches of words, each with all pairs that it is in. What a batch moves is a sum over its words
// in their order, whichever thread adds it up: the same bits for any number of threads.
class SoftmaxTrainer final : public Trainer {
 public:
  SoftmaxTrainer(WordsModel& model, const Corpus& corpus, Job& job)
      : m_(model),
        config_(model.common()),
        corpus_(corpus),
        job_(job),
        pairs_(counted()),
        held_out_(counted_held_out()),
        batches_((model.rows_ + kBatch - 1) / kBatch),
        all_(model.rows_),
        residual_(kBatch, model.rows_),
        gradient_(kBatch, model.input_.cols()) {
    std::iota(all_.begin(), all_.end(), 0);
    for (uint32_t w = 0; w < pairs_.rows(); ++w) {
      const auto values = pairs_.row(w).values;
      counts_.push_back(std::accumulate(values.begin(), values.end(), 0.0));
    }
    total_ = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  }

  uint64_t blocks() const override { return kPasses * batches_; }
  uint64_t segment() const override { return batches_; }

  Learned learn(const Blocks& blocks, const Rate& rate, LossSum& sum) override {
    for (uint64_t b = 0; b < blocks.count; ++b) {
      if (job_.cancelled()) return {b};
      const uint64_t number = blocks.epoch * this->blocks() + blocks.first + b;
      learn_batch(number, static_cast<float>(rate.at(number)), sum);
      if (blocks.first + b + 1 == this->blocks()) count_epoch();
    }
    return {blocks.count};
  }

  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    const uint64_t words = corpus_.words(), epochs = static_cast<uint64_t>(config_.epochs);
    const uint64_t in_epoch = words * (state.block % blocks()) / blocks();
    return {std::min(words * epochs, state.block / blocks() * words + in_epoch), words * epochs};
  }

  std::optional<double> held_out_loss() override {
    if (held_out_.size() == 0) return std::nullopt;
    return mean_loss(softmax(), held_out_, job_);
  }

 private:
  Softmax softmax() const {
    return {std::as_const(m_.input_).view(), std::as_const(m_.output_).view(), m_.output_bias_,
            all_};
  }

  // Of the text as it is thinned out in the first epoch.
  Sparse counted() const {
    const Thinning thinning(m_.counts_, config_.sample, job_.seed);
    BlockReader reader(corpus_, thinning, static_cast<size_t>(config_.window));
    PairCounts out(config_, m_.rows_);
    for (uint64_t at = 0; at < corpus_.length(); at += kReadBlock) {
      job_.context().check();
      const auto block = reader.read(0, at, std::min(corpus_.length(), at + kReadBlock));
      out.add(block.words, block.begin, block.end);
    }
    return out.take();
  }

  Sparse counted_held_out() const {
    const Thinning thinning(m_.counts_, config_.sample, kHeldOutSeed);
    std::vector<WordId> words;
    for (size_t i = 0; i < corpus_.held_out().size(); ++i) {
      const WordId word = corpus_.held_out()[i];
      if (word == kSentenceEnd || thinning.keep(word, 0, i)) words.push_back(word);
    }
    PairCounts out(config_, m_.rows_);
    out.add(words, 0, words.size());
    return out.take();
  }

  void count_epoch() {
    m_.words_ += corpus_.words();
    m_.windows_ += corpus_.words();
    m_.pairs_ += static_cast<uint64_t>(total_ / config_.window);
  }

  void learn_batch(uint64_t number, float lr, LossSum& sum) {
    const Shuffle order(m_.rows_, mix64(job_.seed) + number / batches_);
    batch_.clear();
    const uint64_t first = number % batches_ * kBatch;
    for (uint64_t i = first; i < std::min<uint64_t>(first + kBatch, m_.rows_); ++i) {
      const auto w = static_cast<uint32_t>(order[i]);
      if (counts_[w] > 0) batch_.push_back(w);
    }
    std::vector<double> losses(batch_.size());
    finish_shards(job_, batch_.size(), [&](size_t i) {
      float* const residual = residual_.view().row(i);
      losses[i] = softmax().loss(batch_[i], pairs_, residual);
      sum_rows({softmax().output, nullptr, residual, m_.rows_, 1}, false, gradient_.view().row(i),
               gradient_.stride());
    });
    for (size_t i = 0; i < batch_.size(); ++i) {
      sum.add(losses[i], static_cast<uint64_t>(counts_[batch_[i]]));
    }
    move_outputs(lr);
    for (size_t i = 0; i < batch_.size(); ++i) {
      move(m_.input_.row(batch_[i]), gradient_.row(i), m_.input_squares_[batch_[i]], lr, nullptr,
           0);
    }
  }

  // y_c -= lr' sum over w of N(w) / N (p(c | w) - N(w, c) / N(w)) x_w, and b_c with 1 for x_w.
  void move_outputs(float lr) {
    const size_t shards = (m_.rows_ + kRowsPerShard - 1) / kRowsPerShard;
    finish_shards(job_, shards, [&](size_t shard) {
      Matrix gradient(1, m_.output_.cols());
      std::vector<float> slopes(batch_.size());
      const size_t end = std::min<size_t>(m_.rows_, (shard + 1) * kRowsPerShard);
      for (size_t c = shard * kRowsPerShard; c < end; ++c) {
        float slope = 0;
        for (size_t i = 0; i < batch_.size(); ++i) {
          const double share = counts_[batch_[i]] * static_cast<double>(m_.rows_) / total_;
          slopes[i] = static_cast<float>(share) * residual_.row(i)[c];
          slope += slopes[i];
        }
        sum_rows({softmax().input, batch_.data(), slopes.data(), batch_.size(), 1}, false,
                 gradient.view().row(0), gradient.stride());
        move(m_.output_.row(c), gradient.row(0), m_.output_squares_[c], lr, &m_.output_bias_[c],
             slope);
      }
    });
  }

  // AdaGrad with one sum of squares for the row and its bias.
  static void move(std::span<float> row, std::span<const float> gradient, float& squares, float lr,
                   float* bias, float slope) {
    float square = slope * slope;
    for (const float g : gradient) square += g * g;
    squares += square / static_cast<float>(row.size() + (bias ? 1 : 0));
    if (squares <= 0) return;
    const float step = lr / std::sqrt(squares);
    for (size_t k = 0; k < row.size(); ++k) row[k] -= step * gradient[k];
    if (bias) *bias -= step * slope;
  }

  WordsModel& m_;
  const Config& config_;
  const Corpus& corpus_;
  Job& job_;
  const Sparse pairs_, held_out_;
  const uint64_t batches_;       // in a pass
  std::vector<uint32_t> all_;    // the words
  std::vector<double> counts_;   // N(w)
  double total_ = 0;             // N
  std::vector<uint32_t> batch_;  // words
  Matrix residual_;              // of the batch, words x words
  Matrix gradient_;              // of their input rows
};

std::unique_ptr<Trainer> softmax_trainer(WordsModel& model, const Corpus& corpus, Job& job) {
  return std::make_unique<SoftmaxTrainer>(model, corpus, job);
}

namespace {

// Distinct pairs there are if words stood beside each other by chance, which is more than there are
// in a text. Words of like counts are taken together.
uint64_t distinct_pairs(const Vocabulary& vocabulary, double pairs_per_word) {
  double words[64]{}, sums[64]{}, all = 0;
  for (const uint64_t c : vocabulary.counts) {
    const int size = std::bit_width(c);
    words[size] += 1;
    sums[size] += static_cast<double>(c);
    all += static_cast<double>(c);
  }
  double out = 0;
  for (int a = 0; a < 64; ++a) {
    for (int b = 0; b < 64; ++b) {
      if (words[a] == 0 || words[b] == 0) continue;
      const double rate = pairs_per_word * sums[a] / words[a] * sums[b] / words[b] / all;
      out += words[a] * words[b] * (1 - std::exp(-rate));
    }
  }
  return static_cast<uint64_t>(out);
}

}  // namespace

uint64_t memory_of_softmax(const Corpus& corpus, const Config& config) {
  const uint64_t rows = corpus.vocabulary().words.size();
  const uint64_t pairs = distinct_pairs(corpus.vocabulary(),
                                        (config.side == Neighbours::kBoth ? 2 : 1) * config.window);
  // While they are counted a vector of 16 bytes each grows by doubling; then 8 bytes each.
  const uint64_t counting =
      16 * 3 *
      std::max<uint64_t>(pairs, std::min<uint64_t>(kMerge, 2 * config.window * corpus.words()));
  const uint64_t batch = kBatch * 4 * (padded(rows) + padded(static_cast<size_t>(config.dim)));
  return counting + 8 * pairs + batch + rows * (8 + 8 + 4 + 8);
}

}  // namespace kith::words
