// SPDX-License-Identifier: Apache-2.0
#include "models/nmf/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/rng.h"
#include "train/biases.h"
#include "train/noise_level.h"

namespace kith::nmf {
namespace {

constexpr uint64_t kShard = 8192;  // ratings that one thread does at a time, about
constexpr int kSweeps = 3;         // over a row, once its products are there (Gillis, Glineur 2012)
constexpr int kFoldInSweeps = 200;
constexpr double kNoiseShare = 0.35;  // penalty / what noise can make; see README.md
constexpr double kFirstShare = 0.1;

std::vector<double> column_sums(const Matrix& m, size_t cols) {
  std::vector<double> out(cols, 0.0);
  for (size_t r = 0; r < m.rows(); ++r) {
    for (size_t k = 0; k < cols; ++k) out[k] += m.row(r)[k];
  }
  return out;
}

// Of the rows that have ratings.
std::vector<float> mean_row(const Matrix& m, const Sparse& ratings, size_t cols) {
  std::vector<double> sums(cols, 0.0);
  double known = 0;
  for (uint32_t r = 0; r < m.rows(); ++r) {
    if (ratings.row(r).size() == 0) continue;
    ++known;
    for (size_t k = 0; k < cols; ++k) sums[k] += m.row(r)[k];
  }
  std::vector<float> out(cols, 0.0f);
  for (size_t k = 0; k < cols; ++k) out[k] = static_cast<float>(sums[k] / std::max(1.0, known));
  return out;
}

}  // namespace

class Trainer final : public CompletionRun {
 public:
  Trainer(Nmf& model, const Ratings& ratings, Job& job)
      : CompletionRun(model, ratings, model.config_.epochs, model.config_.early_stop, job),
        m_(model),
        by_item_(transposed(ratings.train())),
        scratch_(static_cast<size_t>(std::max(1, job.threads))) {}

 private:
  // The users, then the items.
  Sum train(uint64_t, uint64_t, uint64_t) override {
    sweep(Axis::kUser, ratings_.train(), m_.user_);
    const double loss = sweep(Axis::kItem, by_item_, m_.item_);
    const double before = m_.state_.loss * static_cast<double>(ratings_.train().size());
    if (m_.state_.block > 0 && before - loss <= m_.config_.tolerance * before) converged();
    return {loss, ratings_.train().size()};
  }

  double sweep(Axis axis, const Sparse& ratings, Matrix& rows) {
    const Others others = m_.others_of(axis, job_);
    const uint64_t mean = ratings.size() / std::max<uint32_t>(1, ratings.rows()) + 1;
    const auto size = static_cast<uint32_t>(std::max<uint64_t>(1, kShard / mean));
    const size_t shards = (ratings.rows() + size - 1) / size;
    std::vector<double> losses(shards, 0.0);
    job_.for_each_shard(shards, [&](size_t s, size_t worker) {
      const auto first = static_cast<uint32_t>(s) * size;
      for (uint32_t r = first; r < std::min(ratings.rows(), first + size); ++r) {
        const Sparse::Row row = ratings.row(r);
        if (row.size() == 0 && !m_.zero_) continue;
        losses[s] +=
            update_row(others, m_.penalties(axis), row, kSweeps, rows.row(r), scratch_[worker]);
      }
    });
    double sum = 0;
    for (const double l : losses) sum += l;
    return sum;
  }

