// SPDX-License-Identifier: Apache-2.0
// Classifiers from and for fastText.

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "io/fasttext_bin.h"
#include "models/classifier/fasttext_features.h"
#include "models/classifier/model.h"

namespace kith::classifier {
namespace {

constexpr std::string_view kLabelPrefix = "__label__";  // fastText's own; files do not tell
constexpr int32_t kLongestRun = 20;
constexpr int32_t kMostBuckets = 1'000'000'000;

using Loss = FastTextHeader::Loss;

LabelLoss loss_of(Loss loss) {
  if (loss == Loss::kHs) return LabelLoss::kHierarchical;
  return loss == Loss::kSoftmax ? LabelLoss::kSoftmax : LabelLoss::kOneVsAll;
}
Loss loss_of(LabelLoss loss) {
  if (loss == LabelLoss::kHierarchical) return Loss::kHs;
  return loss == LabelLoss::kSoftmax ? Loss::kSoftmax : Loss::kOva;
}

void check(const FastTextFile& file, const std::string& path) {
  if (file.labels.size() < 2) {
    throw fault(ErrorKind::kInput, "{}: a classifier of fastText with {}; there must be two", path,
                file.labels.size() == 0 ? "no label" : "one label");
  }
  if (file.word_ngrams > kLongestRun || file.buckets > kMostBuckets || file.max_n > 100) {
    throw fault(ErrorKind::kInput,
                "{}: a classifier of fastText with runs of {} words and {} letters in {} buckets; "
                "at most {}, 100 and {} can be read",
                path, file.word_ngrams, file.max_n, file.buckets, kLongestRun, kMostBuckets);
  }
}

// Labels without what stands in front of all of them, if that is what fastText puts there.
std::string strip_prefix(Names& labels) {
  for (size_t k = 0; k < labels.size(); ++k) {
    if (!labels[k].starts_with(kLabelPrefix) || labels[k].size() == kLabelPrefix.size()) return "";
  }
  Names out;
  for (size_t k = 0; k < labels.size(); ++k) out.add(labels[k].substr(kLabelPrefix.size()));
  labels = std::move(out);
  return std::string(kLabelPrefix);
}

Matrix first_rows(const Matrix& from, size_t rows) {
  Matrix out(rows, from.cols());
  for (size_t r = 0; r < rows; ++r) std::ranges::copy(from.row(r), out.row(r).begin());
  return out;
}

// The table with its buckets rising, as a model has them.
Matrix sorted_buckets(FastTextFile& file, std::vector<uint32_t>& buckets) {
  if (!file.pruned) {
    buckets.resize(static_cast<size_t>(file.buckets));
    std::iota(buckets.begin(), buckets.end(), 0u);
    return std::move(file.input);
  }
  std::ranges::sort(*file.pruned);
  Matrix out(file.input.rows(), file.input.cols());
  const size_t words = file.words.size();
  const auto copy = [&](size_t from, size_t to) {
    std::ranges::copy(std::as_const(file.input).row(from), out.row(to).begin());
  };
  for (size_t w = 0; w < words; ++w) copy(w, w);
  for (const auto& [bucket, row] : *file.pruned) {
    copy(words + static_cast<size_t>(row), words + buckets.size());
    buckets.push_back(static_cast<uint32_t>(bucket));
  }
  return out;
}

// The same rows, and zeros behind them: fastText's tree has a row for each label, and the last of
// them no node.
class PaddedRows final : public Vectors {
 public:
  PaddedRows(const Matrix& m, size_t rows) : m_(m), rows_(rows) {}
  size_t rows() const override { return rows_; }
  size_t cols() const override { return m_.cols(); }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t r = 0; r < count; ++r) {
      std::fill_n(out.row(r), cols(), 0.0f);
      if (first + r < m_.rows()) std::ranges::copy(m_.row(first + r), out.row(r));
    }
  }

 private:
  const Matrix& m_;
  size_t rows_;
};

}  // namespace

