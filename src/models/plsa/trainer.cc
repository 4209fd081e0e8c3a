// SPDX-License-Identifier: Apache-2.0
// A step of EM, in two halves that each leave the log-likelihood no lower (Meng and Rubin 1993,
// ECM): the mixtures of documents with topics as they are, then the topics. With n_wd the count of
// a word in a document, and r_wd = n_wd / sum_k phi_wk theta_dk:
//
//   theta_dk <- theta_dk sum_w r_wd phi_wk + alpha, divided by its sum over k
//   phi_wk <- phi_wk sum_d r_wd theta_dk + beta, divided by its sum over w
//
// which is E- and M-step in one: phi_wk theta_dk r_wd / n_wd is the probability of topic k for such
// a word. Tempered, phi and theta on the right are raised to a power b.
//
// A block is some documents, or some words. The row of one depends on the other table alone, so
// there may be a pause between any two blocks.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "kernels/skinny.h"
#include "models/plsa/model.h"

namespace kith::plsa {
namespace {

constexpr uint64_t kShard = 8192;  // entries that one thread does at a time, about
constexpr uint64_t kAtLeast = 10;  // steps: the first may lead nowhere, being all but alike
constexpr float kTiny = 1e-30f;    // a word that no topic of the document has

// Rows of a sparse matrix in blocks of about as many entries.
struct Cut {
  explicit Cut(const Sparse& m) : rows(m.rows()) {
    const uint64_t mean = m.size() / std::max<uint32_t>(1, m.rows()) + 1;
    size = static_cast<uint32_t>(std::max<uint64_t>(1, kShard / mean));
  }
  uint64_t blocks() const { return (rows + size - 1) / size; }
  uint32_t begin(uint64_t block) const { return static_cast<uint32_t>(block) * size; }
  uint32_t end(uint64_t block) const { return std::min(rows, begin(block) + size); }
  uint32_t rows, size;
};

}  // namespace

class PlsaTrainer final : public Trainer {
 public:
  PlsaTrainer(Plsa& model, const Bags& data, const Job& job)
      : m_(model),
        data_(data),
        job_(job),
        by_word_(transposed(data.train())),
        documents_(data.train()),
        words_(by_word_),
        scratch_(static_cast<size_t>(job.threads())) {}

  uint64_t blocks() const override { return documents_.blocks() + words_.blocks(); }
  uint64_t segment() const override { return blocks(); }

  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    Learned out{0};
    while (out.blocks < blocks.count && !job_.cancelled()) {
      const Blocks rest{blocks.epoch, blocks.first + out.blocks, blocks.count - out.blocks};
      const Learned part = learn_half(rest, sum);
      out = {out.blocks + part.blocks, part.converged};
      if (part.blocks == 0) break;
    }
    return out;
  }

