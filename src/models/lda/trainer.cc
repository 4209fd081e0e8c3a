// SPDX-License-Identifier: Apache-2.0
// The ways of training, cut into blocks with a safe point after each: shards of a sweep, or batches
// of documents.

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "models/lda/kernel.h"
#include "models/lda/model.h"
#include "models/lda/online.h"
#include "train/shuffle.h"

namespace kith::lda {
namespace {

constexpr uint64_t kPriorsEvery = 10;            // sweeps
constexpr uint64_t kScores = 20;                 // of what is held out, in a run
constexpr uint64_t kReport = uint64_t{1} << 26;  // tokens between two reports, about

}  // namespace

class LdaTrainer : public Trainer {
 public:
  LdaTrainer(Lda& model, const Bags& data, Job& job) : m_(model), data_(data), job_(job) {}

  uint64_t segment() const override { return blocks(); }
  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    const double share = static_cast<double>(data_.tokens()) / static_cast<double>(blocks());
    const uint64_t total = data_.tokens() * sweeps();
    const auto done = static_cast<uint64_t>(share * static_cast<double>(state.block));
    return {std::min(done, total), total};
  }
  // Now and then: it takes as long as some sweeps.
  std::optional<double> held_out_loss() override {
    const uint64_t epoch = m_.state().block / blocks();
    const uint64_t every = std::max<uint64_t>(1, sweeps() / kScores);
    if (data_.held_out_documents() == 0 || (epoch % every != 0 && epoch != sweeps())) {
      return std::nullopt;
    }
    m_.estimate(data_, job_);
    return m_.TopicModel::held_out_loss(data_, job_);
  }

 protected:
  uint64_t sweeps() const { return static_cast<uint64_t>(m_.config_.sweeps()); }
  bool averages(uint64_t epoch) const { return epoch >= m_.first_averaged(); }
  // Whether the priors are learned before this sweep.
  bool learns_priors(uint64_t epoch) const {
    const auto after = static_cast<uint64_t>(m_.config_.learns_after());
    const WhichPriors which = m_.learned_priors();
    return (which.alpha || which.beta) && epoch >= std::max<uint64_t>(1, after) &&
           (epoch - after) % kPriorsEvery == 0;
  }
  Priors next_priors(const Assignments& state) const {
    return learn_priors(m_.priors(), m_.learned_priors(), state.prior_counts(), state.totals(),
                        data_.words().size());
  }
  void begin_average() {
    if (m_.averaged_ == 0 && m_.sums_.rows() == 0) {
      m_.sums_ = Matrix(data_.words().size(), m_.topics());
    }
  }

  Lda& m_;
  const Bags& data_;
  Job& job_;
};

// A sweep is the shards of its pass by document, then those of its pass by word. Within a pass they
// do not depend on each other, so there may be a pause between any two.
class WarpTrainer final : public LdaTrainer {
 public:
  WarpTrainer(Lda& model, const Bags& data, Job& job)
      : LdaTrainer(model, data, job),
        layout_(layout_of(data.train())),
        state_(layout_, model.packed_, model.topics(), model.stride(), job),
        warp_(state_, model.pass_, job.seed) {}

  uint64_t blocks() const override { return documents() + state_.word_shards().size(); }

  uint64_t segment() const override {
    return std::max<uint64_t>(
        1, blocks() * std::min(kReport, 2 * data_.tokens()) / (2 * data_.tokens()));
  }

  // The rest of one pass at most.
  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    const bool by_word = blocks.first >= documents();
    const uint64_t first = by_word ? blocks.first - documents() : blocks.first;
    const auto shards = by_word ? state_.word_shards() : state_.document_shards();
    const uint64_t count = std::min(blocks.count, shards.size() - first);
    const Priors before = m_.priors();
    if (!by_word && first == 0 && learns_priors(blocks.epoch)) m_.set_priors(next_priors(state_));
    if (first == 0) warp_.begin_pass(by_word);
    warp_.set_priors(m_.priors(), by_word);
    const bool adds = by_word && averages(blocks.epoch);
    if (adds) begin_average();
    std::vector<double> logs(count, 0.0);
    const size_t done = run_shards(job_, count, [&](size_t s, size_t worker) {
      const Shard& shard = shards[first + s];
      logs[s] = by_word ? warp_.visit_words(shard, blocks.epoch, worker, adds ? &m_.sums_ : nullptr)
                        : warp_.visit_documents(shard, blocks.epoch, worker);
    });
    if (done == 0) m_.set_priors(before);
    for (size_t s = 0; s < done; ++s) add_loss(shards[first + s], logs[s], by_word, sum);
    if (adds && first + done == shards.size()) ++m_.averaged_;
    return {done};
  }

 private:
  uint64_t documents() const { return state_.document_shards().size(); }
  // Half of a token for each pass: all of them in a sweep, and about as much for each on the way.
  void add_loss(const Shard& shard, double log, bool by_word, LossSum& sum) const {
    const uint64_t odd = by_word ? 1 : 0;
    const uint64_t steps = (shard.end + odd) / 2 - (shard.begin + odd) / 2;
    if (by_word) {
      const auto tokens = static_cast<double>(shard.end - shard.begin);
      log += warp_.log_of_totals() * tokens / static_cast<double>(data_.tokens());
    }
    sum.add(-log, steps);
  }
  const Layout layout_;
  Assignments state_;
  Warp warp_;
};

