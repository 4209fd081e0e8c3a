// SPDX-License-Identifier: Apache-2.0
#include "models/bmf/model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/rng.h"
#include "models/bmf/kernel.h"
#include "train/biases.h"

namespace kith::bmf {
namespace {

constexpr uint64_t kShard = 4096;  // ratings (and rows) that one thread does at a time, about

double uniform(Rng& rng) { return (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53; }

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(uniform(rng)));
  return radius * std::cos(2 * std::numbers::pi * uniform(rng));
}

// Marsaglia and Tsang; shape >= 1/3 or so, which is all that is asked here.
double gamma(Rng& rng, double shape, double rate) {
  if (shape < 1) return gamma(rng, shape + 1, rate) * std::pow(uniform(rng), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(rng), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(uniform(rng)) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v / rate;
    }
  }
}

// One row given the other side: N(A^-1 r, A^-1) with A = diag(precision) + noise sum f f^T and r =
// precision * mean + noise sum t f. Without `rng` its mean. `row` is [p, b].
void solve(const Hyper& hyper, double noise, Scratch& s, Rng* rng, float* row) {
  const size_t n = hyper.mean.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) s.a[i * n + j] = noise * s.system.row(i)[j];
    s.a[i * n + i] += hyper.precision[i];
    s.b[i] = hyper.precision[i] * hyper.mean[i] + noise * s.right.row(0)[i];
  }
  if (!cholesky(s.a, n)) return;
  solve_lower(s.a, n, s.b);
  for (size_t i = 0; rng && i < n; ++i) s.b[i] += normal(*rng);
  solve_upper(s.a, n, s.b);
  for (size_t i = 0; i < n; ++i) row[i] = static_cast<float>(s.b[i]);
}

// How much the row that was just solved leaves open of a score f . x, for f of these mean squares:
// sum over k of f_k^2 (A^-1)_kk. Column k of L^-1 has that for its square.
double spread_of(const Scratch& s, std::span<const double> squares) {
  const size_t n = squares.size();
  std::vector<double> column(n);
  double out = 0;
  for (size_t k = 0; k < n; ++k) {
    std::ranges::fill(column, 0.0);
    column[k] = 1;
    solve_lower(s.a, n, column);
    double sum = 0;
    for (const double x : column) sum += x * x;
    out += squares[k] * sum;
  }
  return out;
}

// The mean squares of [q, 1] over all rows.
std::vector<double> mean_squares(const Matrix& rows) {
  std::vector<double> out(rows.cols(), 0.0);
  for (size_t r = 0; r < rows.rows(); ++r) {
    for (size_t k = 0; k + 1 < out.size(); ++k) out[k] += double{rows.row(r)[k]} * rows.row(r)[k];
  }
  for (double& x : out) x /= static_cast<double>(std::max<size_t>(1, rows.rows()));
  out.back() = 1;
  return out;
}

// Of coordinates that have been drawn: precision ~ Gamma, mean ~ N, with the vague priors of libFM
// (1 observation's worth).
Hyper draw_hyper(const Matrix& rows, const std::vector<uint64_t>& counts, Rng& rng) {
  Hyper out;
  const size_t n = rows.cols();
  double known = 0;
  for (const uint64_t c : counts) known += c > 0;
  for (size_t k = 0; k < n; ++k) {
    double sum = 0, squares = 0;
    for (size_t r = 0; r < rows.rows(); ++r) {
      if (counts[r] == 0) continue;
      sum += rows.row(r)[k];
      squares += double{rows.row(r)[k]} * rows.row(r)[k];
    }
    const double mean = sum / (known + 1);
    const double spread = std::max(0.0, squares - (known + 1) * mean * mean);
    out.precision.push_back(gamma(rng, (known + 1) / 2, (spread + 1) / 2));
    out.mean.push_back(mean + normal(rng) / std::sqrt((known + 1) * out.precision.back()));
  }
  return out;
}

std::vector<uint64_t> counts_of(const Sparse& a) {
  std::vector<uint64_t> out(a.rows());
  for (uint32_t r = 0; r < a.rows(); ++r) out[r] = a.row(r).size();
  return out;
}

}  // namespace

class Trainer final : public TrainRun {
 public:
  Trainer(Bmf& model, const Ratings& ratings, Job& job)
      : TrainRun({1, model.config_.epochs, 0, 0}, model.state_, job),
        m_(model),
        ratings_(ratings),
        job_(job) {
    take(model.state_.block >= turn() ? merged(ratings.train(), ratings.held_out())
                                      : ratings.train());
    for (int t = 0; t < std::max(1, job.threads); ++t) scratch_.emplace_back(m_.rank());
  }

