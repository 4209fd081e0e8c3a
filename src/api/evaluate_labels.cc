// SPDX-License-Identifier: Apache-2.0
// Labels of texts that are known: how often they are guessed, beside what the most frequent label
// alone would reach.
#include <algorithm>
#include <numeric>

#include "api/evaluate.h"
#include "api/reading.h"
#include "core/error.h"
#include "eval/label_scores.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr size_t kFewLabels = 20;  // for a table of confusions
constexpr float kMoreLikely = 0.5f;

class LabelGuesses {
 public:
  // `labels`: those of the model, and others that the texts have.
  LabelGuesses(const Classifies& model, size_t labels)
      : model_(model), likely_(model.labels().size()), own_(labels), majority_(labels) {
    const auto counts = model.label_counts();
    const auto total = static_cast<double>(
        std::max<uint64_t>(1, std::accumulate(counts.begin(), counts.end(), uint64_t{0})));
    for (const uint64_t c : counts)
      shares_.push_back(static_cast<float>(static_cast<double>(c) / total));
    most_ = static_cast<uint32_t>(std::ranges::max_element(counts) - counts.begin());
    if (labels <= kFewLabels) confusion_.assign(labels, std::vector<uint64_t>(labels));
  }

  void add(std::span<const uint32_t> words, std::span<const uint32_t> truth) {
    unknown_ += !model_.classify(words, likely_);
    guess();
    own_.add(truth, guesses_, likelihood(truth, likely_));
    majority_.add(truth, {&most_, 1}, likelihood(truth, shares_));
    if (confusion_.empty()) return;
    const uint32_t first = guesses_.front();
    const bool right = std::ranges::count(truth, first) > 0;
    for (const uint32_t label : truth) confusion_[label][first] += !right || label == first;
  }

  void tell(const Names& labels, Report& out) const {
    out.comparisons = {{{way_of("model", own_), way_of("majority", majority_)}}};
    out.counts = {{"texts", own_.texts()}, {"unknown_texts", unknown_}};
    for (size_t k = 0; k < labels.size(); ++k) {
      const eval::LabelScores::Counts& c = own_.of(k);
      const eval::LabelScores::Rates r = c.rates();
      out.labels.push_back({std::string(labels[k]), r.precision, r.recall, r.f1, c.truth});
    }
    std::ranges::stable_sort(out.labels, std::greater<>(), &Report::Label::texts);
    if (confusion_.empty()) return;
    Report::Confusion& confusion = out.confusion.emplace();
    for (size_t k = 0; k < labels.size(); ++k) confusion.values.emplace_back(labels[k]);
    confusion.counts = confusion_;
  }

 private:
  // The likeliest label; of labels that do not exclude each other all that are more likely than
  // not, the likeliest first.
  void guess() {
    const auto best = std::ranges::max_element(likely_);
    guesses_.assign(1, static_cast<uint32_t>(best - likely_.begin()));
    if (model_.exclusive()) return;
    for (uint32_t k = 0; k < likely_.size(); ++k) {
      if (likely_[k] >= kMoreLikely && k != guesses_.front()) guesses_.push_back(k);
    }
  }

  static double likelihood(std::span<const uint32_t> truth, std::span<const float> likely) {
    double out = 0;
    for (const uint32_t label : truth) out += label < likely.size() ? likely[label] : 0;
    return out;
  }

  Way way_of(std::string name, const eval::LabelScores& s) const {
    const auto micro = s.micro(), macro = s.macro();
    Way out{std::move(name),
            {{"accuracy", s.accuracy()},
             {"precision", micro.precision},
             {"recall", micro.recall},
             {"f1", micro.f1},
             {"macro_precision", macro.precision},
             {"macro_recall", macro.recall},
             {"macro_f1", macro.f1}}};
    // Of labels for themselves the sum is no probability, but whole sets can be right.
    out.measures.push_back(model_.exclusive() ? Measure{"log_loss", s.log_loss()}
                                              : Measure{"exact", s.exact()});
    return out;
  }

  const Classifies& model_;
  std::vector<float> likely_, shares_;
  uint32_t most_ = 0;
  std::vector<uint32_t> guesses_;
  eval::LabelScores own_, majority_;
  std::vector<std::vector<uint64_t>> confusion_;
  uint64_t unknown_ = 0;
};

}  // namespace

Report evaluate_labels(const Model::Impl& model, const std::vector<std::string>& sources,
                       std::span<const Setting> reading, const Context& context,
                       Observer* observer) {
  const auto& asked = model.ask<Classifies>("eval");
  const KnownLabels known{asked.words(), asked.labels(), asked.form(), asked.numbering()};
  const auto read = read_for(*model.info->data, sources, reading, known, context, observer);
  const auto& data = dynamic_cast<const Labelled&>(*read);
  const Documents& texts = data.train();
  LabelGuesses guesses(asked, data.labels().size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i % 1024 == 0) context.check();
    guesses.add(texts.words_of(i), texts.labels_of(i));
  }
  Report out;
  guesses.tell(data.labels(), out);
  const size_t unseen = data.labels().size() - asked.labels().size();
  out.title = sources.front();
  out.subtitle = fmt::format(
      "{} with {}{}", count_of(texts.size(), "text"), count_of(data.labels().size(), "label"),
      unseen ? fmt::format("; {} of them training never saw", grouped(unseen)) : "");
  if (const uint64_t unknown = *out.count("unknown_texts")) {
    out.notes.push_back({Note::Level::kNote,
                         fmt::format("{} without a word that the model knows: each got the most "
                                     "frequent label",
                                     count_of(unknown, "text"))});
  }
  return out;
}

}  // namespace kith
