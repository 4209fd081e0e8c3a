// SPDX-License-Identifier: Apache-2.0
#include "models/feat2vec/kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/feat2vec/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"
#include "train/loss-inl.h"
#include "train/optimise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::feat2vec::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kith::HWY_NAMESPACE::axpy;
using kith::HWY_NAMESPACE::binary;
using kith::HWY_NAMESPACE::dot;
using kith::HWY_NAMESPACE::exp_minus;
using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::logistic;
using kith::HWY_NAMESPACE::optimise;
using kith::HWY_NAMESPACE::Slope;
using kith::HWY_NAMESPACE::slope_of;
using kith::HWY_NAMESPACE::VF;

struct SharedRows {
  Rows table;
  float* row(uint32_t id) const { return table.row(id); }
  void prefetch(uint32_t id) const {
    const float* const row = table.row(id);
    const size_t ahead = std::min<size_t>(table.stride, 128);  // the rest streams in
    for (size_t k = 0; k < ahead; k += 16) hwy::Prefetch(row + k);
  }
};
struct PrivateRows {
  RowOverlay& overlay;
  float* row(uint32_t id) const { return overlay.row(id); }
  void prefetch(uint32_t) const {}
};

constexpr float kBiasRate = 10;   // of a bias that is apart, in units of lr
constexpr float kBiasL2 = 0.15f;  // ... and of l2

template <class Access, Optimiser kOptimiser>
class Learner {
 public:
  Learner(const Problem& problem, Access access, Dense dense, float lr, Scratch& scratch)
      : p_(problem),
        access_(access),
        dense_(dense),
        step_(problem.step),
        width_(problem.width),
        s_(scratch),
        c_(scratch.sums.view().row(0)),
        gathered_(scratch.sums.view().row(1)),
        own_(scratch.sums.view().row(2)),
        drawn_(scratch.sums.view().row(3)) {
    step_.lr = lr;
  }

  double learn(const Example& x) {
    if (x.unit == p_.units.size()) return head(x);
    const Unit& unit = p_.units[x.unit];
    return unit.groups.size() == 1 ? single(x, unit.groups[0]) : joint(x, unit);
  }

  void prefetch(const Example& x) const {
    if (x.unit == p_.units.size() || p_.units[x.unit].groups.size() != 1) return;
    const Entities& e = p_.table->entities(p_.units[x.unit].groups[0]);
    if (!e.offsets.empty()) return;
    access_.prefetch(e.first + x.entity);
    for (const uint32_t id : x.noise) access_.prefetch(e.first + id);
  }

 private:
  void phi(size_t group, uint32_t entity, float* out) const {
    Feature one;
    const auto features = p_.table->entities(group).bag(entity, one);
    if (features.size() == 1 && features[0].weight == 1) {
      std::copy_n(access_.row(features[0].row), width_, out);
      return;
    }
    std::fill_n(out, width_, 0.0f);
    for (const Feature& f : features) axpy(f.weight, access_.row(f.row), out, width_);
  }

  // The rows of a bag move along coef * g, each by its weight; and, if they are of the example and
  // no noise, towards 0 by their l2.
  void move(size_t group, uint32_t entity, float coef, float* g, bool true_one = true) {
    if (coef == 0) return;
    Feature one;
    const float along_bias = p_.apart ? std::exchange(g[p_.dim], 0.0f) : 0;
    const float square = mean_square(g);
    // A number's biases are a curve, whose neighbours hold one another: towards 0 is nowhere.
    const bool curve = !p_.table->entities(group).numbers.empty();
    for (const Feature& f : p_.table->entities(group).bag(entity, one)) {
      float* const row = access_.row(f.row);
      const float along = coef * f.weight;
      const float l2 = true_one && !p_.rarity.empty() ? p_.l2 * p_.rarity[f.row] : 0;
      step_.l2 = l2;
      const bool drawn = l2 > 0 && p_.means.rows() > 0;
      const float* const mean = drawn ? p_.means.view().row(f.row) : nullptr;
      if (p_.apart) {
        const float away = row[p_.dim] - (drawn ? mean[p_.dim] : 0);
        move_bias(row, along * along_bias + (curve ? 0 : kBiasL2 * l2 * away));
      }
      if (drawn) {
        move_towards(row, mean, g, along);
      } else {
        optimise<kOptimiser>(row, row + width_, width_, g, along,
                             whole_square(row, g, along, square), step_);
      }
    }
    if (p_.apart) g[p_.dim] = along_bias;
  }

