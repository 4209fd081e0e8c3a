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

int MixtureFinder::sweep(Sparse::Row document, const MixtureSweeps& sweeps) {
  const size_t size = document.size(), width = theta_.stride();
  if (tile_.rows() < size) {
    tile_ = Matrix(std::max(size, std::min(kTileRows, topics_.words.rows())), theta_.cols());
    order_.resize(tile_.rows());
    std::iota(order_.begin(), order_.end(), 0u);
    ratios_.resize(tile_.rows());
  }
  for (size_t i = 0; i < size; ++i) {
    std::ranges::copy(topics_.words.row(document.columns[i]), tile_.row(i).begin());
  }
  const Rows rows = tile_.view();
  const ConstRows tile{rows.data, rows.stride};
  float* const theta = theta_.view().row(0);
  float* const sums = theta_.view().row(1);
  for (int s = 1; s <= sweeps.most; ++s) {
    dot_rows(theta, tile, order_.data(), size, width, ratios_.data());
    for (size_t i = 0; i < size; ++i) {
      ratios_[i] = document.values[i] / std::max(ratios_[i], kTiny);
    }
    sum_rows({tile, nullptr, ratios_.data(), size, 1}, false, sums, width);
    float all = 0;
    for (size_t k = 0; k < width; ++k) {
      sums[k] = prior_[k] + theta[k] * sums[k];
      all += sums[k];
    }
    const float scale = all > 0 ? 1 / all : 0;
    float moved = 0;
    for (size_t k = 0; k < width; ++k) {
      const float next = scale * sums[k];
      moved = std::max(moved, std::abs(next - theta[k]));
      theta[k] = next;
    }
    if (moved < sweeps.tolerance) return s;
  }
  return sweeps.most;
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
