// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mixture of normal distributions as a model of rows of numbers. A run tries numbers of
// components one after the other (or the one that is given): starts on a sample, then EM over all
// rows from the best of them. Each start and each sweep ends at a safe point.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/capabilities.h"
#include "models/gmm/config.h"
#include "models/gmm/mixture.h"
#include "models/gmm/points.h"
#include "models/gmm/starts.h"
#include "models/model.h"
#include "models/remarks.h"

namespace kith::gmm {

// How far a run has come; see DESIGN.md on what a checkpoint is.
struct Search {
  uint64_t candidate = 0;  // which of the numbers of components
  uint64_t starts = 0;     // that were tried of it
  uint64_t sweeps = 0;     // over all rows, of it
  uint64_t worse = 0;      // candidates since the best
  Mixture start;           // the best of the starts
  double start_score = 0;
  Mixture now;   // what the next sweep looks at
  Mixture seen;  // what the last one looked at, and its loss
  double seen_loss = 0;
  Gains gains;
  Mixture best;  // of the candidates that came to their end
  double best_loss = 0, best_bic = 0;
  std::vector<double> bics;  // of all of them

  void visit(Parts& parts, size_t dims, const Form& form);
};

class Gmm final : public Learns<MatrixData>,
                  public Encodes,
                  public HasClusters,
                  public AssignsRows,
                  public HasDensity,
                  public Remarks {
 public:
  Section settings() override { return {"gmm", config_}; }
  void visit(Parts& parts) override;
  void loaded() override;
  std::vector<Fact> info() const override;
  Wishes wishes() const override { return {.holdout = 0}; }
  std::vector<Note> remarks() const override;

  Config& config() { return config_; }
  Form form() const;
  size_t components() const { return weights_.size(); }
  size_t cols() const { return frame_.mean.size(); }
  const Frame& frame() const { return frame_; }
  const Mixture& mixture() const { return mixture_; }  // in the frame

  // In the units of the data, as the file has them.
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& means() const { return means_; }
  const std::vector<double>& covariances() const { return covariances_; }
  const std::vector<double>& bics() const { return bics_; }

  // Encodes: the vector of a row are its memberships.
  const Names& columns() const override { return columns_; }
  bool columns_named() const override { return named_; }
  size_t code_dim() const override { return weights_.size(); }
  void encode(const MatrixRows& rows, uint64_t first, size_t count, Rows out) const override;

  // HasClusters
  const Names& cluster_columns() const override { return columns_; }
  uint64_t cluster_rows() const override { return rows_; }
  std::span<const double> cluster_weights() const override { return weights_; }
  Spread cluster(size_t k) const override;
  Spread all_rows() const override { return {frame_.mean, deviation_}; }
  double cluster_product(size_t k, std::span<const double> w,
                         std::span<const double> v) const override;

  void assign(const MatrixRows& rows, const Context& context,
              const std::function<void(uint64_t, const Assigned&)>& take) const override;
  Likelihood likelihood(const MatrixRows& rows, const Context& context) const override;

 protected:
  uint64_t memory(const MatrixData& data, const Job& job) const override;
  bool learn(const MatrixData& data, Job& job) override;
  bool has_say(std::string_view setting, const MatrixData& data) const override;

 private:
  friend class GmmTrainer;
  class OwnCourse;

  // The numbers of components that are tried, in their order.
  std::vector<uint64_t> candidates(uint64_t rows) const;
  void check(const MatrixData& data) const;
  void begin(const MatrixData& data);
  void finish();
  void to_units();
  void to_frame();
  double covariance(size_t k, size_t i, size_t j) const;
  // Of a loss in the frame, the same in the units of the data.
  double loss_in_units(double loss) const;

  Config config_;
  Names columns_;
  bool named_ = false;             // by the data
  uint64_t rows_ = 0;              // that were learned from
  std::vector<double> deviation_;  // of each column
  Frame frame_;
  std::vector<double> weights_, means_, covariances_;
  std::vector<double> bics_;  // of 1, 2, ... components, if the number was chosen
  uint64_t raised_ = 0;
  uint64_t sweeps_ = 0;  // over all rows, of all numbers that were tried
  Search search_;
  Mixture mixture_;  // made of what the file has, and what asks it of rows
  Components<double> asked_;
};

}  // namespace kith::gmm
