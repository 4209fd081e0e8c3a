// SPDX-License-Identifier: Apache-2.0
#include "query/analogy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "query/kernel.h"
#include "query/search.h"

namespace kith {
namespace {

constexpr size_t kTileQuestions = 512;
// Levy and Goldberg's: keeps a word opposite to a from winning by division alone.
constexpr float kMulEpsilon = 1e-3f;

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// 1 / |b - a + c|, which turns the sum of three cosines into a cosine; 0 if there is no direction.
float scale_of(const Index& index, const Analogy& question) {
  const auto a = index.unit_row(question.a), b = index.unit_row(question.b),
             c = index.unit_row(question.c);
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(b[i]) - a[i] + c[i];
    squares += x * x;
  }
  return squares > 1e-12 ? static_cast<float>(1 / std::sqrt(squares)) : 0.0f;
}

class AnalogyTile {
 public:
  AnalogyTile(const Index& index, std::span<const Analogy> questions, AnalogyRule rule)
      : rule_(rule),
        questions_(questions),
        words_(words_of(questions)),
        unit_(words_.size(), index.dim()),
        block_(index.vectors()),
        collector_(block_.capacity()),
        cosines_(words_.size(), block_.capacity()),
        scores_(1, block_.capacity()) {
    for (size_t i = 0; i < words_.size(); ++i) {
      std::ranges::copy(index.unit_row(words_[i]), unit_.row(i).begin());
    }
    for (const Analogy& question : questions) scales_.push_back(scale_of(index, question));
  }

  void run(const query::Tile& tile, std::span<query::TopList> best, const Context& context) {
    for (size_t row = tile.row_first; row < tile.row_last; row += block_.capacity()) {
      context.check();
      block_.load(row, std::min(block_.capacity(), tile.row_last - row));
      block_.score(std::as_const(unit_).view(), words_.size(), cosines_.view());
      for (size_t q = 0; q < questions_.size(); ++q) answer(q, best[q]);
    }
  }

 private:
  static std::vector<uint32_t> words_of(std::span<const Analogy> questions) {
    std::vector<uint32_t> words;
    for (const Analogy& q : questions) words.insert(words.end(), {q.a, q.b, q.c});
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
  }

  const float* cosines(uint32_t word) {
    const auto at = std::lower_bound(words_.begin(), words_.end(), word) - words_.begin();
    return cosines_.view().row(static_cast<size_t>(at));
  }

  void answer(size_t q, query::TopList& best) {
    const Analogy& question = questions_[q];
    const query::Cosines in{cosines(question.a), cosines(question.b), cosines(question.c)};
    float* const out = scores_.view().data;
    const size_t count = padded(block_.count());
    if (rule_ == AnalogyRule::kMul) {
      query::combine_mul(in, kMulEpsilon, count, out);
    } else {
      if (scales_[q] == 0) return;
      query::combine_add(in, scales_[q], count, out);
    }
    std::array excluded{question.a, question.b, question.c};
    std::sort(excluded.begin(), excluded.end());
    collector_.collect(block_, out, excluded, best);
  }

  AnalogyRule rule_;
  std::span<const Analogy> questions_;
  std::vector<uint32_t> words_;  // the distinct rows of the questions, rising
  Matrix unit_;                  // their vectors
  std::vector<float> scales_;
  query::RowBlock block_;
  query::Collector collector_;
  Matrix cosines_;  // of each word with each row of the block
  Matrix scores_;
};

}  // namespace

std::vector<std::vector<Hit>> analogies(const Index& index, std::span<const Analogy> questions,
                                        AnalogyRule rule, const SearchOptions& options,
                                        const Context& context) {
  return query::search_tiles(index.size(), questions.size(), kTileQuestions, options, context,
                             [&](const query::Tile& tile, std::span<query::TopList> best) {
                               const auto asked =
                                   questions.subspan(tile.first, tile.last - tile.first);
                               AnalogyTile(index, asked, rule).run(tile, best, context);
                             });
}

std::vector<Hit> analogy(const Index& index, uint32_t a, uint32_t b, uint32_t c, AnalogyRule rule,
                         const SearchOptions& options, const Context& context) {
  const Analogy question{a, b, c};
  return analogies(index, {&question, 1}, rule, options, context).front();
}

float cosine(const Index& index, uint32_t a, uint32_t b) {
  return static_cast<float>(dot(index.unit_row(a), index.unit_row(b)));
}

std::vector<float> fit_with_others(const Index& index, std::span<const uint32_t> rows) {
  std::vector<std::vector<float>> units;
  std::vector<double> sum(index.dim());
  for (const uint32_t row : rows) {
    units.push_back(index.unit_row(row));
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += units.back()[i];
  }
  std::vector<float> fits;
  for (const std::vector<float>& unit : units) {
    double product = 0, squares = 0;  // the others: the sum without this word
    for (size_t i = 0; i < sum.size(); ++i) {
      const double others = sum[i] - unit[i];
      product += others * unit[i];
      squares += others * others;
    }
    fits.push_back(squares > 1e-12 ? static_cast<float>(product / std::sqrt(squares)) : 0.0f);
  }
  return fits;
}

}  // namespace kith
