// SPDX-License-Identifier: Apache-2.0
#include "train/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "core/parallel.h"
#include "core/rng.h"

namespace kith {
namespace {

constexpr size_t kMost = 256;                // centroids: a byte
constexpr size_t kSample = size_t{1} << 15;  // rows that k-means looks at
constexpr int kRounds = 20;

// One part of the columns.
class Part {
 public:
  Part(const Matrix& table, size_t first, size_t width, const QuantiseSettings& settings)
      : table_(table),
        first_(first),
        width_(width),
        most_(std::min(settings.centroids, kMost)),
        values_(width * kMost) {}

  void learn(Rng rng) {
    const std::vector<size_t> rows = sample(rng);
    if (take_distinct(rows)) return;
    for (size_t c = 0; c < most_; ++c) set(c, at(rows[c]));  // the sample is in no order
    count_ = most_;
    std::vector<uint8_t> before(rows.size()), now(rows.size());
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < rows.size(); ++i) now[i] = nearest(at(rows[i]));
      if (round > 0 && now == before) break;
      move_to_means(rows, now);
      before = now;
    }
  }

  // Which centroid a row is nearest to; the first of those that are.
  uint8_t code(size_t row) const { return nearest(at(row)); }
  size_t count() const { return count_; }
  float value(size_t centroid, size_t k) const { return values_[k * kMost + centroid]; }

 private:
  std::span<const float> at(size_t row) const { return table_.row(row).subspan(first_, width_); }

  // All rows if they are few, else so many of them, none twice, in random order.
  std::vector<size_t> sample(Rng& rng) const {
    std::vector<size_t> out(table_.rows());
    std::iota(out.begin(), out.end(), size_t{0});
    const size_t wanted = std::min(kSample, out.size());
    for (size_t i = 0; i < wanted; ++i) {
      const uint64_t left = out.size() - i;
      std::swap(out[i], out[i + rng.next() % left]);
    }
    out.resize(wanted);
    return out;
  }

  // Takes the values themselves if there are few different ones, in all of the table.
  bool take_distinct(std::span<const size_t> rows) {
    const auto less = [&](size_t a, size_t b) {
      return std::ranges::lexicographical_compare(at(a), at(b));
    };
    std::vector<size_t> distinct;  // rows, by their values
    const auto note = [&](size_t row) {
      const auto place = std::ranges::lower_bound(distinct, row, less);
      if (place != distinct.end() && !less(row, *place)) return true;
      distinct.insert(place, row);
      return distinct.size() <= most_;
    };
    if (!std::ranges::all_of(rows, note)) return false;
    for (size_t r = 0; r < table_.rows(); ++r) {
      if (!note(r)) return false;
    }
    count_ = distinct.size();
    for (size_t c = 0; c < count_; ++c) set(c, at(distinct[c]));
    return true;
  }

  void set(size_t centroid, std::span<const float> x) {
    for (size_t k = 0; k < width_; ++k) values_[k * kMost + centroid] = x[k];
  }

  uint8_t nearest(std::span<const float> x) const {
    std::array<float, kMost> far{};
    std::fill(far.begin() + static_cast<std::ptrdiff_t>(count_), far.end(), HUGE_VALF);
    for (size_t k = 0; k < width_; ++k) {
      const float* const values = values_.data() + k * kMost;
      for (size_t c = 0; c < kMost; ++c) far[c] += (x[k] - values[c]) * (x[k] - values[c]);
    }
    constexpr size_t kLanes = 16;  // one after the other each would wait for the one before
    std::array<float, kLanes> least{};
    std::array<uint32_t, kLanes> place{};
    std::copy_n(far.begin(), kLanes, least.begin());
    for (uint32_t c = kLanes; c < kMost; c += kLanes) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        place[l] = far[c + l] < least[l] ? c : place[l];
        least[l] = std::min(far[c + l], least[l]);
      }
    }
    uint32_t best = 0;
    for (uint32_t l = 1; l < kLanes; ++l) {
      const bool same = least[l] == least[best];
      if (same ? place[l] < place[best] : least[l] < least[best]) best = l;
    }
    return static_cast<uint8_t>(place[best] + best);
  }

  // One that nothing is near stays where it is.
  void move_to_means(std::span<const size_t> rows, std::span<const uint8_t> codes) {
    std::vector<double> sums(width_ * kMost, 0.0);
    std::array<uint64_t, kMost> near{};
    for (size_t i = 0; i < rows.size(); ++i) {
      ++near[codes[i]];
      for (size_t k = 0; k < width_; ++k) sums[k * kMost + codes[i]] += double{at(rows[i])[k]};
    }
    for (size_t c = 0; c < count_; ++c) {
      for (size_t k = 0; near[c] > 0 && k < width_; ++k) {
        values_[k * kMost + c] =
            static_cast<float>(sums[k * kMost + c] / static_cast<double>(near[c]));
      }
    }
  }

  const Matrix& table_;
  size_t first_, width_, most_;
  size_t count_ = 0;
  std::vector<float> values_;  // width x kMost
};

}  // namespace

Quantised quantise(const Matrix& table, const QuantiseSettings& settings, const Context& context) {
  const size_t cols = table.cols(), wanted = std::clamp<size_t>(settings.width, 1, cols);
  Quantised out;
  out.parts = (cols + wanted - 1) / wanted;
  const size_t width = (cols + out.parts - 1) / out.parts;
  out.codes.resize(table.rows() * out.parts);
  std::vector<Part> parts;
  for (size_t p = 0; p < out.parts; ++p) {
    parts.emplace_back(table, p * width, std::min(width, cols - p * width), settings);
  }
  for_each_shard(context, out.parts, [&](size_t p) {
    parts[p].learn(Rng(settings.seed, p));
    for (size_t r = 0; r < table.rows(); ++r) {
      out.codes[r * out.parts + p] = static_cast<char>(parts[p].code(r));
    }
  });
  size_t most = 1;
  for (const Part& part : parts) most = std::max(most, part.count());
  out.centroids = Matrix(most, cols);
  for (size_t p = 0; p < out.parts; ++p) {
    for (size_t c = 0; c < parts[p].count(); ++c) {
      const size_t last = std::min(width, cols - p * width);
      for (size_t k = 0; k < last; ++k) out.centroids.row(c)[p * width + k] = parts[p].value(c, k);
    }
  }
  return out;
}

}  // namespace kith
