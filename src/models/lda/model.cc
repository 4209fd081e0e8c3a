// SPDX-License-Identifier: Apache-2.0
#include "models/lda/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "models/lda/online.h"

namespace kith::lda {
namespace {

// What alpha and beta are where they are learned, until they are.
constexpr double kFirstAlphaSum = 5, kFirstAlpha = 0.1, kFirstBeta = 0.01;
constexpr double kOnlineBeta = 0.02;
constexpr size_t kWords = 256;  // that one thread does at a time

// p(word | topic) from counts, or what stands for them: (counts / of + beta) / sum, by topic.
void normalise(const Matrix& counts, double of, double beta, Matrix& out, const Context& context) {
  const size_t words = counts.rows(), topics = counts.cols();
  const size_t shards = (words + kWords - 1) / kWords;
  std::vector<std::vector<double>> parts(shards, std::vector<double>(topics, 0.0));
  for_each_shard(context, shards, [&](size_t s) {
    for (size_t w = s * kWords; w < std::min(words, (s + 1) * kWords); ++w) {
      const auto row = counts.row(w);
      for (size_t k = 0; k < topics; ++k) parts[s][k] += row[k];
    }
  });
  std::vector<double> scale(topics, 0.0);
  for (const auto& part : parts) {
    for (size_t k = 0; k < topics; ++k) scale[k] += part[k];
  }
  for (double& s : scale) s = 1 / (s / of + static_cast<double>(words) * beta);
  for_each_shard(context, shards, [&](size_t s) {
    for (size_t w = s * kWords; w < std::min(words, (s + 1) * kWords); ++w) {
      const auto from = counts.row(w);
      const auto to = out.row(w);
      for (size_t k = 0; k < topics; ++k) {
        to[k] = static_cast<float>((from[k] / of + beta) * scale[k]);
      }
    }
  });
}

}  // namespace

class LdaCourse final : public ModelCourse {
 public:
  LdaCourse(Lda& model, const Bags& data, Job& job)
      : ModelCourse(model), m_(model), data_(data), job_(job) {}
  RunPlan plan() const override { return {.epochs = m_.config_.sweeps()}; }
  void start(Start) override { m_.start(data_, job_); }
  std::unique_ptr<Trainer> trainer() override { return make_trainer(m_, data_, job_); }
  void finish() override {
    m_.finish(data_, job_);
    ModelCourse::finish();
  }

