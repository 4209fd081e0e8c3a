// SPDX-License-Identifier: Apache-2.0
#include "api/skip_gram.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "api/training.h"
#include "core/error.h"
#include "data/text/corpus.h"

namespace kith {
namespace {

constexpr int64_t kEpochs = 30;
constexpr uint64_t kMostPairs = 120'000'000;  // of which a core does some ten million a second
constexpr int64_t kWindow = 100;              // words on each side: whole rows, nearly always

// The rows of a table as lines of words.
class RowLines final : public ByteSource {
 public:
  // `pairs`: grows by those that an epoch trains.
  RowLines(const Encoding& encoding, const std::string& source, std::span<const Setting> reading,
           const Context& context, uint64_t& pairs)
      : groups_(encoding.groups.size()),
        words_(encoding),
        rows_(encoding, {source}, reading, context, nullptr),
        pairs_(pairs) {}
  std::span<const char> next() override {
    text_.clear();
    std::vector<std::string> line;
    while (text_.size() < (size_t{1} << 16) && rows_.next()) {
      line.clear();
      for (size_t g = 0; g < groups_; ++g) words_.add(g, rows_.cells()[g], line);
      pairs_ += line.size() * std::min<uint64_t>(line.size(), 2 * kWindow);
      fmt::format_to(std::back_inserter(text_), "{}\n", fmt::join(line, " "));
    }
    return text_;
  }
  double share() const override { return -1; }

 private:
  size_t groups_;
  RowWords words_;
  GroupedRows rows_;
  uint64_t& pairs_;
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

int64_t SkipGram::epochs(uint64_t pairs) {
  const auto most = static_cast<int64_t>(kMostPairs / std::max<uint64_t>(1, pairs));
  return std::clamp<int64_t>(most, 1, kEpochs);
}

// Noise from a pool, shared by the words of a block, costs a tenth of noise of each pair's own, and
// five noise words a quarter of twenty.
SkipGram::SkipGram(const Encoding& encoding, size_t dim, size_t group, const std::string& source,
                   std::span<const Setting> reading, const Context& context,
                   const std::function<void(double)>& tell) {
  CorpusOptions options;
  options.min_count = 1;
  options.holdout = 0;
  options.nfc = false;  // words are looked for as they stand in the table
  uint64_t pairs = 0;
  Corpus corpus =
      Corpus::read(std::make_unique<RowLines>(encoding, source, reading, context, pairs), source,
                   options, std::filesystem::temp_directory_path().string());
  model_ = model("word2vec").make();
  const Section settings = model_->settings();
  const std::vector<Setting> said{{"dim", static_cast<int64_t>(dim)},
                                  {"window", kWindow},
                                  {"fixed-window", true},
                                  {"sample", 0.0},
                                  {"negatives", int64_t{5}},
                                  {"alpha", 0.75},
                                  {"epochs", epochs(pairs)},
                                  {"noise", std::string("pool")},
                                  {"lr", 0.08},
                                  {"adapt-rate", 0.005}};
  apply_settings(said, {&settings, 1});
  Job job(context);
  job.on_progress = [&](const Progress& p) { tell(share_done(p)); };
  if (!model_->fit(corpus, job, true)) context.check();
  const auto& vectors = dynamic_cast<const HasVectors&>(*model_);
  const VectorGroup input = vectors.vectors(Side::kInput).front();
  names_ = input.names;
  input_ = read_all(*input.vectors);
  const Matrix output = read_all(*vectors.vectors(Side::kOutput).front().vectors);
  const RowWords words(encoding);
  const Names& values = encoding.spaces[encoding.groups[group].space].names;
  values_ = Matrix(values.size(), output.cols());
  for (size_t v = 0; v < values.size(); ++v) {
    if (const auto row = names_->find(words.word(group, values[v]))) {
      std::ranges::copy(output.row(*row), values_.row(v).begin());
    }
  }
}

std::vector<float> SkipGram::scores(std::span<const std::string> given) const {
  std::vector<float> query(input_.cols(), 0.0f);
  for (const std::string& word : given) {
    const auto row = names_->find(word);
    for (size_t k = 0; row && k < query.size(); ++k) query[k] += input_.row(*row)[k];
  }
  std::vector<float> out(values_.rows());
  for (size_t v = 0; v < out.size(); ++v) {
    out[v] = std::inner_product(query.begin(), query.end(), values_.row(v).begin(), 0.0f);
  }
  return out;
}

}  // namespace kith
