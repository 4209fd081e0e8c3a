// SPDX-License-Identifier: Apache-2.0
#pragma once
// The hot loop: texts in, moved rows out. See README.md in this folder for the equations.
//
// A working row is a vector, padded with zeros, and behind it kRowPad floats of which the first is
// h: kFirstSquare and the squared lengths of all gradients of the row (AdaGrad with one rate for a
// row).

#include <cstdint>
#include <span>
#include <vector>

#include "core/line_vector.h"
#include "core/matrix.h"
#include "data/labelled/labelled.h"
#include "models/classifier/config.h"
#include "models/classifier/features.h"
#include "train/huffman.h"
#include "train/overlay.h"

namespace kith::classifier {

inline size_t parameters(size_t dim) { return padded(dim); }
inline size_t row_width(size_t dim) { return padded(dim) + kRowPad; }
inline constexpr float kFirstSquare = 0.01f;

// What stays the same over a run.
struct Problem {
  const Documents* documents;
  const Features* features;
  LabelLoss loss;
  size_t outputs;                        // rows of the output table
  const Tree* tree = nullptr;            // of the hierarchical loss
  std::span<const float> class_weights;  // by label; empty: all 1
  Optimiser optimiser = Optimiser::kRowAdaGrad;
  size_t dim = 0;
};

// Buffers of one worker.
struct alignas(kCacheLine) Scratch {
  explicit Scratch(const Problem& problem);
  std::vector<uint32_t> features[2];  // of this text and the next
  LineVector<float*> rows;            // of this text
  LineVector<uint32_t> outputs;       // rows of the output table that it is compared with
  LineVector<float*> output_rows;
  // By output: of how much it is asked (T), and how much of that says yes (B); scores, then slopes.
  Matrix asked, yes, scores;
  Matrix hidden;  // the mean of the rows, and the gradient along it
};

struct Tally {
  double loss = 0;
  double weight = 0;  // of the texts, by their own weights and those of their labels
  uint64_t texts = 0;
  Tally& operator+=(const Tally& o) {
    loss += o.loss;
    weight += o.weight;
    texts += o.texts;
    return *this;
  }
};

// Trains on these texts in their order. Other threads may be moving the same rows (Hogwild);
// overlays are private.
Tally train_texts(const Problem& problem, std::span<const uint64_t> texts, float lr, RowTable input,
                  RowTable output, Scratch& scratch);
Tally train_texts(const Problem& problem, std::span<const uint64_t> texts, float lr,
                  RowOverlay& input, RowOverlay& output, Scratch& scratch);
// The loss without a step.
Tally cost_of_texts(const Problem& problem, std::span<const uint64_t> texts, ConstRows input,
                    ConstRows output, Scratch& scratch);

// Scores of the first `out.size()` rows of the output table for the mean of these rows of the
// input table. `width` counts of each row.
void scores_of(std::span<const uint32_t> rows, size_t width, ConstRows input, ConstRows output,
               std::span<float> out);

}  // namespace kith::classifier
