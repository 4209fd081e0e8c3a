// SPDX-License-Identifier: Apache-2.0
#pragma once
// Principal components: the directions in which rows of numbers vary most. With C the covariance of
// the rows, the components are its first eigenvectors (as rows: P), and
//
//   z = P ((x - mean) / unit)        x^ = mean + unit * (P^T z)
//
// of all projections to so many dimensions the one that loses least of |x|^2 (Eckart and Young).

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/matrix/matrix.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "models/pca/config.h"
#include "models/pca/covariance.h"
#include "models/pca/solvers.h"
#include "models/tells_error.h"

namespace kith::pca {

class Pca final : public Learns<MatrixData>,
                  public HasVectors,
                  public Encodes,
                  public Reconstructs,
                  public HasSpectrum,
                  public TellsError {
 public:
  Section settings() override { return {"pca", config_}; }
  void visit(Parts& parts) override;
  void loaded() override;
  std::vector<Fact> info() const override;
  Wishes wishes() const override { return {.holdout = 0}; }

  // The columns, each by its loadings: what it has in common with the components.
  std::vector<VectorGroup> vectors(Side side) const override;

  const Names& columns() const override { return columns_; }
  bool columns_named() const override { return named_; }
  size_t code_dim() const override { return components_.rows(); }
  void encode(const MatrixRows& rows, uint64_t first, size_t count, Rows out) const override;
  void reconstruct(const MatrixRows& rows, uint64_t first, size_t count,
                   double* out) const override;
  std::span<const double> mean_row() const override { return mean_; }

  std::span<const double> explained() const override { return variance_; }
  double total_variance() const override { return total_; }

  std::string error_name() const override { return "the mean squared error of a cell"; }
  double error_of(double loss) const override { return loss; }
  double error_before() const override { return state_.held_out.front(); }
  double error_now() const override { return *state_.held_out_now(); }

  // Read by tests and by the trainer.
  Config& config() { return config_; }
  const Matrix& components() const { return components_; }  // dim x columns
  double noise_variance() const;  // of a direction that is left out, on average

 protected:
  uint64_t memory(const MatrixData& data, const Job& job) const override;
  bool learn(const MatrixData& data, Job& job) override;
  bool has_say(std::string_view setting, const MatrixData& data) const override;

 private:
  friend class PcaTrainer;
  class OwnCourse;

  size_t dim_for(const MatrixData& data) const;  // Error(kUsage) if there are not so many
  Method method_for(const MatrixData& data) const;
  int epochs(Method method) const;
  double tolerance(Method method) const;
  void start(const MatrixData& data);
  void check_restored(const MatrixData& data) const;
  // (x - mean) / unit times the components, before anything is whitened.
  void project(const MatrixRows& rows, uint64_t first, size_t count, Rows out) const;
  void take(const EigenPairs& found);
  Change change() const;

  Config config_;
  Names columns_;
  bool named_ = false;
  uint64_t rows_ = 0;  // that it learned from
  std::vector<double> mean_, unit_;
  std::vector<double> variance_;
  double total_ = 0;
  Matrix components_;
  std::string method_, why_;  // taken, and for what reason if nobody said which

  // While it learns: a power of two that the units hold in addition, so that no square is too large
  // for single precision; and what the method goes on from.
  double size_ = 1;
  bool working_ = false;
  std::vector<double> work_;
  uint64_t found_ = 0;  // directions, by the power method
  double before_ = 0;   // variance that the last iteration kept

  Matrix by_column_;               // the components as columns: what rows are multiplied with
  std::vector<double> projected_;  // the mean, for sparse rows
};

}  // namespace kith::pca