  Nmf& m_;
  const Sparse by_item_;
  std::vector<Scratch> scratch_;
};

// Error(kInput) with the first rating that no sum of parts can be.
void Nmf::check(const Ratings& ratings) const {
  if (biases()) return;
  const Sparse& train = ratings.train();
  for (uint32_t u = 0; u < train.rows(); ++u) {
    const Sparse::Row row = train.row(u);
    for (size_t i = 0; i < row.size(); ++i) {
      if (row.values[i] >= 0) continue;
      throw Error(
          ErrorKind::kInput,
          "{} {} has rated {} {} with {:g}, and parts that only add up cannot make a number "
          "below 0; train with --biases and --loss squared, which take any ratings, or add "
          "a constant to all of them first",
          ratings.profile().user_column, ratings.users()[u], ratings.profile().item_column,
          ratings.items()[row.columns[i]], row.values[i]);
    }
  }
}

void Nmf::check_normalised() const {
  if (config_.biases && config_.loss == Loss::kSquared && config_.unobserved != Unobserved::kZero) {
    return;
  }
  throw Error(ErrorKind::kUsage,
              "--normalise makes numbers around 0 of ratings, and of these nmf makes parts only "
              "beside biases: with --biases, --loss squared and without --unobserved zero");
}

void Nmf::initialise(const Ratings& ratings, const Job& job) {
  implicit_ = ratings.implicit();
  zero_ = config_.unobserved == Unobserved::kZero ||
          (config_.unobserved == Unobserved::kAuto && implicit_);
  check(ratings);
  begin(ratings, static_cast<size_t>(config_.dim));
  rank_ = dim();
  penalty_ = found_penalty(ratings.train(), job);
  const double share = static_cast<double>(seen_->size()) /
                       (static_cast<double>(user_.rows()) * static_cast<double>(item_.rows()));
  // What p . q is at first: the mean; beside biases, little, and they make up for it.
  const double level =
      biases() ? kFirstShare * ratings.deviation() : ratings.mean() * (zero_ ? share : 1);
  const double scale = std::sqrt(std::max(level, 1e-12) / std::max<double>(1, config_.dim));
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    Matrix& rows = axis == Axis::kUser ? user_ : item_;
    for (size_t r = 0; r < rows.rows(); ++r) {
      Rng rng(job.seed + (axis == Axis::kItem ? 0x9e3779b9 : 0), r);
      for (float& x : rows.row(r).first(dim())) {
        x = static_cast<float>(scale * (0.5 + rng.uniform()));
      }
    }
  }
  if (biases()) mean_ -= level;
}

// In the units of the loss: kl is (r - y)^2 / (2 y) near the optimum.
double Nmf::found_penalty(const Sparse& ratings, const Job& job) const {
  if (config_.penalty >= 0) return config_.penalty;
  if (zero_) return 0;
  const Biases fitted = fit_biases(ratings);
  Sparse left = ratings;
  for (uint32_t u = 0; u < left.rows(); ++u) {
    for (uint64_t i = left.offsets[u]; i < left.offsets[u + 1]; ++i) {
      left.value[i] -=
          static_cast<float>(fitted.mean + fitted.user[u] + fitted.item[left.column[i]]);
    }
  }
  const double squared = kNoiseShare * noise_level(std::move(left), job.seed, job);
  return config_.loss == Loss::kSquared ? squared : squared / std::max(fitted.mean, 1e-6);
}

Others Nmf::others_of(Axis axis, const Job& job) const {
  const Matrix& rows = axis == Axis::kUser ? item_ : user_;
  Others out{.rows = rows,
             .dim = dim(),
             .own = axis == Axis::kUser ? dim() : dim() + 1,
             .biases = biases(),
             .mean = mean_,
             .zero = zero_,
             .method = config_.method,
             .loss = config_.loss};
  if (zero_ && config_.loss == Loss::kSquared) {
    out.gram = transpose_times(rows, dim(), rows, job);
  }
  if (zero_ && config_.loss == Loss::kKl) out.sums = column_sums(rows, dim());
  return out;
}

Penalties Nmf::penalties(Axis axis) const {
  return {penalty_, config_.sparsity,
          axis == Axis::kUser ? user_bias_penalty_ : item_bias_penalty_};
}

double Nmf::objective() const {
  const Job job;
  double out = 0;
  const Sparse by_item = transposed(*seen_);
  const auto add_penalties = [&](Axis axis, const Matrix& rows, const Sparse& ratings) {
    for (uint32_t r = 0; r < rows.rows(); ++r) {
      const size_t n = ratings.row(r).size();
      if (n == 0 && !zero_) continue;
      const Penalties penalty = penalties(axis);
      for (const float x : rows.row(r).first(dim())) {
        out += penalty.l2 * x * x / 2 + penalty.l1 * x;
      }
      const double b = rows.row(r)[axis == Axis::kUser ? dim() : dim() + 1];
      if (biases()) out += penalty.bias * b * b / 2;
    }
  };
  add_penalties(Axis::kUser, user_, *seen_);
  add_penalties(Axis::kItem, item_, by_item);
  const Others others = others_of(Axis::kUser, job);
  Scratch scratch;
  Matrix copy(1, user_.cols());
  for (uint32_t u = 0; u < user_.rows(); ++u) {
    const Sparse::Row row = seen_->row(u);
    if (row.size() == 0 && !zero_) continue;
    std::ranges::copy(user_.row(u), copy.row(0).begin());
    const double loss = update_row(others, {}, row, 0, copy.row(0), scratch);
    out += config_.loss == Loss::kSquared ? loss / 2 : loss;
  }
  return out;
}

