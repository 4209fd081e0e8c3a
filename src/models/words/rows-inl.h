// SPDX-License-Identifier: Apache-2.0
// Where the rows of a window come from: a table, private copies of it, or means of several rows.
// Included once per SIMD target, by kernel.cc alone.
//
// kBags: contexts are means; their steps are shared out. kWhole: a window has to be begun and
// ended, since rows are put back at its end. kSteps: they take steps there, so the window's have
// length one.

#if defined(KITH_WORDS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_WORDS_ROWS_INL_H_
#undef KITH_WORDS_ROWS_INL_H_
#else
#define KITH_WORDS_ROWS_INL_H_
#endif

#include <algorithm>

#include "models/words/kernel.h"
#include "models/words/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kith::words::HWY_NAMESPACE {

HWY_INLINE void prefetch_to_write(const float* p) {
#if HWY_ARCH_X86
  asm volatile("prefetchw %0" : : "m"(*p));
#else
  __builtin_prefetch(p, 1);
#endif
}

// Where the rows of a side are: in the table that all threads share, or in private copies.
struct SharedRows {
  static constexpr bool kBags = false, kWhole = false, kSteps = false;
  RowTable table;
  RowOverlay::Copy at(uint32_t id) const { return {table.rows.row(id), table.energy + id}; }
  float* row(uint32_t id) const { return table.rows.row(id); }
  RowOverlay::Copy at(uint32_t id, size_t /*position*/) const { return at(id); }
  void prefetch(uint32_t id) const {
    const float* const row = table.rows.row(id);
    const size_t ahead = std::min<size_t>(table.rows.stride, 128);  // the rest streams in
    for (size_t k = 0; k < ahead; k += 16) prefetch_to_write(row + k);
  }
};
struct PrivateRows {
  static constexpr bool kBags = false, kWhole = false, kSteps = false;
  RowOverlay& overlay;
  RowOverlay::Copy at(uint32_t id) const { return overlay.at(id); }
  float* row(uint32_t id) const { return overlay.row(id); }
  RowOverlay::Copy at(uint32_t id, size_t /*position*/) const { return at(id); }
  void prefetch(uint32_t) const {}
};

// Words that are the mean of several rows. A position of the text gets its mean, h, when the window
// first reaches it; the windows that it is in move h, and when the last of them has passed, each of
// the rows moves as h did: then their mean moves just as far. So the rows of a position are read
// and written once, not in every window.
template <class Base>
class BagRows {
 public:
  static constexpr bool kBags = true, kWhole = false, kSteps = false;
  BagRows(Base base, const Settings& settings, std::span<const WordId> words, size_t stride,
          Scratch& scratch)
      : base_(base),
        bags_(*settings.bags),
        words_(words),
        stride_(stride),
        reach_(static_cast<size_t>(settings.config.window)),
        s_(scratch) {}

  // Before the window of c; the first of a block, or the next one.
  void begin(size_t c) { entered_ = left_ = c > reach_ ? c - reach_ : 0; }
  void reach(size_t c) {
    while (left_ < entered_ && left_ + reach_ < c) leave(left_++);
    // What no window needs any more never enters.
    if (left_ == entered_ && left_ + reach_ < c) left_ = entered_ = c - reach_;
    const size_t end = std::min(words_.size(), c + reach_ + 1);
    while (entered_ < end) enter(entered_++);
  }
  void end() {
    while (left_ < entered_) leave(left_++);
  }

  RowOverlay::Copy at(uint32_t id, size_t position) const {
    return {s_.bag_now.view().row(slot(position)), base_.at(id).energy};
  }
  float share(uint32_t id) const {
    return static_cast<float>(bags_.usual / static_cast<double>(bags_.of(id).size()));
  }
  void prefetch(uint32_t id) const {
    for (const uint32_t row : bags_.of(id)) base_.prefetch(row);
  }

 private:
  size_t slot(size_t position) const { return position % s_.bag_now.rows(); }
  size_t find_rows(uint32_t id) {
    const auto bag = bags_.of(id);
    for (size_t i = 0; i < bag.size(); ++i) s_.bag_rows[i] = base_.row(bag[i]);
    return bag.size();
  }
  void enter(size_t position) {
    if (words_[position] == kSentenceEnd) return;
    const size_t n = find_rows(row_of(words_[position]));
    float* const now = s_.bag_now.view().row(slot(position));
    mean_of(s_.bag_rows.data(), n, now, stride_);
    std::copy_n(now, stride_, s_.bag_before.view().row(slot(position)));
  }
  void leave(size_t position) {
    if (words_[position] == kSentenceEnd) return;
    const size_t n = find_rows(row_of(words_[position]));
    add_move(s_.bag_now.view().row(slot(position)), s_.bag_before.view().row(slot(position)),
             s_.bag_rows.data(), n, stride_);
  }

  Base base_;
  const Bags& bags_;
  const std::span<const WordId> words_;
  const size_t stride_, reach_;
  Scratch& s_;
  size_t entered_ = 0, left_ = 0;
};

}  // namespace kith::words::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard
