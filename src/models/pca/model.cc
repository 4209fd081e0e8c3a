// SPDX-License-Identifier: Apache-2.0
#include "models/pca/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "kernels/skinny.h"
#include "kith/text.h"

namespace kith::pca {
namespace {

constexpr size_t kUsualDim = 50;

// Directions whose variance is below this share of the first one's are rounding: nothing is divided
// by them.
constexpr double kNothing = 1e-12;

// A column as the components see it: its entry in each, times the deviation of that.
class Loadings final : public Vectors {
 public:
  Loadings(const Matrix& components, std::span<const double> variance) : components_(components) {
    for (const double v : variance) scale_.push_back(static_cast<float>(std::sqrt(v)));
    scale_.resize(components.rows(), 1.0f);
  }
  size_t rows() const override { return components_.cols(); }
  size_t cols() const override { return components_.rows(); }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t k = 0; k < cols(); ++k) {
      const auto component = components_.row(k).subspan(first, count);
      for (size_t c = 0; c < count; ++c) out.row(c)[k] = component[c] * scale_[k];
    }
  }

 private:
  const Matrix& components_;
  std::vector<float> scale_;
};

std::vector<double> inverse(const std::vector<double>& unit) {
  std::vector<double> out(unit);
  for (double& x : out) x = 1 / x;
  return out;
}

}  // namespace

void Pca::visit(Parts& parts) {
  parts.names("columns", columns_);
  const size_t cols = columns_.size();
  parts.flag("columns.named", named_);
  parts.number("rows", rows_);
  parts.text("method", method_);
  parts.text("method.why", why_, Use::kOptional);
  parts.number("variance.total", total_);
  parts.values("mean", mean_, cols, Use::kFixed);
  parts.values("unit", unit_, cols, Use::kFixed);
  parts.values("variance", variance_, Parts::kAny, Use::kFixed);
  parts.matrix("components", components_, Parts::kAny, cols, Use::kLearned);
  parts.flag("progress.working", working_, Use::kRun);
  parts.number("progress.size", size_, Use::kRun);
  parts.values("progress.work", work_, Parts::kAny, Use::kRun);
  parts.number("progress.found", found_, Use::kRun);
  parts.number("progress.before", before_, Use::kRun);
  if (parts.vectors_only()) return;
  parts.check(components_.rows() == variance_.size() && components_.rows() > 0,
              "there are not as many components as variances");
  parts.check(std::ranges::all_of(unit_, [](double x) { return x > 0; }) && total_ >= 0 &&
                  std::isfinite(total_) &&
                  std::ranges::all_of(variance_, [](double x) { return x >= 0; }),
              "a variance or a unit is below 0");
}

void Pca::loaded() {
  if (components_.is_borrowed()) return;  // names and vectors are all that is wanted
  by_column_ = Matrix(components_.cols(), components_.rows());
  projected_.assign(components_.rows(), 0.0);
  for (size_t k = 0; k < components_.rows(); ++k) {
    for (size_t c = 0; c < components_.cols(); ++c) {
      by_column_.row(c)[k] = components_.row(k)[c];
      projected_[k] += mean_[c] / unit_[c] * double{components_.row(k)[c]};
    }
  }
}

std::vector<VectorGroup> Pca::vectors(Side side) const {
  if (side != Side::kInput) {
    throw fault(ErrorKind::kUsage,
                "this model has one vector for each column; leave out --vectors");
  }
  return {{"column", "", &columns_, std::make_shared<Loadings>(components_, variance_)}};
}

size_t Pca::dim_for(const MatrixData& data) const {
  // Around their mean n rows span n - 1 directions.
  const uint64_t of_rows = data.rows() - (config_.centre && data.rows() > 0 ? 1 : 0);
  const size_t most = std::min<uint64_t>(data.cols(), of_rows);
  if (most == 0) {
    throw fault(ErrorKind::kInput,
                "{} of {} have no direction in which they vary; give at least 2 rows",
                count_of(data.rows(), "row"), count_of(data.cols(), "number"));
  }
  if (!config_.dim) return std::min(kUsualDim, most);
  if (static_cast<size_t>(*config_.dim) <= most) return static_cast<size_t>(*config_.dim);
  throw fault(ErrorKind::kUsage,
              "--dim {} is more than the {} that {} of {} have{}; lower it, or leave it out",
              *config_.dim, count_of(most, "direction"), count_of(data.rows(), "row"),
              count_of(data.cols(), "number"),
              most < data.cols() && config_.centre ? " around their mean" : "");
}

// Multiplications, those of the decomposition at what they take beside those of the passes.
Method Pca::method_for(const MatrixData& data) const {
  if (config_.method) return *config_.method;
  const auto n = static_cast<double>(data.rows()), d = static_cast<double>(data.cols());
  const double block = static_cast<double>(dim_for(data) + kOversample);
  const double passes = 8;
  const Sparse* const sparse = data.sparse();
  const double cells = sparse ? static_cast<double>(sparse->size()) : n * d;
  const double exact = sparse ? 4 * cells * cells / std::max(n, 1.0) : n * d * d / 2;
  const bool fits = data.cols() <= kMostHeld;
  return fits && exact + 100 * d * d * d <= 2 * passes * cells * block + 1e9 ? Method::kExact
                                                                             : Method::kRandomised;
}

