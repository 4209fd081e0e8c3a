// SPDX-License-Identifier: Apache-2.0
#include "models/nmf/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "eval/biases.h"
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

// A block is some rows of one side: those of the users, then those of the items. A row depends on
// the other side alone, so there may be a pause between any two blocks.
class NmfTrainer final : public RatingsTrainer {
 public:
  NmfTrainer(Nmf& model, const Ratings& ratings, Job& job)
      : RatingsTrainer(model, ratings, job),
        m_(model),
        by_item_(transposed(ratings.train())),
        scratch_(static_cast<size_t>(job.threads())) {}

  uint64_t blocks() const override { return shards(ratings_.train()) + shards(by_item_); }
  uint64_t segment() const override { return blocks(); }

  // The rest of one side at most.
  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    const uint64_t user_blocks = shards(ratings_.train());
    const Axis axis = blocks.first < user_blocks ? Axis::kUser : Axis::kItem;
    const Sparse& ratings = axis == Axis::kUser ? ratings_.train() : by_item_;
    const uint64_t first = axis == Axis::kUser ? blocks.first : blocks.first - user_blocks;
    const uint64_t count = std::min(blocks.count, shards(ratings) - first);
    const Others others = m_.others_of(axis, job_);
    const uint32_t size = rows_in(ratings);
    std::vector<double> losses(count, 0.0);
    const size_t done = run_shards(job_, count, [&](size_t b, size_t worker) {
      const auto begin = static_cast<uint32_t>(first + b) * size;
      for (uint32_t r = begin; r < std::min(ratings.rows(), begin + size); ++r) {
        const Sparse::Row row = ratings.row(r);
        if (row.size() == 0 && !m_.zero_) continue;
        losses[b] += update_row(others, m_.penalties(axis), row, kSweeps, m_.f_.rows(axis).row(r),
                                scratch_[worker]);
      }
    });
    // The loss of an epoch is that of its end.
    for (size_t b = 0; b < done && axis == Axis::kItem; ++b) {
      const uint64_t begin = (first + b) * size;
      const uint64_t end = std::min<uint64_t>(ratings.rows(), begin + size);
      sum.add(losses[b], ratings.offsets[end] - ratings.offsets[begin]);
    }
    const bool closes = axis == Axis::kItem && first + done == shards(ratings);
    return {done, closes && has_settled(blocks.epoch)};
  }

 private:
  static uint32_t rows_in(const Sparse& ratings) {
    const uint64_t mean = ratings.size() / std::max<uint32_t>(1, ratings.rows()) + 1;
    return static_cast<uint32_t>(std::max<uint64_t>(1, kShard / mean));
  }
  static uint64_t shards(const Sparse& ratings) {
    return (ratings.rows() + rows_in(ratings) - 1) / rows_in(ratings);
  }
  bool has_settled(uint64_t epoch) {
    const double before = state().loss * static_cast<double>(ratings_.train().size());
    return epoch > 0 && before - state().epoch_loss <= m_.config_.tolerance * before;
  }

  Nmf& m_;
  const Sparse by_item_;
  std::vector<Scratch> scratch_;
};

// Error(kInput) with the first rating that no sum of parts can be.
void Nmf::check(const Ratings& ratings) const {
  if (ratings.normalise() != Normalise::kNone && !biases_for(false)) {
    throw fault(ErrorKind::kUsage,
                "--normalise turns ratings into numbers around 0, and nmf can use these only "
                "beside biases: with --biases and --loss squared, and without --unrated zero");
  }
  if (biases_for(ratings.implicit())) return;
  const Sparse& train = ratings.train();
  for (uint32_t u = 0; u < train.rows(); ++u) {
    const Sparse::Row row = train.row(u);
    for (size_t i = 0; i < row.size(); ++i) {
      if (row.values[i] >= 0) continue;
      throw fault(ErrorKind::kInput,
                  "{} {} has rated {} {} with {:g}, and a sum of non-negative parts cannot be "
                  "below 0; train with --biases and --loss squared, which take any ratings, or add "
                  "a constant to all of them first",
                  ratings.counts().user_column, ratings.users()[u], ratings.counts().item_column,
                  ratings.items()[row.columns[i]], row.values[i]);
    }
  }
}

