// SPDX-License-Identifier: Apache-2.0
#include "models/words/kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/words/kernel.cc"
#include "hwy/foreach_target.h"  // compiles this file once per SIMD target
#include "hwy/highway.h"
#include "kernels/vec-inl.h"
#include "models/words/form-inl.h"
#include "models/words/rows-inl.h"
#include "models/words/steps-inl.h"
#include "models/words/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::words::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kith::HWY_NAMESPACE::axpy;
using kith::HWY_NAMESPACE::f32;
using kith::HWY_NAMESPACE::inverse_root;
using kith::HWY_NAMESPACE::logistic;
using kith::HWY_NAMESPACE::VF;

template <class Contexts, class Centres>
class Learner {
 public:
  Learner(const Settings& settings, Work& work, Contexts contexts, Centres centres, size_t stride,
          Scratch& scratch)
      : config_(settings.config),
        noise_(*settings.noise),
        contrast_(settings.contrast),
        tree_(settings.tree),
        words_(work.words),
        rng_(work.rng),
        rate_(work.lr),
        lr_(Contexts::kSteps && rate_ > 0 ? 1 : rate_),
        document_(work.document),
        neighbours_(work.neighbours),
        contexts_(contexts),
        centres_(centres),
        stride_(stride),
        s_(scratch) {
    // Which windows speak for the others is drawn for each block, whatever its length.
    Rng copy = work.rng;
    phase_ = copy.next() % kEnergyEvery;
  }

  Tally learn(size_t begin, size_t end) {
    if (config_.noise == Noise::kPool) {
      for (uint32_t& id : s_.pool) id = noise_.draw(rng_);
      s_.newest = 0;
    }
    std::fill_n(s_.mean.view().row(1), stride_, 0.0f);
    if constexpr (Contexts::kBags) contexts_.begin(begin);
    for (size_t c = begin; c < end; ++c) {
      if (words_[c] != kSentenceEnd) {
        window(c);
      } else if (has_document()) {
        ++document_;
      }
    }
    if constexpr (Contexts::kBags) contexts_.end();
    return tally_;
  }

  // One window given outright.
  Tally learn(const Window& window) {
    begin_window(window.left);
    for (size_t i = 0; i < window.contexts.size(); ++i) {
      set_context(i, WordId{window.contexts[i]}, i < window.left ? i : i + 1);
    }
    if (tree_) {
      set_path(window.centre);
    } else {
      begin_centre(window.centre);
      for (const uint32_t id : window.noise) add_noise(id);
      end_centre();
    }
    train_window(window.contexts.size());
    end_window();
    return tally_;
  }

 private:
  void window(size_t c) {
    const size_t size = static_cast<size_t>(config_.window);
    const size_t radius =
        config_.fixed_window || !neighbours_ ? size : 1 + rng_.below(config_.window);
    prefetch(c, size);
    if constexpr (Contexts::kBags) contexts_.reach(c);
    const uint32_t centre = row_of(words_[c]);
    size_t m = 0;
    if (config_.objective == Objective::kSkipGram && config_.noise == Noise::kPair && !tree_) {
      for_each_context(c, radius, [&](WordId word, size_t position) {
        if (m++ == 0) ++tally_.windows;
        begin_window(c);
        set_context(0, word, position);
        draw_noise(centre);
        skip_gram(s_.context.data(), s_.context_energy.data(), 1);
        end_window();
      });
      return;
    }
    begin_window(c);
    for_each_context(c, radius,
                     [&](WordId word, size_t position) { set_context(m++, word, position); });
    if (m == 0) return;
    draw_noise(centre);
    train_window(m);
    end_window();
  }

  void begin_window(size_t centre) {
    if constexpr (Contexts::kWhole) contexts_.begin_window(centre);
    if constexpr (Centres::kWhole) centres_.begin_window(centre);
  }
  // At a rate of 0 nothing moves, not even by rounding.
  void end_window() {
    if (lr_ <= 0) return;
    if constexpr (Contexts::kWhole) contexts_.end_window();
    if constexpr (Centres::kWhole) centres_.end_window();
  }