int Pca::epochs(Method method) const {
  constexpr std::array<int, 4> kUsual{1, 30, 1000, 5000};
  return config_.epochs.value_or(kUsual[static_cast<size_t>(method)]);
}

double Pca::tolerance(Method method) const {
  constexpr std::array<double, 4> kUsual{0, 1e-8, 1e-14, 1e-11};
  return config_.tolerance.value_or(kUsual[static_cast<size_t>(method)]);
}

bool Pca::has_say(std::string_view setting, const MatrixData& data) const {
  if (setting == "epochs" || setting == "tolerance") return method_for(data) != Method::kExact;
  return true;
}

Change Pca::change() const {
  Change out{mean_, unit_};
  for (double& u : out.unit) u *= size_;
  return out;
}

void Pca::start(const MatrixData& data) {
  const ColumnMoments& m = data.train().moments();
  const size_t dim = dim_for(data);
  const Method method = method_for(data);
  method_ = EnumNames<Method>::names[static_cast<size_t>(method)];
  why_.clear();
  if (!config_.method) {
    why_ =
        fmt::format("--method {}: for {} of {} {}", method_, count_of(data.rows(), "row"),
                    count_of(data.cols(), "number"),
                    method == Method::kExact
                        ? "their covariance takes less work than passes with a block of directions"
                        : "passes with a block of directions take less work than their covariance");
  }
  columns_ = Names();
  for (const std::string& name : data.columns()) columns_.add(name);
  if (columns_.size() != data.cols()) {
    throw fault(ErrorKind::kInput, "two columns are called alike; rename one of them");
  }
  named_ = data.has_column_names();
  rows_ = data.rows();
  const size_t cols = data.cols();
  mean_ = config_.centre ? m.mean : std::vector<double>(cols, 0.0);
  unit_.assign(cols, 1.0);
  double largest = 0;
  total_ = 0;
  for (size_t c = 0; c < cols; ++c) {
    const double deviation = m.deviation(c);
    if (config_.scale && deviation > 0) unit_[c] = deviation;
    const double square = m.squares[c] + static_cast<double>(m.rows) * (m.mean[c] - mean_[c]) *
                                             (m.mean[c] - mean_[c]);
    total_ += square / unit_[c] / unit_[c];
    largest = std::max(largest, std::sqrt(square / static_cast<double>(m.rows)) / unit_[c]);
  }
  total_ /= static_cast<double>(rows_ - (config_.centre ? 1 : 0));
  if (!(largest > 0)) {
    throw fault(ErrorKind::kInput,
                "every column is the same in all rows: there is nothing to learn");
  }
  size_ = std::exp2(std::round(std::log2(largest)));
  components_ = Matrix(dim, cols);
  variance_.assign(dim, 0.0);
  work_.clear();
  found_ = 0;
  before_ = 0;
  working_ = true;
  loaded();
}

// Directions and variances in the units in which they were found.
void Pca::take(const EigenPairs& found) {
  components_ = Matrix(variance_.size(), columns_.size());
  for (size_t k = 0; k < variance_.size(); ++k) {
    variance_[k] = std::max(0.0, found.values[k]) * size_ * size_;
    for (size_t c = 0; c < columns_.size(); ++c) {
      components_.row(k)[c] = static_cast<float>(found.vectors.at(k, c));
    }
  }
  loaded();
}

void Pca::project(const MatrixRows& rows, uint64_t first, size_t count, Rows out) const {
  const size_t width = by_column_.stride(), dim = code_dim();
  Matrix sum(1, dim);
  const auto put = [&](size_t r) { std::copy_n(std::as_const(sum).view().data, dim, out.row(r)); };
  if (const Sparse* const sparse = rows.sparse()) {
    std::vector<float> scaled;
    for (size_t r = 0; r < count; ++r) {
      const Sparse::Row row = sparse->row(static_cast<uint32_t>(first + r));
      scaled.assign(row.values.begin(), row.values.end());
      for (size_t k = 0; k < row.size(); ++k) {
        scaled[k] = static_cast<float>(scaled[k] / unit_[row.columns[k]]);
      }
      sum_rows({by_column_.view(), row.columns.data(), scaled.data(), row.size(), 1}, false,
               sum.view().row(0), width);
      for (size_t k = 0; k < dim; ++k) {
        sum.row(0)[k] = static_cast<float>(sum.row(0)[k] - projected_[k]);
      }
      put(r);
    }
    return;
  }
  const std::vector<double> scale = inverse(unit_);
  Matrix block(std::min<size_t>(count, 64), rows.cols());
  for (size_t r = 0; r < count; r += block.rows()) {
    const size_t n = std::min(block.rows(), count - r);
    rows.read(first + r, n, block.view(), {mean_, scale});
    for (size_t k = 0; k < n; ++k) {
      sum_rows({by_column_.view(), nullptr, std::as_const(block).view().row(k), rows.cols(), 1},
               false, sum.view().row(0), width);
      put(r + k);
    }
  }
}

