// SPDX-License-Identifier: Apache-2.0
#include "eval/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "data/holdout.h"

namespace kith {
namespace {

constexpr uint64_t kStream = 0x5b117;  // of random numbers; a user's own is behind it

// In [0, n), for n beyond 32 bits too.
uint64_t below(Rng& rng, uint64_t n) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(rng.next()) * n >> 64);
}

uint64_t tested_of(uint64_t n, double share) {
  return std::min<uint64_t>(n, static_cast<uint64_t>(std::llround(share * static_cast<double>(n))));
}

// Exactly so many, each set of them as likely (Knuth's algorithm S).
std::vector<bool> mark_random(uint64_t n, uint64_t wanted, uint64_t seed) {
  std::vector<bool> out(n);
  Rng rng(seed, kStream);
  for (uint64_t i = 0; i < n && wanted > 0; ++i) {
    if (below(rng, n - i) >= wanted) continue;
    out[i] = true;
    --wanted;
  }
  return out;
}

std::vector<uint32_t> shuffled(uint32_t n, Rng& rng) {
  std::vector<uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0u);
  for (uint32_t i = n; i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

// Of a user with n ratings: the share of them, its fraction by chance, and never all.
uint32_t tested_of_user(uint32_t n, double share, Rng& rng) {
  if (n == 0) return 0;
  const double exact = share * n;
  auto whole = static_cast<uint32_t>(exact);
  whole += rng.uniform() < exact - whole;
  return std::min(whole, n - 1);
}

std::vector<bool> mark_by_user(const Sparse& a, double share, uint64_t seed) {
  std::vector<bool> out(a.size());
  for (uint32_t u = 0; u < a.rows(); ++u) {
    Rng rng(seed, kStream + 1 + u);
    const auto n = static_cast<uint32_t>(a.row(u).size());
    const uint32_t tested = tested_of_user(n, share, rng);
    const auto order = shuffled(n, rng);
    for (uint32_t i = 0; i < tested; ++i) out[a.offsets[u] + order[i]] = true;
  }
  return out;
}

void check_times(const Ratings& ratings) {
  if (ratings.times().size() == ratings.train().size()) return;
  throw fault(
      ErrorKind::kUsage,
      "a split by time needs the time of each rating; name its column with --time, or split "
      "another way");
}

// The last so many. Of those at the very moment where the parts meet, chance decides.
std::vector<bool> mark_last(std::span<const int64_t> times, uint64_t wanted, uint64_t seed) {
  std::vector<bool> out(times.size());
  if (wanted == 0) return out;
  std::vector<int64_t> sorted(times.begin(), times.end());
  const auto border = sorted.end() - static_cast<int64_t>(wanted);
  std::ranges::nth_element(sorted, border);
  const int64_t moment = *border;
  const auto after =
      static_cast<uint64_t>(std::ranges::count_if(times, [&](int64_t t) { return t > moment; }));
  const auto level = static_cast<uint64_t>(std::ranges::count(times, moment));
  const std::vector<bool> drawn = mark_random(level, wanted - after, seed);
  for (size_t i = 0, tie = 0; i < times.size(); ++i) {
    out[i] = times[i] > moment || (times[i] == moment && drawn[tie++]);
  }
  return out;
}

std::vector<bool> mark_last_of_users(const Ratings& ratings, double share, uint64_t seed) {
  const Sparse& a = ratings.train();
  std::vector<bool> out(a.size());
  for (uint32_t u = 0; u < a.rows(); ++u) {
    Rng rng(seed, kStream + 1 + u);
    const auto n = static_cast<uint32_t>(a.row(u).size());
    const uint32_t tested = tested_of_user(n, share, rng);
    const auto marked = mark_last(ratings.times().subspan(a.offsets[u], n), tested, rng.next());
    for (uint32_t i = 0; i < n; ++i) out[a.offsets[u] + i] = marked[i];
  }
  return out;
}

// A part for each rating, drawn from what is left of each part.
std::vector<bool> mark_fold(uint64_t n, int folds, int fold, uint64_t seed) {
  std::vector<uint64_t> left(static_cast<size_t>(folds));
  for (size_t f = 0; f < left.size(); ++f) {
    left[f] = n / left.size() + (f < n % left.size() ? 1 : 0);
  }
  std::vector<bool> out(n);
  Rng rng(seed, kStream);
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t drawn = below(rng, n - i);
    size_t part = 0;
    for (; drawn >= left[part]; ++part) drawn -= left[part];
    --left[part];
    out[i] = part == static_cast<size_t>(fold);
  }
  return out;
}

