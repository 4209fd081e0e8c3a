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
float scale_of(const Space& space, const Analogy& question) {
  const Matrix& unit = space.unit();
  const auto a = unit.row(question.a), b = unit.row(question.b), c = unit.row(question.c);
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(b[i]) - a[i] + c[i];
    squares += x * x;
  }
  return squares > 1e-12 ? static_cast<float>(1 / std::sqrt(squares)) : 0.0f;
}

class AnalogyTile {
 public:
  AnalogyTile(const Space& space, std::span<const Analogy> questions, AnalogyRule rule)
      : rule_(rule),
        questions_(questions),
        words_(words_of(questions)),
        unit_(words_.size(), space.dim()),
        block_(space.unit().view(), space.dim()),
        collector_(space.zero_rows(), block_.capacity()),
        cosines_(words_.size(), block_.capacity()),
        scores_(1, block_.capacity()) {
    for (size_t i = 0; i < words_.size(); ++i) {
      const auto row = space.unit().row(words_[i]);
      std::copy(row.begin(), row.end(), unit_.row(i).begin());
    }
    for (const Analogy& question : questions) scales_.push_back(scale_of(space, question));
  }

  void run(const query::Tile& tile, std::span<query::TopList> best) {
    for (size_t row = tile.row_first; row < tile.row_last; row += block_.capacity()) {
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

std::vector<std::vector<Neighbour>> analogies(const Space& space,
                                              std::span<const Analogy> questions, AnalogyRule rule,
                                              const SearchOptions& options) {
  return query::search_tiles(space.size(), questions.size(), kTileQuestions, options,
                             [&](const query::Tile& tile, std::span<query::TopList> best) {
                               const auto asked =
                                   questions.subspan(tile.first, tile.last - tile.first);
                               AnalogyTile(space, asked, rule).run(tile, best);
                             });
}

std::vector<Neighbour> analogy(const Space& space, uint32_t a, uint32_t b, uint32_t c,
                               AnalogyRule rule, const SearchOptions& options) {
  const Analogy question{a, b, c};
  return analogies(space, {&question, 1}, rule, options).front();
}

float cosine(const Space& space, uint32_t a, uint32_t b) {
  return static_cast<float>(dot(space.unit().row(a), space.unit().row(b)));
}

std::vector<float> fit_with_others(const Space& space, std::span<const uint32_t> rows) {
  std::vector<double> sum(space.dim());
  for (const uint32_t row : rows) {
    const auto unit = space.unit().row(row);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += unit[i];
  }
  std::vector<float> fits;
  for (const uint32_t row : rows) {
    const auto unit = space.unit().row(row);
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
