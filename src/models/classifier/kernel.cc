// SPDX-License-Identifier: Apache-2.0
#include "models/classifier/kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/classifier/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::classifier::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kith::HWY_NAMESPACE::axpy;
using kith::HWY_NAMESPACE::dot;
using kith::HWY_NAMESPACE::exp_minus;
using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::logistic;
using kith::HWY_NAMESPACE::VF;

struct SharedRows {
  Rows rows;
  float* row(uint32_t id) const { return rows.row(id); }
  void prefetch(uint32_t id) const {
    const float* const row = rows.row(id);
    const size_t ahead = std::min<size_t>(rows.stride, 256);  // the rest streams in
    for (size_t k = 0; k < ahead; k += 16) hwy::Prefetch(row + k);
  }
};
struct PrivateRows {
  RowOverlay& overlay;
  float* row(uint32_t id) const { return overlay.row(id); }
  void prefetch(uint32_t) const {}
};

// out = scale * the sum of the rows. A block of columns at a time, so that sums stay in registers.
HWY_INLINE void mean_of(std::span<float* const> rows, float scale, size_t width,
                        float* HWY_RESTRICT out) {
  const size_t step = hn::Lanes(f32);
  const VF s = hn::Set(f32, scale);
  size_t i = 0;
  for (; i + 4 * step <= width; i += 4 * step) {
    VF a = hn::Zero(f32), b = a, c = a, d = a;
    for (const float* const row : rows) {
      a = hn::Add(a, hn::Load(f32, row + i));
      b = hn::Add(b, hn::Load(f32, row + i + step));
      c = hn::Add(c, hn::Load(f32, row + i + 2 * step));
      d = hn::Add(d, hn::Load(f32, row + i + 3 * step));
    }
    hn::Store(hn::Mul(s, a), f32, out + i);
    hn::Store(hn::Mul(s, b), f32, out + i + step);
    hn::Store(hn::Mul(s, c), f32, out + i + 2 * step);
    hn::Store(hn::Mul(s, d), f32, out + i + 3 * step);
  }
  for (; i < width; i += step) {
    VF a = hn::Zero(f32);
    for (const float* const row : rows) a = hn::Add(a, hn::Load(f32, row + i));
    hn::Store(hn::Mul(s, a), f32, out + i);
  }
}

// grad += slope y; y -= rate slope x.
HWY_INLINE void move_output(float slope, float rate, const float* HWY_RESTRICT x,
                            float* HWY_RESTRICT y, float* HWY_RESTRICT grad, size_t width) {
  const VF s = hn::Set(f32, slope), r = hn::Set(f32, -rate * slope);
  for (size_t i = 0; i < width; i += hn::Lanes(f32)) {
    const VF old = hn::Load(f32, y + i);
    hn::Store(hn::MulAdd(s, old, hn::Load(f32, grad + i)), f32, grad + i);
    hn::Store(hn::MulAdd(r, hn::Load(f32, x + i), old), f32, y + i);
  }
}

template <class Access>
class Learner {
 public:
  Learner(const Problem& problem, float lr, Access input, Access output, Scratch& scratch)
      : p_(problem),
        lr_(lr),
        input_(input),
        output_(output),
        s_(scratch),
        width_(parameters(problem.dim)),
        asked_(scratch.asked.view().row(0)),
        yes_(scratch.yes.view().row(0)),
        scores_(scratch.scores.view().row(0)),
        hidden_(scratch.hidden.view().row(0)),
        gradient_(scratch.hidden.view().row(1)) {}

  template <bool kMoves>
  Tally learn(std::span<const uint64_t> texts) {
    if (!texts.empty()) look_up(texts[0], 0);
    for (size_t k = 0; k < texts.size(); ++k) {
      if (k + 1 < texts.size()) look_up(texts[k + 1], (k + 1) % 2);
      const std::span<const uint32_t> features = s_.features[k % 2];
      const float weight = ask(texts[k]);
      ++tally_.texts;
      if (features.empty() || weight == 0) continue;
      tally_.weight += weight;
      forward(features);
      tally_.loss += p_.loss == LabelLoss::kSoftmax ? softmax(weight) : decisions();
      if constexpr (kMoves) backward();
    }
    return tally_;
  }