  // Calls f with the words around c, and with its document, and where they stand.
  template <class F>
  HWY_INLINE void for_each_context(size_t c, size_t radius, const F& f) {
    if (neighbours_) {
      const size_t left = config_.side == Neighbours::kRight ? 0 : radius;
      const size_t right = config_.side == Neighbours::kLeft ? 0 : radius;
      for (size_t i = c; i > 0 && c - i < left && words_[i - 1] != kSentenceEnd; --i) {
        f(words_[i - 1], i - 1);
      }
      for (size_t i = c + 1; i < words_.size() && i - c <= right && words_[i] != kSentenceEnd;
           ++i) {
        f(words_[i], i);
      }
    }
    if (has_document()) f(WordId{document_}, c);
  }

  // Contexts 0 .. m - 1 against the centre's side, both in place.
  void train_window(size_t m) {
    ++tally_.windows;
    if (config_.objective == Objective::kCbow) {
      cbow(m);
    } else {
      skip_gram(s_.context.data(), s_.context_energy.data(), m);
    }
  }

  bool has_document() const { return document_ != row_of(kSentenceEnd); }

  static constexpr size_t kAhead = 2;
  static constexpr int kTries = 100;
  void prefetch(size_t c, size_t size) {
    if (c + kAhead < words_.size() && words_[c + kAhead] != kSentenceEnd) {
      centres_.prefetch(row_of(words_[c + kAhead]));
    }
    if (neighbours_ && c + size + kAhead < words_.size() &&
        words_[c + size + kAhead] != kSentenceEnd) {
      contexts_.prefetch(row_of(words_[c + size + kAhead]));
    }
  }

  void set_context(size_t i, WordId word, size_t position) {
    const auto at = contexts_.at(row_of(word), position);
    s_.context[i] = at.row;
    s_.context_energy[i] = at.energy;
    if constexpr (Contexts::kBags) {
      // d mean / d row = 1 / n; a mean whose n rows each move by 1 / n moves by 1 / n.
      const bool exact = config_.gradient == Gradient::kExact;
      s_.context_share[i] = exact ? contexts_.share(row_of(word)) : 1.0f;
    }
  }

  // Fills the centre's side: the centre, then the distinct noise words with their multiplicity,
  // then a row of zeros if the number is odd. Noise equal to the centre is drawn again.
  void draw_noise(uint32_t centre) {
    if (tree_) return set_path(centre);
    begin_centre(centre);
    if (config_.noise == Noise::kPool) {
      draw_from_pool(centre);
    } else {
      for (int k = 0; k < config_.negatives; ++k) add_noise(draw_other(centre));
    }
    end_centre();
  }

  // Hierarchical softmax: the nodes on the way to the centre, each with the side to take.
  void set_path(uint32_t centre) {
    outputs_ = 0;
    for (const Tree::Step step : tree_->path(centre)) {
      set_centre(outputs_++, step.node, step.right ? 1.0f : -1.0f);
    }
    end_centre();
    usual_ = false;
  }

  void begin_centre(uint32_t centre) {
    set_centre(0, centre, 1);
    outputs_ = 1;
    again_ = 0;
  }
  void end_centre() {
    usual_ = outputs_ == static_cast<size_t>(config_.negatives) + 1;
    if (outputs_ % 2 == 0) return;
    s_.centre[outputs_] = s_.mean.view().row(1);
    s_.centre_energy[outputs_] = &padding_energy_;
    s_.weight[outputs_++] = 0;
  }

  // Where nearly all noise is the centre itself, any other word will do.
  uint32_t draw_other(uint32_t centre) {
    if (contrast_) return noise_.draw(rng_);
    for (int tries = 0; tries < kTries; ++tries) {
      const uint32_t id = noise_.draw(rng_);
      if (id != centre) return id;
    }
    const uint32_t id = rng_.below(static_cast<uint32_t>(noise_.size()) - 1);
    return id < centre ? id : id + 1;
  }

  // One draw replaces the oldest of the pool; the window then takes one word from each of
  // `negatives` equal parts of it. So every word of the pool is as likely as every other, and no
  // place is taken twice. The newest four stay out: their rows may still be on their way.
  void draw_from_pool(uint32_t centre) {
    const uint32_t fresh = noise_.draw(rng_);
    centres_.prefetch(fresh);
    s_.pool[s_.newest] = fresh;
    s_.newest = s_.newest + 1 == s_.pool.size() ? 0 : s_.newest + 1;
    const auto negatives = static_cast<size_t>(config_.negatives);
    const size_t part = (s_.pool.size() - 4) / negatives;
    uint64_t bits = 0;
    for (size_t k = 0; k < negatives; ++k) {
      if (k % 4 == 0) bits = rng_.next();
      size_t place = s_.newest + k * part + ((bits & 0xffff) * part >> 16);
      bits >>= 16;
      if (place >= s_.pool.size()) place -= s_.pool.size();
      const uint32_t id = s_.pool[place];
      add_noise(id != centre || contrast_ ? id : draw_other(centre));
    }
  }

