// SPDX-License-Identifier: Apache-2.0
#include "models/lda/warp.h"

#include <algorithm>

#include "core/parallel.h"
#include "models/lda/gamma.h"

namespace kith::lda {
namespace {

constexpr uint64_t kAhead = 24;  // tokens to ask memory for before they are needed

// A stream of random numbers for each pass and row, or part of a row.
uint64_t stream_of(uint64_t epoch, bool by_word, uint64_t row) {
  return (2 * epoch + (by_word ? 1 : 0) + 1) << 33 | row;
}

double uniform(Rng& rng) { return static_cast<double>(rng.next() >> 11) * 0x1p-53; }

// In [0, n), of a number in [0, n] that may be n by rounding.
uint64_t below(double x, uint64_t n) { return std::min(static_cast<uint64_t>(x), n - 1); }

}  // namespace

size_t Warp::long_words(std::span<const uint64_t> word_counts) {
  return static_cast<size_t>(
      std::ranges::count_if(word_counts, [](uint64_t n) { return n > Assignments::kLong; }));
}

Warp::Warp(Assignments& state, PassCounts& counts, uint64_t seed)
    : state_(state),
      counts_(counts),
      layout_(state.layout()),
      topics_(state.topics()),
      stride_(state.stride()),
      seed_(seed),
      scratch_(static_cast<size_t>(state.context().threads())) {
  for (uint32_t w = 0; w + 1 < layout_.words.size(); ++w) {
    if (state.is_long(w)) long_words_.push_back(w);
  }
  for (Scratch& s : scratch_) {
    s.counts.assign(topics_, 0);
    s.records.resize(layout_.longest_document() * stride_);
  }
}

void Warp::begin_pass(bool by_word) {
  counts_.totals = state_.totals();
  counts_.longs.assign(long_words_.size() * topics_, 0);
  if (!by_word) return;
  finish_shards(state_.context(), long_words_.size(), [&](size_t n) {
    const uint32_t w = long_words_[n];
    uint32_t* const counts = counts_.longs.data() + n * topics_;
    for (uint64_t i = layout_.words[w]; i < layout_.words[w + 1]; ++i) ++counts[state_.topic(i)];
  });
}

void Warp::set_priors(const Priors& priors, bool by_word) {
  alpha_ = priors.alpha;
  alpha_float_.assign(alpha_.begin(), alpha_.end());
  alpha_sum_ = priors.alpha_sum();
  beta_ = priors.beta;
  alpha_sampler_ = AliasSampler(alpha_);
  const double all = beta_ * static_cast<double>(layout_.words.size() - 1);
  log_of_totals_ = 0;
  inverse_.resize(topics_);
  inverse_without_.resize(topics_);
  for (size_t k = 0; k < topics_; ++k) {
    const double n = static_cast<double>(counts_.totals[k]) + all;
    inverse_[k] = static_cast<float>(1 / n);
    log_of_totals_ -= log_rising(all, static_cast<double>(counts_.totals[k]));
    inverse_without_[k] = static_cast<float>(1 / (n >= 1 ? n - 1 + 1e-30 : n));
  }
  long_samplers_.clear();
  if (!by_word) return;
  std::vector<double> weights(topics_);
  for (size_t n = 0; n < long_words_.size(); ++n) {
    for (size_t k = 0; k < topics_; ++k) weights[k] = counts_.longs[n * topics_ + k];
    long_samplers_.emplace_back(weights);
  }
}

// The topic of a token after it was offered what is proposed to it. `counts` are those of the row
// before and after.
template <class Prior>
uint32_t Warp::settle(const Topic* record, uint32_t* counts, const Prior& prior, Rng& rng) const {
  const uint32_t before = record[0];
  uint32_t now = before;
  float weight = (static_cast<float>(--counts[before]) + prior(before)) * inverse_without_[before];
  for (size_t m = 1; m < stride_; ++m) {
    const uint32_t k = record[m];
    const float* const inverse = k == before ? inverse_without_.data() : inverse_.data();
    const float offered = (static_cast<float>(counts[k]) + prior(k)) * inverse[k];
    const bool taken = rng.uniform() * weight < offered;
    now = taken ? k : now;
    weight = taken ? offered : weight;
  }
  ++counts[now];
  return now;
}

double Warp::visit_documents(const Shard& shard, uint64_t epoch, size_t worker) {
  double out = 0;
  for (uint32_t d = shard.first; d < shard.last; ++d) {
    if (layout_.documents[d] == layout_.documents[d + 1]) continue;
    Rng rng(seed_, stream_of(epoch, false, d));
    out += visit_document(d, rng, scratch_[worker]);
  }
  return out;
}

double Warp::visit_document(uint32_t document, Rng& rng, Scratch& scratch) {
  const uint64_t begin = layout_.documents[document];
  const uint64_t size = layout_.documents[document + 1] - begin;
  const uint32_t* const place = layout_.place.data() + begin;
  const uint64_t known = layout_.place.size() - begin;
  uint32_t* const counts = scratch.counts.data();
  Topic* const records = scratch.records.data();
  for (uint64_t i = 0; i < size; ++i) {
    if (i + kAhead < known) __builtin_prefetch(state_.record(place[i + kAhead]), 1);
    const Topic* const from = state_.record(place[i]);
    for (size_t m = 0; m < stride_; ++m) records[i * stride_ + m] = from[m];
    ++counts[from[0]];
  }
  const auto prior = [&](uint32_t k) { return alpha_float_[k]; };
  for (uint64_t i = 0; i < size; ++i) {
    Topic* const r = records + i * stride_;
    r[0] = static_cast<Topic>(settle(r, counts, prior, rng));
  }
  // A topic in proportion to c_dk + alpha_k, this token left out: that of another token, or one
  // from alpha.
  const double all = alpha_sum_ + static_cast<double>(size - 1);
  LogProduct rising;
  for (uint64_t i = 0; i < size; ++i) {
    Topic* const to = state_.record(place[i]);
    to[0] = records[i * stride_];
    for (size_t m = 1; m < stride_; ++m) {
      const double x = uniform(rng) * all - alpha_sum_;
      if (x < 0 || size == 1) {
        to[m] = static_cast<Topic>(alpha_sampler_.draw(rng));
      } else {
        const uint64_t other = below(x, size - 1);
        to[m] = records[(other + (other >= i ? 1 : 0)) * stride_];
      }
    }
    rising.multiply(alpha_[to[0]] + --counts[to[0]]);
  }
  return rising.log() - log_rising(alpha_sum_, static_cast<double>(size));
}

double Warp::visit_words(const Shard& shard, uint64_t epoch, size_t worker, Matrix* sums) {
  if (state_.is_long(shard.first)) {
    Rng rng(seed_, stream_of(epoch, true, shard.begin));
    return visit_part(shard, rng, scratch_[worker], sums);
  }
  double out = 0;
  for (uint32_t w = shard.first; w < shard.last; ++w) {
    if (layout_.words[w] == layout_.words[w + 1]) continue;
    Rng rng(seed_, stream_of(epoch, true, layout_.words[w]));
    out += visit_word(w, rng, scratch_[worker], sums);
  }
  return out;
}

double Warp::visit_word(uint32_t word, Rng& rng, Scratch& scratch, Matrix* sums) {
  const uint64_t size = layout_.words[word + 1] - layout_.words[word];
  Topic* const records = state_.record(layout_.words[word]);
  uint32_t* const counts = scratch.counts.data();
  LogProduct rising;
  for (uint64_t i = 0; i < size; ++i) rising.multiply(beta_ + counts[records[i * stride_]]++);
  const auto beta = static_cast<float>(beta_);
  const auto prior = [&](uint32_t) { return beta; };
  for (uint64_t i = 0; i < size; ++i) {
    Topic* const r = records + i * stride_;
    r[0] = static_cast<Topic>(settle(r, counts, prior, rng));
  }
  propose_from_word(records, size, rng);
  float* const sum = sums ? sums->row(word).data() : nullptr;
  for (uint64_t i = 0; i < size; ++i) {
    const uint32_t k = records[i * stride_];
    if (sum) sum[k] += static_cast<float>(counts[k]);  // once: then it is 0
    counts[k] = 0;
  }
  return rising.log();
}

// A topic in proportion to c_wk + beta, this token left out: that of another token, or any.
void Warp::propose_from_word(Topic* records, uint64_t size, Rng& rng) const {
  const double any = beta_ * static_cast<double>(topics_);
  const double all = any + static_cast<double>(size - 1);
  for (uint64_t i = 0; i < size; ++i) {
    Topic* const r = records + i * stride_;
    for (size_t m = 1; m < stride_; ++m) {
      const double x = uniform(rng) * all - any;
      if (x < 0 || size == 1) {
        r[m] = static_cast<Topic>(rng.below(static_cast<uint32_t>(topics_)));
      } else {
        const uint64_t other = below(x, size - 1);
        r[m] = records[(other + (other >= i ? 1 : 0)) * stride_];
      }
    }
  }
}

// Of a word with many tokens: decided, and proposed to, by the counts of the whole word as they
// were when the pass began.
double Warp::visit_part(const Shard& part, Rng& rng, Scratch& scratch, Matrix* sums) {
  const auto number =
      static_cast<size_t>(std::ranges::lower_bound(long_words_, part.first) - long_words_.begin());
  const uint32_t* const whole = counts_.longs.data() + number * topics_;
  const AliasSampler& sampler = long_samplers_[number];
  const uint64_t size = layout_.words[part.first + 1] - layout_.words[part.first];
  const auto beta = static_cast<float>(beta_);
  const auto prior = [&](uint32_t) { return beta; };
  const double any = beta_ * static_cast<double>(topics_);
  const double all = any + static_cast<double>(size - 1);
  std::copy_n(whole, topics_, scratch.counts.data());
  uint32_t* const counts = scratch.counts.data();
  for (uint64_t i = part.begin; i < part.end; ++i) {
    Topic* const r = state_.record(i);
    const uint32_t before = r[0];
    const uint32_t now = settle(r, counts, prior, rng);
    --counts[now];
    ++counts[before];
    r[0] = static_cast<Topic>(now);
    for (size_t m = 1; m < stride_; ++m) {
      if (uniform(rng) * all < any) {
        r[m] = static_cast<Topic>(rng.below(static_cast<uint32_t>(topics_)));
        continue;
      }
      // Any token of the word but this one: it is one of those that had its topic.
      uint32_t k = sampler.draw(rng);
      while (k == before && rng.uniform() * static_cast<float>(counts[k]) < 1) {
        k = sampler.draw(rng);
      }
      r[m] = static_cast<Topic>(k);
    }
  }
  std::fill_n(counts, topics_, 0u);
  if (part.begin > layout_.words[part.first]) return 0;
  // The first part speaks for the word.
  double out = 0;
  for (size_t k = 0; k < topics_; ++k) {
    if (whole[k] == 0) continue;
    out += log_rising(beta_, whole[k]);
    if (sums) sums->row(part.first)[k] += static_cast<float>(whole[k]);
  }
  return out;
}

}  // namespace kith::lda