void Classifier::take(FastTextFile file) {
  const bool letters = file.max_n > 0;
  origin_ = FastTextOrigin(file);
  config_.dim = file.dim;
  config_.word_ngrams = std::max(1, file.word_ngrams);
  config_.buckets = std::max(1, file.buckets);
  config_.loss = loss_of(file.loss);
  config_.epochs = std::clamp(file.epochs, 0, 10000);
  config_.optimiser = Optimiser::kSgd;
  min_n_ = letters ? static_cast<uint64_t>(file.min_n) : 0;
  max_n_ = static_cast<uint64_t>(file.max_n);
  form_.columns.label_prefix = strip_prefix(file.labels);
  form_.options.tokens = Tokens::kSpaces;
  form_.options.max_word = 1'000'000;
  form_.options.nfc = false;
  input_ = sorted_buckets(file, buckets_);
  // Of the rows of a tree the last belongs to no node.
  output_ = config_.loss == LabelLoss::kHierarchical
                ? first_rows(file.output, file.labels.size() - 1)
                : std::move(file.output);
  words_ = std::move(file.words);
  counts_ = std::move(file.counts);
  labels_ = std::move(file.labels);
  label_counts_ = std::move(file.label_counts);
  rows_ = words_.size();
  classes_ = labels_.size();
  runs_ = buckets_.size();
  state_.finished = true;
  prepare();
  if (letters) whole_words();
}

// What fastText calls the vector of a word: the mean of its own row and those of its letters.
void Classifier::whole_words() {
  vectors_ = Matrix(rows_, input_.cols());
  std::vector<uint32_t> rows;
  for (size_t w = 0; w < rows_; ++w) {
    rows.clear();
    add_word(fasttext_rule(), words_, features_.runs(), words_[w], rows);
    const std::span<float> out = vectors_.row(w);
    for (const uint32_t r : rows) {
      const std::span<const float> x = std::as_const(input_).row(r);
      for (size_t k = 0; k < out.size(); ++k) out[k] += x[k];
    }
    for (float& x : out) x /= static_cast<float>(rows.size());
  }
}

FastTextRule Classifier::fasttext_rule() const {
  return {.longest_run = static_cast<size_t>(config_.word_ngrams),
          .min_n = min_n_.value_or(0),
          .max_n = max_n_.value_or(0),
          .buckets = static_cast<uint64_t>(config_.buckets),
          .label_prefix = form_.columns.label_prefix};
}

NumberWords Classifier::numbering() const {
  if (!of_fasttext()) return {};
  return [this, rule = fasttext_rule()](std::span<const std::string_view> text,
                                        std::vector<uint32_t>& out) {
    find_features(rule, words_, features_.runs(), text, out);
  };
}

void Classifier::write_fasttext(const std::string& path, const Context& context) const {
  if (!of_fasttext() && (runs_ > 0 || config_.loss == LabelLoss::kHierarchical)) {
    throw fault(ErrorKind::kUsage,
                "fastText finds {} in another way, so it would not give the labels of this model; "
                "train with {}, or export the vectors alone with --vectors input",
                runs_ > 0 ? "runs of words" : "its tree of labels",
                runs_ > 0 ? "--word-ngrams 1" : "--loss softmax");
  }
  const bool hashed = config_.word_ngrams > 1 || max_n_.value_or(0) > 0;
  const bool pruned = of_fasttext() && hashed && runs_ < static_cast<uint64_t>(config_.buckets);
  if (pruned) {
    throw fault(ErrorKind::kUsage,
                "this model of fastText was quantised, and {} of its {} buckets kept; fastText "
                "reads that in quantised files alone, which are not written",
                runs_, config_.buckets);
  }
  FastTextHeader header;
  header.dim = config_.dim;
  header.epochs = config_.epochs;
  header.min_count = counts_.empty() ? 1 : static_cast<int32_t>(std::ranges::min(counts_));
  header.word_ngrams = runs_ > 0 ? config_.word_ngrams : 1;
  header.loss = loss_of(config_.loss);
  header.kind = FastTextHeader::Kind::kSupervised;
  header.buckets = static_cast<int32_t>(runs_);
  header.min_n = static_cast<int32_t>(min_n_.value_or(0));
  header.max_n = static_cast<int32_t>(max_n_.value_or(0));
  header.words = words_;
  header.counts = counts_;
  header.tokens =
      static_cast<int64_t>(std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}));
  for (size_t k = 0; k < labels_.size(); ++k) {
    header.labels.add(form_.columns.label_prefix + std::string(labels_[k]));
  }
  header.label_counts = label_counts_;
  origin_.restore(header);
  const MatrixVectors input(input_);
  const PaddedRows output(output_, classes_);
  write_fasttext_bin(path, header, WatchedVectors(input, context), WatchedVectors(output, context));
}

}  // namespace kith::classifier

namespace kith {

std::unique_ptr<ModelBase> classifier_of(FastTextFile file, const std::string& path) {
  classifier::check(file, path);
  auto out = std::make_unique<classifier::Classifier>();
  out->take(std::move(file));
  return out;
}

}  // namespace kith
