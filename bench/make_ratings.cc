// SPDX-License-Identifier: Apache-2.0
// Writes generated ratings as CSV, as a MovieLens file has them: users and items of falling
// frequency (Zipf with a flat head), ratings of half a star from a hidden matrix of rank 8 with
// biases and noise. usage: bench_make_ratings RATINGS USERS ITEMS [implicit] > ratings.csv
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/rng.h"

namespace {

constexpr int kRank = 8;

// Draws numbers with weights 1 / (rank + head)^power, the ranks scattered over the numbers.
class Zipf {
 public:
  Zipf(uint32_t n, double head, double power) : sums_(n), number_(n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; ++i) sums_[i] = sum += std::pow(i + head, -power);
    for (double& s : sums_) s /= sum;
    for (uint32_t i = 0; i < n; ++i) number_[i] = i;
    kith::Rng rng(7, n);
    for (uint32_t i = n; i > 1; --i) std::swap(number_[i - 1], number_[rng.below(i)]);
  }
  uint32_t draw(kith::Rng& rng) const {
    const double u = static_cast<double>(rng.next() >> 11) * 0x1p-53;
    const auto at = std::lower_bound(sums_.begin(), sums_.end() - 1, u) - sums_.begin();
    return number_[static_cast<size_t>(at)];
  }

 private:
  std::vector<double> sums_;
  std::vector<uint32_t> number_;
};

// Sum of a few uniform numbers: normal enough, mean 0, variance 1.
float normal(kith::Rng& rng) {
  float sum = 0;
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum - 6;
}

std::vector<float> vectors(uint32_t n, uint64_t stream) {
  std::vector<float> out(size_t{n} * (kRank + 1));
  for (uint32_t i = 0; i < n; ++i) {
    kith::Rng rng(stream, i);
    for (int k = 0; k <= kRank; ++k) out[size_t{i} * (kRank + 1) + k] = 0.4f * normal(rng);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: bench_make_ratings RATINGS USERS ITEMS [implicit]\n", stderr);
    return 2;
  }
  const auto ratings = std::strtoull(argv[1], nullptr, 10);
  const auto users = static_cast<uint32_t>(std::strtoull(argv[2], nullptr, 10));
  const auto items = static_cast<uint32_t>(std::strtoull(argv[3], nullptr, 10));
  const bool implicit = argc > 4;
  const Zipf user(users, 100, 0.7), item(items, 30, 0.9);
  const std::vector<float> p = vectors(users, 11), q = vectors(items, 12);
  std::string out = implicit ? "userId,movieId\n" : "userId,movieId,rating,timestamp\n";
  for (uint64_t r = 0; r < ratings; ++r) {
    kith::Rng rng(1, r);
    const uint32_t u = user.draw(rng), i = item.draw(rng);
    const float* const a = &p[size_t{u} * (kRank + 1)];
    const float* const b = &q[size_t{i} * (kRank + 1)];
    float score = 3.5f + a[kRank] + b[kRank] + 0.7f * normal(rng);
    for (int k = 0; k < kRank; ++k) score += a[k] * b[k];
    const auto half_stars = static_cast<int>(std::clamp(std::round(2 * score), 1.0f, 10.0f));
    out += std::to_string(u + 1) + ',' + std::to_string(i + 1);
    if (!implicit) {
      out += ',' + std::to_string(half_stars / 2) + (half_stars % 2 ? ".5," : ".0,") +
             std::to_string(1000000000 + rng.below(500000000));
    }
    out += '\n';
    if (out.size() > (1u << 20)) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      out.clear();
    }
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
