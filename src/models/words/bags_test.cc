// SPDX-License-Identifier: Apache-2.0
// Words that are the mean of several rows: the kernel beside the textbook.

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/error.h"
#include "kernels/test_targets.h"
#include "models/words/kernel.h"
#include "models/words/test_reference.h"

namespace kith::words {
namespace {

using reference::Vec;

class BagKernel : public EveryTarget {};

constexpr uint32_t kWords = 6, kNoise = 5;  // the last word stands in no text: all noise is it
constexpr size_t kRows = 11;

// Words of one to four rows, which they share.
Bags some_bags() {
  Bags out;
  const std::vector<std::vector<uint32_t>> bags{{0}, {1, 6, 7}, {2, 7, 8, 9}, {3, 10}, {4, 6}, {5}};
  for (const auto& bag : bags) {
    out.rows.insert(out.rows.end(), bag.begin(), bag.end());
    out.offsets.push_back(out.rows.size());
    out.longest = std::max(out.longest, bag.size());
  }
  out.usual = 2.5;
  return out;
}

// Both tables in both precisions, and a block of text that is trained in both.
struct Problem {
  Problem(size_t dim, const Config& of)
      : config(of), in(kRows, dim), out(kWords, dim), scratch(config, in.stride(), bags.longest) {
    std::mt19937 rng(3);
    for (auto [matrix, book] : {std::pair{&in, &in_book}, {&out, &out_book}}) {
      for (size_t r = 0; r < matrix->rows(); ++r) {
        Vec v = reference::random_vec(dim, rng, 0.5);
        for (size_t k = 0; k < dim; ++k) v[k] = matrix->row(r)[k] = static_cast<float>(v[k]);
        book->push_back(v);
      }
    }
  }

  void train(std::span<const WordId> text, size_t begin, size_t end, float lr) {
    std::vector<double> weights(kWords, 0.0);
    weights[kNoise] = 1;
    const AliasSampler noise(weights);
    std::vector<float> in_energy(kRows, 1), out_energy(kWords, 1);
    Work work{text, begin, end, lr, Rng(1, 1)};
    train_block({config, &noise, &bags}, work, RowTable{in.view(), in_energy.data()},
                RowTable{out.view(), out_energy.data()}, scratch);
  }

  Vec mean(uint32_t word) const {
    Vec h(in.cols(), 0.0);
    const auto bag = bags.of(word);
    for (const uint32_t r : bag) {
      reference::axpy(1 / static_cast<double>(bag.size()), in_book[r], h);
    }
    return h;
  }

  // The textbook, with what the kernel says of itself: a mean lives from the first window that can
  // reach its position until the last has passed.
  void train_book(std::span<const WordId> text, size_t begin, size_t end, double lr) {
    const auto reach = static_cast<size_t>(config.window);
    std::vector<Vec> now(text.size()), before(text.size());
    size_t entered = begin > reach ? begin - reach : 0, left = entered;
    const auto leave = [&] {
      if (text[left] != kSentenceEnd) {
        for (const uint32_t r : bags.of(row_of(text[left]))) {
          reference::axpy(1, now[left], in_book[r]);
          reference::axpy(-1, before[left], in_book[r]);
        }
      }
      ++left;
    };
    for (size_t c = begin; c < end; ++c) {
      if (text[c] == kSentenceEnd) continue;
      while (left + reach < c) leave();
      for (; entered < std::min(text.size(), c + reach + 1); ++entered) {
        if (text[entered] != kSentenceEnd)
          before[entered] = now[entered] = mean(row_of(text[entered]));
      }
      window(text, c, now, lr);
    }
    while (left < entered) leave();
  }

