// SPDX-License-Identifier: Apache-2.0
#include "eval/topic_mixtures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "kernels/skinny.h"

namespace kith::eval {
namespace {

constexpr size_t kDocuments = 64;      // that one thread does at a time
constexpr float kTiny = 1e-30f;        // a word that no topic of the document has
constexpr size_t kTileRows = 1 << 10;  // at first; longer documents get more
// With many topics, most have no part in a document: after some sweeps with all, those that stand
// for fewer of its words than this are left where they are.
constexpr size_t kManyTopics = 64;
constexpr int kAllTopics = 6;
constexpr float kFewWords = 0.01f;

}  // namespace

MixtureFinder::MixtureFinder(const TopicView& topics)
    : topics_(topics), theta_(2, topics.words.cols()) {
  prior_.assign(theta_.stride(), 0.0f);
  for (size_t k = 0; k < topics.alpha.size(); ++k) {
    prior_[k] = static_cast<float>(topics.alpha[k]);
    prior_sum_ += topics.alpha[k];
  }
}

int MixtureFinder::find(Sparse::Row document, const MixtureSweeps& sweeps, std::span<float> theta) {
  const size_t topics = topics_.words.cols();
  int done = 0;
  if (document.size() == 0) {
    const double all = prior_sum_ > 0 ? prior_sum_ : static_cast<double>(topics);
    for (size_t k = 0; k < topics; ++k) {
      theta[k] = static_cast<float>((prior_sum_ > 0 ? prior_[k] : 1) / all);
    }
    return done;
  }
  std::ranges::fill(theta_.row(0), 1 / static_cast<float>(topics));
  done = sweep(document, sweeps);
  std::copy_n(theta_.row(0).begin(), topics, theta.begin());
  return done;
}

void MixtureFinder::reserve(size_t words) {
  if (tile_.rows() >= words) return;
  tile_ = Matrix(std::max(words, std::min(kTileRows, topics_.words.rows())), theta_.cols());
  order_.resize(tile_.rows());
  std::iota(order_.begin(), order_.end(), 0u);
  ratios_.resize(tile_.rows());
  rest_.resize(tile_.rows());
}

int MixtureFinder::sweep(Sparse::Row document, const MixtureSweeps& sweeps) {
  reserve(document.size());
  for (size_t i = 0; i < document.size(); ++i) {
    std::ranges::copy(topics_.words.row(document.columns[i]), tile_.row(i).begin());
  }
  const Rows rows = tile_.view();
  Active active{{rows.data, rows.stride},
                theta_.stride(),
                theta_.view().row(0),
                theta_.view().row(1),
                prior_.data(),
                nullptr,
                0};
  for (int s = 1; s <= sweeps.most; ++s) {
    if (sweep_once(document, active) < sweeps.tolerance) {
      if (active.rest) put_back();
      return s;
    }
    if (s == kAllTopics && sweeps.tolerance > 0 && active.width >= kManyTopics) {
      active = keep_few(document, active);
    }
  }
  if (active.rest) put_back();
  return sweeps.most;
}

// Returns how far a theta moved.
float MixtureFinder::sweep_once(Sparse::Row document, const Active& a) {
  const size_t size = document.size();
  dot_rows(a.theta, a.tile, order_.data(), size, a.width, ratios_.data());
  for (size_t i = 0; i < size; ++i) {
    const float rest = a.rest ? a.rest[i] : 0;
    ratios_[i] = document.values[i] / std::max(ratios_[i] + rest, kTiny);
  }
  sum_rows({a.tile, nullptr, ratios_.data(), size, 1}, false, a.sums, a.width);
  float all = 0;
  for (size_t k = 0; k < a.width; ++k) {
    a.sums[k] = a.prior[k] + a.theta[k] * a.sums[k];
    all += a.sums[k];
  }
  const float scale = all > 0 ? (1 - a.rest_mass) / all : 0;
  float moved = 0;
  for (size_t k = 0; k < a.width; ++k) {
    const float next = scale * a.sums[k];
    moved = std::max(moved, std::abs(next - a.theta[k]));
    a.theta[k] = next;
  }
  return moved;
}

// The topics that have more of the document than the prior alone gives them, with the columns of
// the tile that are theirs. The others stay as they are.
MixtureFinder::Active MixtureFinder::keep_few(Sparse::Row document, const Active& all) {
  const size_t topics = topics_.words.cols(), size = document.size();
  few_topics_.clear();
  float rest_mass = 0;
  for (size_t k = 0; k < topics; ++k) {
    if (all.sums[k] - prior_[k] > kFewWords) {
      few_topics_.push_back(static_cast<uint32_t>(k));
    } else {
      rest_mass += all.theta[k];
    }
  }
  const size_t few = few_topics_.size();
  if (few == 0 || 2 * padded(few) > all.width) return all;
  if (few_tile_.rows() < tile_.rows() || few_tile_.stride() < padded(few)) {
    few_tile_ = Matrix(tile_.rows(), std::max(few, topics / 2));
    few_ = Matrix(3, few_tile_.cols());
  }
  const size_t width = padded(few);
  float* const theta = few_.view().row(0);
  float* const prior = few_.view().row(2);
  std::fill_n(theta, width, 0.0f);
  std::fill_n(prior, width, 0.0f);
  // What all say of a word less what these say.
  dot_rows(all.theta, all.tile, order_.data(), size, all.width, rest_.data());
  for (size_t j = 0; j < few; ++j) {
    theta[j] = all.theta[few_topics_[j]];
    prior[j] = prior_[few_topics_[j]];
  }
  for (size_t i = 0; i < size; ++i) {
    const float* const from = all.tile.row(i);
    float* const to = few_tile_.view().row(i);
    std::fill_n(to + few, width - few, 0.0f);
    for (size_t j = 0; j < few; ++j) to[j] = from[few_topics_[j]];
  }
  const ConstRows tile{few_tile_.data(), few_tile_.stride()};
  dot_rows(theta, tile, order_.data(), size, width, ratios_.data());
  for (size_t i = 0; i < size; ++i) rest_[i] = std::max(0.0f, rest_[i] - ratios_[i]);
  return {tile, width, theta, few_.view().row(1), prior, rest_.data(), rest_mass};
}

void MixtureFinder::put_back() {
  for (size_t j = 0; j < few_topics_.size(); ++j) {
    theta_.row(0)[few_topics_[j]] = few_.row(0)[j];
  }
}

void find_mixtures(const TopicView& topics, const Sparse& documents, const MixtureSweeps& sweeps,
                   const Context& context, Matrix& out) {
  std::vector<MixtureFinder> finders;
  for (int t = 0; t < context.threads(); ++t) finders.emplace_back(topics);
  const size_t shards = (documents.rows() + kDocuments - 1) / kDocuments;
  for_each_shard(context, shards, [&](size_t s, size_t worker) {
    const size_t end = std::min<size_t>(documents.rows(), (s + 1) * kDocuments);
    for (size_t d = s * kDocuments; d < end; ++d) {
      finders[worker].find(documents.row(static_cast<uint32_t>(d)), sweeps, out.row(d));
    }
  });
}

}  // namespace kith::eval
