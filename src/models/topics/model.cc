// SPDX-License-Identifier: Apache-2.0
#include "models/topics/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/vectors.h"
#include "eval/coherence.h"
#include "eval/completion.h"
#include "kernels/skinny.h"
#include "kith/text.h"

namespace kith {
namespace {

// Of documents that are asked about: few need as many, and what is left then moves no digit that
// is shown.
constexpr eval::MixtureSweeps kSweeps{.most = 100, .tolerance = 1e-4f};

// Of held-out documents after each epoch: a fifth of the sweeps, and a loss that differs in the
// fourth digit.
constexpr eval::MixtureSweeps kHeldOutSweeps{.most = eval::kCompletionSweeps, .tolerance = 1e-3f};

constexpr size_t kTileWords = 1024;  // of p(topic | word), at the end
constexpr size_t kTileTopics = 16;   // of a thread, there; a multiple of four (kernels/skinny.h)

// p(topic | word) = p(word | topic) p(topic) / sum: made as they are asked for, from what the file
// has.
class WordVectors final : public Vectors {
 public:
  WordVectors(const Matrix& words, std::span<const double> sizes) : words_(words), sizes_(sizes) {}
  size_t rows() const override { return words_.rows(); }
  size_t cols() const override { return words_.cols(); }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t r = 0; r < count; ++r) {
      const auto phi = words_.row(first + r);
      float* const to = out.row(r);
      double sum = 0;
      for (size_t k = 0; k < phi.size(); ++k) sum += phi[k] * sizes_[k];
      for (size_t k = 0; k < phi.size(); ++k) {
        to[k] = sum > 0 ? static_cast<float>(phi[k] * sizes_[k] / sum) : 0;
      }
    }
  }

 private:
  const Matrix& words_;
  std::span<const double> sizes_;
};

class Inferrer final : public TextInferrer {
 public:
  explicit Inferrer(const eval::TopicView& topics) : dim_(topics.words.cols()), finder_(topics) {}
  size_t dim() const override { return dim_; }
  bool infer(std::span<const uint32_t> words, std::span<float> out) override {
    if (words.empty()) {
      std::ranges::fill(out, 0.0f);
      return false;
    }
    sorted_.assign(words.begin(), words.end());
    std::ranges::sort(sorted_);
    columns_.clear();
    counts_.clear();
    for (const uint32_t w : sorted_) {
      if (!columns_.empty() && columns_.back() == w) {
        ++counts_.back();
        continue;
      }
      columns_.push_back(w);
      counts_.push_back(1);
    }
    finder_.find({columns_, counts_}, kSweeps, out);
    return true;
  }

 private:
  size_t dim_;
  eval::MixtureFinder finder_;
  std::vector<uint32_t> sorted_, columns_;
  std::vector<float> counts_;
};

Names names_of_topics(size_t topics) {
  Names out;
  for (size_t k = 1; k <= topics; ++k) out.add(fmt::format("topic{}", k));
  return out;
}

bool are_shares(std::span<const double> values) {
  return std::ranges::all_of(values, [](double x) { return x >= 0 && std::isfinite(x); });
}

// Whether all are at least 0: what the vectors of words are divided by.
bool has_no_negative(const Matrix& m) {
  for (size_t r = 0; r < m.rows(); ++r) {
    if (!std::ranges::all_of(m.row(r), [](float x) { return x >= 0; })) return false;
  }
  return true;
}

}  // namespace

void TopicModel::visit(Parts& parts) {
  parts.names("words", words_);
  parts.names("documents", documents_);
  const size_t topics = this->topics();
  if (parts.loading()) {
    rows_ = words_.size();
    texts_ = documents_.size();
    topic_names_ = names_of_topics(topics);
  }
  parts.values("counts", counts_, rows_, Use::kFixed);
  parts.matrix("words.topics", word_topics_, rows_, topics, Use::kLearned);
  parts.matrix("documents.topics", mixtures_, texts_, topics, Use::kLearned);
  parts.matrix("topics", topic_topics_, topics, topics, Use::kFixed);
  parts.values("topics.prior", alpha_, topics, Use::kLearned);
  parts.values("topics.sizes", sizes_, topics, Use::kFixed);
  parts.values("topics.coherence", coherence_, topics, Use::kFixed);
  parts.number("topics.beta", beta_, Use::kLearned);
  parts.check(are_shares(alpha_) && are_shares(sizes_) && beta_ >= 0,
              "a number of a topic is below 0");
  if (!parts.loading()) return;
  parts.check(has_no_negative(word_topics_) && has_no_negative(mixtures_),
              "a probability is below 0");
}

void TopicModel::take(const Bags& data) {
  words_ = data.words();
  documents_ = data.names();
  counts_.assign(data.word_counts().begin(), data.word_counts().end());
  rows_ = words_.size();
  texts_ = documents_.size();
  const size_t topics = this->topics();
  topic_names_ = names_of_topics(topics);
  word_topics_ = Matrix(rows_, topics);
  mixtures_ = Matrix(texts_, topics);
  topic_topics_ = Matrix(topics, topics);
  alpha_.assign(topics, 0.0);
  sizes_.assign(topics, 0.0);
  coherence_.assign(topics, 0.0);
  beta_ = 0;
}

