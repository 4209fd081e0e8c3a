// SPDX-License-Identifier: Apache-2.0
#include "api/skip_gram.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "data/text/corpus.h"

namespace kith {
namespace {

// The rows of a table as lines of words.
class RowLines final : public ByteSource {
 public:
  RowLines(const Encoding& encoding, const std::string& source, std::span<const Setting> reading,
           const Context& context)
      : groups_(encoding.groups.size()),
        words_(encoding),
        rows_(encoding, {source}, reading, context, nullptr) {}
  std::span<const char> next() override {
    text_.clear();
    std::vector<std::string> line;
    while (text_.size() < (size_t{1} << 16) && rows_.next()) {
      line.clear();
      for (size_t g = 0; g < groups_; ++g) words_.add(g, rows_.cells()[g], line);
      fmt::format_to(std::back_inserter(text_), "{}\n", fmt::join(line, " "));
    }
    return text_;
  }
  double share() const override { return -1; }

 private:
  size_t groups_;
  RowWords words_;
  GroupedRows rows_;
  std::string text_;
};

}  // namespace

void RowWords::add(size_t g, const Cell& cell, std::vector<std::string>& out) {
  const Group& group = encoding_.groups[g];
  if (!cell || !group.column.sampled) return;
  if (group.numeric()) {
    const NumericCell found = numeric_cell(group.column, *cell);
    if (!found.value) return;
    const auto knot = std::ranges::min_element(
        group.knots, {}, [&](double k) { return std::abs(k - *found.value); });
    out.push_back(word(g, fmt::format("{:g}", *knot)));
  } else if (group.named()) {
    for (const std::string_view m : encoder_.members(group.column, *cell)) {
      out.push_back(word(g, m));
    }
  }
}

std::string RowWords::word(size_t g, std::string_view value) const {
  std::string out = fmt::format("{}={}", encoding_.groups[g].column.name, value);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<uint8_t>(c) <= ' '; }, '_');
  return out;
}

SkipGram::SkipGram(const Encoding& encoding, size_t dim, const std::string& source,
                   std::span<const Setting> reading, const Context& context) {
  CorpusOptions options;
  options.min_count = 1;
  options.holdout = 0;
  options.nfc = false;  // words are looked for as they stand in the table
  Corpus corpus = Corpus::read(std::make_unique<RowLines>(encoding, source, reading, context),
                               source, options, std::filesystem::temp_directory_path().string());
  model_ = model("word2vec").make();
  const Section settings = model_->settings();
  const std::vector<Setting> said{{"dim", static_cast<int64_t>(dim)},
                                  {"window", int64_t{100}},
                                  {"fixed-window", true},
                                  {"sample", 0.0},
                                  {"negatives", int64_t{20}},
                                  {"alpha", 0.75},
                                  {"epochs", int64_t{30}},
                                  {"noise", std::string("pair")},
                                  {"lr", 0.025},
                                  {"adapt-rate", 0.0}};
  apply_settings(said, {&settings, 1});
  Job job(context);
  if (!model_->fit(corpus, job, true)) context.check();
  const auto& vectors = dynamic_cast<const HasVectors&>(*model_);
  const VectorGroup input = vectors.vectors(Side::kInput).front();
  names_ = input.names;
  input_ = read_all(*input.vectors);
  output_ = read_all(*vectors.vectors(Side::kOutput).front().vectors);
}

std::vector<float> SkipGram::scores(std::span<const std::string> given, const RowWords& words,
                                    size_t g, const Names& values) const {
  std::vector<float> query(input_.cols(), 0.0f);
  for (const std::string& word : given) {
    const auto row = names_->find(word);
    for (size_t k = 0; row && k < query.size(); ++k) query[k] += input_.row(*row)[k];
  }
  std::vector<float> out(values.size(), 0.0f);
  for (size_t v = 0; v < out.size(); ++v) {
    const auto row = names_->find(words.word(g, values[v]));
    for (size_t k = 0; row && k < query.size(); ++k) out[v] += query[k] * output_.row(*row)[k];
  }
  return out;
}

}  // namespace kith
