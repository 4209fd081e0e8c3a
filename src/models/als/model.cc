// SPDX-License-Identifier: Apache-2.0
#include "models/als/model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "eval/biases.h"
#include "models/als/kernel.h"
#include "models/ratings/trainer.h"

namespace kith::als {
namespace {

constexpr uint64_t kShard = 8192;    // ratings (and rows) that one thread does at a time, about
constexpr double kUsualCount = 300;  // ratings of a row whose penalty does not depend on nu

// Of interactions.
constexpr double kPopularityPenalty = 1;  // of the items' biases
constexpr double kVisitor = 5;            // visits that count for everyone
constexpr double kPenalty = 0.01;         // if nothing is held out to find it
// The search for it: so many sweeps that take it from the first to the last, and on.
constexpr int kSearch = 16;
constexpr double kFirstPenalty = 0.002, kLastPenalty = 0.03;

// Of interactions items alone have biases: how often they are seen. One of a user would say the
// same of every item.
bool has_bias(const Config& config, bool implicit, Axis axis) {
  return config.biases && (!implicit || axis == Axis::kItem);
}

}  // namespace

// A block is some rows of one side: those of the users, then those of the items. A row depends on
// the other side alone, so there may be a pause between any two blocks.
class AlsTrainer final : public RatingsTrainer {
 public:
  AlsTrainer(Als& model, const Ratings& ratings, Job& job)
      : RatingsTrainer(model, ratings, job),
        m_(model),
        searches_(model.searches(ratings.held_out().size() > 0 || state().refit)),
        by_item_(transposed(ratings_.train())),
        user_cuts_(cut_rows(ratings_.train(), shard_size(model.f_.dim))),
        item_cuts_(cut_rows(by_item_, shard_size(model.f_.dim))),
        users_(known_of(Axis::kUser)),
        items_(known_of(Axis::kItem)) {
    for (int t = 0; t < job.threads(); ++t) scratch_.emplace_back(m_.f_.dim, block());
    for (const Axis axis : {Axis::kUser, Axis::kItem}) {
      const MeansFit& fit = (axis == Axis::kUser ? users_ : items_).fit;
      begin(fit, state().block == 0, m_.f_.dim + 2, m_.known_.of(axis));
    }
  }

  uint64_t blocks() const override { return user_blocks() + item_cuts_.size() - 1; }
  uint64_t segment() const override { return blocks(); }

  // The rest of one side at most.
  Learned learn(const Blocks& blocks, const Rate&, LossSum& sum) override {
    const Axis axis = blocks.first < user_blocks() ? Axis::kUser : Axis::kItem;
    const uint64_t first = axis == Axis::kUser ? blocks.first : blocks.first - user_blocks();
    const std::vector<uint32_t>& cuts = axis == Axis::kUser ? user_cuts_ : item_cuts_;
    const Sparse& rows = axis == Axis::kUser ? ratings_.train() : by_item_;
    const uint64_t count = std::min(blocks.count, cuts.size() - 1 - first);
    Side side = side_of(axis);
    Matrix gram;
    if (m_.f_.implicit) {
      gram = gram_of(m_.f_.rows(other(axis)));
      side.gram = std::as_const(gram).view();
    }
    const double strength = searches_ ? m_.search(blocks.epoch) : m_.strength();
    const Matrix before = first == 0 ? m_.known_.of(axis).effects.copy() : Matrix();
    try {
      learn_means(axis, first == 0);
    } catch (...) {  // cancelled on the way: a run that goes on learns them from where they were
      if (first == 0) m_.known_.of(axis).effects = before.copy();
      throw;
    }
    const Matrix& means = axis == Axis::kUser ? users_.means : items_.means;
    std::vector<double> errors(count, 0.0);
    const size_t done = run_shards(job_, count, [&](size_t b, size_t worker) {
      std::vector<Task> tasks;
      for (uint32_t r = cuts[first + b]; r < cuts[first + b + 1]; ++r) {
        const Sparse::Row row = rows.row(r);
        // Nobody has rated it, or it has rated nothing: it is what its columns say, or nothing.
        if (row.size() == 0) {
          if (means.rows() > 0) take_mean(axis, r, means);
          continue;
        }
        tasks.push_back({row, m_.f_.rows(axis).view().row(r),
                         static_cast<float>(m_.penalty(strength, axis, row.size())),
                         static_cast<float>(m_.bias_penalty(axis)),
                         means.rows() > 0 ? means.view().row(r) : nullptr});
      }
      errors[b] = m_.config_.solver == Solver::kCg ? solve_cg(side, tasks, scratch_[worker])
                                                   : solve_blocks(side, tasks, scratch_[worker]);
    });
    if (done == 0 && first == 0) {  // this half will begin again
      m_.known_.of(axis).effects = before.copy();
    }
    // The error of an epoch is that of its end.
    for (size_t b = 0; b < done && axis == Axis::kItem; ++b) {
      sum.add(errors[b], rows.offsets[cuts[first + b + 1]] - rows.offsets[cuts[first + b]]);
    }
    return {done};
  }

