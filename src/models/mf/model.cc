// SPDX-License-Identifier: Apache-2.0
#include "models/mf/model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/rng.h"
#include "models/mf/kernel.h"
#include "train/biases.h"

namespace kith::mf {
namespace {

constexpr int kFoldEpochs = 60;  // of a row whose loss has no closed form
constexpr double kFirstScale = 0.1;

bool is_class(Loss loss) { return loss == Loss::kLogistic || loss == Loss::kHinge; }
// Of the difference of two numbers, whatever their mean and scale.
bool is_of_numbers(Loss loss) { return !is_class(loss) && loss != Loss::kKl && loss != Loss::kBpr; }

void check_two_values(const Ratings& ratings) {
  std::set<float> values;
  for (const float v : ratings.train().value) {
    values.insert(v);
    if (values.size() > 2) break;
  }
  if (values.size() == 2) return;
  throw Error(
      ErrorKind::kUsage,
      "--loss logistic and hinge are for ratings of two values, such as 0 and 1; these have "
      "{}; take squared, or bpr for interactions",
      values.size() == 1 ? "one value only" : "more");
}

}  // namespace

Loss Mf::loss() const {
  if (config_.loss != Loss::kAuto) return config_.loss;
  return implicit_ ? Loss::kBpr : Loss::kSquared;
}

double Mf::lr() const { return config_.lr >= 0 ? config_.lr : loss() == Loss::kBpr ? 1 : 0.1; }

double Mf::penalty() const {
  return config_.penalty >= 0 ? config_.penalty : loss() == Loss::kBpr ? 0.02 : 0.08;
}

int Mf::early_stop() const {
  return config_.early_stop >= 0 ? config_.early_stop : loss() == Loss::kBpr ? 0 : 3;
}

void Mf::check_normalised() const {
  if (is_of_numbers(config_.loss)) return;
  throw Error(ErrorKind::kUsage,
              "--normalise makes numbers around 0 of ratings, which --loss logistic, hinge, kl and "
              "bpr are not for; take squared, absolute, huber or tukey");
}

float Mf::value_of(float rating) const {
  if (is_class(loss())) return rating >= high_ ? 1.0f : 0.0f;
  return static_cast<float>((rating - mean_) / scale_);
}

void Mf::initialise(const Ratings& ratings, const Job& job) {
  start_without_rows(ratings, static_cast<size_t>(config_.dim));
  scale_ = 1;
  const size_t width = padded(dim());
  user_ = Matrix(users_.size(), row_width(dim()));
  item_ = Matrix(items_.size(), row_width(dim()));
  const Loss loss = this->loss();
  Biases biases;
  if (is_class(loss)) check_two_values(ratings);
  if (loss == Loss::kKl) {
    if (low_ < 0) {
      throw Error(ErrorKind::kUsage, "--loss kl is for counts; the ratings go down to {:g}", low_);
    }
    scale_ = std::max(1e-30, ratings.mean());
  } else if (is_of_numbers(loss)) {
    biases = fit_biases(ratings.train());
    mean_ = biases.mean;
    scale_ = std::sqrt(biases.noise);
    // Ratings that biases explain to the last bit, such as a constant: any unit will do.
    if (!(scale_ > 1e-6 * (1 + std::abs(mean_)))) scale_ = 1;
  }
  const auto set_rows = [&](Matrix& m, const std::vector<float>& bias, uint64_t stream) {
    const double size = kFirstScale / std::sqrt(static_cast<double>(std::max<size_t>(1, dim())));
    for (size_t r = 0; r < m.rows(); ++r) {
      Rng rng(job.seed + stream, r);
      const auto row = m.row(r);
      for (size_t k = 0; k < dim(); ++k) {
        row[k] = static_cast<float>(size * (2.0 * rng.uniform() - 1));
      }
      start_row(m.view().row(r), dim());
      if (!config_.biases) continue;
      if (!bias.empty()) row[width + kBias] = static_cast<float>(bias[r] / scale_);
      if (loss == Loss::kKl) row[width + kBias] = 0.5f;
    }
  };
  set_rows(user_, biases.user, 0);
  set_rows(item_, biases.item, 1);
}

void Mf::initialise_refit(const Ratings& whole, const Job& job) {
  initialise(whole, job);
  if (state_.refit > 0) return;
  // Biases alone were best.
  for (Matrix* m : {&user_, &item_}) {
    for (size_t r = 0; r < m->rows(); ++r) std::fill_n(m->row(r).begin(), dim(), 0.0f);
  }
}

bool Mf::working() const { return user_.cols() == row_width(dim()); }

void Mf::put_row(Axis axis, std::span<const float> from, std::span<float> to) const {
  const auto root = static_cast<float>(std::sqrt(scale_)), whole = static_cast<float>(scale_);
  const size_t own = axis == Axis::kUser ? dim() : dim() + 1, theirs = 2 * dim() + 1 - own;
  for (size_t k = 0; k < dim(); ++k) to[k] = root * from[k];
  to[own] = whole * from[padded(dim()) + kBias];
  to[theirs] = 1;
}

std::span<const float> Mf::learned_row(Axis axis, uint32_t number, std::vector<float>& room) const {
  if (!working()) return RatingsModel::learned_row(axis, number, room);
  room.resize(dim() + 2);
  put_row(axis, rows_of(axis).row(number), room);
  return room;
}

void Mf::finish(const Ratings&, const Job&) {
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    Matrix& rows = axis == Axis::kUser ? user_ : item_;
    Matrix out(rows.rows(), dim() + 2);
    for (size_t r = 0; r < rows.rows(); ++r) put_row(axis, rows.row(r), out.row(r));
    rows = std::move(out);
  }
}