  // Along coef * g + l2 (x - mean).
  void move_towards(float* row, const float* mean, const float* g, float coef) {
    std::fill_n(drawn_, width_, 0.0f);
    axpy(coef, g, drawn_, width_);
    axpy(-step_.l2, mean, drawn_, width_);
    const float square = whole_square(row, drawn_, 1, mean_square(drawn_));
    optimise<kOptimiser>(row, row + width_, width_, drawn_, 1, square, step_);
  }

  // A bias that is apart moves by adagrad, faster than the numbers of a vector: they grow by one
  // another, and what a bias can explain they need not.
  void move_bias(float* row, float slope) {
    float& squares = row[width_ + 1];
    squares += slope * slope;
    row[p_.dim] -= kBiasRate * step_.lr * slope / (std::sqrt(squares) + step_.delta);
  }

  float mean_square(const float* g) const {
    if constexpr (kOptimiser != Optimiser::kRowAdaGrad) return 0;
    return dot(g, g, width_) / static_cast<float>(numbers());
  }
  // The mean square of coef g + l2 x, from that of g.
  float whole_square(const float* x, const float* g, float coef, float square) const {
    if constexpr (kOptimiser != Optimiser::kRowAdaGrad) return 0;
    const float own = coef * coef * square;
    if (step_.l2 == 0) return own;
    const float more = 2 * coef * dot(g, x, width_) + step_.l2 * dot(x, x, width_);
    return std::max(0.0f, own + step_.l2 * more / static_cast<float>(numbers()));
  }
  size_t numbers() const { return std::max<size_t>(1, p_.dim + (p_.biases && !p_.apart)); }

  // The vectors of the groups that are context: s_.phi, s_.present. Biases are taken out of them
  // and added up in `bias`.
  float gather(const Example& x, std::span<const uint32_t> without) {
    float bias = 0;
    for (size_t j = 0; j < p_.groups; ++j) {
      s_.present[j] = x.row[j] != kNoEntity && x.keep[j] && j != p_.target &&
                      std::ranges::find(without, j) == without.end();
      if (!s_.present[j]) continue;
      float* const v = s_.phi.view().row(j);
      phi(j, x.row[j], v);
      if (p_.biases) bias += std::exchange(v[p_.dim], 0.0f);
    }
    return bias;
  }

  // out = sum of a_gj phi_j over the contexts.
  void context(size_t g, float* out) const {
    std::fill_n(out, width_, 0.0f);
    for (size_t j = 0; j < p_.groups; ++j) {
      if (s_.present[j] && j != g) {
        axpy(p_.uniform ? 1.0f : dense_.pair(g, j), s_.phi.view().row(j), out, width_);
      }
    }
  }

  // Sum over pairs of contexts of a_ij phi_i . phi_j: by the identity 1/2 (|S|^2 - sum |phi|^2)
  // when all weights are 1, and S is at hand.
  float pairs(const float* sum) const {
    float total = p_.uniform ? dot(sum, sum, width_) / 2 : 0;
    for (size_t i = 0; i < p_.groups; ++i) {
      if (!s_.present[i]) continue;
      const float* const a = s_.phi.view().row(i);
      if (p_.uniform) {
        total -= dot(a, a, width_) / 2;
      } else {
        for (size_t j = i + 1; j < p_.groups; ++j) {
          if (s_.present[j]) total += dense_.pair(i, j) * dot(a, s_.phi.view().row(j), width_);
        }
      }
    }
    return total;
  }

  void move_dense(float& value, float slope, float rate = 1) {
    float& squares = dense_.squares(value);
    squares += slope * slope;
    value -= rate * step_.lr * slope / (std::sqrt(squares) + step_.delta);
  }
  void move_pair(size_t i, size_t j, float slope) {
    if (!p_.learn_pairs) return;
    move_dense(dense_.pair(i, j), slope);
    dense_.pair(j, i) = dense_.pair(i, j);
  }

