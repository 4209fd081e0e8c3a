// SPDX-License-Identifier: Apache-2.0
#include "api/text_vectors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "api/rows.h"
#include "core/error.h"
#include "io/nfc.h"
#include "io/text_source.h"
#include "kith/text.h"
#include "train/svd.h"

namespace kith {
namespace {

// The rows of a classifier count the same, each as often as it is there.
void refuse_more_than_means(const EmbedOptions& options) {
  const bool weighted = options.weights.value_or(WordWeights::kMean) != WordWeights::kMean;
  const bool without = options.common.value_or(CommonDirection::kNone) != CommonDirection::kNone;
  if (!weighted && !without && !options.smooth) return;
  throw fault(ErrorKind::kUsage,
              "the vector of a text is the plain mean with a classifier; leave {} out",
              weighted         ? "--weights"
              : options.smooth ? "--smooth"
                               : "--common");
}

// Takes the part along u, of length 1, out of v.
void take_out(std::span<const double> u, std::span<float> v) {
  const double along = std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
  for (size_t k = 0; k < v.size(); ++k) v[k] = static_cast<float>(v[k] - along * u[k]);
}

double length_of(std::span<const float> v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

}  // namespace

void refuse_weights(const EmbedOptions& options) {
  const std::pair<std::string_view, bool> given[]{{"weights", options.weights.has_value()},
                                                  {"smooth", options.smooth.has_value()},
                                                  {"common", options.common.has_value()}};
  for (const auto& [name, is_given] : given) {
    if (!is_given) continue;
    throw fault(ErrorKind::kUsage,
                "--{} is for models of words; this one infers the vector of a text", name);
  }
}

LabelledOptions cut_like(const Model::Impl& model, std::optional<Tokens> said) {
  if (model.can<Classifies>()) {
    LabelledOptions out = model.ask<Classifies>("embed").form().options;
    if (said) out.tokens = said;
    return out;
  }
  CorpusOptions learned;
  if (const auto run = model.metadata.find("run"); run != model.metadata.end()) {
    std::vector<Setting> settings = settings_from_toml_text(run->second, model.path);
    const std::array sections{Section("The text", learned)};
    apply_known(settings, sections);
  }
  LabelledOptions out;
  out.tokens = said ? said : learned.tokens;
  if (!out.tokens && model.can<InfersTexts>()) {
    out.tokens = model.ask<InfersTexts>("embed").usual_tokens();
  }
  out.max_word = learned.max_word;
  return out;
}

TextVectors::TextVectors(const Model::Impl& model, const EmbedOptions& options, std::string name,
                         Observer* observer)
    : infers_(model.can<InfersTexts>() ? &model.ask<InfersTexts>("embed") : nullptr),
      averages_(model.can<AveragesTexts>() ? &model.ask<AveragesTexts>("embed") : nullptr),
      text_(cut_like(model, options.tokens), std::move(name)),
      smooth_(options.smooth.value_or(1e-3)) {
  if (infers_) {
    refuse_weights(options);
    inferrer_ = infers_->inferrer();
    dim_ = inferrer_->dim();
    common_ = CommonDirection::kNone;
    return;
  }
  if (averages_) {
    refuse_more_than_means(options);
    classifies_ = &model.ask<Classifies>("embed");
    numbering_ = classifies_->numbering();
    dim_ = averages_->text_dim();
    common_ = CommonDirection::kNone;
    return;
  }
  counts_ = &model.ask<CountsWords>("embed");
  speller_ = dynamic_cast<const Spells*>(counts_);
  vectors_ = dynamic_cast<const HasVectors&>(*counts_).vectors_of(std::nullopt).front();
  dim_ = vectors_.vectors->cols();
  row_ = Matrix(1, dim_);
  spelled_.resize(dim_);
  choose_weights(options, observer);
  if (common_ == CommonDirection::kModel) find_common();
}

void TextVectors::choose_weights(const EmbedOptions& options, Observer* observer) {
  const auto counts = counts_->word_counts();
  for (const uint64_t c : counts) all_ += static_cast<double>(c);
  const bool known = all_ > 0;
  weights_ = options.weights.value_or(known ? WordWeights::kSif : WordWeights::kMean);
  if (weights_ == WordWeights::kSif && !known) {
    throw fault(ErrorKind::kUsage,
                "the model does not know how frequent its words are, which --weights sif needs; "
                "use --weights mean");
  }
  if (!known && !options.weights) {
    note(observer, Note::Level::kNote,
         "the model does not know how frequent its words are, so all count the same");
  }
  if (options.smooth && weights_ == WordWeights::kMean) {
    throw fault(ErrorKind::kUsage, "--smooth is for --weights sif; here all words count the same");
  }
  const auto usual =
      weights_ == WordWeights::kSif ? CommonDirection::kModel : CommonDirection::kNone;
  common_ = options.common.value_or(usual);
  if (common_ == CommonDirection::kModel && !known) {
    throw fault(ErrorKind::kUsage,
                "the model does not know how frequent its words are, which --common model needs; "
                "use --common texts or none");
  }
}

float TextVectors::weight_of(uint32_t row) const {
  if (weights_ == WordWeights::kMean) return 1;
  const double share = static_cast<double>(counts_->word_counts()[row]) / all_;
  return static_cast<float>(smooth_ / (smooth_ + share));
}

void TextVectors::find_common() {
  direction_.assign(dim_, 0.0);
  for_each_row(*vectors_.vectors, [&](size_t r, std::span<const float> v) {
    const auto row = static_cast<uint32_t>(r);
    const double w = static_cast<double>(counts_->word_counts()[r]) / all_ * weight_of(row);
    for (size_t k = 0; k < dim_; ++k) direction_[k] += w * v[k];
  });
  const double length =
      std::sqrt(std::inner_product(direction_.begin(), direction_.end(), direction_.begin(), 0.0));
  for (double& x : direction_) x = length > 0 ? x / length : 0;
}

bool TextVectors::add(std::string_view word, std::span<double> sum) {
  const auto found =
      find_as_read(word, [&](std::string_view form) { return vectors_.names->find(form); });
  if (found) {
    vectors_.vectors->read(*found, 1, row_.view());
    const float weight = weight_of(*found);
    for (size_t k = 0; k < dim_; ++k) sum[k] += weight * row_.row(0)[k];
    return true;
  }
  // Nobody has seen it: p = 0, so its weight is 1.
  if (!speller_ || !speller_->spell(nfc(word), spelled_)) return false;
  for (size_t k = 0; k < dim_; ++k) sum[k] += spelled_[k];
  return true;
}

bool TextVectors::infer(std::string_view text, std::span<float> out) {
  known_.clear();
  text_.for_each(text, [&](std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      ++words_;
      const auto found = find_as_read(
          word, [&](std::string_view form) { return infers_->text_words().find(form); });
      if (found) known_.push_back(*found);
      unknown_ += !found;
    }
  });
  return inferrer_->infer(known_, out);
}

bool TextVectors::average(std::string_view text, std::span<float> out) {
  if (numbering_) {
    text_.find(text, numbering_, known_);
  } else {
    text_.find(text, classifies_->words(), known_);
  }
  words_ += known_.size();
  return averages_->average(known_, out);
}

bool TextVectors::embed(std::string_view text, std::span<float> out) {
  if (infers_) return infer(text, out);
  if (averages_) return average(text, out);
  std::vector<double> sum(dim_);
  uint64_t known = 0;
  text_.for_each(text, [&](std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      ++words_;
      const bool is_known = add(word, sum);
      known += is_known;
      unknown_ += !is_known;
    }
  });
  for (size_t k = 0; k < dim_; ++k) {
    out[k] = known == 0 ? 0.0f : static_cast<float>(sum[k] / static_cast<double>(known));
  }
  if (common_ == CommonDirection::kModel) take_out(direction_, out);
  return known > 0;
}

