// SPDX-License-Identifier: Apache-2.0
#include "kith/clusters.h"

#include <algorithm>
#include <cmath>

#include "api/matrix_rows.h"
#include "api/opened.h"
#include "core/error.h"
#include "train/symmetric.h"

namespace kith {
namespace {

constexpr std::string_view kQuestion = "clusters";
constexpr uint64_t kMostPoints = 4000;

// --- What the model knows of itself ---

double apart(double from, double to, double deviation) {
  return deviation > 0 ? (from - to) / deviation : 0;
}

std::vector<ClusterColumn> columns_of(const HasClusters& model, size_t k, size_t most) {
  const HasClusters::Spread own = model.cluster(k), all = model.all_rows();
  std::vector<ClusterColumn> out;
  for (size_t c = 0; c < own.mean.size(); ++c) {
    out.push_back({std::string(model.cluster_columns()[c]), own.mean[c], own.deviation[c],
                   all.mean[c], apart(own.mean[c], all.mean[c], all.deviation[c])});
  }
  std::ranges::stable_sort(out, std::greater<>(),
                           [](const ClusterColumn& c) { return std::abs(c.apart); });
  out.resize(std::min(out.size(), most));
  return out;
}

// --- The plane of the picture ---

// Two directions, as weights of the columns, and what stands at 0 of them.
struct Plane {
  std::vector<double> across, upwards;
  std::string across_name, upwards_name;
  double across_zero = 0, upwards_zero = 0;
};

// The columns with the largest weights, in deviations: "petal length, -sepal width".
std::string direction_name(const Names& columns, std::span<const double> weights) {
  std::vector<size_t> order(weights.size());
  for (size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t c) { return std::abs(weights[c]); });
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(3, order.size()); ++i) {
    const double w = weights[order[i]];
    if (std::abs(w) < 0.2) break;
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", w < 0 ? "−" : "", columns[order[i]]);
  }
  return out;
}

double along(std::span<const double> weights, std::span<const double> x) {
  double out = 0;
  for (size_t c = 0; c < weights.size(); ++c) out += weights[c] * x[c];
  return out;
}

// Where the means differ most; where they differ in fewer than two directions, where rows of the
// same cluster do. Columns count in their deviations.
Plane plane_of(const HasClusters& model) {
  const HasClusters::Spread all = model.all_rows();
  const size_t cols = all.mean.size();
  if (cols <= 2) {
    Plane out{{1}, {0}, std::string(model.cluster_columns()[0]), ""};
    if (cols == 1) return out;
    return {{1, 0}, {0, 1}, out.across_name, std::string(model.cluster_columns()[1])};
  }
  constexpr double kWithin = 1e-3;  // how much the spread of a cluster counts beside the means
  Small spread(cols, cols);
  const auto weights = model.cluster_weights();
  for (size_t k = 0; k < weights.size(); ++k) {
    const HasClusters::Spread own = model.cluster(k);
    std::vector<double> from(cols);
    for (size_t c = 0; c < cols; ++c) from[c] = apart(own.mean[c], all.mean[c], all.deviation[c]);
    for (size_t i = 0; i < cols; ++i) {
      for (size_t j = 0; j <= i; ++j) spread.at(i, j) += weights[k] * from[i] * from[j];
      const double within = apart(own.deviation[i], 0, all.deviation[i]);
      spread.at(i, i) += kWithin * weights[k] * within * within;
    }
  }
  const EigenPairs found = largest_eigenpairs(spread, 2);
  Plane out;
  for (size_t c = 0; c < cols; ++c) {
    const double scale = all.deviation[c] > 0 ? 1 / all.deviation[c] : 0;
    out.across.push_back(found.vectors.at(0, c) * scale);
    out.upwards.push_back(found.vectors.at(1, c) * scale);
  }
  const auto row = [&](size_t r) {
    return std::span(found.vectors.values).subspan(r * found.vectors.cols, cols);
  };
  out.across_name = direction_name(model.cluster_columns(), row(0));
  out.upwards_name = direction_name(model.cluster_columns(), row(1));
  out.across_zero = along(out.across, all.mean);
  out.upwards_zero = along(out.upwards, all.mean);
  return out;
}

ClustersPicture picture_of(const HasClusters& model, const Plane& plane) {
  ClustersPicture out{plane.across_name, plane.upwards_name, {}, {}};
  for (size_t k = 0; k < model.cluster_weights().size(); ++k) {
    const std::vector<double> mean = model.cluster(k).mean;
    const auto product = [&](const auto& a, const auto& b) {
      return model.cluster_product(k, a, b);
    };
    out.ellipses.push_back(
        {along(plane.across, mean) - plane.across_zero,
         along(plane.upwards, mean) - plane.upwards_zero, product(plane.across, plane.across),
         product(plane.across, plane.upwards), product(plane.upwards, plane.upwards)});
  }
  return out;
}

// --- Rows ---

// What is kept of each row.
struct Placed {
  uint32_t cluster = 0, second = 0;
  float membership = 0, second_membership = 0, distance = 0;
  double log_density = 0;
};

