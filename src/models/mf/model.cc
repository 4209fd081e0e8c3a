// SPDX-License-Identifier: Apache-2.0
#include "models/mf/model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "eval/biases.h"
#include "models/mf/kernel.h"

namespace kith::mf {
namespace {

constexpr double kFirstScale = 0.1;
constexpr double kUsualCount = 300;    // ratings of a row whose penalty does not depend on nu
constexpr double kFrequency = 0.8;     // of losses of differences
constexpr double kBiasPenalty = 0.02;  // of the others

void check_two_values(const Ratings& ratings) {
  std::set<float> values;
  for (const float v : ratings.train().value) {
    values.insert(v);
    if (values.size() > 2) break;
  }
  if (values.size() == 2) return;
  throw fault(ErrorKind::kUsage,
              "--loss logistic and hinge are for ratings of two values, such as 0 and 1; these "
              "have {}; use squared, or bpr for interactions",
              values.size() == 1 ? "one value only" : "more");
}

}  // namespace

void Mf::check(const Ratings& ratings) const {
  const Loss loss = loss_of(ratings.implicit());
  if (ratings.normalise() != Normalise::kNone && !is_of_differences(loss)) {
    throw fault(ErrorKind::kUsage,
                "--normalise turns ratings into numbers around 0, which --loss logistic, hinge, kl "
                "and bpr cannot use; use squared, absolute, huber or tukey");
  }
  if (is_of_classes(loss)) check_two_values(ratings);
  if (loss == Loss::kKl && ratings.low() < 0) {
    throw fault(ErrorKind::kUsage, "--loss kl is for counts; the ratings go down to {:g}",
                ratings.low());
  }
}

RunPlan Mf::plan() const {
  return {.epochs = config_.epochs,
          .lr = lr(),
          .early_stop = early_stop(),
          .start_counts = !f_.implicit,
          .note = leaves_columns_ ? "interactions are ranked without what other columns say; als "
                                    "learns from them, and so does mf with --columns"
                                  : nullptr};
}

float Mf::value_of(float rating) const {
  if (is_of_classes(loss())) return rating >= f_.high ? 1.0f : 0.0f;
  return static_cast<float>((rating - f_.mean) / scale_);
}

void Mf::start(const Ratings& ratings, Start start, const Job& job) {
  f_.take_names(ratings, static_cast<size_t>(config_.dim));
  scale_ = 1;
  frequency_ = config_.frequency.value_or(is_of_differences(loss()) ? kFrequency : 1);
  user_bias_penalty_ = item_bias_penalty_ = 0;
  leaves_columns_ = !what(f_.implicit).columns && KnownWhat{false, true}.any(ratings);
  working_ = true;
  const size_t dim = f_.dim, width = padded(dim);
  f_.user = Matrix(f_.users.size(), row_width(dim));
  f_.item = Matrix(f_.items.size(), row_width(dim));
  const Loss loss = this->loss();
  Biases biases;
  if (loss == Loss::kKl) {
    scale_ = std::max(1e-30, ratings.mean());
  } else if (is_of_differences(loss)) {
    biases = fit_biases(ratings.train());
    f_.mean = biases.mean;
    user_bias_penalty_ = biases.user_penalty;
    item_bias_penalty_ = biases.item_penalty;
    scale_ = std::sqrt(biases.noise);
    // Ratings that biases explain to the last bit, such as a constant: any unit will do.
    if (!(scale_ > 1e-6 * (1 + std::abs(f_.mean)))) scale_ = 1;
  }
  const bool vectors = start != Start::kNothing;  // or biases alone
  const auto set_rows = [&](Matrix& m, const std::vector<float>& bias, uint64_t stream) {
    const double size = kFirstScale / std::sqrt(static_cast<double>(std::max<size_t>(1, dim)));
    for (size_t r = 0; r < m.rows(); ++r) {
      Rng rng(job.seed + stream, r);
      const auto row = m.row(r);
      for (size_t k = 0; k < dim && vectors; ++k) {
        row[k] = static_cast<float>(size * (2.0 * rng.uniform() - 1));
      }
      start_row(m.view().row(r), dim);
      if (!config_.biases) continue;
      if (!bias.empty()) row[width + kBias] = static_cast<float>(bias[r] / scale_);
      if (loss == Loss::kKl) row[width + kBias] = 0.5f;
    }
  };
  set_rows(f_.user, biases.user, 0);
  set_rows(f_.item, biases.item, 1);
}

// Rankings lose by both; classes and counts were not measured.
KnownWhat Mf::what(bool implicit) const {
  const bool usual = is_of_differences(loss_of(implicit));
  return {config_.choices.value_or(usual), config_.columns.value_or(usual)};
}

// What the loss will be may be for the data to say.
Wishes Mf::wishes() const {
  const bool usual = !config_.loss || is_of_differences(*config_.loss);
  return {.features = config_.columns.value_or(usual),
          .days = usual && config_.days.value_or(true)};
}

// Its classes and counts have no differences to take.
std::optional<bool> Mf::days() const {
  return is_of_differences(loss_of(false)) ? config_.days : false;
}

// lambda (n0 / n)^(1 - nu), so that lambda means about the same for any nu.
double Mf::hold(size_t n) const {
  return penalty() *
         std::pow(kUsualCount / static_cast<double>(std::max<size_t>(1, n)), 1 - frequency_);
}

double Mf::bias_hold(Axis axis, size_t n) const {
  if (config_.bias_penalty) return *config_.bias_penalty;
  if (!is_of_differences(loss())) return kBiasPenalty;
  const double all = axis == Axis::kUser ? user_bias_penalty_ : item_bias_penalty_;
  return all / static_cast<double>(std::max<size_t>(1, n));
}

bool Mf::working() const { return working_ && f_.user.cols() == row_width(f_.dim); }

void Mf::put_row(Axis axis, std::span<const float> from, std::span<float> to) const {
  const auto root = static_cast<float>(std::sqrt(scale_)), whole = static_cast<float>(scale_);
  for (size_t k = 0; k < f_.dim; ++k) to[k] = root * from[k];
  to[f_.own(axis)] = whole * from[padded(f_.dim) + kBias];
  to[f_.one(axis)] = 1;
}

void Mf::finish(const Ratings&, const Job&) {
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    Matrix& rows = f_.rows(axis);
    Matrix out(rows.rows(), f_.dim + 2);
    for (size_t r = 0; r < rows.rows(); ++r) put_row(axis, rows.row(r), out.row(r));
    rows = std::move(out);
  }
  working_ = false;
}