 private:
  void take(Sparse a) {
    for (float& v : a.value) v = static_cast<float>((v - m_.mean_) / m_.scale_);
    by_user_ = std::move(a);
    by_item_ = transposed(by_user_);
    user_counts_ = counts_of(by_user_);
    item_counts_ = counts_of(by_item_);
  }

  // The sweep from which on the held-out ratings are learned from as well: after a third of them
  // they have told how good the model is. What is kept is from the sweeps after it.
  uint64_t turn() const {
    const auto sweeps = static_cast<uint64_t>(m_.config_.epochs);
    return m_.config_.refit && ratings_.held_out().size() > 0 ? std::max<uint64_t>(1, sweeps / 3)
                                                              : sweeps;
  }
  // The sweeps of the part that a sweep is in: without or with the held-out ratings.
  struct Part {
    uint64_t begin, end;
  };
  Part part(uint64_t epoch) const {
    const auto sweeps = static_cast<uint64_t>(m_.config_.epochs);
    return epoch < turn() ? Part{0, turn()} : Part{turn(), sweeps};
  }

  // Every row of one side, each from its own random stream. Returns the squared errors left.
  double sweep(Axis axis, uint64_t epoch, const Hyper& hyper) {
    const Sparse& rows = axis == Axis::kUser ? by_user_ : by_item_;
    Matrix& own = axis == Axis::kUser ? m_.now_user_ : m_.now_item_;
    const Matrix& others = axis == Axis::kUser ? m_.now_item_ : m_.now_user_;
    const size_t n = m_.rank() + 1;
    const uint64_t per =
        std::max<uint64_t>(1, kShard * rows.rows() / (rows.size() + rows.rows() + 1));
    const size_t shards = (rows.rows() + per - 1) / per;
    std::vector<double> errors(shards, 0.0);
    job_.for_each_shard(shards, [&](size_t s, size_t worker) {
      Scratch& scratch = scratch_[worker];
      for (uint64_t r = s * per; r < std::min<uint64_t>(rows.rows(), (s + 1) * per); ++r) {
        const auto row = rows.row(static_cast<uint32_t>(r));
        float* const x = own.view().row(r);
        if (row.size() == 0) {  // nothing is known of it but what it is like on the whole
          for (size_t k = 0; k < n; ++k) x[k] = static_cast<float>(hyper.mean[k]);
          continue;
        }
        double error = normal_equations(others.view(), m_.rank(), row, scratch);
        Rng rng(job_.seed, (2 * epoch + (axis == Axis::kItem)) * 0x100000000 + r);
        solve(hyper, m_.noise_, scratch, &rng, x);
        // sum (t - f . x)^2 = sum t^2 - 2 x . sum t f + x^T (sum f f^T) x
        for (size_t i = 0; i < n; ++i) {
          error -= 2.0 * x[i] * scratch.right.row(0)[i];
          for (size_t j = 0; j < n; ++j) {
            error += double{x[i]} * x[j] * scratch.system.row(std::max(i, j))[std::min(i, j)];
          }
        }
        errors[s] += std::max(0.0, error);
      }
    });
    double sum = 0;
    for (const double e : errors) sum += e;
    return sum;
  }

  Sum train(uint64_t epoch, uint64_t, uint64_t) override {
    if (epoch == turn()) {
      take(merged(ratings_.train(), ratings_.held_out()));
      m_.kept_ = 0;
      m_.hyper_.clear();
    }
    Rng rng(job_.seed ^ 0x6879706572, epoch);
    const Hyper users = draw_hyper(m_.now_user_, user_counts_, rng);
    sweep(Axis::kUser, epoch, users);
    const Hyper items = draw_hyper(m_.now_item_, item_counts_, rng);
    const double errors = sweep(Axis::kItem, epoch, items);
    const auto n = static_cast<double>(by_user_.size());
    m_.noise_ = gamma(rng, (n + 1) / 2, (errors + 1) / 2);
    if (due(epoch)) {
      take_means(users);
      m_.keep_sample(users, items);
    } else if (epoch < first(epoch)) {
      follow_current();
    }
    return {errors, by_user_.size()};
  }

