// SPDX-License-Identifier: Apache-2.0
// What a mixture can be asked about its components and about rows.
#include <algorithm>
#include <cmath>

#include "models/gmm/model.h"
#include "models/gmm/sweep.h"

namespace kith::gmm {
namespace {

// The normal distribution with mean and covariance of the whole mixture: what one component would
// have learned from the same rows.
Mixture merged(const Form& form, const Mixture& m) {
  Mixture out = of_one(form, m.dims);
  const size_t d = m.dims;
  for (size_t k = 0; k < m.count; ++k) {
    for (size_t i = 0; i < d; ++i) out.means[i] += m.weights[k] * m.means[k * d + i];
  }
  std::ranges::fill(out.covariances, 0);
  const auto apart = [&](size_t k, size_t i) { return m.means[k * d + i] - out.means[i]; };
  for (size_t k = 0; k < m.count; ++k) {
    const double w = m.weights[k];
    if (form.covariance == Covariance::kSpherical) {
      double squares = 0;
      for (size_t i = 0; i < d; ++i) squares += apart(k, i) * apart(k, i);
      out.covariances[0] += w * (m.covariances[k] + squares / static_cast<double>(d));
    } else if (form.covariance == Covariance::kDiagonal) {
      for (size_t i = 0; i < d; ++i) {
        out.covariances[i] += w * (m.covariances[k * d + i] + apart(k, i) * apart(k, i));
      }
    } else {
      const size_t own = form.covariance == Covariance::kTied ? 0 : k * d * d;
      for (size_t i = 0; i < d; ++i) {
        for (size_t j = 0; j < d; ++j) {
          out.covariances[i * d + j] +=
              w * (m.covariances[own + i * d + j] + apart(k, i) * apart(k, j));
        }
      }
    }
  }
  return out;
}

}  // namespace

void Gmm::encode(const MatrixRows& rows, uint64_t first, size_t count, Rows out) const {
  const DataPoints points(rows, frame_);
  Block<double> block(asked_);
  ReadBuffer buffer;
  for (size_t done = 0; done < count; done += block.rows()) {
    points.load(first + done, std::min(block.rows(), count - done), buffer, block);
    block.expect(asked_);
    for (size_t n = 0; n < block.count(); ++n) {
      for (size_t k = 0; k < asked_.count; ++k) {
        out.row(done + n)[k] = static_cast<float>(block.responsibility(k, n));
      }
    }
  }
}

double Gmm::covariance(size_t k, size_t i, size_t j) const {
  switch (form().covariance) {
    case Covariance::kSpherical:
      return i == j && frame_.deviation[i] > 0 ? covariances_[k] : 0;
    case Covariance::kDiagonal:
      return i == j ? covariances_[k * cols() + i] : 0;
    case Covariance::kFull:
      return covariances_[(k * cols() + i) * cols() + j];
    case Covariance::kTied:
      break;
  }
  return covariances_[i * cols() + j];
}

HasClusters::Spread Gmm::cluster(size_t k) const {
  Spread out;
  for (size_t c = 0; c < cols(); ++c) {
    out.mean.push_back(means_[k * cols() + c]);
    out.deviation.push_back(std::sqrt(covariance(k, c, c)));
  }
  return out;
}

double Gmm::cluster_product(size_t k, std::span<const double> w, std::span<const double> v) const {
  const bool square =
      form().covariance == Covariance::kFull || form().covariance == Covariance::kTied;
  double out = 0;
  for (size_t i = 0; i < cols(); ++i) {
    if (w[i] == 0) continue;
    for (size_t j = square ? 0 : i; j < (square ? cols() : i + 1); ++j) {
      out += w[i] * covariance(k, i, j) * v[j];
    }
  }
  return out;
}

void Gmm::assign(const MatrixRows& rows, const Context& context,
                 const std::function<void(uint64_t, const Assigned&)>& take) const {
  const DataPoints points(rows, frame_);
  // The density of a row is that of the mixture, also where k-means takes it whole.
  const auto soft = components_of<double>(form().soft(), mixture_);
  for_each_block(soft, points, context, [&](Block<double>& block, uint64_t first) {
    std::vector<double> memberships(soft.count);
    std::vector<double> densities(block.count());
    for (size_t n = 0; n < block.count(); ++n) densities[n] = block.density(n);
    std::vector<double> joint(soft.count * block.count());
    block.distances(soft);
    for (size_t n = 0; n < block.count(); ++n) {
      for (size_t k = 0; k < soft.count; ++k) joint[n * soft.count + k] = block.joint(k, n);
    }
    if (form().hard) block.expect(asked_);
    for (size_t n = 0; n < block.count(); ++n) {
      Assigned out;
      for (size_t k = 0; k < soft.count; ++k) {
        memberships[k] = form().hard ? block.responsibility(k, n)
                                     : std::exp(joint[n * soft.count + k] - densities[n]);
      }
      const auto top =
          static_cast<size_t>(std::ranges::max_element(memberships) - memberships.begin());
      // joint = log weight - log |S| / 2 - dims log(2 pi) / 2 - square / 2.
      const double square = 2 * (soft.base[top] - joint[n * soft.count + top]);
      out.memberships = memberships;
      out.log_density = densities[n] + frame_.log_density;
      out.distance = std::sqrt(std::max(0.0, square));
      take(first + n, out);
    }
  });
}

HasDensity::Likelihood Gmm::likelihood(const MatrixRows& rows, const Context& context) const {
  const DataPoints points(rows, frame_);
  const Form soft = form().soft();
  const double constant = static_cast<double>(rows.rows()) * frame_.log_density;
  return {objective_of(soft, mixture_, points, context) + constant,
          objective_of(soft, merged(soft, mixture_), points, context) + constant,
          free_parameters(form(), mixture_.count, frame_.dims()),
          free_parameters(soft, 1, frame_.dims())};
}

}  // namespace kith::gmm