void Nmf::start(const Ratings& ratings, Start start, const Job& job) {
  f_.implicit = ratings.implicit();
  zero_ = zero_for(f_.implicit);
  if (start == Start::kNothing && biases()) return begin(ratings, 0);  // they alone were best
  begin(ratings, static_cast<size_t>(config_.dim));
  rank_ = f_.dim;
  penalty_ = found_penalty(ratings.train(), job);
  const double share = static_cast<double>(f_.seen->size()) /
                       (static_cast<double>(f_.user.rows()) * static_cast<double>(f_.item.rows()));
  // What p . q is at first: the mean; beside biases, little, and they make up for it.
  const double level =
      biases() ? kFirstShare * ratings.deviation() : ratings.mean() * (zero_ ? share : 1);
  const double scale = std::sqrt(std::max(level, 1e-12) / std::max<double>(1, config_.dim));
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    Matrix& rows = f_.rows(axis);
    for (size_t r = 0; r < rows.rows(); ++r) {
      Rng rng(job.seed + (axis == Axis::kItem ? 0x9e3779b9 : 0), r);
      for (float& x : rows.row(r).first(f_.dim)) {
        x = static_cast<float>(scale * (0.5 + rng.uniform()));
      }
    }
  }
  if (biases()) f_.mean -= level;
}

