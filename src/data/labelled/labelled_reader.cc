// SPDX-License-Identifier: Apache-2.0
#include "data/labelled/labelled_reader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "data/holdout.h"
#include "data/labelled/text_words.h"
#include "data/text/numbering.h"
#include "data/text/word_counter.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kReportEvery = 10'000;  // texts
constexpr uint64_t kHoldoutSeed = 0x6c6162656c736f75;

// Renumbers labels, the most frequent first, ties in the order of their bytes.
void sort_labels(Labelled& data, Names& labels, Documents& documents) {
  const std::vector<uint64_t> counts = data.label_counts();
  std::vector<uint32_t> order(labels.size()), place(labels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : labels[a] < labels[b];
  });
  Names sorted;
  for (uint32_t k = 0; k < order.size(); ++k) {
    place[order[k]] = k;
    sorted.add(labels[order[k]]);
  }
  for (uint32_t& label : documents.labels) label = place[label];
  labels = std::move(sorted);
}

// Final numbers for provisional ones: words that are dropped become one kUnknownWord.
void renumber(Documents& documents, std::span<const uint32_t> final_numbers) {
  size_t to = 0, from = 0;
  for (size_t i = 0; i < documents.size(); ++i) {
    const size_t begin = to, end = documents.word_offsets[i + 1];
    for (; from < end; ++from) {
      const uint32_t word = final_numbers[documents.words[from]];
      if (word == kUnknownWord && to > begin && documents.words[to - 1] == kUnknownWord) continue;
      documents.words[to++] = word;
    }
    documents.word_offsets[i + 1] = to;
  }
  documents.words.resize(to);
}

bool knows_a_word(std::span<const uint32_t> words) {
  return std::ranges::any_of(words, [](uint32_t w) { return w != kUnknownWord; });
}

// The documents for which `takes` is false; the others go to `taken`.
template <class Takes>
Documents without(const Documents& all, Documents& taken, const Takes& takes) {
  Documents out;
  for (size_t i = 0; i < all.size(); ++i) {
    Documents& to = takes(i) ? taken : out;
    to.add(all.words_of(i), all.labels_of(i), all.weight(i));
  }
  return out;
}

}  // namespace

void LabelledReader::report(const LabelSource& source, uint64_t texts) const {
  if (on_read_ && texts % kReportEvery == 0) on_read_(source.bytes(), source.share());
}

void LabelledReader::collect(Labelled& data, const std::vector<std::string>& sources) {
  const auto source = open(sources, form_.columns);
  TextWords words(form_.options, name_of_sources(sources));
  WordCounter counter;
  LabelledText item;
  std::vector<uint32_t> numbers, labels;
  LabelledProfile& p = data.profile_;
  while (source->next(item)) {
    report(*source, ++p.texts);
    if (item.labels.empty()) {
      ++p.unlabelled;
      continue;
    }
    numbers.clear();
    words.for_each(item.text, [&](std::span<const std::string_view> some) {
      const size_t before = numbers.size();
      numbers.resize(before + some.size());
      counter.count(some, std::span(numbers).subspan(before));
    });
    labels.clear();
    for (const std::string_view label : item.labels) labels.push_back(data.labels_.add(label));
    p.several += labels.size() > 1;
    data.train_.add(numbers, labels, item.weight);
  }
  p.bytes = source->bytes();
  p.tokens = words.counts().words;
  p.too_long = words.counts().too_long;
  p.invalid_utf8 = words.counts().invalid_utf8;
  data.notes_ = source->finish();
  CorpusOptions numbering_options;
  numbering_options.min_count = form_.options.min_count;
  numbering_options.max_vocab = form_.options.max_vocab;
  numbering_options.nfc = form_.options.nfc;
  Numbering numbering = number_words(counter, numbering_options, nullptr);
  data.vocabulary_ = std::move(numbering.vocabulary);
  p.types = numbering.types;
  renumber(data.train_, numbering.final_numbers);
}

void LabelledReader::check(const Labelled& data, const std::string& where) const {
  const LabelledProfile& p = data.profile_;
  if (data.labels_.size() == 0) {
    const bool table = !form_.columns.text.empty();
    throw fault(ErrorKind::kInput, "{}: no {} has a label; {}", where, table ? "row" : "line",
                table ? fmt::format("the column {} is empty", shown(form_.columns.label))
                      : fmt::format("a label is a word such as {}spam on the line of its text; for "
                                    "a table, name its columns with --text and --label",
                                    form_.columns.label_prefix));
  }
  if (data.labels_.size() == 1) {
    throw fault(ErrorKind::kInput,
                "{}: all texts have the label {}; there is nothing to tell apart", where,
                shown(data.labels_[0]));
  }
  if (data.train_.size() == 0 || data.vocabulary_.words.size() == 0) {
    throw fault(ErrorKind::kInput, "{}: none of {} has a word that is kept; --min-count is {}",
                where, count_of(p.texts - p.unlabelled, "labelled text"), form_.options.min_count);
  }
}

