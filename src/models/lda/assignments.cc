// SPDX-License-Identifier: Apache-2.0
#include "models/lda/assignments.h"

#include <limits>
#include <utility>

#include "core/parallel.h"
#include "core/rng.h"
#include "models/lda/gamma.h"

namespace kith::lda {
namespace {

constexpr uint64_t kShard = 1 << 15;  // tokens that one thread does at a time, about
constexpr uint64_t kPiece = 1 << 18;  // the same where little is done

uint64_t pieces(uint64_t tokens) { return (tokens + kPiece - 1) / kPiece; }

}  // namespace

Assignments::Assignments(const Layout& layout, std::vector<uint32_t>& packed, size_t topics,
                         size_t stride, const Context& context)
    : layout_(layout),
      packed_(packed),
      topics_(topics),
      stride_(stride),
      context_(context),
      documents_(shards_of(layout.documents, kShard, std::numeric_limits<uint64_t>::max())),
      words_(shards_of(layout.words, kShard, kLong)) {}

void Assignments::draw(uint64_t seed) {
  const uint64_t tokens = layout_.tokens();
  packed_.assign(packed_size(tokens, stride_), 0);
  for_each_shard(context_, pieces(tokens), [&](size_t s) {
    Rng rng(seed, s);
    for (uint64_t i = s * kPiece; i < std::min(tokens, (s + 1) * kPiece); ++i) {
      const auto topic = static_cast<Topic>(rng.below(static_cast<uint32_t>(topics_)));
      std::fill_n(record(i), stride_, topic);
    }
  });
}

std::vector<uint64_t> Assignments::totals() const {
  const uint64_t tokens = layout_.tokens();
  std::vector<std::vector<uint64_t>> parts(static_cast<size_t>(context_.threads()),
                                           std::vector<uint64_t>(topics_));
  finish_shards(context_, pieces(tokens), [&](size_t s, size_t worker) {
    uint64_t* const counts = parts[worker].data();
    for (uint64_t i = s * kPiece; i < std::min(tokens, (s + 1) * kPiece); ++i) ++counts[topic(i)];
  });
  for (size_t p = 1; p < parts.size(); ++p) {
    for (size_t k = 0; k < topics_; ++k) parts[0][k] += parts[p][k];
  }
  return std::move(parts[0]);
}

// Not to be cancelled: what asks may have changed something already. It takes less than a sweep.
template <class Visit>
void Assignments::for_each_word(const Visit& visit) const {
  finish_shards(context_, words_.size(), [&](size_t s, size_t worker) {
    const Shard& shard = words_[s];
    if (shard.begin > layout_.words[shard.first]) return;  // the first part does the whole row
    std::vector<uint32_t> counts(topics_);
    for (uint32_t w = shard.first; w < shard.last; ++w) {
      const uint64_t begin = layout_.words[w];
      visit(
          w, layout_.words[w + 1] - begin, [&](uint64_t i) { return topic(begin + i); },
          counts.data(), s, worker);
    }
  });
}

template <class Visit>
void Assignments::for_each_document(const Visit& visit) const {
  finish_shards(context_, documents_.size(), [&](size_t s, size_t worker) {
    std::vector<uint32_t> counts(topics_);
    for (uint32_t d = documents_[s].first; d < documents_[s].last; ++d) {
      const uint32_t* const place = layout_.place.data() + layout_.documents[d];
      visit(
          d, layout_.documents[d + 1] - layout_.documents[d],
          [&](uint64_t i) { return topic(place[i]); }, counts.data(), s, worker);
    }
  });
}

// As whole numbers first: a float cannot be counted up beyond 2^24.
void Assignments::add_counts(Matrix& out) const {
  for_each_word(
      [&](uint32_t w, uint64_t size, const auto& topic_of, uint32_t* counts, size_t, size_t) {
        const auto row = out.row(w);
        for (uint64_t i = 0; i < size; ++i) ++counts[topic_of(i)];
        for (uint64_t i = 0; i < size; ++i) {
          const uint32_t k = topic_of(i);
          row[k] += static_cast<float>(counts[k]);  // once: then it is 0
          counts[k] = 0;
        }
      });
}

PriorCounts Assignments::prior_counts() const {
  std::vector<PriorCounts> parts(static_cast<size_t>(context_.threads()), PriorCounts(topics_));
  for_each_document(
      [&](uint32_t, uint64_t size, const auto& topic_of, uint32_t* counts, size_t, size_t worker) {
        PriorCounts& part = parts[worker];
        for (uint64_t i = 0; i < size; ++i) {
          const uint32_t k = topic_of(i);
          part.by_topic[k].step(counts[k]++);
          part.lengths.step(static_cast<uint32_t>(i));
        }
        for (uint64_t i = 0; i < size; ++i) counts[topic_of(i)] = 0;
      });
  for_each_word(
      [&](uint32_t, uint64_t size, const auto& topic_of, uint32_t* counts, size_t, size_t worker) {
        for (uint64_t i = 0; i < size; ++i) parts[worker].words.step(counts[topic_of(i)]++);
        for (uint64_t i = 0; i < size; ++i) counts[topic_of(i)] = 0;
      });
  for (size_t p = 1; p < parts.size(); ++p) parts[0].add(parts[p]);
  return std::move(parts[0]);
}

double Assignments::log_likelihood(const Priors& priors) const {
  const double sum = priors.alpha_sum();
  std::vector<double> parts(documents_.size() + words_.size(), 0.0);
  for_each_document(
      [&](uint32_t, uint64_t size, const auto& topic_of, uint32_t* counts, size_t s, size_t) {
        LogProduct rising;
        for (uint64_t i = 0; i < size; ++i) {
          const uint32_t k = topic_of(i);
          rising.multiply(priors.alpha[k] + counts[k]++);
        }
        for (uint64_t i = 0; i < size; ++i) counts[topic_of(i)] = 0;
        parts[s] += rising.log() - log_rising(sum, static_cast<double>(size));
      });
  for_each_word(
      [&](uint32_t, uint64_t size, const auto& topic_of, uint32_t* counts, size_t s, size_t) {
        LogProduct rising;
        for (uint64_t i = 0; i < size; ++i) rising.multiply(priors.beta + counts[topic_of(i)]++);
        for (uint64_t i = 0; i < size; ++i) counts[topic_of(i)] = 0;
        parts[documents_.size() + s] += rising.log();
      });
  double out = 0;
  for (const double part : parts) out += part;
  const double all = priors.beta * static_cast<double>(layout_.words.size() - 1);
  for (const uint64_t n : totals()) out -= log_rising(all, static_cast<double>(n));
  return out;
}

}  // namespace kith::lda