double Mf::predict(std::span<const float> user, std::span<const float> item) const {
  const Loss loss = this->loss();
  if (!is_class(loss) || implicit_) return RatingsModel::predict(user, item);
  double score = 0;
  for (size_t k = 0; k < user.size(); ++k) score += double{user[k]} * item[k];
  const double share =
      loss == Loss::kLogistic ? 1 / (1 + std::exp(-score)) : (std::clamp(score, -1.0, 1.0) + 1) / 2;
  return low_ + share * (high_ - low_);
}

RowProblem Mf::row_problem(Axis, size_t n) const {
  RowProblem out{};
  const auto count = static_cast<double>(n);
  out.biases = config_.biases;
  out.penalty = penalty() * scale_ * count;
  out.bias_penalty = config_.bias_penalty * count + 1;
  return out;
}

// Losses with a closed form, or near one, take it. Of the others, steps on this row alone: the
// other rows are put back before each pass.
std::vector<float> Mf::fold(Axis axis, Sparse::Row ratings) const {
  const Loss loss = this->loss();
  if (is_of_numbers(loss) || ratings.size() == 0) return RatingsModel::fold(axis, ratings);
  const Axis other = axis == Axis::kUser ? Axis::kItem : Axis::kUser;
  const size_t width = padded(dim());
  const size_t own = axis == Axis::kUser ? dim() : dim() + 1, theirs = 2 * dim() + 1 - own;
  const auto root = static_cast<float>(std::sqrt(scale_)), whole = static_cast<float>(scale_);
  Rng rng(1, 0);
  std::vector<uint32_t> rows(ratings.columns.begin(), ratings.columns.end());
  std::vector<uint32_t> noise;
  if (loss == Loss::kBpr) {
    for (size_t k = 0; k < 4 * ratings.size() + 100; ++k) {
      const uint32_t row = rng.below(static_cast<uint32_t>(rows_of(other).rows()));
      if (std::ranges::binary_search(ratings.columns, row)) continue;
      noise.push_back(static_cast<uint32_t>(rows.size()));
      rows.push_back(row);
    }
    if (noise.empty()) return RatingsModel::fold(axis, ratings);
  }
  Matrix one(1, row_width(dim())), others(rows.size(), row_width(dim()));
  std::vector<Rating> steps;
  Sparse seen;
  seen.columns = static_cast<uint32_t>(rows.size());
  for (uint32_t k = 0; k < ratings.size(); ++k) {
    steps.push_back({0, k, value_of(ratings.values[k])});
    seen.column.push_back(k);
    seen.value.push_back(1);
  }
  seen.offsets.push_back(ratings.size());
  start_row(one.view().row(0), dim());
  if (loss == Loss::kKl && config_.biases) one.row(0)[width + kBias] = 0.5f;
  Rates rates{static_cast<float>(lr()), static_cast<float>(penalty()),
              static_cast<float>(config_.bias_penalty), config_.biases, config_.adapt};
  for (int epoch = 0; epoch < kFoldEpochs; ++epoch) {
    for (size_t k = 0; k < rows.size(); ++k) {
      const auto from = rows_of(other).row(rows[k]);
      const auto to = others.row(k);
      for (size_t j = 0; j < dim(); ++j) to[j] = from[j] / root;
      to[width + kBias] = from[theirs] / whole;
      start_row(others.view().row(k), dim());
      to[width + kEnergy] = to[width + kBiasEnergy] = 1e30f;  // it does not move
    }
    rates.lr = static_cast<float>(lr() * (1 - static_cast<double>(epoch) / kFoldEpochs));
    if (loss == Loss::kBpr) {
      train_pairs(rates, dim(), steps, noise, seen, rng, one.view(), others.view());
    } else {
      train_block(loss, rates, dim(), steps, one.view(), others.view());
    }
  }
  std::vector<float> out(dim() + 2, 0.0f);
  for (size_t k = 0; k < dim(); ++k) out[k] = root * one.row(0)[k];
  out[own] = whole * one.row(0)[width + kBias];
  out[theirs] = 1;
  return out;
}

