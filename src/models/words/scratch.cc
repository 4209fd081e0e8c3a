// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/words/kernel.h"

namespace kith::words {

Scratch::Scratch(const Config& config, size_t stride, size_t bag, size_t path) {
  const size_t contexts = 2 * static_cast<size_t>(config.window) + 1;  // a document, maybe
  // The centre with its noise, or the way to it; and padding.
  const size_t outputs = std::max(static_cast<size_t>(config.negatives) + 2, path + 1);
  const size_t tiles = (outputs + kTile - 1) / kTile;
  const size_t tile = padded(contexts * kTile + 8);
  context.resize(contexts);
  context_energy.resize(contexts);
  centre.resize(outputs);
  centre_energy.resize(outputs);
  ids.resize(outputs);
  weight.resize(outputs);
  offset.resize(outputs);
  step = Matrix(1, contexts + outputs);
  slopes = Matrix(1, tiles * tile);
  own_weights = Matrix(1, tile);
  mean = Matrix(3, stride);
  partial = Matrix(1, contexts * kRowPad);
  if (bag > 0) {
    bag_now = Matrix(contexts + 1, stride);
    bag_before = Matrix(contexts + 1, stride);
    bag_rows.resize(bag);
    context_share.resize(contexts);
  }
  if (config.form != Form::kNone) {
    form_old = Matrix(contexts, stride);
    form_move = Matrix(contexts, stride);
  }
  const bool copies_both = has_state(config.optimiser);
  if (copies_both || config.form != Form::kNone) context_copies = Copies(contexts, stride);
  if (copies_both) centre_copies = Copies(outputs, stride);
  pool.resize(pool_size(config));
  // What a window without repeated noise words needs.
  const size_t used = static_cast<size_t>(config.negatives) + 1, even = used + used % 2;
  weights = Matrix(tiles, tile);
  for (size_t t = 0; t < tiles && t * kTile < even; ++t) {
    const size_t width = std::min(kTile, even - t * kTile);
    for (size_t i = 0; i < tile; ++i) {
      const size_t j = t * kTile + i % width;
      weights.row(t)[i] = j == 0 ? 1.0f : j < used ? -1.0f : 0.0f;
    }
  }
}

size_t Scratch::pool_size(const Config& config) {
  const auto negatives = static_cast<size_t>(config.negatives);
  return 4 + negatives * std::max<size_t>(252 / negatives, 4);
}

Tally& Tally::operator+=(const Tally& other) {
  loss += other.loss;
  pairs += other.pairs;
  windows += other.windows;
  return *this;
}

}  // namespace kith::words