  // What is kept of a user is not the draw but the mean that the items of the sample imply: the
  // same on average, and less noise (Rao and Blackwell). What this leaves open is kept beside it.
  void take_means(const Hyper& hyper) {
    const std::vector<double> squares = mean_squares(m_.now_item_);
    const uint64_t per = 256, rows = by_user_.rows();
    m_.user_mean_ = Matrix(rows, m_.rank() + 2);
    job_.for_each_shard((rows + per - 1) / per, [&](size_t s, size_t worker) {
      for (uint64_t r = s * per; r < std::min(rows, (s + 1) * per); ++r) {
        float* const x = m_.user_mean_.view().row(r);
        normal_equations(std::as_const(m_.now_item_).view(), m_.rank(),
                         by_user_.row(static_cast<uint32_t>(r)), scratch_[worker]);
        solve(hyper, m_.noise_, scratch_[worker], nullptr, x);
        x[m_.rank() + 1] = static_cast<float>(spread_of(scratch_[worker], squares));
      }
    });
  }

  // The first sweep of a part that may be kept.
  uint64_t first(uint64_t epoch) const {
    const Part p = part(epoch);
    const auto burn_in = static_cast<uint64_t>(m_.config_.burn_in);
    return p.begin + std::min(p.begin > 0 ? burn_in / 3 : burn_in, (p.end - p.begin) / 2);
  }
  // Whether a sample is to be kept after this sweep: `samples` of them, evenly spread, the last one
  // of the part among them.
  bool due(uint64_t epoch) const {
    if (epoch < first(epoch)) return false;
    const uint64_t span = part(epoch).end - first(epoch), i = epoch - first(epoch);
    const uint64_t wanted = std::min<uint64_t>(static_cast<uint64_t>(m_.config_.samples), span);
    return (i + 1) * wanted / span != i * wanted / span;
  }
  // Until samples are kept, the model answers with the current one.
  void follow_current() {
    m_.kept_ = 0;
    m_.hyper_.clear();
    m_.user_mean_ = Matrix(m_.now_user_.rows(), m_.rank() + 2);
    for (size_t u = 0; u < m_.now_user_.rows(); ++u) {
      std::ranges::copy(m_.now_user_.row(u), m_.user_mean_.row(u).begin());
    }
    const Hyper none{std::vector<double>(m_.rank() + 1, 1.0), std::vector<double>(m_.rank() + 1)};
    m_.keep_sample(none, none);
    m_.kept_ = 0;
    m_.hyper_.clear();
  }

  uint64_t segment_blocks() const override { return 1; }
  std::pair<uint64_t, uint64_t> progress() const override {
    const uint64_t n = ratings_.train().size();
    return {m_.state_.block * n, n * static_cast<uint64_t>(m_.config_.epochs)};
  }
  std::optional<double> held_out_loss() override {
    if (m_.state_.block > turn()) return std::nullopt;  // no longer held out
    return m_.held_out_error(ratings_);
  }
  bool finite() const override { return m_.finite() && std::isfinite(m_.noise_); }
  void keep_best() override {}
  void take_best() override {}
  void restart() override {
    m_.state_ = RunState{};
    m_.initialise(ratings_, job_.seed);
  }

  Bmf& m_;
  const Ratings& ratings_;
  Sparse by_user_, by_item_;
  std::vector<uint64_t> user_counts_, item_counts_;
  Job& job_;
  std::vector<Scratch> scratch_;
};

void Bmf::initialise(const Ratings& ratings, uint64_t seed) {
  const auto samples = static_cast<size_t>(std::min(config_.samples, config_.epochs));
  start(ratings, samples * (rank() + 2) + 1);
  const Biases biases = fit_biases(ratings.train());
  mean_ = biases.mean;
  scale_ = std::sqrt(biases.noise);
  if (!(scale_ > 1e-6 * (1 + std::abs(mean_)))) scale_ = 1;
  noise_ = 1;
  kept_ = 0;
  hyper_.clear();
  const auto set = [&](Matrix& m, size_t rows, const std::vector<float>& bias, uint64_t stream) {
    m = Matrix(rows, rank() + 1);
    for (size_t r = 0; r < rows; ++r) {
      Rng rng(seed + stream, r);
      for (size_t k = 0; k < rank(); ++k) m.row(r)[k] = static_cast<float>(0.1 * normal(rng));
      m.row(r)[rank()] = static_cast<float>(bias[r] / scale_);
    }
  };
  set(now_user_, user_.rows(), biases.user, 0x626d66);
  set(now_item_, item_.rows(), biases.item, 0x626d67);
  // Before the first sweep the answer is the biases.
  for (size_t u = 0; u < user_.rows(); ++u) user_.row(u)[dim()] = biases.user[u];
  for (size_t i = 0; i < item_.rows(); ++i) item_.row(i)[dim() + 1] = biases.item[i];
}

