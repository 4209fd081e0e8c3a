// SPDX-License-Identifier: Apache-2.0
// How the components are found: a pass for the covariance, or iterations of one of the solvers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "models/pca/model.h"
#include "models/reconstruction.h"

namespace kith::pca {
namespace {

constexpr uint64_t kSegment = 16;  // blocks of rows between two reports
constexpr int kSteps = 50;         // of gradient descent, likewise

double sum_of(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out += x;
  return out;
}

// A block of row vectors in a run of numbers, and back.
Small block_of(const std::vector<double>& from, size_t index, size_t rows, size_t cols) {
  Small out(rows, cols);
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(index * rows * cols), rows * cols,
              out.values.begin());
  return out;
}

}  // namespace

class PcaTrainer final : public Trainer {
 public:
  PcaTrainer(Pca& model, const MatrixData& data, Job& job)
      : m_(model),
        data_(data),
        job_(job),
        method_(model.method_for(data)),
        change_(model.change()),
        divisor_(static_cast<double>(data.rows() - (model.config_.centre ? 1 : 0))),
        total_(model.total_ / model.size_ / model.size_) {
    if (method_ == Method::kExact) return;
    // The data are looked at once more after a resume: what follows from them is not kept.
    if (method_ != Method::kRandomised && data.cols() <= kMostHeld) {
      c_ = held(whole_covariance());
    } else {
      c_ = streamed(data.train(), change_, divisor_);
    }
  }

  uint64_t blocks() const override {
    if (method_ != Method::kExact || data_.sparse()) return 1;
    const uint64_t step = block_rows(data_.cols());
    return (data_.rows() + step - 1) / step;
  }
  uint64_t segment() const override { return method_ == Method::kExact ? kSegment : 1; }