size_t TextVectors::finish(Matrix& texts, const Context& context) const {
  if (common_ != CommonDirection::kTexts || texts.rows() == 0) return 0;
  const DenseOperator all(texts);
  const Svd svd = randomised_svd(all, {.rank = 1}, context);
  if (svd.rank() == 0) return 0;  // all texts are zero
  std::vector<double> u(dim_);
  for (size_t k = 0; k < dim_; ++k) u[k] = svd.v.row(k)[0];
  constexpr double kRounding = 1e-6;  // of a length: less is none
  size_t none = 0;
  for (size_t r = 0; r < texts.rows(); ++r) {
    const std::span<float> text = texts.row(r);
    const double before = length_of(text);
    take_out(u, text);
    if (before == 0 || length_of(text) > kRounding * before) continue;
    std::ranges::fill(text, 0.0f);
    ++none;
  }
  return none;
}

void TextVectors::tell(Observer* observer) const {
  if (const uint64_t invalid = text_.counts().invalid_utf8; invalid > 0) {
    note(
        observer, Note::Level::kNote,
        fmt::format("{} with bytes that are not UTF-8; {}", count_of(invalid, "word"), kIfNotUtf8));
  }
  if (unknown_ == 0) return;
  note(observer, Note::Level::kNote,
       fmt::format("{} of {} are not known to the model and were left out", grouped(unknown_),
                   count_of(words_, "word")));
}

}  // namespace kith