  // Scores in s_.logits become slopes there; candidate 0 is the truth. `rest`: what a score has
  // beside phi(v) . c. Returns the loss.
  float slopes(const Example& x, float rest) {
    const Unit& unit = p_.units[x.unit];
    const size_t n = x.noise.size() + 1;
    float* const z = s_.logits.view().row(0);
    const auto id = [&](size_t i) { return i == 0 ? x.entity : x.noise[i - 1]; };
    if (p_.loss == Loss::kSoftmax) return softmax(x, unit, z, n);
    const float intercept =
        p_.intercepts == Intercepts::kNone ? 0 : dense_.intercept(intercept_of(x.unit));
    const float shift = std::log(static_cast<float>(x.noise.size()));
    float loss = 0;
    for (size_t i = 0; i < n; ++i) {
      if (p_.loss == Loss::kNs && i > 0 && id(i) == x.entity) {
        z[i] = 0;
        continue;
      }
      float s = z[i] + rest + intercept;
      if (p_.loss == Loss::kNce) s -= shift + unit.log_noise[id(i)];
      const Slope at = binary(s, i == 0);
      loss += at.loss;
      z[i] = at.slope;
    }
    return loss;
  }

  uint32_t intercept_of(uint32_t unit) const {
    return p_.intercepts == Intercepts::kOne ? 0 : unit;
  }

  // -log of e^z_0 / sum e^z_i with z corrected by the noise's own probability. A noise value that
  // is the truth stays: only so the optimum is log p(v | context) for any k and any number of
  // values.
  float softmax(const Example& x, const Unit& unit, float* z, size_t n) {
    z[0] -= unit.log_noise[x.entity];
    float highest = z[0];
    for (size_t i = 1; i < n; ++i) {
      z[i] -= unit.log_noise[x.noise[i - 1]];
      highest = std::max(highest, z[i]);
    }
    const float truth = z[0];
    const size_t lanes = hn::Lanes(f32), end = (n + lanes - 1) / lanes * lanes;
    std::fill(z + n, z + end, -1e30f);
    const auto top = hn::Set(f32, highest);
    auto sum = hn::Zero(f32);
    for (size_t i = 0; i < end; i += lanes) {
      // Beyond 87 the exponential is not zero but tiny; the padding must be zero.
      const auto below = hn::Sub(top, hn::Load(f32, z + i));
      const auto e = hn::IfThenElseZero(hn::Lt(below, hn::Set(f32, 87.0f)), exp_minus(below));
      hn::Store(e, f32, z + i);
      sum = hn::Add(sum, e);
    }
    const float total = hn::GetLane(hn::SumOfLanes(f32, sum));
    const auto scale = hn::Set(f32, 1 / total);
    for (size_t i = 0; i < end; i += lanes) {
      hn::Store(hn::Mul(scale, hn::Load(f32, z + i)), f32, z + i);
    }
    z[0] -= 1;
    return highest + std::log(total) - truth;
  }