std::vector<bool> mark_fold_by_user(const Sparse& a, int folds, int fold, uint64_t seed) {
  std::vector<bool> out(a.size());
  const auto parts = static_cast<uint32_t>(folds);
  for (uint32_t u = 0; u < a.rows(); ++u) {
    Rng rng(seed, kStream + 1 + u);
    const auto n = static_cast<uint32_t>(a.row(u).size());
    if (n < 2) continue;
    const uint32_t first = rng.below(parts);  // so that users of few ratings fill all parts alike
    const auto order = shuffled(n, rng);
    for (uint32_t i = 0; i < n; ++i) {
      out[a.offsets[u] + order[i]] = (first + i) % parts == static_cast<uint32_t>(fold);
    }
  }
  return out;
}

// The entries whose place is marked are tested.
Split split_where(const Sparse& a, const std::vector<bool>& marked) {
  Split out;
  const auto tested = static_cast<uint64_t>(std::ranges::count(marked, true));
  for (Sparse* part : {&out.train, &out.test}) {
    const uint64_t size = part == &out.test ? tested : a.size() - tested;
    part->columns = a.columns;
    part->offsets.reserve(a.offsets.size());
    part->column.reserve(size);
    part->value.reserve(size);
  }
  for (uint32_t u = 0; u < a.rows(); ++u) {
    for (uint64_t i = a.offsets[u]; i < a.offsets[u + 1]; ++i) {
      Sparse& part = marked[i] ? out.test : out.train;
      part.column.push_back(a.column[i]);
      part.value.push_back(a.value[i]);
    }
    out.train.offsets.push_back(out.train.column.size());
    out.test.offsets.push_back(out.test.column.size());
  }
  return out;
}

}  // namespace

Split split(const Ratings& ratings, SplitBy by, double test, uint64_t seed) {
  const Sparse& a = ratings.train();
  switch (by) {
    case SplitBy::kRandom:
      return split_where(a, mark_random(a.size(), tested_of(a.size(), test), seed));
    case SplitBy::kUser:
      return split_where(a, mark_by_user(a, test, seed));
    case SplitBy::kTime:
      check_times(ratings);
      return split_where(a, mark_last(ratings.times(), tested_of(a.size(), test), seed));
    case SplitBy::kUserTime:
      break;
  }
  check_times(ratings);
  return split_where(a, mark_last_of_users(ratings, test, seed));
}

Split fold_of(const Ratings& ratings, SplitBy by, int folds, int fold, uint64_t seed) {
  const Sparse& a = ratings.train();
  if (by == SplitBy::kRandom) return split_where(a, mark_fold(a.size(), folds, fold, seed));
  if (by == SplitBy::kUser) return split_where(a, mark_fold_by_user(a, folds, fold, seed));
  throw fault(ErrorKind::kUsage,
              "folds are cut at random or by user, since what comes last in time comes last once; "
              "leave --folds out, or split another way");
}

std::vector<uint32_t> latest_items(const Ratings& ratings, const Sparse& train, double share) {
  check_times(ratings);
  const Sparse& all = ratings.train();
  std::vector<int64_t> times;
  times.reserve(train.size());
  for (uint32_t u = 0; u < train.rows(); ++u) {
    const Sparse::Row row = all.row(u), part = train.row(u);
    for (size_t i = 0, k = 0; k < part.size(); ++i) {
      if (row.columns[i] != part.columns[k]) continue;
      times.push_back(ratings.times()[all.offsets[u] + i]);
      ++k;
    }
  }
  const auto wanted =
      std::max<uint64_t>(1, static_cast<uint64_t>(share * static_cast<double>(times.size())));
  const std::vector<bool> marked = mark_last(times, std::min<uint64_t>(wanted, times.size()), 1);
  std::vector<uint32_t> out;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) out.push_back(train.column[i]);
  }
  return out;
}

Ratings held_apart(const Ratings& ratings) {
  const HoldOut held(ratings.holdout());
  const Sparse& a = ratings.train();
  std::vector<bool> marked(a.size());
  for (uint32_t u = 0; u < a.rows(); ++u) {
    for (uint64_t i = a.offsets[u]; i < a.offsets[u + 1]; ++i) {
      marked[i] = held.takes(pair_key(ratings.users()[u], ratings.items()[a.column[i]]));
    }
  }
  Split parts = split_where(a, marked);
  return ratings.with(std::move(parts.train), std::move(parts.test));
}

}  // namespace kith