  void window(std::span<const WordId> text, size_t c, std::vector<Vec>& now, double lr) {
    const auto reach = static_cast<size_t>(config.window);
    const auto old_out = out_book;
    const auto old = now;
    const auto pair = [&](size_t i) {
      const double share = config.gradient == Gradient::kExact
                               ? bags.usual / static_cast<double>(bags.of(row_of(text[i])).size())
                               : 1;
      for (const auto& [id, label] : {std::pair{row_of(text[c]), 1.0}, {kNoise, 0.0}}) {
        reference::axpy(-lr * share, reference::pair_gradient(old[i], old_out[id], label), now[i]);
        reference::axpy(-lr, reference::pair_gradient(old_out[id], old[i], label), out_book[id]);
      }
    };
    for (size_t i = c; i > 0 && c - i < reach && text[i - 1] != kSentenceEnd; --i) pair(i - 1);
    for (size_t i = c + 1; i < text.size() && i - c <= reach && text[i] != kSentenceEnd; ++i)
      pair(i);
  }

  void expect_book(const std::string& what) const {
    for (const auto& [matrix, book] : {std::pair{&in, &in_book}, {&out, &out_book}}) {
      for (size_t r = 0; r < matrix->rows(); ++r) {
        for (size_t k = 0; k < matrix->cols(); ++k) {
          ASSERT_NEAR(matrix->row(r)[k], (*book)[r][k], 2e-5) << what << " row " << r;
        }
      }
    }
  }

  Config config;
  Bags bags = some_bags();
  Matrix in, out;
  Scratch scratch;  // of block after block
  std::vector<Vec> in_book, out_book;
};

// Windows and noise without chance.
Config with(Gradient gradient) {
  Config out;
  out.negatives = 1;
  out.noise = Noise::kWindow;
  out.fixed_window = true;
  out.window = 2;
  out.adapt_rate = 0;
  out.gradient = gradient;
  return out;
}

std::vector<WordId> words(std::initializer_list<int> ids) {
  std::vector<WordId> out;
  for (const int id : ids) {
    out.push_back(id < 0 ? kSentenceEnd : static_cast<WordId>(static_cast<uint32_t>(id)));
  }
  return out;
}

TEST_P(BagKernel, ABlockEqualsTheBook) {
  const auto text = words({0, 1, 2, -1, 3, 4, 2, 1, 1, 0, -1, 2, 3, 3, 4, 0, 1});
  for (const size_t dim : {1, 15, 16, 17, 100}) {
    for (const Gradient gradient : {Gradient::kExact, Gradient::kReference}) {
      Problem p(dim, with(gradient));
      // The last of them begins at the end of a sentence.
      for (const auto& [begin, end] : {std::pair<size_t, size_t>{0, 17}, {5, 13}, {3, 9}}) {
        p.train(text, begin, end, 0.1f);
        p.train_book(text, begin, end, 0.1);
        p.expect_book(fmt::format("dim {} from {}", dim, begin));
      }
    }
  }
}

// One window: each row of the context moves by dJ/drow times the rate of its table, -lr usual, and
// no other row of the table at all.
TEST_P(BagKernel, TheExactStepIsTheDerivative) {
  const auto text = words({0, 2});
  Problem p(9, with(Gradient::kExact));
  const Problem before(9, with(Gradient::kExact));
  constexpr double kRate = 0.01;
  p.train(text, 0, 1, kRate);
  for (size_t r = 0; r < kRows; ++r) {
    const auto loss = [&](const Vec& row) {
      Problem moved(9, with(Gradient::kExact));
      moved.in_book[r] = row;
      const Vec h = moved.mean(2);
      return reference::pair_loss(h, moved.out_book[0], 1) +
             reference::pair_loss(h, moved.out_book[kNoise], 0);
    };
    const Vec gradient = reference::numeric_gradient(loss, before.in_book[r]);
    for (size_t k = 0; k < 9; ++k) {
      const double moved = double{p.in.row(r)[k]} - before.in_book[r][k];
      EXPECT_NEAR(moved, -kRate * p.bags.usual * gradient[k], 1e-6) << r;  // floats near 1
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, BagKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace kith::words