 private:
  void take_mean(Axis axis, uint32_t r, const Matrix& means) {
    const auto row = m_.f_.rows(axis).row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      if (k != m_.f_.one(axis)) row[k] = means.row(r)[k];
    }
  }
  // What is known of the rows of one axis besides their ratings.
  struct Known {
    MeansFit fit;
    Matrix means;  // what the penalties draw the rows to; made when it is wanted
  };
  Known known_of(Axis axis) const {
    const Sparse& rows = axis == Axis::kUser ? ratings_.train() : by_item_;
    std::vector<float> weights(rows.rows());
    for (uint32_t r = 0; r < rows.rows(); ++r) {
      weights[r] = static_cast<float>(m_.penalty(1, axis, rows.row(r).size()));
    }
    return {fit_of(axis, ratings_, by_item_, m_.what(m_.f_.implicit), std::move(weights)), {}};
  }
  // At the start of its half of a sweep, what is known of an axis is learned from its rows.
  void learn_means(Axis axis, bool start) {
    Known& known = axis == Axis::kUser ? users_ : items_;
    RowMeans& means = m_.known_.of(axis);
    if (known.fit.features() == 0) return;
    if (start) {
      known.fit.fit(m_.f_.rows(axis), m_.f_.one(axis), m_.config_.column_penalty, job_.context(),
                    means);
    }
    if (start || known.means.rows() == 0) known.means = known.fit.means(means, job_.context());
  }

  // A rating costs up to dim^2: of longer rows fewer, so that a cancel is seen soon.
  static uint64_t shard_size(size_t dim) {
    constexpr size_t kUsual = 128;
    return dim <= kUsual ? kShard : std::max<uint64_t>(1, kShard * kUsual * kUsual / (dim * dim));
  }
  uint64_t user_blocks() const { return user_cuts_.size() - 1; }
  size_t block() const {
    return m_.config_.solver == Solver::kBlocks ? static_cast<size_t>(m_.config_.block)
                                                : std::max<size_t>(1, m_.f_.dim);
  }

  Side side_of(Axis axis) const {
    return {.others = std::as_const(m_.f_).rows(other(axis)).view(),
            .dim = m_.f_.dim,
            .own = m_.f_.own(axis),
            .theirs = m_.f_.one(axis),
            .biases = has_bias(m_.config_, m_.f_.implicit, axis),
            .shifted = has_bias(m_.config_, m_.f_.implicit, other(axis)),
            .mean = static_cast<float>(m_.f_.mean),
            .implicit = m_.f_.implicit,
            .unobserved = static_cast<float>(m_.config_.unobserved),
            .steps = m_.config_.steps,
            .block = block()};
  }

  Matrix gram_of(const Matrix& m) {
    constexpr size_t kRows = 2048;
    const size_t n = m.cols(), parts = (m.rows() + kRows - 1) / kRows;
    std::vector<Matrix> partial(parts);
    for_each_shard(job_, parts, [&](size_t p) {
      partial[p] = Matrix(n, n);
      add_gram(m.view(), p * kRows, std::min(m.rows(), (p + 1) * kRows), n, partial[p].view());
    });
    Matrix out(n, n);
    for (const Matrix& p : partial) {
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) out.row(i)[j] += p.row(i)[j];
      }
    }
    return out;
  }

  Als& m_;
  const bool searches_;
  const Sparse by_item_;
  const std::vector<uint32_t> user_cuts_, item_cuts_;
  Known users_, items_;
  std::vector<Scratch> scratch_;
};

std::unique_ptr<Trainer> Als::trainer(const Ratings& ratings, Job& job) {
  return std::make_unique<AlsTrainer>(*this, ratings, job);
}

