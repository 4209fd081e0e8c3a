// SPDX-License-Identifier: Apache-2.0
#include "models/gmm/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "kith/text.h"
#include "models/gmm/sweep.h"
#include "models/gmm/trainer.h"

namespace kith::gmm {
namespace {

bool fits(const Mixture& m, size_t dims, const Form& form) {
  return m.weights.size() == m.count && m.means.size() == m.count * dims &&
         m.covariances.size() ==
             (m.empty() ? 0 : covariance_numbers(form.covariance, m.count, dims));
}

// "height, width and 3 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  std::string out;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) out += (i ? ", " : "") + names[i];
  if (names.size() > kMost) out += fmt::format(" and {} more", names.size() - kMost);
  return out;
}

}  // namespace

void Search::visit(Parts& parts, size_t dims, const Form& form) {
  parts.number("search.candidate", candidate, Use::kRun);
  parts.number("search.starts", starts, Use::kRun);
  parts.number("search.sweeps", sweeps, Use::kRun);
  parts.number("search.worse", worse, Use::kRun);
  parts.number("search.start_score", start_score, Use::kRun);
  parts.number("search.seen_loss", seen_loss, Use::kRun);
  parts.number("search.best_loss", best_loss, Use::kRun);
  parts.number("search.best_bic", best_bic, Use::kRun);
  parts.values("search.gains", gains.scores(), Parts::kAny, Use::kRun);
  parts.values("search.bics", bics, Parts::kAny, Use::kRun);
  start.visit(parts, "search.start");
  now.visit(parts, "search.now");
  seen.visit(parts, "search.seen");
  best.visit(parts, "search.best");
  if (!parts.loading()) return;
  for (Mixture* const m : {&start, &now, &seen, &best}) {
    m->dims = m->empty() ? 0 : dims;
    parts.check(fits(*m, dims, form), "a mixture on the way is not whole");
  }
}

// --- What it is ---

Form Gmm::form() const {
  const bool hard = config_.method == Method::kKmeans;
  const auto usual = hard ? Covariance::kSpherical : Covariance::kFull;
  return {config_.covariance.value_or(usual), hard, config_.regularise};
}

void Gmm::visit(Parts& parts) {
  parts.names("columns", columns_);
  const size_t cols = columns_.size();
  parts.flag("columns.named", named_);
  parts.number("rows", rows_);
  parts.values("column.means", frame_.mean, cols, Use::kFixed);
  // The unit in which each column is measured, 0 for one that is left out.
  parts.values("column.scales", frame_.deviation, cols, Use::kFixed);
  parts.values("column.deviations", deviation_, cols, Use::kFixed);
  parts.values("weights", weights_, Parts::kAny, Use::kFixed);
  const size_t count = weights_.size();
  parts.values("means", means_, count * cols, Use::kFixed);
  const size_t numbers = count ? covariance_numbers(form().covariance, count, cols) : 0;
  parts.values("covariances", covariances_, numbers, Use::kFixed);
  parts.list("bics", bics_);
  parts.number("raised", raised_);
  parts.number("sweeps", sweeps_);
  if (parts.loading()) {
    for (const double d : frame_.deviation) {
      parts.check(d >= 0, "the deviation of a column is negative");
    }
    for (const double w : weights_) parts.check(w >= 0 && w <= 1, "a weight is not a share");
    frame_ = Frame::of(std::move(frame_.mean), std::move(frame_.deviation));
    parts.check(cols == 0 || frame_.dims() > 0, "no column varies");
  }
  search_.visit(parts, frame_.dims(), form());
}

void Gmm::loaded() {
  if (weights_.empty()) return;
  to_frame();
  asked_ = components_of<double>(form(), mixture_);
}