  // One group is replaced.
  double single(const Example& x, uint32_t g) {
    const uint32_t alone[1] = {g};
    const float bias = gather(x, alone);
    context(g, c_);
    const bool whole = p_.loss != Loss::kSoftmax;  // the rest of the score matters
    float rest = 0;
    if (whole) {
      if (!p_.uniform) sum_contexts(own_);
      rest = bias + pairs(p_.uniform ? c_ : own_);
    }
    if (p_.biases) c_[p_.dim] = 1;
    const Entities& e = p_.table->entities(g);
    const bool rows = e.offsets.empty();
    const size_t n = x.noise.size() + 1;
    float* const z = s_.logits.view().row(0);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t id = i == 0 ? x.entity : x.noise[i - 1];
      if (rows) {
        s_.rows[i] = access_.row(e.first + id);
      } else {
        s_.rows[i] = s_.candidates.view().row(i);
        phi(g, id, s_.rows[i]);
      }
      z[i] = dot(s_.rows[i], c_, width_);
    }
    const float loss = slopes(x, rest);
    if (step_.lr == 0) return loss;
    std::fill_n(gathered_, width_, 0.0f);
    if (rows && kOptimiser == Optimiser::kRowAdaGrad && p_.l2 == 0 && !p_.apart) {
      move_rows(z, n);
    } else {
      for (size_t i = 0; i < n; ++i) axpy(z[i], s_.rows[i], gathered_, width_);
      for (size_t i = 0; i < n; ++i) {
        move(g, i == 0 ? x.entity : x.noise[i - 1], z[i], c_, i == 0);
      }
    }
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += z[i];
    if (p_.biases) gathered_[p_.dim] = whole ? sum : 0;
    move_contexts(x, g, whole ? sum : 0);
    if (whole && p_.intercepts != Intercepts::kNone) {
      move_dense(dense_.intercept(intercept_of(x.unit)), sum);
    }
    return loss;
  }

  // Gathers z_i phi_i and moves phi_i along z_i c, both in one pass over each row. The same row may
  // stand twice: the gathered sum takes it as it was only the first time, which is the sequential
  // step of a second example.
  void move_rows(const float* z, size_t n) {
    const float square = mean_square(c_);
    const size_t lanes = hn::Lanes(f32);
    // The steps of all rows first: roots and divisions side by side.
    float* const steps = s_.logits.view().row(1);
    for (size_t i = 0; i < n; ++i) {
      float& energy = s_.rows[i][width_];
      steps[i] = energy += z[i] * z[i] * square;
    }
    const auto lr = hn::Set(f32, step_.lr), delta = hn::Set(f32, step_.delta);
    for (size_t i = 0; i < n; i += lanes) {
      const auto root = hn::Sqrt(hn::Load(f32, steps + i));
      const auto rate = hn::Div(lr, hn::Add(root, delta));
      hn::Store(hn::Mul(rate, hn::Load(f32, z + i)), f32, steps + i);
    }
    for (size_t i = 0; i < n; ++i) {
      float* const row = s_.rows[i];
      const auto slope = hn::Set(f32, z[i]), move = hn::Set(f32, steps[i]);
      for (size_t k = 0; k < width_; k += lanes) {
        const auto at = hn::Load(f32, row + k);
        hn::Store(hn::MulAdd(slope, at, hn::Load(f32, gathered_ + k)), f32, gathered_ + k);
        hn::Store(hn::NegMulAdd(move, hn::Load(f32, c_ + k), at), f32, row + k);
      }
    }
  }

  void sum_contexts(float* out) const {
    std::fill_n(out, width_, 0.0f);
    for (size_t j = 0; j < p_.groups; ++j) {
      if (s_.present[j]) axpy(1.0f, s_.phi.view().row(j), out, width_);
    }
  }

  // phi_j of every context along a_gj * gathered, and, where the rest of the score matters, along
  // `sum` times the rest's slope, the sum over other contexts i of a_ij phi_i.
  void move_contexts(const Example& x, size_t g, float sum) {
    for (size_t j = 0; j < p_.groups; ++j) {
      if (!s_.present[j]) continue;
      const float weight = p_.uniform ? 1.0f : dense_.pair(g, j);
      if (sum == 0) {
        move(j, x.row[j], weight, gathered_);
      } else {
        context(j, own_);
        for (size_t k = 0; k < width_; ++k) own_[k] = sum * own_[k] + weight * gathered_[k];
        if (p_.biases) own_[p_.dim] = sum;
        move(j, x.row[j], 1, own_);
      }
      if (p_.learn_pairs) {  // the bias column of a context's phi is 0
        move_pair(g, j, dot(gathered_, s_.phi.view().row(j), width_));
        move_pairs_before(j, sum);
      }
    }
  }

  // The weights of pairs of contexts (i, j), i < j, along `slope` times what the pair adds. After
  // the rows of j have moved: until then the weights are as they were.
  void move_pairs_before(size_t j, float slope) {
    for (size_t i = 0; i < j && slope != 0; ++i) {
      if (s_.present[i]) {
        move_pair(i, j, slope * dot(s_.phi.view().row(i), s_.phi.view().row(j), width_));
      }
    }
  }

  // Of m members a tuple: row i * m + a of candidates is phi of member a of candidate i; behind
  // them, at n, the c of members.
  float* tuple(size_t i, size_t a, size_t m) { return s_.candidates.view().row(i * m + a); }
  uint32_t member(const Example& x, const Unit& unit, size_t i, size_t a) const {
    return unit.tuples[(i == 0 ? x.entity : x.noise[i - 1]) * unit.groups.size() + a];
  }
  float weight_of(const Unit& unit, size_t a, size_t b) const {
    return p_.uniform ? 1.0f : dense_.pair(unit.groups[a], unit.groups[b]);
  }

  void score_tuples(const Example& x, const Unit& unit, float* z) {
    const size_t m = unit.groups.size(), n = x.noise.size() + 1;
    for (size_t a = 0; a < m; ++a) {
      context(unit.groups[a], tuple(n, a, m));
      if (p_.biases) tuple(n, a, m)[p_.dim] = 1;
    }
    for (size_t i = 0; i < n; ++i) {
      z[i] = 0;
      for (size_t a = 0; a < m; ++a) {
        float* const mine = tuple(i, a, m);
        const uint32_t who = member(x, unit, i, a);
        if (who == kNoEntity) {
          std::fill_n(mine, width_, 0.0f);
        } else {
          phi(unit.groups[a], who, mine);
        }
        z[i] += dot(mine, tuple(n, a, m), width_);
        for (size_t b = 0; b < a; ++b) {
          const float* const other = tuple(i, b, m);
          const float biases = p_.biases ? mine[p_.dim] * other[p_.dim] : 0;
          z[i] += weight_of(unit, a, b) * (dot(mine, other, width_) - biases);
        }
      }
    }
  }

  // Several groups are replaced together: a value v is a tuple, with
  // score(v) = sum over its members m of phi_m . c_m + sum over its pairs of a phi_m . phi_m'.
  double joint(const Example& x, const Unit& unit) {
    const size_t m = unit.groups.size(), n = x.noise.size() + 1;
    const float bias = gather(x, unit.groups);
    const bool whole = p_.loss != Loss::kSoftmax;
    float* const z = s_.logits.view().row(0);
    sum_contexts(own_);
    const float rest = whole ? bias + pairs(own_) : 0;
    score_tuples(x, unit, z);
    const float loss = slopes(x, rest);
    if (step_.lr == 0) return loss;
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += z[i];
    // Contexts first, from the old candidates.
    for (size_t j = 0; j < p_.groups; ++j) {
      if (!s_.present[j]) continue;
      std::fill_n(gathered_, width_, 0.0f);
      for (size_t a = 0; a < m; ++a) {
        const float weight = p_.uniform ? 1.0f : dense_.pair(unit.groups[a], j);
        for (size_t i = 0; i < n; ++i) axpy(weight * z[i], tuple(i, a, m), gathered_, width_);
      }
      if (whole) {
        context(j, own_);
        axpy(sum, own_, gathered_, width_);
      }
      if (p_.biases) gathered_[p_.dim] = whole ? sum : 0;
      move(j, x.row[j], 1, gathered_);
      if (p_.learn_pairs && whole) move_pairs_before(j, sum);
    }
    for (size_t i = 0; i < n; ++i) {
      for (size_t a = 0; a < m; ++a) {
        const uint32_t who = member(x, unit, i, a);
        if (who == kNoEntity) continue;
        std::copy_n(tuple(n, a, m), width_, own_);
        for (size_t b = 0; b < m; ++b) {
          if (b != a) axpy(weight_of(unit, a, b), tuple(i, b, m), own_, width_);
        }
        if (p_.biases) own_[p_.dim] = 1;
        move(unit.groups[a], who, z[i], own_, i == 0);
      }
    }
    if (p_.learn_pairs) move_joint_pairs(unit, z, n);
    if (whole && p_.intercepts != Intercepts::kNone) {
      move_dense(dense_.intercept(intercept_of(x.unit)), sum);
    }
    return loss;
  }

  // The weights of the pairs that a tuple's members are in, from the candidates as they were.
  void move_joint_pairs(const Unit& unit, const float* z, size_t n) {
    const size_t m = unit.groups.size();
    const auto candidate = [&](size_t i, size_t a) { return s_.candidates.view().row(i * m + a); };
    for (size_t a = 0; a < m; ++a) {
      std::fill_n(gathered_, width_, 0.0f);
      for (size_t i = 0; i < n; ++i) axpy(z[i], candidate(i, a), gathered_, width_);
      for (size_t j = 0; j < p_.groups; ++j) {
        if (s_.present[j]) {
          move_pair(unit.groups[a], j, dot(gathered_, s_.phi.view().row(j), width_));
        }
      }
      for (size_t b = 0; b < a; ++b) {
        float slope = 0;
        for (size_t i = 0; i < n; ++i) {
          slope += z[i] * (dot(candidate(i, a), candidate(i, b), width_) -
                           (p_.biases ? candidate(i, a)[p_.dim] * candidate(i, b)[p_.dim] : 0));
        }
        move_pair(unit.groups[a], unit.groups[b], slope);
      }
    }
  }

  // The score of the whole row against the target's number.
  double head(const Example& x) {
    float score = gather(x, {}) + dense_.intercept(p_.units.size());
    sum_contexts(c_);
    score += pairs(c_);
    const Slope at = slope_of(p_.head, score, p_.target_values[x.entity]);
    if (step_.lr == 0) return at.loss;
    for (size_t j = 0; j < p_.groups; ++j) {
      if (!s_.present[j]) continue;
      context(j, own_);
      if (p_.biases) own_[p_.dim] = 1;
      move(j, x.row[j], at.slope, own_);
      if (p_.learn_pairs) move_pairs_before(j, at.slope);
    }
    if (p_.intercepts != Intercepts::kNone) {
      move_dense(dense_.intercept(p_.units.size()), at.slope, p_.apart ? kBiasRate : 1);
    }
    return at.loss;
  }

  const Problem& p_;
  Access access_;
  Dense dense_;
  Step step_;
  const size_t width_;
  Scratch& s_;
  float *const c_, *const gathered_, *const own_, *const drawn_;
};