  void add_noise(uint32_t id) {
    if (contrast_ && id == s_.ids[0]) {
      ++again_;
      return;
    }
    for (size_t j = 1; j < outputs_; ++j) {
      if (s_.ids[j] == id) {
        s_.weight[j] -= 1;
        return;
      }
    }
    set_centre(outputs_++, id, -1);
  }

  void set_centre(size_t j, uint32_t id, float weight) {
    const auto at = centres_.at(id);
    s_.ids[j] = id;
    s_.centre[j] = at.row;
    s_.centre_energy[j] = at.energy;
    s_.weight[j] = weight;
    if (contrast_) s_.offset[j] = contrast_->bias[id] - contrast_->log_noise[id];
  }

  // Calls f(first row, width, offset of its slopes) for each tile of the centre's side.
  template <class F>
  HWY_INLINE void for_each_tile(size_t m, const F& f) {
    size_t offset = 0;
    for (size_t j = 0; j < outputs_; j += Scratch::kTile) {
      const size_t width = std::min(Scratch::kTile, outputs_ - j);
      f(j, width, offset);
      offset += padded(m * width + 8);
    }
  }

  // Scores and slopes of m rows `a` against the centre's side.
  void score(float* const* a, size_t m) {
    for_each_tile(m, [&](size_t j, size_t width, size_t offset) {
      float* const s = s_.slopes.view().row(0) + offset;
      with_width(width, [&](auto k) { all_dots<k>(a, m, s_.centre.data() + j, stride_, s); });
      if (contrast_) add_offsets(s, m, j, width);
      const float* weight = s_.weights.view().row(j / Scratch::kTile);
      if (!usual_) {
        float* const own = s_.own_weights.view().row(0);
        for (size_t i = 0; i < m * width; ++i) own[i] = s_.weight[j + i % width];
        weight = own;
      }
      tally_.loss += slopes_of(s, weight, m * width);
      if (again_ > 0 && j == 0) add_false_centre(s, m, width);
    });
  }

