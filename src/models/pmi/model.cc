// SPDX-License-Identifier: Apache-2.0
#include "models/pmi/model.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "train/svd.h"

namespace kith::pmi {
namespace {

constexpr size_t kOversample = 10;  // columns that are iterated on beyond those wanted

}  // namespace

int Pmi::epochs() const {
  if (config_.epochs) return *config_.epochs;
  switch (config_.solver) {
    case Solver::kSvd:
      return 5;
    case Solver::kAls:
      return 20;
    case Solver::kGradient:
      return 200;
  }
  return 0;
}

size_t Pmi::rank(size_t words) const { return std::min(words, static_cast<size_t>(config_.dim)); }

size_t Pmi::working_cols(size_t words) const {
  return config_.solver == Solver::kSvd ? std::min(words, rank(words) + kOversample) : rank(words);
}

void Pmi::visit(Parts& parts) {
  visit_words(parts);
  const auto dim = static_cast<size_t>(config_.dim);
  visit_tables(parts, working_ ? working_cols(rows_) : dim);
  parts.values("singular", sigma_, Parts::kAny, Use::kFixed);
  parts.check(sigma_.size() <= dim, "there are more singular values than coordinates");
}

void Pmi::start(uint64_t seed) {
  sigma_.clear();
  const size_t cols = working_cols(rows_);
  input_ = Matrix(rows_, cols);
  output_ = Matrix(rows_, cols);
  const float scale = 1 / std::sqrt(static_cast<float>(rows_));
  for (size_t r = 0; r < rows_; ++r) {
    Rng rng(seed, r);
    for (float& x : output_.row(r)) x = (2 * rng.uniform() - 1) * scale;
  }
}

// U diag(sigma)^p and V diag(sigma)^p of the product of the factors, whatever way they were found.
void Pmi::finish(const Context& context) {
  Svd all = truncated(svd_of_product(input_, output_, context), rank(rows_));
  if (config_.solver == Solver::kSvd) all = shrink(all, config_.penalty);
  std::vector<double> scale;
  for (const double sigma : all.sigma) scale.push_back(std::pow(sigma, config_.spectrum));
  const auto weighted = [&](const Matrix& vectors) {
    Matrix out(rows_, static_cast<size_t>(config_.dim));
    for (size_t r = 0; r < rows_; ++r) {
      for (size_t k = 0; k < all.rank(); ++k) {
        out.row(r)[k] = static_cast<float>(double{vectors.row(r)[k]} * scale[k]);
      }
    }
    return out;
  };
  input_ = weighted(all.u);
  output_ = weighted(all.v);
  sigma_ = all.sigma;
}

bool Pmi::has_say(std::string_view setting, const Counts&) const {
  if (setting == "observed") return config_.solver == Solver::kAls;
  if (setting == "lr") return config_.solver == Solver::kGradient;
  return true;
}

std::vector<Fact> Pmi::info() const {
  std::vector<Fact> out = facts();
  if (!sigma_.empty()) {
    out.push_back({"singular_first", fmt::format("{:.5g}", sigma_.front()), true});
    out.push_back({"singular_last", fmt::format("{:.5g}", sigma_.back()), true});
  }
  return out;
}

ModelInfo info() {
  return model_info<Pmi>("pmi", "words of a text: factors of pointwise mutual information (SVD)");
}

}  // namespace kith::pmi