// In the units of the loss: kl is (r - y)^2 / (2 y) near the optimum.
double Nmf::found_penalty(const Sparse& ratings, const Job& job) const {
  if (config_.penalty) return *config_.penalty;
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

Others Nmf::others_of(Axis axis, const Context& context) const {
  const Matrix& rows = f_.rows(other(axis));
  Others out{.rows = rows,
             .dim = f_.dim,
             .own = f_.own(axis),
             .biases = biases(),
             .mean = f_.mean,
             .zero = zero_,
             .method = config_.method,
             .loss = config_.loss};
  if (zero_ && config_.loss == Loss::kSquared) {
    out.gram = transpose_times(rows, f_.dim, rows, context);
  }
  if (zero_ && config_.loss == Loss::kKl) out.sums = column_sums(rows, f_.dim);
  return out;
}

Penalties Nmf::penalties(Axis axis) const {
  return {penalty_, config_.sparsity,
          axis == Axis::kUser ? user_bias_penalty_ : item_bias_penalty_};
}

double Nmf::objective() const {
  const Context context(1);
  double out = 0;
  const Sparse by_item = transposed(*f_.seen);
  const auto add_penalties = [&](Axis axis, const Matrix& rows, const Sparse& ratings) {
    for (uint32_t r = 0; r < rows.rows(); ++r) {
      const size_t n = ratings.row(r).size();
      if (n == 0 && !zero_) continue;
      const Penalties penalty = penalties(axis);
      for (const float x : rows.row(r).first(f_.dim)) {
        out += penalty.l2 * x * x / 2 + penalty.l1 * x;
      }
      const double b = rows.row(r)[axis == Axis::kUser ? f_.dim : f_.dim + 1];
      if (biases()) out += penalty.bias * b * b / 2;
    }
  };
  add_penalties(Axis::kUser, f_.user, *f_.seen);
  add_penalties(Axis::kItem, f_.item, by_item);
  const Others others = others_of(Axis::kUser, context);
  Scratch scratch;
  Matrix copy(1, f_.user.cols());
  for (uint32_t u = 0; u < f_.user.rows(); ++u) {
    const Sparse::Row row = f_.seen->row(u);
    if (row.size() == 0 && !zero_) continue;
    std::ranges::copy(f_.user.row(u), copy.row(0).begin());
    const double loss = update_row(others, {}, row, 0, copy.row(0), scratch);
    out += config_.loss == Loss::kSquared ? loss / 2 : loss;
  }
  return out;
}

std::unique_ptr<Trainer> Nmf::trainer(const Ratings& ratings, Job& job) {
  return std::make_unique<NmfTrainer>(*this, ratings, job);
}

// Without biases a row of zeros predicts 0, which nobody rates: those that nothing is known of are
// as the others are on the whole.
void Nmf::finish(const Ratings& learned_from, const Job&) {
  if (biases() || zero_) return;
  const Sparse& by_user = learned_from.train();
  const Sparse by_item = transposed(by_user);
  for (const auto& [rows, ratings] :
       {std::pair{&f_.user, &by_user}, std::pair{&f_.item, &by_item}}) {
    const std::vector<float> mean = mean_row(*rows, *ratings, f_.dim);
    for (uint32_t r = 0; r < rows->rows(); ++r) {
      if (ratings->row(r).size() == 0) std::ranges::copy(mean, rows->row(r).begin());
    }
  }
}

std::vector<float> Nmf::fold(Axis axis, const Folding& row_of) const {
  const Sparse::Row& ratings = row_of.ratings;
  const Matrix& own = f_.rows(axis);
  Matrix row(1, f_.dim + 2);
  row.row(0)[f_.one(axis)] = 1;
  if (ratings.size() > 0 || !(biases() || zero_)) {
    // From the middle: multiplicative updates cannot leave 0.
    const std::vector<double> sums = column_sums(own, f_.dim);
    for (size_t k = 0; k < f_.dim; ++k) {
      row.row(0)[k] = static_cast<float>(sums[k] / static_cast<double>(own.rows()));
    }
  }
  if (ratings.size() > 0) {
    Scratch scratch;
    update_row(others_of(axis, Context(1)), penalties(axis), ratings, kFoldInSweeps, row.row(0),
               scratch);
  }
  return {row.row(0).begin(), row.row(0).end()};
}

uint64_t Nmf::memory(const Ratings& ratings, const Job& job) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const uint64_t row = padded(static_cast<size_t>(config_.dim) + 2) * 4;
  const uint64_t all = ratings.train().size() + ratings.held_out().size();
  // Of a worker: rows that are gathered, their products, and the system made of them.
  const uint64_t width = static_cast<uint64_t>(config_.dim) + 2;
  const uint64_t worker = 256 * row + width * row * 2 + width * width * 8;
  // The best rows beside those that move; without them those of one axis, twice at the end.
  const bool keeps_best = config_.early_stop > 0 && ratings.held_out().size() > 0;
  const uint64_t more =
      keeps_best ? rows : std::max(ratings.users().size(), ratings.items().size());
  return (rows + more) * row + all * 16 + rows * 48 +
         static_cast<uint64_t>(job.threads()) * worker + memory_of_all(ratings);
}

void Nmf::visit(Parts& parts) {
  CompletionModel::visit(parts);
  parts.number("nmf.penalty", penalty_);
  parts.flag("nmf.zero", zero_);
  parts.check(penalty_ >= 0 && std::isfinite(penalty_), "the penalty is below 0");
  if (!parts.loading()) return;
  for (const Matrix* m : {&f_.user, &f_.item}) {
    bool good = true;
    for (size_t r = 0; r < m->rows() && good; ++r) {
      good = std::ranges::all_of(m->row(r).first(f_.dim), [](float x) { return x >= 0; });
    }
    parts.check(good, "a part of a vector is below 0");
  }
}

std::vector<Fact> Nmf::info() const {
  std::vector<Fact> out = CompletionModel::info();
  out.push_back({"penalty", fmt::format("{:g}", penalty_), true});
  out.push_back({"unobserved", zero_ ? "zero" : "missing"});
  return out;
}

ModelInfo info() {
  return model_info<Nmf>("nmf",
                         "users and items of ratings as sums of parts: non-negative factorisation");
}

}  // namespace kith::nmf
