// SPDX-License-Identifier: Apache-2.0
#pragma once
// The groups that a model divides rows into: how large they are, what sets each apart, and which
// rows are typical, doubtful or odd.

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct ClustersOptions {
  int64_t top = 5;

  static constexpr std::tuple fields{
      field("top", &ClustersOptions::top, "how many columns of each cluster, and rows of each list")
          .between(1, 1e6),
  };
};

// A column in the unit of the data.
struct ClusterColumn {
  std::string name;
  double mean = 0, deviation = 0;  // within the cluster
  double all = 0;                  // the mean of all rows
  double apart = 0;                // how far that is, in standard deviations of all rows
};

struct ClusterRow {
  std::string name;       // or its number, from 1
  size_t cluster = 0;     // that it belongs to most, from 1
  double membership = 0;  // to that
  size_t second = 0;      // and the next; 0 if there is none
  double second_membership = 0;
  double distance = 0;     // from the mean, in standard deviations of the cluster
  double log_density = 0;  // of the row in the mixture
};

struct Cluster {
  double weight = 0;                   // share of the rows that were learned from
  std::vector<ClusterColumn> columns;  // what sets it apart most comes first
  uint64_t rows = 0;                   // of the data: those that belong to it most
  std::vector<ClusterRow> typical;     // of those the nearest to its mean
};

// Rows and clusters in a plane.
struct ClustersPicture {
  std::string across, upwards;  // what its axes are
  struct Point {
    double x, y;
    size_t cluster;
  };
  std::vector<Point> points;
  struct Ellipse {
    double x, y, xx, xy, yy;  // mean and covariance
  };
  std::vector<Ellipse> ellipses;  // one a cluster
};

struct Clusters {
  uint64_t learned = 0;              // rows that the model learned from
  uint64_t rows = 0;                 // that it was asked about
  std::vector<Cluster> clusters;     // the largest first, as memberships stand in vectors of rows
  std::vector<ClusterRow> doubtful;  // between two clusters: the least certain first
  std::vector<ClusterRow> odd;       // that fit none: the least likely first
  ClustersPicture picture;
};

// Without sources, what the model knows of itself. The picture has at most 4,000 points. With more
// than two columns its axes are those along which the means differ most.
Clusters clusters(const Model& model, const std::vector<std::string>& sources,
                  const ClustersOptions& options, std::span<const Setting> reading,
                  const Context& context, Observer* observer = nullptr);

// As an SVG picture: points, and of each cluster the ellipses of one and two standard deviations.
std::string clusters_plot(const Clusters& clusters);

}  // namespace KITH_VISIBLE
