// SPDX-License-Identifier: Apache-2.0
#pragma once
// The hot loop: windows of words in, moved rows out. See README.md in this folder for the
// equations.
//
// A window is a small dense problem. On one side stand the rows of its context words, on the other
// the row of the centre and those of its noise words. Every score of one side with the other is
// computed first, from the old rows; then every row moves along its gradient. Which table a side
// comes from is the caller's choice: contexts from the input table and the centre with noise from
// the output table is skip-gram as usual; the other way round, noise replaces the centre.

#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/line_vector.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "models/words/config.h"
#include "models/words/subwords.h"
#include "train/alias.h"
#include "train/huffman.h"
#include "train/overlay.h"

namespace kith::words {

// Rows and their energies: 1 + adapt * the sum of squared slopes a row has met, estimated from
// one window in kEnergyEvery. A row's step is lr / sqrt(energy).
inline constexpr uint64_t kEnergyEvery = 128;

// What a block of text is trained with.
struct Work {
  std::span<const WordId> words;  // thinned out, with sentence ends; neighbours before and after
  size_t begin, end;              // the centres are words[begin..end)
  float lr;
  Rng rng;
  // The row of the document that the first centre stands in: a context of all its words. Behind a
  // sentence end comes the next row. kSentenceEnd's number: there are no documents.
  uint32_t document = row_of(kSentenceEnd);
  bool neighbours = true;  // words around the centre are contexts, too
};

// The sums of a block, for reports.
struct Tally {
  double loss = 0;       // of all pairs, true and noise
  uint64_t pairs = 0;    // true pairs (one per centre for CBOW)
  uint64_t windows = 0;  // centres with a context
  Tally& operator+=(const Tally& other);
};

// Rows of one window, or what is made of them: as they are when the window first asks for them, and
// as it moves them.
class Copies {
 public:
  Copies() = default;
  Copies(size_t most, size_t stride) : now(most, stride), before(most, stride), keys_(most) {}
  void clear() { used_ = 0; }
  size_t size() const { return used_; }
  uint64_t key(size_t place) const { return keys_[place]; }
  // Where the first copy with this key is; size() if there is none.
  size_t first(uint64_t key) const {
    size_t place = 0;
    while (place < used_ && keys_[place] != key) ++place;
    return place;
  }
  // The place of one more copy.
  size_t add(uint64_t key) {
    keys_[used_] = key;
    return used_++;
  }
  Matrix now, before;

 private:
  LineVector<uint64_t> keys_;
  size_t used_ = 0;
};

// Buffers of one worker, allocated once; no two workers share a cache line of them.
class alignas(kCacheLine) Scratch {
 public:
  // `bag`: rows of the word that has most of them, if words are made of several.
  // `path`: nodes on the longest way down the tree, if there is one.
  Scratch(const Config& config, size_t stride, size_t bag = 0, size_t path = 0);

  static size_t pool_size(const Config& config);  // a multiple of `negatives`, and 4
  static constexpr size_t kTile = 6;              // rows of the centre's side handled together
  LineVector<float*> context, centre;             // rows of the window
  LineVector<float*> context_energy, centre_energy;
  LineVector<uint32_t> ids;     // of the centre's side
  LineVector<float> weight;     // +1 for the centre, -multiplicity for noise, 0 for padding
  LineVector<float> offset;     // NCE: what is added to the score, bias - log(k q)
  Matrix step;                  // one row: steps of the contexts, then of the centre's side
  Matrix slopes;                // one row; tile by tile, contexts x tile
  Matrix weights;               // a row per tile: the usual weights, repeated over contexts
  Matrix own_weights;           // one row: the same when a noise word was drawn twice
  Matrix mean;                  // CBOW's hidden row, a row of zeros, and the hidden row's gradient
  Matrix partial;               // one vector per context, for more than one tile
  Matrix bag_now, bag_before;   // a row per position that a window reaches: its mean; at first
  LineVector<float*> bag_rows;  // of one position
  // Of a bilinear form: B'x. Of an optimiser: x, on both sides.
  Copies context_copies, centre_copies;
  Matrix form_old, form_move;  // a row per copy: x before, and what moved B'x
  LineVector<float> context_share;
  LineVector<uint32_t> pool;
  size_t newest = 0;
};

// Noise-contrastive estimation (Gutmann and Hyvarinen 2012; Mnih and Kavukcuoglu 2013): log p of a
// word is its score with a bias of its own, and what tells it from noise is the score less
// log(k q). Noise may be the true word. Every thread moves the same biases.
struct Contrast {
  std::span<float> bias;             // by word, log(count / all) at first
  std::span<const float> log_noise;  // by word, log(k q)
};

// The score x'By of a bilinear form: B as a whole, or its diagonal as one row. Every thread moves
// it. There are several, one below the other, if what stands left and right of a word, or in each
// place of its window, has a B of its own.
struct FormTable {
  Rows rows;
  size_t dim;
  bool full;
  float rate;  // of B, in units of the step of x
  Relations relations = Relations::kOne;
  size_t window = 0;

  static size_t count(Relations relations, size_t window) {
    return relations == Relations::kOne ? 1 : relations == Relations::kSide ? 2 : 2 * window;
  }
  // Of the word at a position and the centre at another one.
  size_t relation(size_t position, size_t centre) const {
    if (relations == Relations::kOne) return 0;
    const bool right = position > centre;
    if (relations == Relations::kSide) return right ? 1 : 0;
    return right ? window + position - centre - 1 : centre - position - 1;
  }
  size_t rows_of_one() const { return full ? dim : 1; }
};

// What rows move by, other than `Settings::config` says: the state of each row of both tables.
struct Steps {
  Optimiser optimiser = Optimiser::kAdaGrad;
  Rows contexts{}, centres{};
};

struct Settings {
  Config config;
  const AliasSampler* noise;
  const Bags* bags = nullptr;          // the rows that contexts are the mean of; null: one each
  const Contrast* contrast = nullptr;  // of NCE
  const Tree* tree = nullptr;          // of hierarchical softmax; the centre's side is its path
  const FormTable* form = nullptr;     // of a bilinear score
  const Steps* steps = nullptr;        // of an optimiser with a state for every row
};

// Trains the centres of a block. `contexts` and `centres` are the tables of the two sides. Other
// threads may be moving the same rows (Hogwild); overlays are private.
Tally train_block(const Settings& settings, Work& work, RowTable contexts, RowTable centres,
                  Scratch& scratch);
Tally train_block(const Settings& settings, Work& work, RowOverlay& contexts, RowOverlay& centres,
                  Scratch& scratch);

// One window given outright: the batch of the textbook.
struct Window {
  std::span<const uint32_t> contexts;
  uint32_t centre;
  std::span<const uint32_t> noise;  // at most `negatives`; one that stands twice counts twice
  size_t left = 0;                  // so many of the contexts stand left of the centre
};
Tally train_window(const Settings& settings, const Window& window, float lr, RowTable contexts,
                   RowTable centres, Scratch& scratch);

// For tests: sigma and loss as the kernel computes them.
void logistic_for_test(const float* z, float* sigma, float* loss, size_t n);

}  // namespace kith::words
