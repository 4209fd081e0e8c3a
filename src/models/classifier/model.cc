// SPDX-License-Identifier: Apache-2.0
#include "models/classifier/model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "core/rng.h"
#include "core/vectors.h"
#include "models/classifier/kernel.h"

namespace kith::classifier {

void Classifier::visit(Parts& parts) {
  parts.settings("columns", {"columns", form_.columns});
  parts.settings("text", {"text", form_.options});
  parts.names("words", words_);
  parts.names("labels", labels_);
  if (parts.loading()) {
    rows_ = words_.size();
    classes_ = labels_.size();
    parts.check(classes_ >= 2, "it has fewer than two labels");
  }
  parts.number("runs", runs_);
  parts.maybe("fasttext.min_n", min_n_);
  parts.maybe("fasttext.max_n", max_n_);
  origin_.visit(parts);
  parts.check(max_n_.value_or(0) <= 100 && min_n_.has_value() == max_n_.has_value(),
              "its runs of letters are too long");
  parts.flag("progress.working", working_, Use::kRun);
  parts.values("counts", counts_, rows_, Use::kFixed);
  parts.values("label.counts", label_counts_, classes_, Use::kFixed);
  parts.values("run.buckets", buckets_, runs_, Use::kFixed);
  if (parts.loading()) {
    const bool rising =
        std::ranges::adjacent_find(buckets_, std::greater_equal<>()) == buckets_.end();
    const auto most = static_cast<uint64_t>(config_.buckets);
    parts.check(rising && (buckets_.empty() || buckets_.back() < most) &&
                    (buckets_.empty() || config_.word_ngrams > 1 || max_n_.value_or(0) > 0),
                "the buckets of its runs of words are not in order");
  }
  const auto dim = static_cast<size_t>(config_.dim);
  const size_t cols = working_ ? row_width(dim) : dim;
  parts.check(runs_ <= 0xffffffff - rows_, "it has too many runs of words");
  parts.matrix("input", input_, rows_ + runs_, cols, Use::kLearned);
  parts.matrix("output", output_, classes_ == 0 ? 0 : outputs(), cols, Use::kLearned);
  parts.matrix("vectors", vectors_, Parts::kAny, dim, Use::kOptional);
  parts.check(vectors_.rows() == (max_n_.value_or(0) > 0 ? rows_ : 0),
              "its words and vectors do not match");
}

// Where only vectors were wanted, what texts are read with may have been left out.
void Classifier::loaded() {
  if (label_counts_.size() == classes_ && buckets_.size() == runs_) prepare();
}

void Classifier::prepare() {
  if (classes_ < 2) return;  // nothing is learned yet
  features_ = Features(static_cast<uint32_t>(rows_), config_.word_ngrams,
                       static_cast<uint64_t>(config_.buckets), buckets_);
  const auto rule = of_fasttext() ? Tree::Rule::kFastText : Tree::Rule::kOwn;
  tree_ = config_.loss == LabelLoss::kHierarchical ? Tree(label_counts_, rule) : Tree();
}

Wishes Classifier::wishes() const { return {.holdout = config_.early_stop > 0 ? 0.1 : 0}; }

bool Classifier::has_say(std::string_view setting, const Labelled& data) const {
  if (setting == "buckets") return config_.word_ngrams > 1;
  return setting != "refit" || (config_.early_stop > 0 && !data.validated());
}

void Classifier::start(const Labelled& data, const Documents& texts, uint64_t seed) {
  form_ = data.form();
  form_.options.holdout.reset();  // of the run, not of how texts are read
  form_.options.validation.clear();
  words_ = data.vocabulary().words;
  counts_ = data.vocabulary().counts;
  labels_ = data.labels();
  rows_ = words_.size();
  classes_ = labels_.size();
  label_counts_.assign(classes_, 0);
  for (const uint32_t label : texts.labels) ++label_counts_[label];
  buckets_ = Features(static_cast<uint32_t>(rows_), config_.word_ngrams,
                      static_cast<uint64_t>(config_.buckets), texts)
                 .runs()
                 .list();
  runs_ = buckets_.size();
  if (runs_ > 0xffffffff - rows_) {
    throw fault(ErrorKind::kLimit, "{} words and {} runs of words are too many; lower --buckets",
                rows_, runs_);
  }
  prepare();
  working_ = true;
  const auto dim = static_cast<size_t>(config_.dim);
  input_ = Matrix(rows_ + runs_, row_width(dim));
  output_ = Matrix(outputs(), row_width(dim));
  const float scale = 2.0f / static_cast<float>(dim);
  for (size_t r = 0; r < input_.rows(); ++r) {
    Rng rng(seed, r);
    for (float& x : input_.row(r).first(dim)) x = (rng.uniform() - 0.5f) * scale;
  }
  for (Matrix* const m : {&input_, &output_}) {
    for (size_t r = 0; r < m->rows(); ++r) m->row(r)[parameters(dim)] = kFirstSquare;
  }
}

void Classifier::finish() {
  const auto dim = static_cast<size_t>(config_.dim);
  for (Matrix* const m : {&input_, &output_}) {
    Matrix out(m->rows(), dim);
    for (size_t r = 0; r < m->rows(); ++r) {
      std::ranges::copy(std::as_const(*m).row(r).first(dim), out.row(r).begin());
    }
    *m = std::move(out);
  }
  working_ = false;
}

std::vector<uint32_t> Classifier::rows_of(std::span<const uint32_t> words) const {
  std::vector<uint32_t> rows;
  if (of_fasttext()) {
    rows.assign(words.begin(), words.end());
  } else {
    features_.find(words, rows);
  }
  return rows;
}

bool Classifier::average(std::span<const uint32_t> words, std::span<float> out) const {
  const std::vector<uint32_t> rows = rows_of(words);
  std::vector<double> sum(out.size());
  for (const uint32_t row : rows) {
    const std::span<const float> x = input_.row(row);
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += x[k];
  }
  const auto count = static_cast<double>(std::max<size_t>(rows.size(), 1));
  for (size_t k = 0; k < sum.size(); ++k) out[k] = static_cast<float>(sum[k] / count);
  return !rows.empty();
}

bool Classifier::classify(std::span<const uint32_t> words, std::span<float> out) const {
  const std::vector<uint32_t> rows = rows_of(words);
  if (rows.empty()) {
    const auto total = static_cast<double>(std::max<uint64_t>(
        1, std::accumulate(label_counts_.begin(), label_counts_.end(), uint64_t{0})));
    for (size_t k = 0; k < classes_; ++k) {
      out[k] = static_cast<float>(static_cast<double>(label_counts_[k]) / total);
    }
    return false;
  }
  std::vector<float> scores(outputs());
  scores_of(rows, parameters(static_cast<size_t>(config_.dim)), input_.view(), output_.view(),
            scores);
  if (config_.loss == LabelLoss::kSoftmax) {
    const double most = *std::ranges::max_element(scores);
    double sum = 0;
    for (const float s : scores) sum += std::exp(s - most);
    for (size_t k = 0; k < classes_; ++k) {
      out[k] = static_cast<float>(std::exp(scores[k] - most) / sum);
    }
    return true;
  }
  for (float& s : scores) s = static_cast<float>(1 / (1 + std::exp(-static_cast<double>(s))));
  if (config_.loss == LabelLoss::kHierarchical) {
    tree_.probabilities(scores, out);
  } else {
    std::ranges::copy(scores, out.begin());
  }
  return true;
}

std::vector<VectorGroup> Classifier::vectors(Side side) const {
  if (side != Side::kInput) {
    throw fault(ErrorKind::kUsage,
                "a classifier has one vector for each word; leave --vectors out");
  }
  std::vector<VectorGroup> out{{"word", "word", &words_,
                                vectors_.rows() > 0 ? std::make_shared<MatrixVectors>(vectors_)
                                                    : std::make_shared<MatrixVectors>(
                                                          input_, 0, words_.size(), input_.cols()),
                                "", true}};
  if (config_.loss != LabelLoss::kHierarchical) {
    out.push_back({"label", "label", &labels_, std::make_shared<MatrixVectors>(output_), "", true});
  }
  return out;
}

std::vector<Fact> Classifier::info() const {
  std::vector<Fact> out{{"vocabulary", fmt::format("{}", words_.size()), true},
                        {"labels", fmt::format("{}", labels_.size()), true},
                        {"word_runs", fmt::format("{}", runs_), true},
                        {"dim", fmt::format("{}", input_.cols()), true}};
  if (of_fasttext()) out.push_back({"runs", "as fastText has them"});
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

ModelInfo info() {
  return model_info<Classifier>("classifier", "labels of texts: as fastText's supervised mode");
}

}  // namespace kith::classifier