  void add_offsets(float* HWY_RESTRICT s, size_t m, size_t first, size_t width) const {
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < width; ++j) s[i * width + j] += s_.offset[first + j];
    }
  }

  // NCE: noise that is the centre. A slope 1 - sigma becomes 1 - sigma - r sigma, and the loss
  // gains -r log(1 - sigma).
  void add_false_centre(float* HWY_RESTRICT s, size_t m, size_t width) {
    const auto r = static_cast<float>(again_);
    for (size_t i = 0; i < m; ++i) {
      float& slope = s[i * width];
      tally_.loss -= static_cast<double>(r * std::log(std::max(slope, 1e-30f)));
      slope -= r * (1 - slope);
    }
  }

  // Biases move along their slopes: y's score has a coordinate more, which is 1 in every x. Their
  // steps are plain ones where rows have others.
  void move_biases(size_t m, const float* step) {
    const float plain = Contexts::kSteps ? rate_ : 1;
    for_each_tile(m, [&](size_t first, size_t width, size_t offset) {
      const float* const g = s_.slopes.view().row(0) + offset;
      for (size_t j = 0; j < width && s_.weight[first + j] != 0; ++j) {
        float sum = 0;
        for (size_t i = 0; i < m; ++i) sum += g[i * width + j];
        contrast_->bias[s_.ids[first + j]] += plain * step[first + j] * sum;
      }
    });
  }

  // Steps of the `contexts` rows and of the centre's side, lr / sqrt(energy). One window in
  // kEnergyEvery then adds its squared slopes to the energies, that many times: the same sum on
  // average, at hardly any cost, and threads seldom write to what the others read. `share` scales
  // the slopes of the contexts; m is the number of rows that the slopes are of (1 for CBOW's mean).
  void set_steps(float* const* energy, size_t m, size_t contexts, float share) {
    float* const a_step = s_.step.view().row(0);
    float* const b_step = a_step + contexts;
    if (config_.adapt_rate <= 0) {
      std::fill_n(a_step, contexts + outputs_, lr_);
      return share_steps(energy, contexts);
    }
    for (size_t i = 0; i < contexts; ++i) a_step[i] = *energy[i];
    for (size_t j = 0; j < outputs_; ++j) b_step[j] = *s_.centre_energy[j];
    for (size_t i = 0; i < contexts + outputs_; i += hn::Lanes(f32)) {
      const VF root = inverse_root(hn::Load(f32, a_step + i));
      hn::Store(hn::Mul(hn::Set(f32, lr_), root), f32, a_step + i);
    }
    share_steps(energy, contexts);
    if (tally_.windows % kEnergyEvery == phase_) add_energy(energy, m, contexts, share);
  }

  // Contexts that are means move by their share of the step.
  void share_steps(float* const* energy, size_t contexts) {
    if constexpr (Contexts::kBags) {
      const float* const share = s_.context_share.data() + (energy - s_.context_energy.data());
      float* const step = s_.step.view().row(0);
      for (size_t i = 0; i < contexts; ++i) step[i] *= share[i];
    }
  }

  void add_energy(float* const* energy, size_t m, size_t contexts, float share) {
    const float scale = static_cast<float>(config_.adapt_rate * static_cast<double>(kEnergyEvery));
    for_each_tile(m, [&](size_t first, size_t width, size_t offset) {
      const float* const g = s_.slopes.view().row(0) + offset;
      for (size_t i = 0; i < m; ++i) {
        float sum = 0;
        for (size_t j = 0; j < width; ++j) {
          const float square = scale * g[i * width + j] * g[i * width + j];
          sum += square;
          *s_.centre_energy[first + j] += square;
        }
        const size_t begin = m == contexts ? i : 0, end = m == contexts ? i + 1 : contexts;
        for (size_t c = begin; c < end; ++c) *energy[c] += share * share * sum;
      }
    });
  }

  void skip_gram(float* const* a, float* const* energy, size_t m) {
    score(a, m);
    set_steps(energy, m, m, 1);
    const float* const a_step = s_.step.view().row(0);
    const float* const b_step = a_step + m;
    const float* const g = s_.slopes.view().row(0);
    tally_.pairs += m;
    if (contrast_) move_biases(m, b_step);
    if (outputs_ <= Scratch::kTile) {
      with_width(outputs_, [&](auto width) {
        for (size_t k = 0; k < stride_; k += hn::Lanes(f32)) {
          move_side<width, true, true>(a, m, s_.centre.data(), g, a_step, b_step, nullptr, k);
        }
      });
      return;
    }
    float* const partial = s_.partial.view().row(0);
    for (size_t k = 0; k < stride_; k += hn::Lanes(f32)) {
      for_each_tile(m, [&](size_t j, size_t width, size_t offset) {
        float* const* const b = s_.centre.data() + j;
        if (j == 0) {
          move_side<6, true, false>(a, m, b, g + offset, a_step, b_step + j, partial, k);
        } else if (j + width < outputs_) {
          move_side<6, false, false>(a, m, b, g + offset, a_step, b_step + j, partial, k);
        } else {
          with_width(width, [&](auto w) {
            move_side<w, false, true>(a, m, b, g + offset, a_step, b_step + j, partial, k);
          });
        }
      });
    }
  }

  // h = mean of the contexts; h's gradient goes to each of them, divided by their number (exact)
  // or not (as the reference tools do).
  void cbow(size_t m) {
    float* const h = s_.mean.view().row(0);
    float* const gradient = s_.mean.view().row(2);
    mean_of(s_.context.data(), m, h, stride_);
    score(&h, 1);
    const float share = config_.gradient == Gradient::kExact ? 1.0f / static_cast<float>(m) : 1.0f;
    set_steps(s_.context_energy.data(), 1, m, share);
    const float* const a_step = s_.step.view().row(0);
    const float* const b_step = a_step + m;
    tally_.pairs += 1;
    if (contrast_) move_biases(1, b_step);
    for_each_tile(1, [&](size_t j, size_t width, size_t offset) {
      const float* const g = s_.slopes.view().row(0) + offset;
      with_width(width, [&](auto w) {
        move_centres<w>(h, s_.centre.data() + j, g, b_step + j, gradient, j == 0, stride_);
      });
    });
    for (size_t i = 0; i < m; ++i) axpy(a_step[i] * share, gradient, s_.context[i], stride_);
  }

  const Config& config_;
  const AliasSampler& noise_;
  const Contrast* const contrast_;
  const Tree* const tree_;
  const std::span<const WordId> words_;
  Rng rng_;
  const float rate_, lr_;  // lr_: of a window; one if rows take their steps behind it
  uint32_t document_;      // of the centre
  const bool neighbours_;
  Contexts contexts_;
  Centres centres_;
  const size_t stride_;
  Scratch& s_;
  Tally tally_;
  size_t outputs_ = 0;
  size_t again_ = 0;  // NCE: how often the centre was drawn as noise
  uint64_t phase_;
  bool usual_ = true;  // `negatives` noise words, none of them twice
  float padding_energy_ = 1;
};