template <class Access, Optimiser kOptimiser>
Tally block(const Problem& problem, Work& work, Access access, Dense dense, Scratch& scratch) {
  constexpr size_t kAhead = 4;
  Learner<Access, kOptimiser> learner(problem, access, dense, work.lr, scratch);
  Tally tally;
  size_t drawn = 0, learned = 0, next = 0;
  // Examples are drawn a few steps ahead, so that their rows are on their way.
  while (next < work.rows.size() || learned < drawn) {
    while (next < work.rows.size() && drawn - learned < kAhead) {
      Example& x = scratch.ahead[drawn % kAhead];
      const uint64_t row = work.rows[next++];
      if (!draw(problem, problem.table->any_row(row).data(), row, work.rng, x)) continue;
      learner.prefetch(x);
      ++drawn;
    }
    if (learned == drawn) break;
    const Example& x = scratch.ahead[learned++ % kAhead];
    tally.loss += learner.learn(x);
    ++tally.steps;
    tally.pairs += x.noise.size();
  }
  return tally;
}

// Calls f.template operator()<kind>() for the problem's optimiser.
template <class F>
auto with_optimiser(Optimiser optimiser, const F& f) {
  switch (optimiser) {
    case Optimiser::kSgd:
      return f.template operator()<Optimiser::kSgd>();
    case Optimiser::kMomentum:
      return f.template operator()<Optimiser::kMomentum>();
    case Optimiser::kNesterov:
      return f.template operator()<Optimiser::kNesterov>();
    case Optimiser::kAdaGrad:
      return f.template operator()<Optimiser::kAdaGrad>();
    case Optimiser::kAdam:
      return f.template operator()<Optimiser::kAdam>();
    case Optimiser::kRowAdaGrad:
      break;
  }
  return f.template operator()<Optimiser::kRowAdaGrad>();
}