 private:
  Lda& m_;
  const Bags& data_;
  Job& job_;
};

bool Lda::learn(const Bags& data, Job& job) {
  if (data.tokens() == 0) {
    throw fault(ErrorKind::kInput, "no document has a word to learn from");
  }
  if (config_.method == Method::kGibbs) {
    const auto counts = data.word_counts();
    const auto most = std::ranges::max_element(counts);
    if (*most > Bags::kMostOfAWord) {
      throw fault(ErrorKind::kInput,
                  "{} is there {} times, and --method gibbs counts up to {}; use --method warp",
                  data.words()[static_cast<size_t>(most - counts.begin())], *most,
                  Bags::kMostOfAWord);
    }
  }
  if (state_.started) check_state(data);
  LdaCourse course(*this, data, job);
  return kith::train(course, state_, job);
}

void Lda::start(const Bags& data, const Job& job) {
  take(data);
  const double first = std::min(kFirstAlpha, kFirstAlphaSum / static_cast<double>(topics()));
  alpha_.assign(topics(), config_.alpha.value_or(first));
  beta_ = config_.beta.value_or(samples() ? kFirstBeta : kOnlineBeta);
  averaged_ = 0;
  pass_ = {};
  if (samples()) {
    sums_ = Matrix();
    packed_.clear();
    Assignments(layout_of(data.train()), packed_, topics(), stride(), job).draw(job.seed);
  } else {
    sums_ = Matrix(data.words().size(), topics());
    Priors priors = this->priors();
    Online(data.train(), sums_, priors, job).start(job.seed);
  }
}

// A checkpoint must be of these data and settings, and topics must exist: they say where to write.
void Lda::check_state(const Bags& data) const {
  check_same(data);
  bool good = alpha_.size() == topics() && beta_ > 0 &&
              std::ranges::all_of(alpha_, [](double a) { return a > 0; });
  const bool wants_sums = samples() ? averaged_ > 0 : true;
  good = good && (!wants_sums || sums_.rows() > 0) &&
         (sums_.rows() == 0 || (sums_.rows() == data.words().size() && sums_.cols() == topics()));
  if (samples()) {
    good = good && packed_.size() == Assignments::packed_size(data.tokens(), stride()) &&
           std::ranges::all_of(packed_, [&](uint32_t two) {
             return (two & 0xffff) < topics() && two >> 16 < topics();
           });
    const size_t longs = Warp::long_words(data.word_counts()) * topics();
    good = good && (pass_.totals.empty() ||
                    (pass_.totals.size() == topics() && (pass_.longs.size() == longs)));
  }
  if (good) return;
  throw fault(ErrorKind::kInput,
              "the checkpoint lacks what is needed to go on with these data; start over without "
              "--resume");
}

void Lda::estimate(const Bags& data, const Context& context) {
  if (!samples()) return normalise(sums_, 1, 0, word_topics_, context);
  if (averaged_ > 0) {
    return normalise(sums_, static_cast<double>(averaged_), beta_, word_topics_, context);
  }
  Matrix counts(data.words().size(), topics());
  const Layout layout = layout_of(data.train());
  Assignments(layout, packed_, topics(), stride(), context).add_counts(counts);
  normalise(counts, 1, beta_, word_topics_, context);
}

// May be cancelled, and then comes again.
void Lda::finish(const Bags& data, const Job& job) {
  estimate(data, job);
  find_mixtures(data.train(), job, mixtures_);
  finish_topics(data, job);
  packed_ = {};
  pass_ = {};
  sums_ = Matrix();
}

uint64_t Lda::memory(const Bags& data, const Job& job) const {
  const uint64_t words = data.words().size(), tokens = data.tokens();
  const uint64_t row = padded(topics()) * sizeof(float), table = words * row;
  if (samples()) {
    const uint64_t kept = Assignments::packed_size(tokens, stride()) * 4 + table;  // to the end
    uint64_t training = tokens * 4 + 16 * words + 8 * data.names().size();
    if (!config_.alpha || !config_.beta) {
      training += static_cast<uint64_t>(job.threads()) * topics() * CountBins::kBins * 4;
    }
    if (config_.method == Method::kGibbs) training += table;
    if (config_.method == Method::kWarp) {
      training += Warp::long_words(data.word_counts()) * topics() * 12;
    }
    return memory_of_topics(data, job, false, training) + kept;
  }
  // Of a batch: rows of its words and documents, and its entries in both orders.
  const uint64_t documents = std::max<uint64_t>(1, data.train().rows());
  const uint64_t batch = std::min<uint64_t>(static_cast<uint64_t>(config_.batch), documents);
  const uint64_t entries = data.train().size() * batch / documents + 1;
  const uint64_t kinds = std::min(entries, words);
  const uint64_t training = (kinds + 2 * batch) * row + entries * 16 + kinds * 40;
  return memory_of_topics(data, job, false, training) + table;
}

void Lda::visit(Parts& parts) {
  TopicModel::visit(parts);
  parts.values("chain.topics", packed_, Parts::kAny, Use::kRun);
  parts.values("chain.totals", pass_.totals, Parts::kAny, Use::kRun);
  parts.values("chain.longs", pass_.longs, Parts::kAny, Use::kRun);
  parts.matrix("chain.sums", sums_, Parts::kAny, Parts::kAny, Use::kRun);
  parts.number("chain.averaged", averaged_, Use::kRun);
}

std::vector<Fact> Lda::info() const {
  std::vector<Fact> out = TopicModel::info();
  out.push_back({"alpha_sum", fmt::format("{:.4g}", priors().alpha_sum()), true});
  out.push_back({"beta", fmt::format("{:.4g}", beta_), true});
  return out;
}

ModelInfo info() {
  return model_info<Lda>("lda", "topics of documents: latent Dirichlet allocation");
}

}  // namespace kith::lda
