// SPDX-License-Identifier: Apache-2.0
#pragma once
// A topic for each token: the state of a sampler, and what can be counted from it. Counts are whole
// numbers, so they do not depend on threads.

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.h"
#include "kith/context.h"
#include "models/lda/layout.h"
#include "models/lda/priors.h"

namespace kith::lda {

// Two in each uint32_t of a part of the model, which this may alias.
using Topic [[gnu::may_alias]] = uint16_t;

inline constexpr int kMostTopics = 65535;

class Assignments {
 public:
  // `packed`: of each token by word, `stride` topics: its own, and others that a sampler keeps
  // beside it.
  Assignments(const Layout& layout, std::vector<uint32_t>& packed, size_t topics, size_t stride,
              const Context& context);

  // Draws one for each token, all topics alike.
  void draw(uint64_t seed);
  std::vector<uint64_t> totals() const;  // c_k
  void add_counts(Matrix& out) const;    // c_wk, to words x topics
  PriorCounts prior_counts() const;
  // log p(words, topics | priors) of all, in nats.
  double log_likelihood(const Priors& priors) const;

  Topic* record(uint64_t token_by_word) { return at(token_by_word); }
  const Topic* record(uint64_t token_by_word) const { return at(token_by_word); }
  uint32_t topic(uint64_t token_by_word) const { return *at(token_by_word); }

  const Layout& layout() const { return layout_; }
  size_t topics() const { return topics_; }
  size_t stride() const { return stride_; }
  const Context& context() const { return context_; }
  std::span<const Shard> document_shards() const { return documents_; }
  std::span<const Shard> word_shards() const { return words_; }
  // A word with more tokens than this has several shards.
  static constexpr uint64_t kLong = 1 << 16;
  bool is_long(uint32_t word) const {
    return layout_.words[word + 1] - layout_.words[word] > kLong;
  }
  static size_t packed_size(uint64_t tokens, size_t stride) { return (tokens * stride + 1) / 2; }

 private:
  Topic* at(uint64_t token) const {
    return reinterpret_cast<Topic*>(packed_.data()) + token * stride_;
  }
  // Calls visit(word, tokens, topic_of, counts, shard, worker): how many tokens it has, what gives
  // the topic of each, and as many zeros as there are topics, to be left so.
  template <class Visit>
  void for_each_word(const Visit& visit) const;
  // The same of documents.
  template <class Visit>
  void for_each_document(const Visit& visit) const;

  const Layout& layout_;
  std::vector<uint32_t>& packed_;
  const size_t topics_, stride_;
  const Context& context_;
  std::vector<Shard> documents_, words_;
};

}  // namespace kith::lda