void Pca::encode(const MatrixRows& rows, uint64_t first, size_t count, Rows out) const {
  project(rows, first, count, out);
  if (!config_.whiten) return;
  std::vector<float> scale;
  for (const double v : variance_) {
    const bool real = v > kNothing * variance_.front();
    scale.push_back(real ? static_cast<float>(1 / std::sqrt(v)) : 0.0f);
  }
  for (size_t r = 0; r < count; ++r) {
    for (size_t k = 0; k < scale.size(); ++k) out.row(r)[k] *= scale[k];
  }
}

void Pca::reconstruct(const MatrixRows& rows, uint64_t first, size_t count, double* out) const {
  const size_t cols = columns_.size();
  Matrix codes(count, code_dim()), sum(1, cols);
  project(rows, first, count, codes.view());
  for (size_t r = 0; r < count; ++r) {
    sum_rows({std::as_const(components_).view(), nullptr, std::as_const(codes).view().row(r),
              code_dim(), 1},
             false, sum.view().row(0), components_.stride());
    for (size_t c = 0; c < cols; ++c) {
      out[r * cols + c] = mean_[c] + unit_[c] * double{sum.row(0)[c]};
    }
  }
}

double Pca::noise_variance() const {
  double kept = 0;
  for (const double v : variance_) kept += v;
  const uint64_t all = std::min<uint64_t>(columns_.size(), rows_);
  if (all <= variance_.size()) return 0;
  return std::max(0.0, total_ - kept) / static_cast<double>(all - variance_.size());
}

std::vector<Fact> Pca::info() const {
  double kept = 0;
  for (const double v : variance_) kept += v;
  const auto share = [&](double v) { return total_ > 0 ? v / total_ : 0; };
  std::vector<Fact> out{{"columns", fmt::format("{}", columns_.size()), true},
                        {"learned_rows", fmt::format("{}", rows_), true},
                        {"dim", fmt::format("{}", variance_.size()), true},
                        {"method", method_},
                        {"total_variance", fmt::format("{:.6g}", total_), true},
                        {"explained", fmt::format("{:.5f}", share(kept)), true},
                        {"noise_variance", fmt::format("{:.6g}", noise_variance()), true}};
  std::vector<std::string> first;
  for (size_t k = 0; k < std::min<size_t>(5, variance_.size()); ++k) {
    first.push_back(in_percent(share(variance_[k])));
  }
  out.push_back({"first_components", fmt::format("{}", fmt::join(first, ", "))});
  if (!state_.held_out.empty()) {
    out.push_back({"held_out_mean_alone", fmt::format("{:.6g}", error_before()), true});
    out.push_back({"held_out", fmt::format("{:.6g}", error_now()), true});
  }
  return out;
}

uint64_t Pca::memory(const MatrixData& data, const Job& job) const {
  const uint64_t cols = data.cols(), dim = dim_for(data);
  const Method method = method_for(data);
  const uint64_t directions =
      4 * (dim * padded(cols) + cols * padded(dim)) + 8 * (cols * 6 + dim * 2);
  const uint64_t threads = static_cast<uint64_t>(job.threads()), block = dim + kOversample;
  uint64_t work = 0;
  if (data.sparse()) {
    work += 8 * data.sparse()->size() + 16 * cols;  // by columns
  } else {
    // A block of rows; what each thread reads and turns; coordinates of the block.
    const uint64_t share = std::min<uint64_t>(block_rows(cols), data.rows());
    const uint64_t bytes = share * padded(cols) * sizeof(float);
    work += bytes + threads * (bytes / 8 + (uint64_t{1} << 18));
    if (method == Method::kRandomised) {
      work += 4 * share * padded(block) + threads * 128 * cols + 4 * padded(block) * cols;
    }
  }
  const bool held = method != Method::kRandomised && cols <= kMostHeld;
  if (held) work += 8 * cols * cols * (method == Method::kExact ? 3 : 2);
  if (method == Method::kRandomised) {
    work += 8 * 9 * block * cols;  // the block, its image, and what makes it orthonormal
    if (data.sparse()) work += 4 * padded(block) * data.rows();
  }
  if (method == Method::kPower) work += 8 * 4 * dim * cols;
  if (method == Method::kAutoencoder) work += 8 * 20 * dim * cols;
  return directions + work + kMemoryOfAll;
}

ModelInfo info() {
  return model_info<Pca>("pca", "rows of numbers: their main directions (principal components)");
}

}  // namespace kith::pca
