// SPDX-License-Identifier: Apache-2.0
#include "models/bmf/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "eval/biases.h"

namespace kith::bmf {
namespace {

constexpr int kWeightSteps = 3;  // towards the weight of a row that is folded in

}  // namespace

void Bmf::check(const Ratings& ratings) const {
  if (!ratings.implicit()) return;
  throw fault(
      ErrorKind::kUsage,
      "bmf learns from ratings; for interactions without ratings use als, or mf --loss bpr");
}

void Bmf::start(const Ratings& ratings, Start, const Job& job) {
  f_.take_names(ratings, samples_wanted() * (rank() + 2) + kExtras);
  f_.make_rows();
  const Biases biases = fit_biases(ratings.train());
  f_.mean = biases.mean;
  scale_ = std::sqrt(biases.noise);
  if (!(scale_ > 1e-6 * (1 + std::abs(f_.mean)))) scale_ = 1;
  noise_ = 1;
  kept_ = 0;
  hyper_.clear();
  user_drawn_ = {};
  item_drawn_ = {};
  const auto set = [&](Matrix& m, size_t rows, const std::vector<float>& bias, uint64_t stream) {
    m = Matrix(rows, rank() + 2);
    for (size_t r = 0; r < rows; ++r) {
      Rng rng(job.seed + stream, r);
      for (size_t k = 0; k < rank(); ++k) m.row(r)[k] = static_cast<float>(0.1 * normal(rng));
      m.row(r)[rank()] = static_cast<float>(bias[r] / scale_);
      m.row(r)[rank() + 1] = 1;
    }
  };
  set(now_user_, f_.user.rows(), biases.user, 0x626d66);
  set(now_item_, f_.item.rows(), biases.item, 0x626d67);
  // Before the first sweep the answer is the biases.
  for (size_t u = 0; u < f_.user.rows(); ++u) f_.user.row(u)[f_.dim] = biases.user[u];
  for (size_t i = 0; i < f_.item.rows(); ++i) f_.item.row(i)[f_.dim + 1] = biases.item[i];
}

// Blocks [p, b, 1] and [q, 1, c] of sample s. With S samples so far an item's blocks are divided by
// S, so those that are there shrink as a new one comes.
void Bmf::keep_sample(const Hyper& users, const Hyper& items) {
  const size_t d = rank(), first = kept_ * (d + 2);
  if (first + d + 2 + kExtras > f_.dim) {
    throw fault(ErrorKind::kInput,
                "the checkpoint has more samples than its run could have kept; start over without "
                "--resume");
  }
  const auto before = static_cast<double>(kept_), now = before + 1;
  const auto shrink = static_cast<float>(before / now), part = static_cast<float>(scale_ / now);
  // What follows the new block: nothing yet of later samples, and the means take in a value.
  const auto end_row = [&](std::span<float> row, Axis axis, float open, float weight) {
    const float open_mean = row[at(kOpen)], weight_mean = row[weight_at(axis)];
    std::ranges::fill(row.subspan(first + d + 2), 0.0f);
    row[at(kOpen)] = shrink * open_mean + (1 - shrink) * open;
    row[weight_at(axis)] = shrink * weight_mean + (1 - shrink) * weight;
    row[f_.one(axis)] = 1;
  };
  for (size_t u = 0; u < f_.user.rows(); ++u) {
    const auto to = f_.user.row(u);
    std::ranges::copy(user_mean_.row(u).first(d + 1), to.subspan(first).begin());
    to[first + d + 1] = 1;
    end_row(to, Axis::kUser, user_mean_.row(u)[d + 1], now_user_.row(u)[d + 1]);
  }
  for (size_t i = 0; i < f_.item.rows(); ++i) {
    const auto to = f_.item.row(i), from = now_item_.row(i);
    for (size_t k = 0; k < first; ++k) to[k] *= shrink;
    for (size_t k = 0; k < d; ++k) to[first + k] = part * from[k];
    to[first + d] = part;
    to[first + d + 1] = part * from[d];
    end_row(to, Axis::kItem, 0, from[d + 1]);
  }
  for (const Hyper* h : {&users, &items}) {
    for (const double x : h->precision) hyper_.push_back(static_cast<float>(x));
    for (const double x : h->mean) hyper_.push_back(static_cast<float>(x));
  }
  hyper_.push_back(static_cast<float>(noise_));
  ++kept_;
}

std::optional<double> Bmf::learned_deviation(std::span<const float> user,
                                             std::span<const float> item) const {
  if (kept_ == 0) return std::nullopt;
  const size_t block = rank() + 2;
  const auto count = static_cast<double>(kept_);
  double sum = 0, squares = 0, noise = 0;
  for (size_t s = 0; s < kept_; ++s) {
    double score = 0;
    for (size_t k = s * block; k < (s + 1) * block; ++k) score += double{user[k]} * item[k];
    score *= count;  // items are divided by the number of samples
    sum += score;
    squares += score * score;
    noise += scale_ * scale_ / hyper_[(s + 1) * (4 * (rank() + 1) + 1) - 1];
  }
  const double mean = sum / count;
  // A row that nothing is known of has no weight: it is as noisy as the mean.
  const auto known = [](double w) { return w > 0 ? w : 1; };
  const double weight = known(user[at(kUserWeight)]) * known(item[at(kItemWeight)]);
  const double open = scale_ * scale_ * user[at(kOpen)];
  return std::sqrt(std::max(0.0, squares / count - mean * mean) + noise / count / weight + open);
}

namespace {

// p of all samples; in the rows b and 1 stand between them.
class SampleVectors final : public Vectors {
 public:
  SampleVectors(const Matrix& rows, size_t rank, size_t samples)
      : rows_(rows), rank_(rank), samples_(samples) {}
  size_t rows() const override { return rows_.rows(); }
  size_t cols() const override { return samples_ * rank_; }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t r = 0; r < count; ++r) {
      for (size_t s = 0; s < samples_; ++s) {
        std::ranges::copy(rows_.row(first + r).subspan(s * (rank_ + 2), rank_),
                          out.row(r) + s * rank_);
      }
    }
  }