  std::optional<double> held_out_loss() override { return m_.held_out_loss(data_, job_); }

  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    const auto epochs = static_cast<uint64_t>(m_.config_.epochs);
    const double share = static_cast<double>(state.block) / static_cast<double>(blocks() * epochs);
    const uint64_t total = data_.tokens() * epochs;
    return {static_cast<uint64_t>(share * static_cast<double>(total)), total};
  }

 private:
  struct Scratch {
    std::vector<float> products, ratios;
    Matrix rows;  // sums, powers
  };

  // The rest of one half at most.
  Learned learn_half(const Blocks& blocks, LossSum& sum) {
    const bool mixtures = blocks.first < documents_.blocks();
    const Sparse& counts = mixtures ? data_.train() : by_word_;
    const Cut& cut = mixtures ? documents_ : words_;
    const uint64_t first = mixtures ? blocks.first : blocks.first - documents_.blocks();
    const uint64_t count = std::min(blocks.count, cut.blocks() - first);
    Matrix& own = mixtures ? m_.mixtures_ : m_.word_topics_;
    const Matrix& others = mixtures ? m_.word_topics_ : m_.mixtures_;
    const Matrix* const powers = others_as_used(others, mixtures);
    std::vector<double> losses(count, 0.0);
    const size_t done = run_shards(job_, count, [&](size_t b, size_t worker) {
      for (uint32_t r = cut.begin(first + b); r < cut.end(first + b); ++r) {
        if (!mixtures) losses[b] += loss_of(counts.row(r), own.row(r), others, worker);
        update(counts.row(r), *powers, mixtures, own, r, scratch_[worker]);
      }
    });
    for (size_t b = 0; b < done && !mixtures; ++b) {
      sum.add(losses[b], tokens_of(first + b));
    }
    if (mixtures || first + done < words_.blocks()) return {done};
    normalise_topics();
    return {done, has_settled(blocks.epoch)};
  }

  bool tempered() const { return m_.config_.temper < 1; }

  // The other table, raised to a power if that is asked for: once for all rows of a half.
  const Matrix* others_as_used(const Matrix& others, bool mixtures) {
    if (!tempered()) return &others;
    Matrix& out = mixtures ? word_powers_ : document_powers_;
    if (out.rows() == 0) out = Matrix(others.rows(), others.cols());
    constexpr size_t kRows = 256;
    finish_shards(job_, (others.rows() + kRows - 1) / kRows, [&](size_t s) {
      for (size_t r = s * kRows; r < std::min(others.rows(), (s + 1) * kRows); ++r) {
        raise(others.row(r), out.row(r));
      }
    });
    return &out;
  }
  void raise(std::span<const float> from, std::span<float> to) const {
    const auto power = static_cast<float>(m_.config_.temper);
    for (size_t k = 0; k < from.size(); ++k) to[k] = from[k] > 0 ? std::pow(from[k], power) : 0;
  }

  // - log p of the words in a row, as the tables are.
  double loss_of(Sparse::Row counts, std::span<const float> own, const Matrix& others,
                 size_t worker) {
    Scratch& s = scratch_[worker];
    s.products.resize(std::max(s.products.size(), counts.size()));
    dot_rows(own.data(), others.view(), counts.columns.data(), counts.size(), others.stride(),
             s.products.data());
    double out = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      out -= counts.values[i] * std::log(static_cast<double>(std::max(s.products[i], kTiny)));
    }
    return out;
  }

  void update(Sparse::Row counts, const Matrix& others, bool mixtures, Matrix& own, uint32_t r,
              Scratch& s) {
    const size_t topics = own.cols(), width = own.stride();
    if (mixtures && counts.size() == 0) return;  // held out, or empty
    if (s.rows.rows() == 0) s.rows = Matrix(2, topics);
    s.products.resize(std::max(s.products.size(), counts.size()));
    s.ratios.resize(s.products.size());
    const std::span<float> row = own.row(r);
    std::span<float> used = row;
    if (tempered()) {
      used = s.rows.row(1);
      raise(row, used);
    }
    dot_rows(used.data(), others.view(), counts.columns.data(), counts.size(), width,
             s.products.data());
    for (size_t i = 0; i < counts.size(); ++i) {
      s.ratios[i] = counts.values[i] / std::max(s.products[i], kTiny);
    }
    const std::span<float> sums = s.rows.row(0);
    sum_rows({others.view(), counts.columns.data(), s.ratios.data(), counts.size(), 1}, false,
             sums.data(), width);
    const auto prior = static_cast<float>(mixtures ? m_.config_.alpha : m_.config_.beta);
    double all = 0;
    for (size_t k = 0; k < topics; ++k) {
      row[k] = used[k] * sums[k] + prior;
      all += row[k];
    }
    if (!mixtures || !(all > 0)) return;
    const auto scale = static_cast<float>(1 / all);
    for (float& x : row) x *= scale;
  }

  // Counts to probabilities. A topic that has lost all its words is all words alike.
  void normalise_topics() {
    Matrix& phi = m_.word_topics_;
    constexpr size_t kRows = 1024;
    const size_t shards = (phi.rows() + kRows - 1) / kRows, topics = phi.cols();
    std::vector<double> sums(shards * topics, 0.0);
    finish_shards(job_, shards, [&](size_t s) {
      for (size_t w = s * kRows; w < std::min(phi.rows(), (s + 1) * kRows); ++w) {
        for (size_t k = 0; k < topics; ++k) sums[s * topics + k] += phi.row(w)[k];
      }
    });
    std::vector<double> all(topics, 0.0);
    for (size_t s = 0; s < shards; ++s) {
      for (size_t k = 0; k < topics; ++k) all[k] += sums[s * topics + k];
    }
    finish_shards(job_, shards, [&](size_t s) {
      for (size_t w = s * kRows; w < std::min(phi.rows(), (s + 1) * kRows); ++w) {
        const auto row = phi.row(w);
        for (size_t k = 0; k < topics; ++k) {
          row[k] =
              all[k] > 0 ? static_cast<float>(row[k] / all[k]) : 1 / static_cast<float>(phi.rows());
        }
      }
    });
  }

  uint64_t tokens_of(uint64_t block) const {
    double out = 0;
    for (uint32_t w = words_.begin(block); w < words_.end(block); ++w) {
      const auto values = by_word_.row(w).values;
      out = std::accumulate(values.begin(), values.end(), out);
    }
    return static_cast<uint64_t>(out);
  }

  bool has_settled(uint64_t epoch) const {
    const RunState& state = m_.state();
    const double now =
        state.epoch_loss / static_cast<double>(std::max<uint64_t>(1, data_.tokens()));
    return epoch >= kAtLeast && state.loss - now <= m_.config_.tolerance * state.loss;
  }

  Plsa& m_;
  const Bags& data_;
  const Job& job_;
  const Sparse by_word_;
  const Cut documents_, words_;
  std::vector<Scratch> scratch_;
  Matrix word_powers_, document_powers_;
};

class PlsaCourse final : public ModelCourse {
 public:
  PlsaCourse(Plsa& model, const Bags& data, Job& job)
      : ModelCourse(model), m_(model), data_(data), job_(job) {}
  RunPlan plan() const override {
    return {.epochs = m_.config_.epochs,
            .early_stop = m_.config_.early_stop,
            .least = static_cast<int>(kAtLeast)};
  }
  void start(Start) override { m_.start(data_, job_.seed); }
  std::unique_ptr<Trainer> trainer() override {
    return std::make_unique<PlsaTrainer>(m_, data_, job_);
  }
  void finish() override {
    ModelCourse::finish();
    m_.finish_topics(data_, job_);
  }

 private:
  Plsa& m_;
  const Bags& data_;
  Job& job_;
};

bool Plsa::learn(const Bags& data, Job& job) {
  if (state_.started) check_same(data);
  PlsaCourse course(*this, data, job);
  return kith::train(course, state_, job);
}

void Plsa::step(const Bags& data, const Job& job) {
  PlsaTrainer trainer(*this, data, job);
  RunState state;
  LossSum sum(state);
  uint64_t block = 0;
  while (block < trainer.blocks()) {
    block += trainer.learn({0, block, trainer.blocks() - block}, {0, 1}, sum).blocks;
  }
}

}  // namespace kith::plsa