std::vector<Fact> Gmm::info() const {
  const auto name = EnumNames<Covariance>::names[static_cast<size_t>(form().covariance)];
  std::vector<Fact> out{{"components", fmt::format("{}", weights_.size()), true},
                        {"columns", fmt::format("{}", cols()), true},
                        {"rows", fmt::format("{}", rows_), true},
                        {"covariance", std::string(name)},
                        {"sweeps", fmt::format("{}", sweeps_), true}};
  if (!bics_.empty()) {
    out.push_back({"bic_by_components", fmt::format("{:.1f}", fmt::join(bics_, " "))});
  }
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

std::vector<Note> Gmm::remarks() const {
  std::vector<Note> out;
  std::vector<std::string> constant;
  for (size_t c = 0; c < cols(); ++c) {
    if (frame_.deviation[c] == 0) constant.emplace_back(columns_[c]);
  }
  if (!constant.empty()) {
    out.push_back(
        {Note::Level::kNote,
         fmt::format(
             "{} the same in every row and left out: {}",
             constant.size() == 1 ? "1 column is" : fmt::format("{} columns are", constant.size()),
             listed(constant))});
  }
  if (raised_ > 0) {
    out.push_back(
        {Note::Level::kWarning,
         fmt::format("{} of {} had collapsed onto few or equal rows, or onto a plane: their "
                     "variance is held at {:g} of the data's (--regularise), and the likelihood "
                     "depends on that; fewer --components or --covariance diagonal may suit better",
                     raised_, count_of(weights_.size(), "component"), config_.regularise)});
  }
  const auto idle =
      std::ranges::count_if(weights_, [&](double w) { return w * static_cast<double>(rows_) < 1; });
  if (idle > 0) {
    out.push_back({Note::Level::kHint,
                   fmt::format("{} of {} have less than one row each; fewer --components would do",
                               idle, count_of(weights_.size(), "component"))});
  }
  return out;
}

// --- Learning ---

class Gmm::OwnCourse final : public ModelCourse {
 public:
  OwnCourse(Gmm& model, const MatrixData& data, Job& job)
      : ModelCourse(model), m_(model), data_(data), job_(job) {}
  RunPlan plan() const override {
    const auto tried = static_cast<int>(m_.candidates(data_.rows()).size());
    return {.epochs = m_.config_.epochs * tried};
  }
  void start(Start) override { m_.begin(data_); }
  std::unique_ptr<Trainer> trainer() override {
    return std::make_unique<GmmTrainer>(m_, data_, job_);
  }
  void finish() override {
    ModelCourse::finish();
    m_.finish();
  }

 private:
  Gmm& m_;
  const MatrixData& data_;
  Job& job_;
};

std::vector<uint64_t> Gmm::candidates(uint64_t rows) const {
  if (config_.components) return {static_cast<uint64_t>(*config_.components)};
  std::vector<uint64_t> out;
  const auto most = std::min(rows, static_cast<uint64_t>(config_.max_components));
  for (uint64_t k = 1; k <= most; ++k) out.push_back(k);
  return out;
}

void Gmm::check(const MatrixData& data) const {
  const Covariance covariance = form().covariance;
  if (form().hard && covariance != Covariance::kSpherical) {
    throw fault(ErrorKind::kUsage,
                "--covariance {} is for --method em: components of k-means are all spherical and "
                "of one size",
                EnumNames<Covariance>::names[static_cast<size_t>(covariance)]);
  }
  const uint64_t least = static_cast<uint64_t>(config_.components.value_or(1));
  if (data.rows() < least) {
    throw fault(ErrorKind::kInput, "{} are fewer than {} components; try --components {}",
                count_of(data.rows(), "row"), least, std::max<uint64_t>(1, data.rows()));
  }
  if (Frame::of(data.train().moments(), false).dims() == 0) {
    throw fault(ErrorKind::kInput,
                "every column is the same in all rows, so there is nothing to tell groups by");
  }
}

bool Gmm::learn(const MatrixData& data, Job& job) {
  check(data);
  if (state_.started && columns_.size() != data.cols()) {
    throw fault(ErrorKind::kInput,
                "the data have {} columns, the checkpoint {}; resume with the same data",
                data.cols(), columns_.size());
  }
  OwnCourse course(*this, data, job);
  return kith::train(course, state_, job);
}

void Gmm::begin(const MatrixData& data) {
  columns_ = Names();
  for (const std::string& c : data.columns()) columns_.add(c);
  named_ = data.has_column_names();
  rows_ = data.rows();
  // Directions stay what they are where all are measured alike.
  const ColumnMoments& moments = data.train().moments();
  frame_ = Frame::of(moments, form().covariance == Covariance::kSpherical);
  deviation_ = Frame::of(moments, false).deviation;
  weights_.clear();
  means_.clear();
  covariances_.clear();
  bics_.clear();
  search_ = {};
}

void Gmm::finish() {
  mixture_ = std::move(search_.best.empty() ? search_.seen : search_.best);
  if (!search_.best.empty()) state_.loss = search_.best_loss;
  mixture_ = largest_first(form(), mixture_);
  raised_ = mixture_.raised;
  if (!config_.components) bics_ = std::move(search_.bics);
  sweeps_ = state_.block;
  search_ = {};
  to_units();
  asked_ = components_of<double>(form(), mixture_);
}

double Gmm::loss_in_units(double loss) const {
  if (!form().hard) return loss - frame_.log_density;
  const double deviation = frame_.deviation[frame_.columns.front()];
  return loss * deviation * deviation;
}

void Gmm::to_units() {
  const Mixture& m = mixture_;
  const Covariance c = form().covariance;
  const std::vector<uint32_t>& at = frame_.columns;
  const std::vector<double>& s = frame_.deviation;
  const size_t all = cols();
  weights_ = m.weights;
  means_.clear();
  for (size_t k = 0; k < m.count; ++k) {
    means_.insert(means_.end(), frame_.mean.begin(), frame_.mean.end());
    for (size_t i = 0; i < m.dims; ++i) {
      means_[k * all + at[i]] += s[at[i]] * m.means[k * m.dims + i];
    }
  }
  covariances_.assign(covariance_numbers(c, m.count, all), 0);
  if (c == Covariance::kSpherical) {
    for (size_t k = 0; k < m.count; ++k) {
      covariances_[k] = m.covariances[k] * s[at.front()] * s[at.front()];
    }
  } else if (c == Covariance::kDiagonal) {
    for (size_t k = 0; k < m.count; ++k) {
      for (size_t i = 0; i < m.dims; ++i) {
        covariances_[k * all + at[i]] = m.covariances[k * m.dims + i] * s[at[i]] * s[at[i]];
      }
    }
  } else {
    const size_t matrices = c == Covariance::kTied ? 1 : m.count;
    for (size_t k = 0; k < matrices; ++k) {
      for (size_t i = 0; i < m.dims; ++i) {
        for (size_t j = 0; j < m.dims; ++j) {
          covariances_[(k * all + at[i]) * all + at[j]] =
              m.covariances[(k * m.dims + i) * m.dims + j] * s[at[i]] * s[at[j]];
        }
      }
    }
  }
}

void Gmm::to_frame() {
  const Covariance c = form().covariance;
  const std::vector<uint32_t>& at = frame_.columns;
  const std::vector<double>& s = frame_.deviation;
  const size_t count = weights_.size(), dims = at.size(), all = cols();
  Mixture m{count, dims, weights_, {}, {}, raised_};
  for (size_t k = 0; k < count; ++k) {
    for (const uint32_t col : at) {
      m.means.push_back((means_[k * all + col] - frame_.mean[col]) / s[col]);
    }
  }
  if (c == Covariance::kSpherical) {
    for (const double v : covariances_) m.covariances.push_back(v / (s[at[0]] * s[at[0]]));
  } else if (c == Covariance::kDiagonal) {
    for (size_t k = 0; k < count; ++k) {
      for (const uint32_t i : at)
        m.covariances.push_back(covariances_[k * all + i] / (s[i] * s[i]));
    }
  } else {
    for (size_t k = 0; k < (c == Covariance::kTied ? 1 : count); ++k) {
      for (const uint32_t i : at) {
        for (const uint32_t j : at) {
          m.covariances.push_back(covariances_[(k * all + i) * all + j] / (s[i] * s[j]));
        }
      }
    }
  }
  mixture_ = std::move(m);
}

bool Gmm::has_say(std::string_view setting, const MatrixData&) const {
  return setting != "max-components" || !config_.components;
}

uint64_t Gmm::memory(const MatrixData& data, const Job& job) const {
  const Form f = form();
  const uint64_t cols = data.cols();
  const uint64_t most = candidates(data.rows()).back();
  const uint64_t numbers = most * (1 + cols) + covariance_numbers(f.covariance, most, cols);
  const uint64_t mixture = numbers * sizeof(double);
  // While starts are tried: the sample with distances from candidates, the start under way and the
  // best one. Later what a sweep looks at and what the one before looked at.
  const uint64_t sample = sample_size(f, data.rows(), most, cols);
  const uint64_t held = config_.restarts.value_or(2) > 1 ? 2 : 1;
  const uint64_t starts = most > 1 ? sample * (4 * padded(cols) + 24) + held * mixture : 0;
  const uint64_t kept = config_.components ? 0 : mixture;  // of the candidates
  return std::max(starts, 2 * mixture) + kept +
         sweep_bytes(f, {data.rows(), most, cols, cols, job.threads()}) + kMemoryOfAll;
}

ModelInfo info() {
  return model_info<Gmm>("gmm", "rows of numbers: groups, as a mixture of normal distributions");
}

}  // namespace kith::gmm