 private:
  const Matrix& rows_;
  size_t rank_, samples_;
};

}  // namespace

std::vector<VectorGroup> Bmf::vectors(Side side) const {
  std::vector<VectorGroup> out = RatingsModel::vectors(side);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].vectors = std::make_shared<SampleVectors>(i == 0 ? f_.item : f_.user, rank(), kept_);
  }
  return out;
}

// The mean of what each sample says of the row. Its own weight is where its conditional mean stays
// as it is: (nu + n) / (nu + alpha E sum w_k e^2). With x ~ N(., A^-1) the expectation is that of
// the mean of x and, times alpha w, tr((A - diag(lambda)) A^-1) more.
std::vector<float> Bmf::fold(Axis axis, const Folding& row_of) const {
  const Sparse::Row& ratings = row_of.ratings;
  const size_t d = rank(), n = d + 1, block = d + 2, per = 4 * n + 1;
  std::vector<float> out(f_.dim + 2, 0.0f);
  out[f_.one(axis)] = 1;
  Scratch scratch(d);
  Matrix rows(ratings.size(), n + 1);
  std::vector<uint32_t> columns(ratings.size());
  std::vector<float> values(ratings.size());
  // Items carry scale / samples, users nothing.
  const double mine = axis == Axis::kUser ? 1 : scale_ / static_cast<double>(kept_);
  const double theirs = axis == Axis::kUser ? scale_ / static_cast<double>(kept_) : 1;
  for (size_t k = 0; k < ratings.size(); ++k) {
    columns[k] = static_cast<uint32_t>(k);
    values[k] = static_cast<float>((ratings.values[k] - f_.mean) / scale_);
  }
  for (size_t s = 0; s < kept_; ++s) {
    Hyper hyper;
    const float* const h = hyper_.data() + s * per + (axis == Axis::kUser ? 0 : 2 * n);
    hyper.precision.assign(h, h + n);
    hyper.mean.assign(h + n, h + 2 * n);
    for (size_t k = 0; k < ratings.size(); ++k) {
      const auto from = f_.rows(other(axis)).row(ratings.columns[k]).subspan(s * block, block);
      for (size_t j = 0; j < d; ++j) rows.row(k)[j] = static_cast<float>(from[j] / theirs);
      rows.row(k)[d] = static_cast<float>(from[axis == Axis::kItem ? d : d + 1] / theirs);
      rows.row(k)[n] = f_.rows(other(axis)).row(ratings.columns[k])[weight_at(other(axis))];
    }
    const double squares_of =
        normal_equations(std::as_const(rows).view(), d, {columns, values}, scratch);
    std::vector<float> row(n);
    const double noise = hyper_[(s + 1) * per - 1], nu = config_.noise_prior;
    double weight = 1;
    solve(hyper, {}, noise * weight, scratch, nullptr, row.data());
    for (int step = 0; step < kWeightSteps && nu > 0; ++step) {
      const double left = noise * squares_left(scratch, squares_of, row) +
                          (static_cast<double>(n) - spread_of(scratch, hyper.precision)) / weight;
      weight = (nu + static_cast<double>(ratings.size())) / (nu + left);
      solve(hyper, {}, noise * weight, scratch, nullptr, row.data());
    }
    out[weight_at(axis)] += static_cast<float>(weight / static_cast<double>(kept_));
    if (axis == Axis::kUser) {
      std::vector<double> squares(n, 1.0);  // of an item of this sample, from its hyperparameters
      const float* const items = hyper_.data() + s * per + 2 * n;
      for (size_t j = 0; j < d; ++j) squares[j] = 1 / items[j] + items[n + j] * items[n + j];
      out[at(kOpen)] +=
          static_cast<float>(spread_of(scratch, squares) / static_cast<double>(kept_));
    }
    float* const to = out.data() + s * block;
    for (size_t j = 0; j < d; ++j) to[j] = static_cast<float>(mine * row[j]);
    to[axis == Axis::kUser ? d : d + 1] = static_cast<float>(mine * row[d]);
    to[axis == Axis::kUser ? d + 1 : d] = static_cast<float>(mine);
  }
  return out;
}