void Als::start(const Ratings& ratings, Start start, const Job& job) {
  f_.take_names(ratings, static_cast<size_t>(config_.dim));
  f_.make_rows();
  noise_ = 1;
  found_ = kPenalty;
  visits_.reset();
  const size_t dim = f_.dim;
  if (!f_.implicit) {
    const Biases biases = fit_biases(ratings.train(), config_.bias_penalty, config_.bias_penalty);
    f_.mean = biases.mean;
    noise_ = std::sqrt(std::max(biases.noise, 1e-12));
    user_bias_penalty_ = biases.user_penalty;
    item_bias_penalty_ = biases.item_penalty;
    for (size_t u = 0; config_.biases && u < f_.user.rows(); ++u) {
      f_.user.row(u)[dim] = biases.user[u];
    }
    for (size_t i = 0; config_.biases && i < f_.item.rows(); ++i) {
      f_.item.row(i)[dim + 1] = biases.item[i];
    }
  }
  if (f_.implicit && config_.biases) start_from_popularity(ratings.train());
  if (start == Start::kNothing) return;  // biases alone
  const float scale = (f_.implicit ? 0.1f : static_cast<float>(0.1 * noise_)) /
                      std::sqrt(static_cast<float>(std::max<size_t>(1, dim)));
  std::vector<bool> rated(f_.item.rows());
  for (const uint32_t i : ratings.train().column) rated[i] = true;
  for (size_t i = 0; i < f_.item.rows(); ++i) {
    if (!rated[i]) continue;  // no sweep would move it away from here
    Rng rng(job.seed, i);
    const auto row = f_.item.row(i);
    for (size_t k = 0; k < dim; ++k) row[k] = scale * (2 * rng.uniform() - 1);
  }
}