 private:
  void look_up(uint64_t text, size_t place) {
    std::vector<uint32_t>& out = s_.features[place];
    p_.features->find(p_.documents->words_of(text), out);
    for (const uint32_t id : out) input_.prefetch(id);
  }

  // Which rows of the output table the text is compared with, and what is wanted of them. Returns
  // the weight of the text.
  float ask(uint64_t text) {
    const std::span<const uint32_t> labels = p_.documents->labels_of(text);
    const float own = p_.documents->weight(text);
    const bool choice = p_.loss != LabelLoss::kOneVsAll;
    const float share = choice ? own / static_cast<float>(labels.size()) : own;
    const auto mass = [&](uint32_t label) {
      return p_.class_weights.empty() ? share : share * p_.class_weights[label];
    };
    if (p_.loss == LabelLoss::kHierarchical) return ask_tree(labels, mass);
    count_ = p_.outputs;
    for (uint32_t k = 0; k < count_; ++k) {
      s_.outputs[k] = k;
      asked_[k] = own;
      yes_[k] = 0;
    }
    float sum = 0;
    for (const uint32_t label : labels) {
      yes_[label] = mass(label);
      asked_[label] = yes_[label];
      sum += yes_[label];
    }
    return choice ? sum : own;
  }

  // Nodes that two labels share are asked once, for both.
  template <class Mass>
  float ask_tree(std::span<const uint32_t> labels, const Mass& mass) {
    count_ = 0;
    float sum = 0;
    for (const uint32_t label : labels) {
      const float m = mass(label);
      sum += m;
      const size_t known = count_;  // nodes of a path are distinct
      for (const Tree::Step step : p_.tree->path(label)) {
        size_t k = 0;
        while (k < known && s_.outputs[k] != step.node) ++k;
        if (k == known) {
          k = count_++;
          s_.outputs[k] = step.node;
          asked_[k] = yes_[k] = 0;
        }
        asked_[k] += m;
        yes_[k] += step.right ? m : 0;
      }
    }
    return sum;
  }

  void forward(std::span<const uint32_t> features) {
    if (s_.rows.size() < features.size()) s_.rows.resize(2 * features.size());
    rows_ = std::span(s_.rows).first(features.size());
    for (size_t i = 0; i < features.size(); ++i) rows_[i] = input_.row(features[i]);
    scale_ = 1.0f / static_cast<float>(features.size());
    mean_of(rows_, scale_, width_, hidden_);
    for (size_t k = 0; k < count_; ++k) {
      s_.output_rows[k] = output_.row(s_.outputs[k]);
      scores_[k] = dot(hidden_, s_.output_rows[k], width_);
    }
  }

  // Scores become slopes: W p - a with p = e^s / sum. Returns the loss, W log sum e^s - a . s.
  double softmax(float weight) {
    const float most = *std::max_element(scores_, scores_ + count_);
    double loss = 0, sum = 0;
    for (size_t k = 0; k < count_; ++k) loss -= static_cast<double>(yes_[k]) * (scores_[k] - most);
    for (size_t k = 0; k < count_; k += hn::Lanes(f32)) {
      const VF s = hn::Load(f32, scores_ + k);
      hn::Store(exp_minus(hn::Sub(hn::Set(f32, most), s)), f32, scores_ + k);
    }
    for (size_t k = 0; k < count_; ++k) sum += scores_[k];
    const auto scale = static_cast<float>(weight / sum);
    for (size_t k = 0; k < count_; ++k) scores_[k] = scale * scores_[k] - yes_[k];
    return loss + weight * std::log(sum);
  }

  // The same of yes or no: T sigma(s) - B, and T log(1 + e^s) - B s.
  double decisions() {
    double loss = 0;
    for (size_t k = 0; k < count_; k += hn::Lanes(f32)) {
      const VF s = hn::Load(f32, scores_ + k);
      const auto l = logistic(s);
      const VF t = hn::Load(f32, asked_ + k), b = hn::Load(f32, yes_ + k);
      hn::Store(hn::NegMulAdd(b, s, hn::Mul(t, l.loss)), f32, losses_);
      for (size_t j = 0; j < hn::Lanes(f32) && k + j < count_; ++j) loss += losses_[j];
      hn::Store(hn::Sub(hn::Mul(t, l.sigma), b), f32, scores_ + k);
    }
    return loss;
  }