uint64_t Mf::memory_needed(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const uint64_t held_out = ratings.held_out().size(), all = ratings.train().size() + held_out;
  const uint64_t table = rows * row_width(static_cast<size_t>(config_.dim)) * sizeof(float);
  const bool watched = config_.early_stop != 0 && held_out > 0;
  // The blocks and the working rows, twice while the best are kept.
  const uint64_t first = ratings.train().size() * sizeof(Rating) + (watched ? 2 : 1) * table;
  const uint64_t second = config_.refit ? all * sizeof(Rating) + table : 0;
  return all * 8 + std::max(first, second) + rows * 100 + (uint64_t{8} << 20);
}

void Mf::pack(ArchiveWriter& out, bool checkpoint) const {
  RatingsModel::pack(out, checkpoint);
  out.metadata["mf.scale"] = fmt::format("{}", scale_);
  if (working()) out.metadata["mf.working"] = "1";
}

void Mf::restore(const Archive& in) {
  Mf other;
  other.load(in);
  other.scale_ = in.number_at<double>("mf.scale");
  if (in.metadata().contains("mf.working")) {
    other.dim_ = static_cast<size_t>(other.config_.dim);
    if (!other.working()) {
      throw Error(ErrorKind::kInput,
                  "{}: the working rows are not of length dim; the file is damaged", in.where());
    }
  }
  *this = std::move(other);
}

void Mf::check_same(const Ratings& ratings) const {
  RatingsModel::check_same(ratings);
  if (!working()) {
    throw Error(ErrorKind::kInput, "the checkpoint has no working rows; start anew");
  }
}

ModelInfo info() {
  return {"mf", "users and items of ratings: stochastic gradient descent, any loss",
          InputKind::kRatings, []() -> std::unique_ptr<Model> { return std::make_unique<Mf>(); }};
}

}  // namespace kith::mf
