// SPDX-License-Identifier: Apache-2.0
#include "eval/completion.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.h"

namespace kith::eval {
namespace {

constexpr size_t kDocuments = 32;  // that one thread does at a time
constexpr double kTiny = 1e-30;    // a word that no topic of the document has

double perplexity_of(double loss, uint64_t words) {
  return words == 0 ? 0 : std::exp(loss / static_cast<double>(words));
}

}  // namespace

double Completion::perplexity() const { return perplexity_of(loss, words); }
double Completion::unigram_perplexity() const { return perplexity_of(unigram_loss, words); }

void halve(Sparse::Row document, std::span<const uint64_t> seen, Halves& out) {
  out.words.clear();
  out.counts.clear();
  out.foretold.clear();
  out.foretold_counts.clear();
  out.unseen = 0;
  uint64_t place = 0;
  for (size_t i = 0; i < document.size(); ++i) {
    const uint32_t word = document.columns[i];
    const auto n = static_cast<uint64_t>(document.values[i]);
    if (seen[word] == 0) {
      out.unseen += n;
      continue;
    }
    const uint64_t odd = (n + place % 2) / 2, even = n - odd;
    place += n;
    if (even > 0) {
      out.words.push_back(word);
      out.counts.push_back(static_cast<float>(even));
    }
    if (odd > 0) {
      out.foretold.push_back(word);
      out.foretold_counts.push_back(static_cast<float>(odd));
    }
  }
}

Completion complete(const TopicView& topics, std::span<const uint64_t> seen,
                    const Sparse& documents, const Context& context, const MixtureSweeps& sweeps) {
  const auto all = static_cast<double>(std::accumulate(seen.begin(), seen.end(), uint64_t{0}));
  struct Worker {
    explicit Worker(const TopicView& topics) : finder(topics), theta(topics.words.cols()) {}
    MixtureFinder finder;
    Halves halves;
    std::vector<float> theta;
  };
  std::vector<Worker> workers;
  for (int t = 0; t < context.threads(); ++t) workers.emplace_back(topics);
  const size_t shards = (documents.rows() + kDocuments - 1) / kDocuments;
  std::vector<Completion> parts(shards);
  for_each_shard(context, shards, [&](size_t s, size_t worker) {
    Worker& w = workers[worker];
    Completion& part = parts[s];
    const size_t end = std::min<size_t>(documents.rows(), (s + 1) * kDocuments);
    for (size_t d = s * kDocuments; d < end; ++d) {
      halve(documents.row(static_cast<uint32_t>(d)), seen, w.halves);
      part.unseen += w.halves.unseen;
      if (w.halves.foretold.empty()) continue;
      ++part.documents;
      w.finder.find({w.halves.words, w.halves.counts}, sweeps, w.theta);
      for (size_t i = 0; i < w.halves.foretold.size(); ++i) {
        const uint32_t word = w.halves.foretold[i];
        const double n = w.halves.foretold_counts[i];
        const auto phi = topics.words.row(word);
        double p = 0;
        for (size_t k = 0; k < phi.size(); ++k) p += double{w.theta[k]} * phi[k];
        part.loss -= n * std::log(std::max(p, kTiny));
        part.unigram_loss -= n * std::log(static_cast<double>(seen[word]) / all);
        part.words += static_cast<uint64_t>(n);
      }
    }
  });
  Completion out;
  for (const Completion& p : parts) {
    out.loss += p.loss;
    out.unigram_loss += p.unigram_loss;
    out.words += p.words;
    out.unseen += p.unseen;
    out.documents += p.documents;
  }
  return out;
}

}  // namespace kith::eval