void Nmf::initialise_refit(const Ratings& whole, const Job& job) {
  if (state_.refit == 0 && biases()) {
    begin(whole, 0);  // nothing was better than biases alone
  } else {
    initialise(whole, job);
  }
}

bool Nmf::run(const Ratings& ratings, Job& job) { return Trainer(*this, ratings, job).run(); }

// Without biases a row of zeros predicts 0, which nobody rates: those that nothing is known of are
// as the others are on the whole.
void Nmf::finish(const Ratings& learned_from, const Job&) {
  if (biases() || zero_) return;
  const Sparse& by_user = learned_from.train();
  const Sparse by_item = transposed(by_user);
  for (const auto& [rows, ratings] : {std::pair{&user_, &by_user}, std::pair{&item_, &by_item}}) {
    const std::vector<float> mean = mean_row(*rows, *ratings, dim());
    for (uint32_t r = 0; r < rows->rows(); ++r) {
      if (ratings->row(r).size() == 0) std::ranges::copy(mean, rows->row(r).begin());
    }
  }
}

std::vector<float> Nmf::fold(Axis axis, Sparse::Row ratings) const {
  const Matrix& own = axis == Axis::kUser ? user_ : item_;
  const size_t at = axis == Axis::kUser ? dim() : dim() + 1, other = 2 * dim() + 1 - at;
  Matrix row(1, dim() + 2);
  row.row(0)[other] = 1;
  if (ratings.size() > 0 || !(biases() || zero_)) {
    // From the middle: multiplicative updates cannot leave 0.
    const std::vector<double> sums = column_sums(own, dim());
    for (size_t k = 0; k < dim(); ++k) {
      row.row(0)[k] = static_cast<float>(sums[k] / static_cast<double>(own.rows()));
    }
  }
  if (ratings.size() > 0) {
    Scratch scratch;
    update_row(others_of(axis, Job()), penalties(axis), ratings, kFoldInSweeps, row.row(0),
               scratch);
  }
  return {row.row(0).begin(), row.row(0).end()};
}

double Nmf::predict(std::span<const float> user, std::span<const float> item) const {
  if (!zero_) return RatingsModel::predict(user, item);
  double sum = 0;
  for (size_t k = 0; k < user.size(); ++k) sum += double{user[k]} * item[k];
  return sum;
}

uint64_t Nmf::memory_needed(const Ratings& ratings, const Job& job) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const uint64_t row = padded(static_cast<size_t>(config_.dim) + 2) * 4;
  return 2 * rows * row + (ratings.train().size() + ratings.held_out().size()) * 16 + rows * 16 +
         static_cast<uint64_t>(std::max(1, job.threads)) * 256 * row + (uint64_t{8} << 20);
}

void Nmf::pack(ArchiveWriter& out, bool checkpoint) const {
  CompletionModel::pack(out, checkpoint);
  out.metadata["nmf.penalty"] = fmt::format("{}", penalty_);
  out.metadata["nmf.zero"] = zero_ ? "1" : "0";
}

void Nmf::restore(const Archive& in) {
  Nmf other;
  other.read(in);
  other.penalty_ = in.number_at<double>("nmf.penalty");
  other.zero_ = in.metadata_at("nmf.zero") == "1";
  bool good = other.penalty_ >= 0 && std::isfinite(other.penalty_);
  for (const Matrix* m : {&other.user_, &other.item_}) {
    for (size_t r = 0; r < m->rows() && good; ++r) {
      good = std::ranges::all_of(m->row(r).first(other.dim()), [](float x) { return x >= 0; });
    }
  }
  if (!good) {
    throw Error(ErrorKind::kInput,
                "{}: a part of a vector or the penalty is below 0; the file is damaged",
                in.where());
  }
  *this = std::move(other);
}

std::vector<Fact> Nmf::info() const {
  std::vector<Fact> out = CompletionModel::info();
  out.push_back({"penalty", fmt::format("{:g}", penalty_)});
  out.push_back({"unobserved", zero_ ? "zero" : "missing"});
  return out;
}

ModelInfo info() {
  return {"nmf", "users and items of ratings as sums of parts: non-negative factorisation",
          InputKind::kRatings, []() -> std::unique_ptr<Model> { return std::make_unique<Nmf>(); }};
}

}  // namespace kith::nmf
