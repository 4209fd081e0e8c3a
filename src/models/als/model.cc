// SPDX-License-Identifier: Apache-2.0
#include "models/als/model.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "models/als/kernel.h"
#include "models/ratings_run.h"
#include "train/biases.h"

namespace kith::als {
namespace {

constexpr uint64_t kShard = 8192;    // ratings (and rows) that one thread does at a time, about
constexpr double kUsualCount = 300;  // ratings of a row whose penalty does not depend on nu

bool has_biases(const Config& config, bool implicit) { return config.biases && !implicit; }

// Cuts rows into ranges of about kShard ratings. From the data alone.
std::vector<uint32_t> shards_of(const Sparse& a) {
  std::vector<uint32_t> out{0};
  uint64_t weight = 0;
  for (uint32_t r = 0; r < a.rows(); ++r) {
    weight += a.row(r).size() + 1;
    if (weight >= kShard || r + 1 == a.rows()) {
      out.push_back(r + 1);
      weight = 0;
    }
  }
  return out;
}

}  // namespace

class Trainer final : public RatingsRun {
 public:
  Trainer(Als& model, const Ratings& ratings, Job& job)
      : RatingsRun(model, ratings, {2, model.config_.epochs, 0, model.config_.early_stop, true},
                   job),
        m_(model),
        by_item_(transposed(ratings_.train())),
        user_shards_(shards_of(ratings_.train())),
        item_shards_(shards_of(by_item_)) {
    for (int t = 0; t < std::max(1, job.threads); ++t) {
      scratch_.emplace_back(m_.dim(), block());
    }
  }

 private:
  size_t block() const {
    return m_.config_.solver == Solver::kBlocks ? static_cast<size_t>(m_.config_.block)
                                                : std::max<size_t>(1, m_.dim());
  }

  // The users, then the items.
  Sum train(uint64_t, uint64_t first, uint64_t) override {
    const Axis axis = first == 0 ? Axis::kUser : Axis::kItem;
    const Sparse& rows = axis == Axis::kUser ? ratings_.train() : by_item_;
    const std::vector<uint32_t>& shards = axis == Axis::kUser ? user_shards_ : item_shards_;
    Matrix& own = axis == Axis::kUser ? m_.user_ : m_.item_;
    const Matrix& others = axis == Axis::kUser ? m_.item_ : m_.user_;
    Side side{.others = others.view(),
              .dim = m_.dim(),
              .own = axis == Axis::kUser ? m_.dim() : m_.dim() + 1,
              .theirs = axis == Axis::kUser ? m_.dim() + 1 : m_.dim(),
              .biases = has_biases(m_.config_, m_.implicit_),
              .mean = static_cast<float>(m_.mean_),
              .implicit = m_.implicit_,
              .unobserved = static_cast<float>(m_.config_.unobserved),
              .steps = m_.config_.steps,
              .block = block()};
    Matrix gram;
    if (m_.implicit_) {
      gram = gram_of(others);
      side.gram = std::as_const(gram).view();
    }
    std::vector<double> errors(shards.size() - 1, 0.0);
    job_.for_each_shard(shards.size() - 1, [&](size_t s, size_t worker) {
      std::vector<Task> tasks;
      for (uint32_t r = shards[s]; r < shards[s + 1]; ++r) {
        const Sparse::Row row = rows.row(r);
        // Nobody has rated it, or it has rated nothing: it stays where it is, at no vector.
        if (row.size() == 0) continue;
        tasks.push_back({row, own.view().row(r), static_cast<float>(m_.penalty(axis, row.size())),
                         static_cast<float>(axis == Axis::kUser ? m_.user_bias_penalty_
                                                                : m_.item_bias_penalty_)});
      }
      errors[s] = m_.config_.solver == Solver::kCg ? solve_cg(side, tasks, scratch_[worker])
                                                   : solve_blocks(side, tasks, scratch_[worker]);
    });
    double sum = 0;
    for (const double e : errors) sum += e;
    // The error of an epoch is that of its end.
    return axis == Axis::kUser ? Sum{0, 0} : Sum{sum, rows.size()};
  }

  Matrix gram_of(const Matrix& m) {
    constexpr size_t kRows = 2048;
    const size_t dim = m_.dim(), parts = (m.rows() + kRows - 1) / kRows;
    std::vector<Matrix> partial(parts);
    job_.for_each_shard(parts, [&](size_t p) {
      partial[p] = Matrix(dim, dim);
      add_gram(m.view(), p * kRows, std::min(m.rows(), (p + 1) * kRows), dim, partial[p].view());
    });
    Matrix out(dim, dim);
    for (const Matrix& p : partial) {
      for (size_t i = 0; i < dim; ++i) {
        for (size_t j = 0; j < dim; ++j) out.row(i)[j] += p.row(i)[j];
      }
    }
    return out;
  }