  void backward() {
    const bool adapts = p_.optimiser == Optimiser::kRowAdaGrad;
    std::fill_n(gradient_, width_, 0.0f);
    const float length = dot(hidden_, hidden_, width_);
    for (size_t k = 0; k < count_; ++k) {
      float* const y = s_.output_rows[k];
      const float rate = adapts ? adapted(y, scores_[k] * scores_[k] * length) : lr_;
      move_output(scores_[k], rate, hidden_, y, gradient_, width_);
    }
    const float square = scale_ * scale_ * dot(gradient_, gradient_, width_);
    for (float* const x : rows_) {
      const float rate = adapts ? adapted(x, square) : lr_;
      axpy(-rate * scale_, gradient_, x, width_);
    }
  }

  // The rate of a row after one more gradient of this squared length.
  float adapted(float* row, float square) {
    float& h = row[width_];
    h += square;
    return lr_ / std::sqrt(h);
  }

  const Problem& p_;
  const float lr_;
  Access input_, output_;
  Scratch& s_;
  const size_t width_;
  float *const asked_, *const yes_, *const scores_, *const hidden_, *const gradient_;
  HWY_ALIGN float losses_[16];
  std::span<float*> rows_;
  size_t count_ = 0;  // outputs
  float scale_ = 0;
  Tally tally_;
};

Tally train_shared(const Problem& problem, std::span<const uint64_t> texts, float lr,
                   RowTable input, RowTable output, Scratch& scratch) {
  return Learner(problem, lr, SharedRows{input.rows}, SharedRows{output.rows}, scratch)
      .template learn<true>(texts);
}

Tally train_private(const Problem& problem, std::span<const uint64_t> texts, float lr,
                    RowOverlay& input, RowOverlay& output, Scratch& scratch) {
  return Learner(problem, lr, PrivateRows{input}, PrivateRows{output}, scratch)
      .template learn<true>(texts);
}

Tally cost(const Problem& problem, std::span<const uint64_t> texts, ConstRows input,
           ConstRows output, Scratch& scratch) {
  const auto rows = [](ConstRows r) {  // which are only read
    return SharedRows{{const_cast<float*>(r.data), r.stride}};
  };
  return Learner(problem, 0, rows(input), rows(output), scratch).template learn<false>(texts);
}

void scores(std::span<const uint32_t> ids, size_t width, ConstRows input, ConstRows output,
            std::span<float> out) {
  Matrix hidden(1, width);
  float* const mean = hidden.view().row(0);
  const float scale = 1.0f / static_cast<float>(ids.size());
  for (const uint32_t id : ids) axpy(scale, input.row(id), mean, width);
  for (size_t k = 0; k < out.size(); ++k) out[k] = dot(mean, output.row(k), width);
}

}  // namespace kith::classifier::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::classifier {

HWY_EXPORT(train_shared);
HWY_EXPORT(train_private);
HWY_EXPORT(cost);
HWY_EXPORT(scores);

Tally train_texts(const Problem& problem, std::span<const uint64_t> texts, float lr, RowTable input,
                  RowTable output, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(train_shared)(problem, texts, lr, input, output, scratch);
}
Tally train_texts(const Problem& problem, std::span<const uint64_t> texts, float lr,
                  RowOverlay& input, RowOverlay& output, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(train_private)(problem, texts, lr, input, output, scratch);
}
Tally cost_of_texts(const Problem& problem, std::span<const uint64_t> texts, ConstRows input,
                    ConstRows output, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(cost)(problem, texts, input, output, scratch);
}
void scores_of(std::span<const uint32_t> rows, size_t width, ConstRows input, ConstRows output,
               std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(scores)(rows, width, input, output, out);
}

}  // namespace kith::classifier
#endif  // HWY_ONCE