double Mf::link(double score) const {
  const Loss loss = this->loss();
  if (!is_of_classes(loss) || f_.implicit) return RatingsModel::link(score);
  const double share =
      loss == Loss::kLogistic ? 1 / (1 + std::exp(-score)) : (std::clamp(score, -1.0, 1.0) + 1) / 2;
  return f_.low + share * (f_.high - f_.low);
}

RowProblem Mf::row_problem(Axis axis, const Folding& row) const {
  RowProblem out{};
  const size_t n = row.ratings.size();
  const auto count = static_cast<double>(n);
  out.mean = known_.of(axis).of(row.ratings, row.number);
  out.biases = config_.biases;
  out.penalty = hold(n) * scale_ * count;
  out.bias_penalty = bias_hold(axis, n) * count;
  if (config_.bias_penalty) out.bias_penalty += 1;  // it says nothing of a first rating
  return out;
}

uint64_t Mf::memory(const Ratings& ratings, const Job&) const {
  const uint64_t rows = ratings.users().size() + ratings.items().size();
  const uint64_t held_out = ratings.held_out().size(), all = ratings.train().size() + held_out;
  const auto dim = static_cast<size_t>(config_.dim);
  const uint64_t table = rows * row_width(dim) * sizeof(float);
  const int patience = loss_of(ratings.implicit()) == Loss::kBpr ? 0 : 3;
  const bool watched = config_.early_stop.value_or(patience) != 0 && held_out > 0;
  const uint64_t most = std::max(ratings.users().size(), ratings.items().size());
  const KnownWhat what = this->what(ratings.implicit());
  uint64_t effects = 0, kept = 0, passing = 0;
  for (const Axis axis : {Axis::kUser, Axis::kItem}) {
    const FeaturesMemory m = memory_of(axis, ratings, what, dim + 2);
    effects += m.effects;
    kept += m.kept;
    passing = std::max(passing, m.passing + m.effects);
  }
  // Besides what one side takes: the effects of both as they were, and what they say now; rows.
  if (effects > 0) passing += effects + rows * padded(dim + 2) * sizeof(float);
  if (what.any(ratings)) kept += 8 * all + 8 * rows;  // the ratings by item
  // The grid and the working rows, twice while the best are kept.
  const uint64_t first = ratings.train().size() * sizeof(Entry) +
                         (watched ? 2 : 1) * (table + effects) + kept + passing;
  // Then on everything, whose union is made while its parts are there; at the end the rows, one
  // axis after the other.
  const uint64_t second = config_.refit && held_out > 0
                              ? all * (sizeof(Entry) + 8) + table + effects + kept + passing
                              : 0;
  return std::max({first, second, table + table / rows * most + effects}) + rows * 60 +
         memory_of_all(ratings);
}

void Mf::visit(Parts& parts) {
  RatingsModel::visit(parts);
  parts.number("mf.scale", scale_);
  parts.check(scale_ > 0 && std::isfinite(scale_), "the scale is not a number above 0");
  parts.number("mf.frequency", frequency_, Use::kOptional);
  parts.number("mf.user_bias_penalty", user_bias_penalty_, Use::kOptional);
  parts.number("mf.item_bias_penalty", item_bias_penalty_, Use::kOptional);
  for (const double x : {frequency_, user_bias_penalty_, item_bias_penalty_}) {
    parts.check(std::isfinite(x) && x >= 0, "a penalty is not a number of 0 or more");
  }
  parts.flag("mf.working", working_, Use::kRun);
  if (parts.loading() && working_) {
    f_.dim = static_cast<size_t>(config_.dim);
    parts.check(working() && !state_.finished, "the working rows are not of length dim");
  }
  known_.visit(parts, f_);
}

ModelInfo info() {
  return model_info<Mf>("mf", "users and items of ratings: stochastic gradient descent, any loss");
}

}  // namespace kith::mf