// Blocks [p, b, 1] and [q, 1, c] of sample s, and behind the last what is open of a user, which
// meets a 0. With S samples so far an item's blocks are divided by S, so those that are there
// shrink as a new one comes.
void Bmf::keep_sample(const Hyper& users, const Hyper& items) {
  const size_t d = rank(), at = kept_ * (d + 2);
  const auto before = static_cast<double>(kept_), now = before + 1;
  const auto shrink = static_cast<float>(before / now), part = static_cast<float>(scale_ / now);
  for (size_t u = 0; u < user_.rows(); ++u) {
    const auto to = user_.row(u);
    const float spread = to[dim() - 1];
    std::copy_n(user_mean_.row(u).begin(), d + 1, to.begin() + static_cast<int64_t>(at));
    to[at + d + 1] = 1;
    std::fill(to.begin() + static_cast<int64_t>(at + d + 2), to.end(), 0.0f);
    to[dim() - 1] = shrink * spread + (1 - shrink) * user_mean_.row(u)[d + 1];
    to[dim() + 1] = 1;
  }
  for (size_t i = 0; i < item_.rows(); ++i) {
    const auto to = item_.row(i);
    for (size_t k = 0; k < at; ++k) to[k] *= shrink;
    for (size_t k = 0; k < d; ++k) to[at + k] = part * now_item_.row(i)[k];
    to[at + d] = part;
    to[at + d + 1] = part * now_item_.row(i)[d];
    std::fill(to.begin() + static_cast<int64_t>(at + d + 2), to.end(), 0.0f);
    to[dim()] = 1;
  }
  for (const Hyper* h : {&users, &items}) {
    for (const double x : h->precision) hyper_.push_back(static_cast<float>(x));
    for (const double x : h->mean) hyper_.push_back(static_cast<float>(x));
  }
  hyper_.push_back(static_cast<float>(noise_));
  ++kept_;
}

std::optional<double> Bmf::deviation(std::span<const float> user,
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
  const double open = scale_ * scale_ * user[dim() - 1];
  return std::sqrt(std::max(0.0, squares / count - mean * mean) + noise / count + open);
}

// The mean of what each sample says of the row.
std::vector<float> Bmf::fold_in(Axis axis, Sparse::Row ratings) const {
  const size_t d = rank(), n = d + 1, block = d + 2, per = 4 * n + 1;
  const Axis other = axis == Axis::kUser ? Axis::kItem : Axis::kUser;
  std::vector<float> out(dim() + 2, 0.0f);
  out[axis == Axis::kUser ? dim() + 1 : dim()] = 1;
  Scratch scratch(d);
  Matrix rows(ratings.size(), n);
  std::vector<uint32_t> columns(ratings.size());
  std::vector<float> values(ratings.size());
  // Items carry scale / samples, users nothing.
  const double mine = axis == Axis::kUser ? 1 : scale_ / static_cast<double>(kept_);
  const double theirs = axis == Axis::kUser ? scale_ / static_cast<double>(kept_) : 1;
  for (size_t k = 0; k < ratings.size(); ++k) {
    columns[k] = static_cast<uint32_t>(k);
    values[k] = static_cast<float>((ratings.values[k] - mean_) / scale_);
  }
  for (size_t s = 0; s < kept_; ++s) {
    Hyper hyper;
    const float* const h = hyper_.data() + s * per + (axis == Axis::kUser ? 0 : 2 * n);
    hyper.precision.assign(h, h + n);
    hyper.mean.assign(h + n, h + 2 * n);
    for (size_t k = 0; k < ratings.size(); ++k) {
      const auto from = rows_of(other).row(ratings.columns[k]).subspan(s * block, block);
      for (size_t j = 0; j < d; ++j) rows.row(k)[j] = static_cast<float>(from[j] / theirs);
      rows.row(k)[d] = static_cast<float>(from[other == Axis::kUser ? d : d + 1] / theirs);
    }
    normal_equations(std::as_const(rows).view(), d, {columns, values}, scratch);
    std::vector<float> row(n);
    solve(hyper, hyper_[(s + 1) * per - 1], scratch, nullptr, row.data());
    if (axis == Axis::kUser) {
      std::vector<double> squares(n, 1.0);  // of an item of this sample, from its hyperparameters
      const float* const items = hyper_.data() + s * per + 2 * n;
      for (size_t j = 0; j < d; ++j) squares[j] = 1 / items[j] + items[n + j] * items[n + j];
      out[dim() - 1] +=
          static_cast<float>(spread_of(scratch, squares) / static_cast<double>(kept_));
    }
    float* const to = out.data() + s * block;
    for (size_t j = 0; j < d; ++j) to[j] = static_cast<float>(mine * row[j]);
    to[axis == Axis::kUser ? d : d + 1] = static_cast<float>(mine * row[d]);
    to[axis == Axis::kUser ? d + 1 : d] = static_cast<float>(mine);
  }
  return out;
}