Tally train_shared(const Problem& problem, Work& work, Rows table, Dense dense, Scratch& scratch) {
  return with_optimiser(problem.optimiser, [&]<Optimiser kind>() {
    return block<SharedRows, kind>(problem, work, SharedRows{table}, dense, scratch);
  });
}

Tally train_private(const Problem& problem, Work& work, RowOverlay& table, Dense dense,
                    Scratch& scratch) {
  return with_optimiser(problem.optimiser, [&]<Optimiser kind>() {
    return block<PrivateRows, kind>(problem, work, PrivateRows{table}, dense, scratch);
  });
}

double train_one(const Problem& problem, const Example& example, float lr, Rows table, Dense dense,
                 Scratch& scratch) {
  return with_optimiser(problem.optimiser, [&]<Optimiser kind>() {
    return Learner<SharedRows, kind>(problem, SharedRows{table}, dense, lr, scratch).learn(example);
  });
}

void add_bag(std::span<const Feature> bag, ConstRows table, size_t width, float* out) {
  for (const Feature& f : bag) axpy(f.weight, table.row(f.row), out, width);
}

}  // namespace kith::feat2vec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::feat2vec {

HWY_EXPORT(train_shared);
HWY_EXPORT(train_private);
HWY_EXPORT(train_one);
HWY_EXPORT(add_bag);

Tally train_block(const Problem& problem, Work& work, Rows table, Dense dense, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(train_shared)(problem, work, table, dense, scratch);
}

Tally train_block(const Problem& problem, Work& work, RowOverlay& table, Dense dense,
                  Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(train_private)(problem, work, table, dense, scratch);
}

double train_example(const Problem& problem, const Example& example, float lr, Rows table,
                     Dense dense, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(train_one)(problem, example, lr, table, dense, scratch);
}

void add_bag(std::span<const Feature> bag, ConstRows table, size_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(add_bag)(bag, table, width, out);
}

}  // namespace kith::feat2vec
#endif  // HWY_ONCE
