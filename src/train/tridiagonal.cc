// SPDX-License-Identifier: Apache-2.0
#include "train/tridiagonal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/rng.h"

namespace kith {
namespace {

double inner(const double* a, const double* b, size_t n) {
  double sums[8] = {};  // apart, so that they need not wait for one another
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  }
  double out = 0;
  for (; i < n; ++i) out += a[i] * b[i];
  for (const double s : sums) out += s;
  return out;
}

void add(double share, const double* x, double* to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] += share * x[i];
}

// A = P_{n-1} ... P_1 T P_1 ... P_{n-1} with P_i = I - u u^T / h_i, where u is what is left in row
// i before the diagonal (Martin, Reinsch, Wilkinson 1968). The lower half is read and written.
struct Reduced {
  std::vector<double> diagonal, beside;  // beside[i] stands between i - 1 and i
  std::vector<double> h;
};
Reduced reduce(Small& a, const Context& context) {
  const size_t n = a.rows;
  Reduced out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  std::vector<double> p(n);
  for (size_t i = n; i-- > 1;) {
    if (i % 16 == 0) context.check();
    double* const u = &a.at(i, 0);
    double scale = 0;
    for (size_t k = 0; k < i; ++k) scale = std::max(scale, std::abs(u[k]));
    const double off = std::sqrt(inner(u, u, i - 1));
    if (scale == 0 || off <= std::numeric_limits<double>::min()) {
      out.beside[i] = u[i - 1];  // nothing to reflect
      continue;
    }
    const double f = u[i - 1];
    const double length = std::hypot(off, f);
    out.beside[i] = f >= 0 ? -length : length;
    u[i - 1] = f - out.beside[i];
    const double h = out.h[i] = length * (length + std::abs(f));
    std::fill_n(p.begin(), i, 0.0);
    for (size_t j = 0; j < i; ++j) {  // p = A u, of the leading part
      const double* const row = &a.at(j, 0);
      p[j] += inner(row, u, j + 1);
      add(u[j], row, p.data(), j);
    }
    for (size_t j = 0; j < i; ++j) p[j] /= h;
    add(-inner(u, p.data(), i) / (2 * h), u, p.data(), i);
    for (size_t j = 0; j < i; ++j) {  // A -= u p^T + p u^T
      double* const row = &a.at(j, 0);
      const double x = u[j], y = p[j];
      for (size_t k = 0; k <= j; ++k) row[k] -= x * p[k] + y * u[k];
    }
  }
  for (size_t i = 0; i < n; ++i) out.diagonal[i] = a.at(i, i);
  return out;
}

// (T - shift) with its rows exchanged so that pivots are large, in three diagonals.
class Shifted {
 public:
  Shifted(const Reduced& t, double shift, double least) : n_(t.diagonal.size()) {
    for (auto* const part : {&pivot_, &next_, &after_, &factor_}) part->assign(n_, 0.0);
    swapped_.assign(n_, 0);
    double pivot = t.diagonal[0] - shift, next = n_ > 1 ? t.beside[1] : 0;
    for (size_t i = 0; i + 1 < n_; ++i) {
      double below = t.beside[i + 1], diagonal = t.diagonal[i + 1] - shift;
      double beyond = i + 2 < n_ ? t.beside[i + 2] : 0, after = 0;
      if (std::abs(below) > std::abs(pivot)) {
        swapped_[i] = 1;
        std::swap(pivot, below);
        std::swap(next, diagonal);
        std::swap(after, beyond);
      }
      if (std::abs(pivot) < least) pivot = least;
      factor_[i] = below / pivot;
      pivot_[i] = pivot;
      next_[i] = next;
      after_[i] = after;
      pivot = diagonal - factor_[i] * next;
      next = beyond - factor_[i] * after;
    }
    pivot_[n_ - 1] = std::abs(pivot) < least ? least : pivot;
  }

  void solve(double* x) const {
    for (size_t i = 0; i + 1 < n_; ++i) {
      if (swapped_[i]) std::swap(x[i], x[i + 1]);
      x[i + 1] -= factor_[i] * x[i];
    }
    for (size_t i = n_; i-- > 0;) {
      if (i + 1 < n_) x[i] -= next_[i] * x[i + 1];
      if (i + 2 < n_) x[i] -= after_[i] * x[i + 2];
      x[i] /= pivot_[i];
    }
  }

 private:
  size_t n_;
  std::vector<double> pivot_, next_, after_, factor_;
  std::vector<char> swapped_;
};

}  // namespace

EigenPairs eigenpairs_by_reflections(Small a, size_t count, TridiagonalValues values,
                                     const Context& context) {
  const size_t n = a.rows;
  const Reduced t = reduce(a, context);
  const std::vector<double> rising =
      values(t.diagonal, std::span(t.beside).subspan(std::min<size_t>(1, n)));
  const double size = std::max(std::abs(rising.front()), std::abs(rising.back()));
  const double least = (size > 0 ? size : 1) * std::numeric_limits<double>::epsilon();
  EigenPairs out;
  out.vectors = Small(count, n);
  constexpr int kIterations = 4;
  for (size_t k = 0; k < count; ++k) {
    context.check();
    out.values.push_back(rising[n - 1 - k]);
    const Shifted shifted(t, out.values[k], least);
    double* const x = &out.vectors.at(k, 0);
    Rng rng(k, 0x7d1);
    for (size_t i = 0; i < n; ++i) x[i] = 2 * double{rng.uniform()} - 1;
    for (int again = 0; again < kIterations; ++again) {
      double largest = 0;  // its square may be too large, or too small
      for (size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
      for (size_t i = 0; i < n; ++i) x[i] /= largest;
      // Those of eigenvalues that are close would all become the same one.
      for (int twice = 0; twice < 2; ++twice) {
        for (size_t j = 0; j < k; ++j) {
          add(-inner(x, &out.vectors.at(j, 0), n), &out.vectors.at(j, 0), x, n);
        }
        const double length = std::sqrt(inner(x, x, n));
        for (size_t i = 0; i < n; ++i) x[i] /= length;
      }
      if (again + 1 < kIterations) shifted.solve(x);
    }
  }
  for (size_t i = 1; i < n; ++i) {  // from T to A
    if (i % 64 == 0) context.check();
    if (t.h[i] == 0) continue;
    const double* const u = &a.at(i, 0);
    for (size_t k = 0; k < count; ++k) {
      double* const x = &out.vectors.at(k, 0);
      add(-inner(u, x, i) / t.h[i], u, x, i);
    }
  }
  return out;
}

}  // namespace kith