  // Iterations until one is the last, as far as the model knows.
  static int epochs(const Pca& m, const MatrixData& data) {
    const Method method = m.method_for(data);
    const int most = m.epochs(method);
    if (method == Method::kExact) return 1;
    if (method == Method::kPower) return static_cast<int>(m.variance_.size());
    return method == Method::kAutoencoder ? (most + kSteps - 1) / kSteps : most;
  }

  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    bool last = false;
    switch (method_) {
      case Method::kExact:
        return covariance_blocks(blocks, sum);
      case Method::kRandomised:
        last = iterate_block();
        break;
      case Method::kPower:
        last = find_direction();
        break;
      case Method::kAutoencoder:
        last = descend(blocks.epoch);
        break;
    }
    sum.add(left_over(), 1);
    return {1, last};
  }

  std::optional<double> held_out_loss() override {
    const MatrixRows& rows = data_.held_out();
    if (rows.rows() == 0) return std::nullopt;
    constexpr size_t kRows = 256;
    const size_t cols = rows.cols(), shards = (rows.rows() + kRows - 1) / kRows;
    std::vector<double> squares(shards);
    for_each_shard(job_.context(), shards, [&](size_t s) {
      const size_t n = std::min<uint64_t>(kRows, rows.rows() - s * kRows);
      squares[s] = reconstruction_error(m_, rows, s * kRows, n).error;
    });
    return sum_of(squares) / static_cast<double>(rows.rows()) / static_cast<double>(cols);
  }

  std::pair<uint64_t, uint64_t> progress(const RunState& state) const override {
    const auto all = static_cast<uint64_t>(epochs(m_, data_)) * blocks();
    const double share = static_cast<double>(state.block) / static_cast<double>(all);
    const uint64_t units = static_cast<uint64_t>(epochs(m_, data_)) * data_.rows();
    return {static_cast<uint64_t>(share * static_cast<double>(units)), units};
  }

 private:
  // What is lost of a cell, in the mean, in the unit of the data.
  double left_over() const {
    const double lost = std::max(0.0, m_.total_ - sum_of(m_.variance_));
    return lost * divisor_ / static_cast<double>(data_.rows()) / static_cast<double>(data_.cols());
  }

  Small whole_covariance() {
    std::vector<double> gram(data_.cols() * data_.cols(), 0.0);
    if (data_.sparse()) {
      add_sparse_gram(data_.train(), change_, gram, job_);
    } else {
      add_gram(data_.train(), change_, 0, data_.rows(), gram, job_);
    }
    return covariance_of(gram, data_.cols(), divisor_);
  }

  Learned covariance_blocks(const Blocks& blocks, LossSum& sum) {
    const size_t cols = data_.cols();
    uint64_t done = blocks.count;
    if (blocks.first == 0) m_.work_.assign(cols * cols, 0.0);
    if (data_.sparse()) {
      try {
        add_sparse_gram(data_.train(), change_, m_.work_, job_);
      } catch (...) {  // what was not done does not count
        m_.work_.clear();
        throw;
      }
    } else {
      const uint64_t step = block_rows(cols);
      for (done = 0; done < blocks.count && !job_.cancelled(); ++done) {
        const uint64_t first = (blocks.first + done) * step;
        try {
          add_gram(data_.train(), change_, first, std::min(first + step, data_.rows()), m_.work_,
                   job_);
        } catch (const Error& e) {  // of this block nothing was added
          if (e.kind() != ErrorKind::kCancelled) throw;
          break;
        }
      }
    }
    if (blocks.first + done == this->blocks()) {
      Small c = covariance_of(m_.work_, cols, divisor_);
      m_.work_ = {};
      m_.take(largest_eigenpairs(c, m_.variance_.size(), &job_.context()));
      sum.add(left_over(), 1);
    }
    return {done};
  }

  // Stops when an iteration finds no more.
  bool iterate_block() {
    const size_t cols = data_.cols();
    const size_t size = std::min({m_.variance_.size() + kOversample, cols});
    if (m_.work_.empty()) {
      m_.work_ = orthonormal_rows(random_block(size, cols, job_.seed)).values;
    }
    BlockStep step = block_step(*c_, block_of(m_.work_, 0, size, cols), m_.variance_.size(), job_);
    const double kept = sum_of(step.found.values);
    const bool last = m_.found_ > 0 && kept - m_.before_ <= m_.tolerance(method_) * total_;
    m_.take(step.found);
    m_.work_ = std::move(step.next.values);
    m_.before_ = kept;
    ++m_.found_;
    return last;
  }

  // One more: the directions that were found are the rows of the work, their variances in front.
  bool find_direction() {
    const size_t cols = data_.cols(), dim = m_.variance_.size();
    EigenPairs found;
    const auto known = static_cast<size_t>(m_.found_);
    found.values.assign(m_.work_.begin(), m_.work_.begin() + static_cast<std::ptrdiff_t>(known));
    found.vectors = Small(known, cols);
    std::copy_n(m_.work_.begin() + static_cast<std::ptrdiff_t>(known), known * cols,
                found.vectors.values.begin());
    const Direction next =
        next_direction(*c_, found, random_block(1, cols, job_.seed + known).values,
                       {m_.epochs(method_), m_.tolerance(method_) * total_}, job_);
    found.values.push_back(next.value);
    found.vectors.values.insert(found.vectors.values.end(), next.vector.begin(), next.vector.end());
    ++found.vectors.rows;
    // The order in which they come is that of their variances, but for what was not converged.
    const Small basis = orthonormal_rows(found.vectors);
    EigenPairs all = within(*c_, basis, known + 1, job_);
    std::vector<double> work = found.values;
    work.insert(work.end(), found.vectors.values.begin(), found.vectors.values.end());
    all.values.resize(dim, 0.0);
    all.vectors.values.resize(dim * cols, 0.0);
    all.vectors.rows = dim;
    m_.take(all);
    m_.work_ = std::move(work);
    ++m_.found_;
    return known + 1 == dim;
  }

  // Some steps; W and V are rotated into the principal axes for what the model says.
  bool descend(uint64_t epoch) {
    const size_t cols = data_.cols(), dim = m_.variance_.size();
    Autoencoder net;
    if (m_.work_.empty()) {
      net = Autoencoder(dim, cols, job_.seed);
    } else {
      Small* const parts[]{&net.w, &net.v, &net.to_w, &net.to_v, &net.last_w, &net.last_v};
      for (size_t k = 0; k < 6; ++k) *parts[k] = block_of(m_.work_, k, dim, cols);
    }
    const int most = m_.epochs(method_);
    const int so_far = static_cast<int>(epoch) * kSteps;
    const int steps = std::min(kSteps, most - so_far);
    for (int k = 0; k < steps; ++k) {
      job_.context().check();
      net.step(*c_, job_);
    }
    const double kept = -2 * net.loss(*c_, job_);
    const bool last = so_far + steps >= most ||
                      (epoch > 0 && kept - m_.before_ <= m_.tolerance(method_) * total_ * steps);
    m_.take(within(*c_, orthonormal_rows(net.v), dim, job_));
    std::vector<double> work;
    for (const Small* const part :
         {&net.w, &net.v, &net.to_w, &net.to_v, &net.last_w, &net.last_v}) {
      work.insert(work.end(), part->values.begin(), part->values.end());
    }
    m_.work_ = std::move(work);
    m_.before_ = kept;
    return last;
  }

  Pca& m_;
  const MatrixData& data_;
  Job& job_;
  const Method method_;
  const Change change_;
  const double divisor_, total_;  // the total in the units that are worked in
  std::unique_ptr<Covariance> c_;
};