template <class Base>
Tally train(const Settings& settings, Work& work, Base contexts, Base centres, size_t stride,
            Scratch& scratch) {
  if (!settings.bags) {
    return Learner<Base, Base>(settings, work, contexts, centres, stride, scratch)
        .learn(work.begin, work.end);
  }
  const BagRows<Base> bags(contexts, settings, work.words, stride, scratch);
  return Learner<BagRows<Base>, Base>(settings, work, bags, centres, stride, scratch)
      .learn(work.begin, work.end);
}

// Calls f with what learns from single windows, or from whole blocks, of rows that are in tables.
template <class F>
Tally with_learner(const Settings& settings, Work& work, RowTable contexts, RowTable centres,
                   Scratch& scratch, const F& f) {
  const size_t stride = contexts.rows.stride;
  if (settings.form) {
    const FormRows rows({contexts}, *settings.form, stride, scratch);
    return f(Learner<FormRows, SharedRows>(settings, work, rows, {centres}, stride, scratch));
  }
  if (const Steps* const steps = settings.steps) {
    const StepRows left({contexts}, steps->optimiser, steps->contexts, work.lr,
                        scratch.context_copies);
    const StepRows right({centres}, steps->optimiser, steps->centres, work.lr,
                         scratch.centre_copies);
    return f(Learner<StepRows, StepRows>(settings, work, left, right, stride, scratch));
  }
  return f(Learner<SharedRows, SharedRows>(settings, work, {contexts}, {centres}, stride, scratch));
}

Tally train_shared(const Settings& settings, Work& work, RowTable contexts, RowTable centres,
                   Scratch& scratch) {
  if (settings.bags) {
    return train<SharedRows>(settings, work, {contexts}, {centres}, contexts.rows.stride, scratch);
  }
  return with_learner(settings, work, contexts, centres, scratch,
                      [&](auto&& learner) { return learner.learn(work.begin, work.end); });
}
Tally train_private(const Settings& settings, Work& work, RowOverlay& contexts, RowOverlay& centres,
                    size_t stride, Scratch& scratch) {
  return train<PrivateRows>(settings, work, {contexts}, {centres}, stride, scratch);
}

Tally train_given(const Settings& settings, Work& work, const Window& window, RowTable contexts,
                  RowTable centres, Scratch& scratch) {
  return with_learner(settings, work, contexts, centres, scratch,
                      [&](auto&& learner) { return learner.learn(window); });
}

void logistic_for_test(const float* z, float* sigma, float* loss, size_t n) {
  for (size_t i = 0; i < n; i += hn::Lanes(f32)) {
    const auto both = logistic(hn::LoadU(f32, z + i));
    hn::StoreU(both.sigma, f32, sigma + i);
    hn::StoreU(both.loss, f32, loss + i);
  }
}

}  // namespace kith::words::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::words {

HWY_EXPORT(train_shared);
HWY_EXPORT(train_private);
HWY_EXPORT(train_given);
HWY_EXPORT(logistic_for_test);

Tally train_block(const Settings& settings, Work& work, RowTable contexts, RowTable centres,
                  Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(train_shared)(settings, work, contexts, centres, scratch);
}
Tally train_block(const Settings& settings, Work& work, RowOverlay& contexts, RowOverlay& centres,
                  Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(train_private)(settings, work, contexts, centres,
                                             scratch.mean.stride(), scratch);
}
Tally train_window(const Settings& settings, const Window& window, float lr, RowTable contexts,
                   RowTable centres, Scratch& scratch) {
  Work work{{}, 0, 0, lr, Rng(0, 0)};
  return HWY_DYNAMIC_DISPATCH(train_given)(settings, work, window, contexts, centres, scratch);
}
void logistic_for_test(const float* z, float* sigma, float* loss, size_t n) {
  HWY_DYNAMIC_DISPATCH(logistic_for_test)(z, sigma, loss, n);
}

}  // namespace kith::words
#endif  // HWY_ONCE