  Als& m_;
  const Sparse by_item_;
  const std::vector<uint32_t> user_shards_, item_shards_;
  std::vector<Scratch> scratch_;
};

void Als::initialise(const Ratings& ratings, const Job& job) {
  start(ratings, static_cast<size_t>(config_.dim));
  noise_ = 1;
  if (!implicit_) {
    const Biases biases = fit_biases(ratings.train(), config_.bias_penalty, config_.bias_penalty);
    mean_ = biases.mean;
    noise_ = std::sqrt(std::max(biases.noise, 1e-12));
    user_bias_penalty_ = biases.user_penalty;
    item_bias_penalty_ = biases.item_penalty;
    for (size_t u = 0; config_.biases && u < user_.rows(); ++u)
      user_.row(u)[dim()] = biases.user[u];
    for (size_t i = 0; config_.biases && i < item_.rows(); ++i) {
      item_.row(i)[dim() + 1] = biases.item[i];
    }
  }
  const float scale = (implicit_ ? 0.1f : static_cast<float>(0.1 * noise_)) /
                      std::sqrt(static_cast<float>(std::max<size_t>(1, dim())));
  for (size_t i = 0; i < item_.rows(); ++i) {
    Rng rng(job.seed, i);
    const auto row = item_.row(i);
    for (size_t k = 0; k < dim(); ++k) row[k] = scale * (2 * rng.uniform() - 1);
  }
}

void Als::initialise_refit(const Ratings& whole, const Job& job) {
  initialise(whole, job);
  if (state_.refit > 0) return;
  // Biases alone were best.
  for (size_t i = 0; i < item_.rows(); ++i) std::fill_n(item_.row(i).begin(), dim(), 0.0f);
}

bool Als::run(const Ratings& ratings, Job& job) { return Trainer(*this, ratings, job).run(); }

// lambda n (n0 / n)^(1 - nu), so that lambda means about the same for any nu. For implicit feedback
// n + alpha N stands for n: what is not observed counts too.
double Als::penalty(Axis axis, uint64_t n) const {
  const auto others = static_cast<double>(axis == Axis::kUser ? item_.rows() : user_.rows());
  const double count = static_cast<double>(n) + (implicit_ ? config_.unobserved * others : 0);
  const double lambda = config_.penalty >= 0 ? config_.penalty : implicit_ ? 0.005 : 0.1;
  const double nu = config_.frequency >= 0 ? config_.frequency : implicit_ ? 1 : 0.6;
  return lambda * noise_ * std::pow(kUsualCount, 1 - nu) * std::pow(count, nu);
}

RowProblem Als::row_problem(Axis axis, size_t n) const {
  RowProblem out{};
  out.biases = has_biases(config_, implicit_);
  out.penalty = penalty(axis, n);
  out.bias_penalty = axis == Axis::kUser ? user_bias_penalty_ : item_bias_penalty_;
  out.unobserved = implicit_ ? config_.unobserved : 0;
  return out;
}

double Als::objective() const {
  double out = 0;
  const bool biases = has_biases(config_, implicit_);
  const auto norm = [&](const Matrix& m, size_t r) {
    double sum = 0;
    for (size_t k = 0; k < dim(); ++k) sum += double{m.row(r)[k]} * m.row(r)[k];
    return sum;
  };
  std::vector<uint64_t> item_counts(item_.rows(), 0);
  for (uint32_t u = 0; u < user_.rows(); ++u) {
    const Sparse::Row row = seen_->row(u);
    for (size_t k = 0; k < row.size(); ++k) {
      ++item_counts[row.columns[k]];
      double score = mean_;
      const auto a = user_.row(u), b = item_.row(row.columns[k]);
      for (size_t j = 0; j < a.size(); ++j) score += double{a[j]} * b[j];
      const double target = implicit_ ? 1 : row.values[k];
      const double weight = implicit_ ? row.values[k] : 1;
      out += weight * (target - score) * (target - score);
    }
    out += penalty(Axis::kUser, row.size()) * norm(user_, u);
    if (biases) out += user_bias_penalty_ * user_.row(u)[dim()] * user_.row(u)[dim()];
  }
  for (size_t i = 0; i < item_.rows(); ++i) {
    out += penalty(Axis::kItem, item_counts[i]) * norm(item_, i);
    if (biases) out += item_bias_penalty_ * item_.row(i)[dim() + 1] * item_.row(i)[dim() + 1];
  }
  if (!implicit_) return out;
  for (size_t u = 0; u < user_.rows(); ++u) {
    for (size_t i = 0; i < item_.rows(); ++i) {
      double score = 0;
      for (size_t k = 0; k < dim(); ++k) score += double{user_.row(u)[k]} * item_.row(i)[k];
      out += config_.unobserved * score * score;
    }
  }
  return out;
}

uint64_t Als::memory_needed(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const uint64_t row = padded(static_cast<size_t>(config_.dim) + 2) * sizeof(float);
  const uint64_t tables = rows * row * (config_.early_stop > 0 ? 2 : 1);
  const uint64_t gram = static_cast<uint64_t>(config_.dim) * static_cast<uint64_t>(config_.dim) * 4;
  return tables + ratings.train().size() * 8 + rows * 8 + 4 * gram + (uint64_t{8} << 20);
}

void Als::pack(ArchiveWriter& out, bool checkpoint) const {
  RatingsModel::pack(out, checkpoint);
  out.metadata["als.noise"] = fmt::format("{}", noise_);
  out.metadata["als.user_bias_penalty"] = fmt::format("{}", user_bias_penalty_);
  out.metadata["als.item_bias_penalty"] = fmt::format("{}", item_bias_penalty_);
}

void Als::restore(const Archive& in) {
  Als other;
  other.load(in);
  other.noise_ = in.number_at<double>("als.noise");
  other.user_bias_penalty_ = in.number_at<double>("als.user_bias_penalty");
  other.item_bias_penalty_ = in.number_at<double>("als.item_bias_penalty");
  *this = std::move(other);
}

ModelInfo info() {
  return {"als", "users and items of ratings: alternating least squares, explicit or implicit",
          InputKind::kRatings, []() -> std::unique_ptr<Model> { return std::make_unique<Als>(); }};
}

}  // namespace kith::als