// One token after the other, on one thread: the counts are always those of now.
class GibbsTrainer final : public LdaTrainer {
 public:
  GibbsTrainer(Lda& model, const Bags& data, Job& job)
      : LdaTrainer(model, data, job),
        layout_(layout_of(data.train())),
        state_(layout_, model.packed_, model.topics(), model.stride(), job) {
    counts_.words = Matrix(data.words().size(), model.topics());
    counts_.rows = Matrix(4, model.topics());
    counts_.here.assign(model.topics(), 0);
    counts_.totals = state_.totals();
    state_.add_counts(counts_.words);
  }

  uint64_t blocks() const override { return state_.document_shards().size(); }

  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    if (blocks.first == 0 && learns_priors(blocks.epoch)) {
      if (job_.cancelled()) return {0};
      m_.set_priors(next_priors(state_));
    }
    take_priors();
    uint64_t done = 0;
    while (done < blocks.count && (done == 0 || !job_.cancelled())) {
      visit(state_.document_shards()[blocks.first + done++], blocks.epoch);
    }
    if (blocks.first + done < this->blocks()) return {done};
    sum.add(-state_.log_likelihood(m_.priors()), data_.tokens());
    if (averages(blocks.epoch)) {
      begin_average();
      state_.add_counts(m_.sums_);
      ++m_.averaged_;
    }
    return {done};
  }

 private:
  void take_priors() {
    counts_.beta = static_cast<float>(m_.beta_);
    counts_.all_beta = m_.beta_ * static_cast<double>(data_.words().size());
    const auto prior = counts_.rows.row(GibbsCounts::kPrior);
    const auto inverse = counts_.rows.row(GibbsCounts::kInverse);
    for (size_t k = 0; k < m_.topics(); ++k) {
      prior[k] = static_cast<float>(m_.alpha_[k]);
      const double all = static_cast<double>(counts_.totals[k]) + counts_.all_beta;
      inverse[k] = static_cast<float>(1 / all);
    }
  }

  void visit(const Shard& shard, uint64_t epoch) {
    for (uint32_t d = shard.first; d < shard.last; ++d) {
      words_.clear();
      topics_.clear();
      const Sparse::Row row = data_.train().row(d);
      for (size_t i = 0; i < row.size(); ++i) {
        words_.insert(words_.end(), static_cast<size_t>(row.values[i]), row.columns[i]);
      }
      if (words_.empty()) continue;
      const uint32_t* const place = layout_.place.data() + layout_.documents[d];
      for (size_t i = 0; i < words_.size(); ++i) topics_.push_back(*state_.record(place[i]));
      Rng rng(job_.seed, (epoch + 1) << 33 | d);
      gibbs_document(words_, topics_.data(), counts_, rng);
      for (size_t i = 0; i < words_.size(); ++i) *state_.record(place[i]) = topics_[i];
    }
  }

  const Layout layout_;
  Assignments state_;
  GibbsCounts counts_;
  std::vector<uint32_t> words_;  // of a document
  std::vector<uint16_t> topics_;
};

// A block is a batch of documents, in an order of its own in every epoch.
class OnlineTrainer final : public LdaTrainer {
 public:
  OnlineTrainer(Lda& model, const Bags& data, Job& job)
      : LdaTrainer(model, data, job),
        priors_(model.priors()),
        online_(data.train(), model.sums_, priors_, job),
        rates_{model.config_.kappa, model.config_.tau0} {}

  uint64_t blocks() const override { return (documents() + batch() - 1) / batch(); }

  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    const Shuffle order(documents(), job_.seed + blocks.epoch * 0x9e3779b97f4a7c15);
    const bool learns_alpha = m_.learned_priors().alpha &&
                              blocks.epoch >= static_cast<uint64_t>(m_.config_.learns_after());
    for (uint64_t b = 0; b < blocks.count; ++b) {
      const uint64_t number = blocks.first + b;
      std::vector<uint32_t> documents;
      for (uint64_t i = number * batch(); i < std::min(this->documents(), (number + 1) * batch());
           ++i) {
        documents.push_back(static_cast<uint32_t>(order[i]));
      }
      std::ranges::sort(documents);  // whose words then lie closer together
      Online::Done done;
      try {
        done = online_.learn(documents, rates_.at(blocks.epoch * this->blocks() + number),
                             learns_alpha);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::kCancelled || b == 0) throw;
        return {b};
      }
      m_.set_priors(priors_);
      sum.add(-done.bound, done.words);
    }
    return {blocks.count};
  }

 private:
  uint64_t documents() const { return data_.train().rows(); }
  uint64_t batch() const { return static_cast<uint64_t>(m_.config_.batch); }
  Priors priors_;
  Online online_;
  const OnlineRates rates_;
};

std::unique_ptr<Trainer> make_trainer(Lda& model, const Bags& data, Job& job) {
  switch (model.config().method) {
    case Method::kWarp:
      return std::make_unique<WarpTrainer>(model, data, job);
    case Method::kGibbs:
      return std::make_unique<GibbsTrainer>(model, data, job);
    case Method::kOnline:
      return std::make_unique<OnlineTrainer>(model, data, job);
  }
  return nullptr;
}

}  // namespace kith::lda
