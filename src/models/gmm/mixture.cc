// SPDX-License-Identifier: Apache-2.0
#include "models/gmm/mixture.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "train/covariance.h"

namespace kith::gmm {
namespace {

// Less than this much of a row is nothing: means and covariances made of it would be rounding.
constexpr double kNothing = 1e-9;

bool has_matrix(Covariance c) { return c == Covariance::kFull || c == Covariance::kTied; }
// The covariance of a component among those of a mixture.
size_t covariance_at(Covariance c, size_t k, size_t dims) {
  switch (c) {
    case Covariance::kSpherical:
      return k;
    case Covariance::kDiagonal:
      return k * dims;
    case Covariance::kFull:
      return k * dims * dims;
    case Covariance::kTied:
      break;
  }
  return 0;
}

// A lower triangle by rows, less what the shift of the mean takes, as a symmetric matrix.
void make_matrix(const double* triangle, const double* shift, double weight, size_t dims,
                 double* out) {
  for (size_t i = 0; i < dims; ++i) {
    for (size_t j = 0; j <= i; ++j, ++triangle) {
      out[i * dims + j] = out[j * dims + i] = *triangle / weight - shift[i] * shift[j];
    }
  }
}

// Of a run that lost its way, rather than a Cholesky factor of nonsense.
InverseFactor factor_of(std::span<const double> covariance, size_t dims) {
  auto found = inverse_factor(covariance, dims);
  if (found) return *std::move(found);
  throw fault(ErrorKind::kDiverged,
              "a covariance is no longer positive definite; try a larger --regularise");
}

class Maximiser {
 public:
  Maximiser(const Form& form, const Mixture& before, const Sums& sums, double rows)
      : form_(form), before_(before), sums_(sums), rows_(rows), dims_(before.dims), out_(before) {
    out_.raised = 0;
  }

  template <class T>
  Mixture made(const Components<T>& components) && {
    shift_.assign(out_.count * dims_, 0);
    for (size_t k = 0; k < out_.count; ++k) {
      const double weight = sums_.weight[k];
      out_.weights[k] = weight / rows_;
      if (weight < kNothing) continue;
      for (size_t i = 0; i < dims_; ++i) {
        const size_t at = k * dims_ + i;
        shift_[at] = sums_.first[at] / weight;
        out_.means[at] = double{components.mean[at]} + shift_[at];
      }
    }
    if (form_.hard) {
      one_variance();
    } else if (form_.covariance == Covariance::kTied) {
      shared_matrix();
    } else {
      for (size_t k = 0; k < out_.count; ++k) own(k);
    }
    return std::move(out_);
  }

 private:
  // Squared distances from the means before are those from the new ones and what they moved by.
  void one_variance() {
    double squares = sums_.objective;
    for (size_t k = 0; k < out_.count; ++k) {
      for (size_t i = 0; i < dims_; ++i) {
        squares -= sums_.weight[k] * shift_[k * dims_ + i] * shift_[k * dims_ + i];
      }
    }
    const double variance = squares / (rows_ * static_cast<double>(dims_));
    std::ranges::fill(out_.covariances, std::max(variance, form_.least));
  }

  void shared_matrix() {
    const std::vector<double> none(dims_, 0);
    make_matrix(sums_.second.data(), none.data(), rows_, dims_, out_.covariances.data());
    for (size_t k = 0; k < out_.count; ++k) {
      const double* const s = shift_.data() + k * dims_;
      for (size_t i = 0; i < dims_; ++i) {
        for (size_t j = 0; j < dims_; ++j) {
          out_.covariances[i * dims_ + j] -= sums_.weight[k] / rows_ * s[i] * s[j];
        }
      }
    }
    if (raise_eigenvalues(out_.covariances, dims_, form_.least)) out_.raised = out_.count;
  }

  void own(size_t k) {
    const double weight = sums_.weight[k];
    if (weight < kNothing) return;
    double* const to = out_.covariances.data() + covariance_at(form_.covariance, k, dims_);
    const double* const shift = shift_.data() + k * dims_;
    if (form_.covariance == Covariance::kFull) {
      make_matrix(sums_.second.data() + k * dims_ * (dims_ + 1) / 2, shift, weight, dims_, to);
      out_.raised += raise_eigenvalues({to, dims_ * dims_}, dims_, form_.least);
      return;
    }
    const double* const squares = sums_.second.data() + k * dims_;
    double mean = 0;
    bool raised = false;
    for (size_t i = 0; i < dims_; ++i) {
      const double variance = squares[i] / weight - shift[i] * shift[i];
      mean += variance / static_cast<double>(dims_);
      if (form_.covariance == Covariance::kSpherical) continue;
      raised = raised || variance < form_.least;
      to[i] = std::max(variance, form_.least);
    }
    if (form_.covariance == Covariance::kSpherical) {
      raised = mean < form_.least;
      *to = std::max(mean, form_.least);
    }
    out_.raised += raised;
  }