void Bmf::train(const Ratings& ratings, Job& job) {
  if (ratings.implicit()) {
    throw Error(ErrorKind::kUsage,
                "bmf learns from ratings; for interactions without one take als, or mf --loss bpr");
  }
  if (ratings.train().size() == 0) {
    throw Error(ErrorKind::kInput, "there are no ratings to learn from");
  }
  if (state_.block == 0 && !state_.finished) {
    initialise(ratings, job.seed);
  } else {
    check_same(ratings);
    if (now_user_.rows() != user_.rows()) {
      throw Error(ErrorKind::kInput, "the checkpoint has no current sample; start anew");
    }
  }
  if (!Trainer(*this, ratings, job).run()) return;
  if (config_.refit && ratings.held_out().size() > 0) seen_ = ratings.whole().share();
  now_user_ = Matrix();
  now_item_ = Matrix();
  user_mean_ = Matrix();
  state_.finished = true;
}

uint64_t Bmf::memory_needed(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const auto samples = static_cast<uint64_t>(std::min(config_.samples, config_.epochs));
  const uint64_t row = padded(samples * (rank() + 2) + 3) + 2 * padded(rank() + 2);
  return rows * (row * sizeof(float) + 24) + 16 * ratings.train().size() + (uint64_t{8} << 20);
}

void Bmf::pack(ArchiveWriter& out, bool checkpoint) const {
  RatingsModel::pack(out, checkpoint);
  out.metadata["bmf.scale"] = fmt::format("{}", scale_);
  out.metadata["bmf.noise"] = fmt::format("{}", noise_);
  out.metadata["bmf.samples"] = fmt::format("{}", kept_);
  out.tensors["hyper"] = tensor_of(std::span<const float>(hyper_));
  if (!checkpoint) return;
  out.tensors["now.user"] = tensor_of(now_user_);
  out.tensors["now.item"] = tensor_of(now_item_);
}

void Bmf::restore(const Archive& in) {
  Bmf other;
  other.load(in);
  other.scale_ = in.number_at<double>("bmf.scale");
  other.noise_ = in.number_at<double>("bmf.noise");
  other.kept_ = in.number_at<uint64_t>("bmf.samples");
  other.hyper_ = in.values<float>("hyper");
  const size_t per = 4 * (other.rank() + 1) + 1;
  if (other.kept_ > other.dim() || other.kept_ * (other.rank() + 2) + 1 > other.dim() ||
      other.hyper_.size() != other.kept_ * per || !(other.scale_ > 0)) {
    throw Error(ErrorKind::kInput, "{}: the samples do not fit the vectors; the file is damaged",
                in.where());
  }
  const auto take = [&](const char* name, size_t rows, Matrix& to) {
    if (!in.has(name)) return;
    to = in.matrix(name);
    if (to.rows() != rows || to.cols() != other.rank() + 1 || !all_finite(to)) {
      throw Error(ErrorKind::kInput, "{}: {} does not fit the names; the file is damaged",
                  in.where(), name);
    }
  };
  take("now.user", other.user_.rows(), other.now_user_);
  take("now.item", other.item_.rows(), other.now_item_);
  *this = std::move(other);
}

ModelInfo info() {
  return {"bmf", "users and items of ratings: Bayesian, by Gibbs sampling; knows its uncertainty",
          InputKind::kRatings, []() -> std::unique_ptr<Model> { return std::make_unique<Bmf>(); }};
}

}  // namespace kith::bmf