void TopicModel::check_same(const Bags& data) const {
  const size_t words = data.words().size(), texts = data.names().size();
  if (words_.size() == words && documents_.size() == texts && word_topics_.cols() == topics()) {
    return;
  }
  throw fault(ErrorKind::kInput,
              "there are {} words and {} documents, in the checkpoint {} and {}; resume with the "
              "same data and settings",
              words, texts, words_.size(), documents_.size());
}

std::optional<double> TopicModel::held_out_loss(const Bags& data, const Context& context) const {
  if (data.held_out_documents() == 0) return std::nullopt;
  const eval::Completion c =
      eval::complete(view(), counts_, data.held_out(), context, kHeldOutSweeps);
  if (c.words == 0) return std::nullopt;
  return c.loss / static_cast<double>(c.words);
}

void TopicModel::finish_topics(const Bags& data, const Context& context) {
  const size_t topics = this->topics();
  eval::MixtureFinder finder(view());
  for (uint32_t d = 0; d < texts_; ++d) {
    if (data.train().row(d).size() > 0) continue;  // held out, or empty
    finder.find(data.held_out().row(d), kSweeps, mixtures_.row(d));
    if (d % 1024 == 0) context.check();
  }
  sizes_.assign(topics, 0.0);
  double all = 0;
  for (uint32_t d = 0; d < texts_; ++d) {
    const auto values = data.train().row(d).values;
    const double words = std::accumulate(values.begin(), values.end(), 0.0);
    const auto theta = mixtures_.row(d);
    for (size_t k = 0; k < topics; ++k) sizes_[k] += words * theta[k];
    all += words;
  }
  for (double& s : sizes_) s = all > 0 ? s / all : 0;
  coherence_ =
      eval::coherence(eval::top_words(word_topics_, eval::kCoherenceWords), data.train(), context);
  find_overlaps(context);
}

// sum over words of p(word | topic) p(topic' | word). Each thread has some topics, for which words
// go by in their order, some at a time: the table of p(topic | word) is as large as that of words.
void TopicModel::find_overlaps(const Context& context) {
  const size_t topics = this->topics(), stride = topic_topics_.stride();
  std::vector<double> sums(topics * stride, 0.0);
  const WordVectors of_words(word_topics_, sizes_);
  Matrix tile(std::min<size_t>(kTileWords, rows_), topics);
  for (size_t first = 0; first < rows_; first += tile.rows()) {
    const size_t count = std::min(tile.rows(), rows_ - first);
    of_words.read(first, count, tile.view());
    for_each_shard(context, (topics + kTileTopics - 1) / kTileTopics, [&](size_t s) {
      const size_t begin = s * kTileTopics, own = std::min(kTileTopics, topics - begin);
      const ConstRows phi{word_topics_.view().row(first) + begin, word_topics_.stride()};
      const Rows other = tile.view();
      add_products(phi, own, {other.data, other.stride}, 0, count, sums.data() + begin * stride);
    });
  }
  for (size_t i = 0; i < topics; ++i) {
    for (size_t j = 0; j < topics; ++j) {
      topic_topics_.row(i)[j] = static_cast<float>(sums[i * stride + j]);
    }
  }
}

void TopicModel::find_mixtures(const Sparse& documents, const Context& context, Matrix& out) const {
  eval::find_mixtures(view(), documents, kSweeps, context, out);
}

std::unique_ptr<TextInferrer> TopicModel::inferrer() const {
  return std::make_unique<Inferrer>(view());
}

std::vector<VectorGroup> TopicModel::vectors(Side side) const {
  if (side != Side::kInput) {
    throw fault(ErrorKind::kUsage, "topics have one vector each; leave --vectors out");
  }
  return {{"document", "document", &documents_, std::make_shared<MatrixVectors>(mixtures_)},
          {"topic", "topic", &topic_names_, std::make_shared<MatrixVectors>(topic_topics_)},
          {"word", "word", &words_, std::make_shared<WordVectors>(word_topics_, sizes_)}};
}

uint64_t TopicModel::memory_of_topics(const Bags& data, const Job& job, bool keeps_best,
                                      uint64_t while_training) const {
  const uint64_t words = data.words().size(), texts = data.names().size();
  const uint64_t topics = this->topics(), row = padded(topics) * sizeof(float);
  const auto of_names = [](const Names& n) { return n.bytes().size() + 24 * n.size(); };
  const uint64_t tables = (words + texts + topics) * row;
  const uint64_t best = keeps_best ? (words + texts) * row : 0;
  // At the end: a tile of words, sums of topics by topics, pairs of top words.
  const uint64_t end = std::min<uint64_t>(kTileWords, words) * row + 2 * topics * row +
                       topics * 32 * 32 * 8 + words * 24;
  const uint64_t finders = static_cast<uint64_t>(job.threads()) * kTileWords * row;
  return tables + std::max(best + while_training, end) + of_names(data.words()) +
         of_names(data.names()) + 8 * words + finders + kMemoryOfAll;
}

std::vector<Fact> TopicModel::info() const {
  std::vector<Fact> out;
  for (const auto& [name, value] : {std::pair<const char*, uint64_t>{"documents", texts_},
                                    {"vocabulary", rows_},
                                    {"topics", topic_names_.size()}}) {
    out.push_back({name, fmt::format("{}", value), true});
  }
  const double mean = std::accumulate(coherence_.begin(), coherence_.end(), 0.0) /
                      static_cast<double>(std::max<size_t>(1, coherence_.size()));
  out.push_back({"coherence", fmt::format("{:.4f}", mean), true});
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

}  // namespace kith