// Vectors of length 0, and of each item the best bias c then: with a_u for the user's 1, sum_seen w
// (1 - a c)^2 + alpha sum_all (a c)^2 + beta c^2 is least. Who visits much visits all that is
// popular, and who visits little does not: so a is not 1 for all, but grows with the user's visits.
// (With 1, users with thousands of visits hide what the others have in common: MovieLens.)
void Als::start_from_popularity(const Sparse& seen) {
  user_bias_penalty_ = 0;
  item_bias_penalty_ = config_.bias_penalty.value_or(kPopularityPenalty);
  visits_ =
      static_cast<double>(seen.size()) / static_cast<double>(std::max<size_t>(1, seen.rows()));
  std::vector<double> sum(f_.item.rows(), 0.0), squares(f_.item.rows(), 0.0);
  double all = 0;
  for (uint32_t u = 0; u < seen.rows(); ++u) {
    const Sparse::Row row = seen.row(u);
    const double a = visitor(row.size());
    f_.user.row(u)[f_.one(Axis::kUser)] = static_cast<float>(a);
    all += a * a;
    for (size_t k = 0; k < row.size(); ++k) {
      sum[row.columns[k]] += row.values[k] * a;
      squares[row.columns[k]] += row.values[k] * a * a;
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) {
    const double curvature = squares[i] + config_.unobserved * all + item_bias_penalty_;
    if (sum[i] > 0) f_.item.row(i)[f_.own(Axis::kItem)] = static_cast<float>(sum[i] / curvature);
  }
}

// The share of what a user with so many visits sees of all items, each thing unseen counting
// `--unobserved`, beside that of the usual user; as if they had a few visits more.
double Als::visitor(size_t n) const {
  if (!visits_) return 1;  // ratings, no biases, or learned by a version that did not know of it
  const double unseen = config_.unobserved * static_cast<double>(f_.items.size());
  const auto share = [&](double visits) {
    return (visits + kVisitor) / (visits + kVisitor + unseen);
  };
  return share(static_cast<double>(n)) / share(*visits_);
}

// No penalty is right for all interactions; the best of four data sets are .004, .008, .015, .03.
// So unless it is given, it grows from sweep to sweep, and what is held out says which was best.
// It has to grow: above some size no vector is worth its penalty, and all are 0 from then on.
bool Als::searches(bool watched) const {
  return watched && f_.implicit && !config_.penalty && config_.early_stop > 0;
}
double Als::search(uint64_t sweep) const {
  const double steps = std::max(1, std::min(kSearch, config_.epochs) - 1);
  return kFirstPenalty * std::pow(kLastPenalty / kFirstPenalty, static_cast<double>(sweep) / steps);
}
double Als::strength() const { return config_.penalty.value_or(!f_.implicit ? 0.1 : found_); }

void Als::finish(const Ratings& ratings, const Job&) {
  const bool watched = ratings.held_out().size() > 0 || state_.refit;
  const uint64_t sweeps = state_.refit ? *state_.refit
                          : state_.kept
                              ? *state_.kept
                              : state_.held_out.size() - (state_.held_out.empty() ? 0 : 1);
  if (searches(watched) && sweeps > 0) found_ = search(sweeps - 1);
}

RunPlan Als::plan() const {
  return {.epochs = config_.epochs,
          .early_stop = config_.early_stop,
          .start_counts = true,
          .least = searches(true) ? kSearch : 0};
}

// lambda n (n0 / n)^(1 - nu), so that lambda means about the same for any nu. For implicit feedback
// n + alpha N stands for n: what is not observed counts too.
double Als::penalty(double strength, Axis axis, uint64_t n) const {
  const auto others = static_cast<double>(f_.rows(other(axis)).rows());
  const double count = static_cast<double>(n) + (f_.implicit ? config_.unobserved * others : 0);
  const double nu = config_.frequency.value_or(f_.implicit ? 1 : 0.6);
  return strength * noise_ * std::pow(kUsualCount, 1 - nu) * std::pow(count, nu);
}

RowProblem Als::row_problem(Axis axis, const Folding& row) const {
  RowProblem out{};
  const size_t n = row.ratings.size();
  out.mean = known_.of(axis).of(row.ratings, row.number);
  out.biases = has_bias(config_, f_.implicit, axis);
  out.penalty = penalty(strength(), axis, n);
  out.bias_penalty = bias_penalty(axis);
  out.unobserved = f_.implicit ? config_.unobserved : 0;
  if (axis == Axis::kUser) out.one = visitor(n);
  return out;
}

double Als::objective() const {
  double out = 0;
  const size_t dim = f_.dim;
  const Sparse by_item = transposed(*f_.seen);
  // From what it is drawn to, coordinate by coordinate.
  const auto away = [&](Axis axis, size_t r, size_t k) {
    const Sparse& ratings = axis == Axis::kUser ? *f_.seen : by_item;
    const auto number = static_cast<uint32_t>(r);
    const std::vector<float> mean = known_.of(axis).of(ratings.row(number), number);
    return double{f_.rows(axis).row(r)[k]} - (mean.empty() ? 0.0f : mean[k]);
  };
  const auto norm = [&](Axis axis, size_t r) {
    double sum = 0;
    for (size_t k = 0; k < dim; ++k) sum += away(axis, r, k) * away(axis, r, k);
    return sum;
  };
  const auto penalties = [&](Axis axis, size_t r, uint64_t n) {
    const double bias = away(axis, r, f_.own(axis));
    return penalty(strength(), axis, n) * norm(axis, r) +
           (has_bias(config_, f_.implicit, axis) ? bias_penalty(axis) * bias * bias : 0);
  };
  std::vector<uint64_t> item_counts(f_.item.rows(), 0);
  for (uint32_t u = 0; u < f_.user.rows(); ++u) {
    const Sparse::Row row = f_.seen->row(u);
    for (size_t k = 0; k < row.size(); ++k) {
      ++item_counts[row.columns[k]];
      const double score = f_.score(f_.user.row(u), f_.item.row(row.columns[k]));
      const double target = f_.implicit ? 1 : row.values[k];
      const double weight = f_.implicit ? row.values[k] : 1;
      out += weight * (target - score) * (target - score);
    }
    out += penalties(Axis::kUser, u, row.size());
  }
  for (size_t i = 0; i < f_.item.rows(); ++i) out += penalties(Axis::kItem, i, item_counts[i]);
  for (size_t u = 0; f_.implicit && u < f_.user.rows(); ++u) {
    for (size_t i = 0; i < f_.item.rows(); ++i) {
      const double score = f_.score(f_.user.row(u), f_.item.row(i));
      out += config_.unobserved * score * score;
    }
  }
  return out;
}

uint64_t Als::memory(const Ratings& ratings, const Job&) const {
  Als planned;
  planned.f_ = RatingFactors::planned(ratings, static_cast<size_t>(config_.dim));
  uint64_t known = 0, passing = 0;
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    const FeaturesMemory m =
        memory_of(axis, ratings, what(ratings.implicit()), static_cast<size_t>(config_.dim) + 2);
    if (m.features > 0) planned.known_.of(axis).features = m.features;
    known += m.kept;
    passing = std::max(passing, m.passing + 2 * m.effects);  // the new B, and the one before
  }
  MemorySum sum(config_.early_stop > 0 && ratings.held_out().size() > 0);
  planned.visit(sum);
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const uint64_t width = static_cast<uint64_t>(config_.dim) + 2, gram = 4 * width * width;
  // The ratings by item; names of the model's own.
  return sum.bytes() + 8 * ratings.train().size() + 32 * rows + 4 * gram + known + passing +
         memory_of_all(ratings);
}

void Als::visit(Parts& parts) {
  RatingsModel::visit(parts);
  parts.number("als.noise", noise_);
  parts.number("als.user_bias_penalty", user_bias_penalty_);
  parts.number("als.item_bias_penalty", item_bias_penalty_);
  parts.maybe("als.visits", visits_);
  parts.number("als.penalty", found_, Use::kOptional);
  known_.visit(parts, f_);
  for (const double x :
       {noise_, user_bias_penalty_, item_bias_penalty_, visits_.value_or(0), found_}) {
    parts.check(std::isfinite(x) && x >= 0, "the noise or a penalty is not a number of 0 or more");
  }
}

std::vector<Fact> Als::info() const {
  std::vector<Fact> out = RatingsModel::info();
  out.push_back({"penalty", fmt::format("{:.4g}", strength())});
  return out;
}

ModelInfo info() {
  return model_info<Als>(
      "als", "users and items of ratings: alternating least squares, explicit or implicit");
}

}  // namespace kith::als