class Pca::OwnCourse final : public ModelCourse {
 public:
  OwnCourse(Pca& model, const MatrixData& data, Job& job)
      : ModelCourse(model), m_(model), data_(data), job_(job) {}
  RunPlan plan() const override {
    return {.epochs = PcaTrainer::epochs(m_, data_),
            .note = m_.why_.empty() ? nullptr : m_.why_.c_str()};
  }
  void start(Start) override { m_.start(data_); }
  std::unique_ptr<Trainer> trainer() override {
    return std::make_unique<PcaTrainer>(m_, data_, job_);
  }
  void finish() override {
    ModelCourse::finish();
    m_.work_ = {};
    m_.size_ = 1;
    m_.working_ = false;
  }

 private:
  Pca& m_;
  const MatrixData& data_;
  Job& job_;
};

// What a checkpoint must hold, so that whoever goes on from it stays within it.
void Pca::check_restored(const MatrixData& data) const {
  const size_t cols = data.cols(), dim = dim_for(data);
  const Method method = method_for(data);
  size_t wanted = 0;
  switch (method) {
    case Method::kExact:
      wanted = cols * cols;
      break;
    case Method::kRandomised:
      wanted = std::min(dim + kOversample, cols) * cols;
      break;
    case Method::kPower:
      wanted = static_cast<size_t>(std::min<uint64_t>(found_, dim)) * (cols + 1);
      break;
    case Method::kAutoencoder:
      wanted = 6 * dim * cols;
      break;
  }
  // Nothing before the first block; of sums, nothing behind the last one either.
  uint64_t blocks = std::numeric_limits<uint64_t>::max();
  if (method == Method::kExact) {
    const uint64_t step = block_rows(cols);
    blocks = data.sparse() ? 1 : (data.rows() + step - 1) / step;
  }
  const bool fits =
      work_.size() == wanted || (work_.empty() && (state_.block == 0 || state_.block >= blocks));
  const bool good = working_ && fits && variance_.size() == dim &&
                    (method != Method::kPower || found_ <= dim) && std::isfinite(size_) &&
                    size_ > 0 && std::isfinite(before_);
  if (good) return;
  throw fault(ErrorKind::kInput, "the checkpoint is damaged: it lacks what the run goes on from");
}

bool Pca::learn(const MatrixData& data, Job& job) {
  if (state_.started && (!working_ || columns_.size() != data.cols() || rows_ != data.rows())) {
    throw fault(ErrorKind::kInput,
                "the data have {} rows of {} numbers, the checkpoint {} of {}; resume with the "
                "same data and settings",
                data.rows(), data.cols(), rows_, columns_.size());
  }
  if (state_.started) check_restored(data);
  OwnCourse course(*this, data, job);
  return kith::train(course, state_, job);
}

}  // namespace kith::pca