void Bmf::finish(const Ratings&, const Job&) {
  now_user_ = Matrix();
  now_item_ = Matrix();
  user_mean_ = Matrix();
  user_drawn_ = {};
  item_drawn_ = {};
}

uint64_t Bmf::memory(const Ratings& ratings, const Job&) const {
  Bmf planned;
  planned.f_ = RatingFactors::planned(ratings, samples_wanted() * (rank() + 2) + kExtras);
  MemorySum sum(false);
  planned.visit(sum);
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  // The sample that is drawn, and where it started; the means of what is kept.
  const uint64_t row = padded(rank() + 2) * sizeof(float), drawn = 3 * rows * row;
  // What it learns from, by user and by item.
  const uint64_t learned = ratings.train().size() + (config_.refit ? ratings.held_out().size() : 0);
  uint64_t known = 0, passing = ratings.users().size() * row;  // new means, or what columns take
  for (const bool users : {true, false}) {
    const uint64_t own = users ? ratings.users().size() : ratings.items().size();
    const FeaturesMemory m =
        memory_of(users ? ratings.user_features() : ratings.item_features(), config_.choices,
                  {.rows = own, .others = rows - own, .cols = rank() + 1});
    known += m.kept + 2 * m.effects;  // as it was before the sweep, too
    passing = std::max(passing, m.passing);
  }
  return sum.bytes() + drawn + 40 * rows + 24 * learned + known + passing + memory_of_all(ratings);
}

void Bmf::visit(Parts& parts) {
  RatingsModel::visit(parts);
  parts.number("bmf.scale", scale_);
  parts.number("bmf.noise", noise_);
  parts.number("bmf.samples", kept_);
  const size_t per = 4 * (rank() + 1) + 1;
  parts.check(kept_ <= f_.dim && kept_ * (rank() + 2) + kExtras <= f_.dim && scale_ > 0,
              "the samples do not fit the vectors");
  parts.check(std::isfinite(scale_) && noise_ > 0 && std::isfinite(noise_),
              "the noise is not a number above 0");
  parts.values("hyper", hyper_, kept_ * per, Use::kFixed);
  parts.matrix("now.user", now_user_, f_.users.size(), rank() + 2, Use::kRun);
  parts.matrix("now.item", now_item_, f_.items.size(), rank() + 2, Use::kRun);
  const auto visit_drawn = [&](const std::string& name, Drawn& drawn) {
    parts.matrix(name + ".effects", drawn.effects, Parts::kAny, rank() + 1, Use::kRun);
    parts.values(name + ".betas", drawn.betas, Parts::kAny, Use::kRun);
    const bool good = std::ranges::all_of(drawn.betas, [](double b) { return b > 0 && b < 1e300; });
    parts.check(good, "the precision of a column is not a number above 0");
  };
  visit_drawn("now.user", user_drawn_);
  visit_drawn("now.item", item_drawn_);
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    const Matrix& rows = f_.rows(axis);
    bool good = true;
    for (size_t r = 0; r < rows.rows() && kept_ > 0 && parts.loading(); ++r) {
      good = good && std::as_const(rows).row(r)[weight_at(axis)] >= 0;
    }
    parts.check(good, "a weight is below 0");
  }
}

ModelInfo info() {
  return model_info<Bmf>(
      "bmf", "users and items of ratings: Bayesian, by Gibbs sampling; knows its uncertainty");
}

}  // namespace kith::bmf