void LabelledReader::hold_out(Labelled& data, std::optional<double> holdout) const {
  if (!holdout || *holdout == 0) return;
  const uint64_t all = data.train_.size(), wanted = HoldOut::wanted(holdout, all, 0);
  const HoldOut rule(static_cast<double>(wanted) / static_cast<double>(all), kHoldoutSeed);
  std::vector<uint64_t> left = data.label_counts();
  data.train_ = without(data.train_, data.held_out_, [&](size_t i) {
    if (!rule.takes(i)) return false;
    // Whatever is taken, each label stays with a text.
    const auto labels = data.train_.labels_of(i);
    if (std::ranges::any_of(labels, [&](uint32_t l) { return left[l] < 2; })) return false;
    for (const uint32_t l : labels) --left[l];
    return true;
  });
}

void LabelledReader::find_texts(const std::vector<std::string>& sources,
                                const LabelColumns& columns, Labelled& data, Documents& out,
                                const KnownLabels* known) {
  const auto source = open(sources, columns);
  TextWords words(form_.options, name_of_sources(sources));
  LabelledText item;
  std::vector<uint32_t> numbers, labels;
  uint64_t texts = 0, unlabelled = 0, unknown = 0;
  while (source->next(item)) {
    report(*source, ++texts);
    labels.clear();
    for (const std::string_view label : item.labels) {
      if (known) {
        labels.push_back(data.labels_.add(label));
      } else if (const auto at = data.labels_.find(label)) {
        labels.push_back(*at);
      }
    }
    unlabelled += item.labels.empty();
    unknown += labels.size() < item.labels.size();
    if (labels.empty()) continue;
    if (known && known->numbering) {
      words.find(item.text, known->numbering, numbers);
    } else {
      words.find(item.text, data.vocabulary_.words, numbers);
    }
    out.add(numbers, labels, item.weight);
  }
  if (out.size() == 0) {
    throw fault(ErrorKind::kInput, "{}: no text has {}", name_of_sources(sources),
                unknown ? "a label that the training data have" : "a label");
  }
  if (known) {
    data.profile_ = {.bytes = source->bytes(),
                     .texts = texts,
                     .tokens = words.counts().words,
                     .unlabelled = unlabelled};
  } else if (unknown) {
    data.notes_.push_back(
        {Note::Level::kNote,
         fmt::format("{}: {} with a label that the training data lack, which was left out",
                     name_of_sources(sources), count_of(unknown, "text"))});
  }
  for (Note& note : source->finish()) data.notes_.push_back(std::move(note));
}

Labelled LabelledReader::read(const std::vector<std::string>& sources,
                              std::optional<double> holdout) {
  if (!form_.options.tokens) {
    form_.options.tokens = form_.columns.text.empty() ? Tokens::kSpaces : Tokens::kWords;
  }
  if (!form_.columns.text.empty() && form_.options.invalid_utf8 != InvalidUtf8::kReplace) {
    throw fault(ErrorKind::kUsage,
                "--invalid-utf8 is for lines of text: in a table bad bytes become U+FFFD, and the "
                "rows are counted; leave it out");
  }
  Labelled out;
  out.form_ = form_;
  collect(out, sources);
  Documents empty;
  out.train_ =
      without(out.train_, empty, [&](size_t i) { return !knows_a_word(out.train_.words_of(i)); });
  out.profile_.empty = empty.size();
  check(out, name_of_sources(sources));
  sort_labels(out, out.labels_, out.train_);
  if (out.validated()) {
    if (holdout && *holdout > 0) {
      throw fault(ErrorKind::kUsage, "--validation is given, so --holdout must be left out, or 0");
    }
    find_texts({form_.options.validation}, form_.columns, out, out.held_out_, nullptr);
  } else {
    hold_out(out, holdout);
  }
  return out;
}

Labelled LabelledReader::read_known(const std::vector<std::string>& sources,
                                    const KnownLabels& known) {
  const LabelColumns columns = columns_for(sources.front(), form_.columns, known.form.columns);
  form_ = {columns, known.form.options};
  form_.options.validation.clear();
  Labelled out;
  out.form_ = form_;
  out.vocabulary_.words = known.words;
  out.vocabulary_.counts.assign(known.words.size(), 0);
  out.labels_ = known.labels;
  find_texts(sources, columns, out, out.train_, &known);
  return out;
}

}  // namespace kith