  const Form& form_;
  const Mixture& before_;
  const Sums& sums_;
  const double rows_;
  const size_t dims_;
  Mixture out_;
  std::vector<double> shift_;  // of each mean
};

}  // namespace

void Mixture::visit(Parts& parts, const std::string& name) {
  parts.number(name + ".components", count, Use::kRun);
  parts.number(name + ".raised", raised, Use::kRun);
  parts.values(name + ".weights", weights, Parts::kAny, Use::kRun);
  parts.values(name + ".means", means, Parts::kAny, Use::kRun);
  parts.values(name + ".covariances", covariances, Parts::kAny, Use::kRun);
}

size_t covariance_numbers(Covariance c, size_t count, size_t dims) {
  switch (c) {
    case Covariance::kSpherical:
      return count;
    case Covariance::kDiagonal:
      return count * dims;
    case Covariance::kFull:
      return count * dims * dims;
    case Covariance::kTied:
      break;
  }
  return dims * dims;
}

uint64_t free_parameters(const Form& form, size_t count, size_t dims) {
  const uint64_t triangle = uint64_t{dims} * (dims + 1) / 2, others = count - 1 + count * dims;
  if (form.hard) return others + 1;
  switch (form.covariance) {
    case Covariance::kSpherical:
      return others + count;
    case Covariance::kDiagonal:
      return others + count * dims;
    case Covariance::kFull:
      return others + count * triangle;
    case Covariance::kTied:
      break;
  }
  return others + triangle;
}

Mixture of_one(const Form& form, size_t dims) {
  Mixture out{1, dims, {1.0}, std::vector<double>(dims, 0), {}, 0};
  out.covariances.assign(covariance_numbers(form.covariance, 1, dims), 1);
  if (!has_matrix(form.covariance)) return out;
  for (size_t i = 0; i < out.covariances.size(); ++i) {
    out.covariances[i] = i % (dims + 1) == 0 ? 1 : 0;
  }
  return out;
}

Mixture around(const Form& form, size_t dims, std::vector<double> means, const Sums& sums,
               uint64_t rows) {
  const size_t count = means.size() / dims;
  Mixture out{count, dims, {}, std::move(means), {}, 0};
  for (const double w : sums.weight) out.weights.push_back(w / static_cast<double>(rows));
  const double cells = static_cast<double>(rows) * static_cast<double>(dims);
  const double variance = std::max(sums.objective / cells, form.least);
  out.covariances.assign(covariance_numbers(form.covariance, count, dims), variance);
  if (!has_matrix(form.covariance)) return out;
  for (size_t i = 0; i < out.covariances.size(); ++i) {
    if (i % (dims * dims) % (dims + 1) != 0) out.covariances[i] = 0;
  }
  return out;
}

Mixture largest_first(const Form& form, const Mixture& m) {
  std::vector<size_t> order(m.count);
  for (size_t k = 0; k < m.count; ++k) order[k] = k;
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t k) { return m.weights[k]; });
  const bool shared = form.covariance == Covariance::kTied;
  const size_t size = shared ? 0 : m.covariances.size() / m.count;
  Mixture out{m.count, m.dims, {}, {}, {}, m.raised};
  if (shared) out.covariances = m.covariances;
  for (const size_t k : order) {
    const auto add = [&](std::vector<double>& to, const std::vector<double>& from, size_t n) {
      const auto first = from.begin() + static_cast<ptrdiff_t>(k * n);
      to.insert(to.end(), first, first + static_cast<ptrdiff_t>(n));
    };
    add(out.weights, m.weights, 1);
    add(out.means, m.means, m.dims);
    add(out.covariances, m.covariances, size);
  }
  return out;
}

template <class T>
Components<T> components_of(const Form& form, const Mixture& m) {
  const size_t count = m.count, dims = m.dims;
  Components<T> out;
  out.count = count;
  out.dims = dims;
  out.mean.assign(m.means.begin(), m.means.end());
  if (form.hard) {
    out.metric = Metric::kPlain;
    return out;
  }
  const bool shared = form.covariance == Covariance::kTied;
  out.metric = shared                                 ? Metric::kShared
               : form.covariance == Covariance::kFull ? Metric::kWhitened
                                                      : Metric::kScaled;
  const double constant = 0.5 * static_cast<double>(dims) * std::log(2 * std::numbers::pi);
  InverseFactor factor;
  for (size_t k = 0; k < count; ++k) {
    const double* const s = m.covariances.data() + covariance_at(form.covariance, k, dims);
    double log_determinant = 0;
    if (has_matrix(form.covariance)) {
      if (k == 0 || !shared) {
        factor = factor_of({s, dims * dims}, dims);
        out.factor.resize(out.factor.size() + packed_factor_size(dims));
        pack_factor(factor.lower.data(), dims,
                    out.factor.data() + out.factor.size() - packed_factor_size(dims));
      }
      log_determinant = factor.log_determinant;
    } else {
      for (size_t i = 0; i < dims; ++i) {
        const double variance = form.covariance == Covariance::kDiagonal ? s[i] : *s;
        log_determinant += std::log(variance);
        out.scale.push_back(static_cast<T>(1 / std::sqrt(variance)));
      }
    }
    for (size_t j = 0; shared && j < dims; ++j) {
      double white = 0;
      for (size_t i = 0; i <= j; ++i) white += factor.lower[j * dims + i] * m.means[k * dims + i];
      out.white.push_back(static_cast<T>(white));
    }
    out.base.push_back(static_cast<T>(std::log(m.weights[k]) - 0.5 * log_determinant - constant));
  }
  return out;
}

template <class T>
Mixture maximised(const Form& form, const Mixture& before, const Components<T>& components,
                  const Sums& sums, uint64_t rows) {
  return Maximiser(form, before, sums, static_cast<double>(rows)).made(components);
}

template Components<float> components_of(const Form&, const Mixture&);
template Components<double> components_of(const Form&, const Mixture&);
template Mixture maximised(const Form&, const Mixture&, const Components<float>&, const Sums&,
                           uint64_t);
template Mixture maximised(const Form&, const Mixture&, const Components<double>&, const Sums&,
                           uint64_t);

}  // namespace kith::gmm