Placed placed(const AssignsRows::Assigned& row) {
  Placed out;
  const auto m = row.memberships;
  for (uint32_t k = 1; k < m.size(); ++k) {
    if (m[k] > m[out.cluster]) out.cluster = k;
  }
  out.second = out.cluster == 0 && m.size() > 1 ? 1 : 0;
  for (uint32_t k = 0; k < m.size(); ++k) {
    if (k != out.cluster && m[k] > m[out.second]) out.second = k;
  }
  out.membership = static_cast<float>(m[out.cluster]);
  out.second_membership = m.size() > 1 ? static_cast<float>(m[out.second]) : 0;
  out.distance = static_cast<float>(row.distance);
  out.log_density = row.log_density;
  return out;
}

class PlacedRows {
 public:
  PlacedRows(const AssignsRows& model, const MatrixData& data, const Context& context)
      : data_(data), names_(names_of_rows(data)), rows_(data.rows()) {
    model.assign(data.train(), context, [&](uint64_t row, const AssignsRows::Assigned& found) {
      rows_[row] = placed(found);
    });
  }

  const Placed& at(uint64_t row) const { return rows_[row]; }
  ClusterRow told(uint64_t row, bool second) const {
    const Placed& p = rows_[row];
    ClusterRow out{std::string(names_[row]),
                   p.cluster + size_t{1},
                   p.membership,
                   0,
                   0,
                   p.distance,
                   p.log_density};
    if (!second) return out;
    out.second = p.second + size_t{1};
    out.second_membership = p.second_membership;
    return out;
  }
  // The rows for which `wanted`, those with the lowest `key` first.
  template <class Wanted, class Key>
  std::vector<ClusterRow> first(size_t most, bool second, const Wanted& wanted,
                                const Key& key) const {
    std::vector<uint64_t> found;
    for (uint64_t r = 0; r < rows_.size(); ++r) {
      if (wanted(rows_[r])) found.push_back(r);
    }
    const auto before = [&](uint64_t a, uint64_t b) {
      return std::pair(key(rows_[a]), a) < std::pair(key(rows_[b]), b);
    };
    const size_t count = std::min(most, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), found.end(),
                      before);
    std::vector<ClusterRow> out;
    for (size_t i = 0; i < count; ++i) out.push_back(told(found[i], second));
    return out;
  }
  std::vector<ClustersPicture::Point> points(const Plane& plane, const Context& context) const {
    const uint64_t total = rows_.size(), count = std::min(total, kMostPoints);
    const size_t cols = plane.across.size();
    std::vector<double> row(cols);
    std::vector<ClustersPicture::Point> out;
    for (uint64_t i = 0; i < count; ++i) {
      context.check();
      const uint64_t r = i * total / count;  // spread over all of them
      std::ranges::fill(row, 0);
      if (const Sparse* const sparse = data_.sparse()) {
        const Sparse::Row cells = sparse->row(static_cast<uint32_t>(r));
        for (size_t e = 0; e < cells.size(); ++e) row[cells.columns[e]] = cells.values[e];
      } else {
        data_.train().read(r, 1, row.data());
      }
      out.push_back({along(plane.across, row) - plane.across_zero,
                     along(plane.upwards, row) - plane.upwards_zero, rows_[r].cluster + size_t{1}});
    }
    return out;
  }

 private:
  const MatrixData& data_;
  const Names names_;
  std::vector<Placed> rows_;
};

void place_rows(const Model::Impl& model, const MatrixData& data, const Plane& plane, size_t top,
                const Context& context, Clusters& out) {
  constexpr float kSure = 0.95f;  // a row that belongs to a cluster so much is not doubtful
  const PlacedRows rows(model.ask<AssignsRows>(kQuestion), data, context);
  out.rows = data.rows();
  for (uint64_t r = 0; r < out.rows; ++r) ++out.clusters[rows.at(r).cluster].rows;
  for (uint32_t k = 0; k < out.clusters.size(); ++k) {
    out.clusters[k].typical = rows.first(
        top, false, [&](const Placed& p) { return p.cluster == k; },
        [](const Placed& p) { return p.distance; });
  }
  out.doubtful = rows.first(
      top, true, [&](const Placed& p) { return p.membership < kSure; },
      [](const Placed& p) { return p.membership; });
  out.odd = rows.first(
      top, false, [](const Placed&) { return true; },
      [](const Placed& p) { return p.log_density; });
  out.picture.points = rows.points(plane, context);
}

}  // namespace

Clusters clusters(const Model& model, const std::vector<std::string>& sources,
                  const ClustersOptions& options, std::span<const Setting> reading,
                  const Context& context, Observer* observer) {
  const auto& asked = model.impl().ask<HasClusters>(kQuestion);
  const auto top = static_cast<size_t>(options.top);
  Clusters out;
  out.learned = asked.cluster_rows();
  for (size_t k = 0; k < asked.cluster_weights().size(); ++k) {
    out.clusters.push_back({asked.cluster_weights()[k], columns_of(asked, k, top), 0, {}});
  }
  const Plane plane = plane_of(asked);
  out.picture = picture_of(asked, plane);
  if (sources.empty()) return out;
  const auto data = matrix_for(model.impl(), kQuestion, sources, reading, context, observer);
  place_rows(model.impl(), *data, plane, top, context, out);
  return out;
}

}  // namespace kith
