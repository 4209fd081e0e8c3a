// SPDX-License-Identifier: Apache-2.0
// Documents that a model of topics did not learn from: how well they are foretold, and whether the
// words of its topics stand together in them.
#include <algorithm>
#include <numeric>

#include "api/evaluate.h"
#include "api/reading.h"
#include "api/text_vectors.h"
#include "core/error.h"
#include "data/bags/bags.h"
#include "eval/coherence.h"
#include "eval/completion.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr size_t kDiversityWords = 25;  // of a topic, as in the paper

}  // namespace

Report evaluate_topics(const Model::Impl& model, const std::vector<std::string>& sources,
                       std::span<const Setting> reading, const Context& context,
                       Observer* observer) {
  const auto& asked = model.ask<Topics>("eval");
  const KnownBags known{asked.topic_words(), cut_like(model, std::nullopt)};
  const auto read = read_for(*model.info->data, sources, reading, known, context, observer);
  const auto& data = dynamic_cast<const Bags&>(*read);
  const BagsProfile& counts = data.counts();
  if (counts.kept == 0) {
    throw fault(ErrorKind::kInput, "{}: the model knows none of the {} in it; {}", sources.front(),
                count_of(counts.tokens, "word"),
                counts.from_files ? "give the words of the counts with --vocab"
                                  : "give documents of the kind that it learned from");
  }
  const Sparse& documents = data.train();
  const eval::Completion c = eval::complete({asked.word_topics(), asked.topic_prior()},
                                            asked.trained_counts(), documents, context);
  if (c.words == 0) {
    throw fault(ErrorKind::kInput,
                "{}: no document has two words that the model knows, so there is none to foretell "
                "from another",
                sources.front());
  }
  const auto top = eval::top_words(asked.word_topics(), eval::kCoherenceWords);
  const std::vector<double> npmi = eval::coherence(top, documents, context);
  const double coherence =
      std::accumulate(npmi.begin(), npmi.end(), 0.0) / static_cast<double>(npmi.size());
  const auto wide = eval::top_words(asked.word_topics(), kDiversityWords);
  Report out;
  out.title = sources.front();
  out.subtitle =
      fmt::format("{} of {} foretold from the others of their {}", count_of(c.words, "word"),
                  grouped(counts.tokens), count_of(c.documents, "document"));
  out.comparisons = {{{{"model",
                        {{"perplexity", c.perplexity()},
                         {"unigram_perplexity", c.unigram_perplexity()},
                         {"coherence", coherence},
                         {"diversity", eval::diversity(wide)}}},
                       {"unigram", {{"perplexity", c.unigram_perplexity()}}}}}};
  const uint64_t unknown = counts.tokens - counts.kept + c.unseen;
  out.counts = {{"documents", counts.documents},
                {"words", counts.tokens},
                {"foretold", c.words},
                {"unknown_words", unknown}};
  if (unknown > 0) {
    out.notes.push_back(
        {Note::Level::kNote, fmt::format("{} of {} are not known to the model and were left out",
                                         grouped(unknown), count_of(counts.tokens, "word"))});
  }
  return out;
}

}  // namespace kith
