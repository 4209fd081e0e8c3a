// SPDX-License-Identifier: Apache-2.0
#include "train/overlay.h"

#include <cmath>

#include "kernels/rows.h"

namespace kith {

Rounds::Rounds(size_t tables, size_t rows, size_t stride) : tables_(tables), chains_(rows) {
  for (size_t i = 0; i < kBlocks * tables; ++i) overlays_.emplace_back(rows, stride);
}

uint64_t Rounds::memory_needed(size_t tables, size_t rows, size_t stride, uint64_t touches) {
  const uint64_t row = (stride + kRowPad) * sizeof(float) + sizeof(uint32_t);
  const uint64_t slots = uint64_t{tables} * rows;
  return kBlocks * (slots * sizeof(uint32_t) + std::min(slots, touches) * row) +
         2 * rows * sizeof(uint32_t);
}

void Rounds::combine(size_t table, size_t count, RowTable to, const Context& context, bool alone) {
  const auto workers = static_cast<size_t>(context.threads());
  if (sums_.rows() < workers) sums_ = Matrix(workers, to.rows.stride);
  // Numbers at the front of a row that count by the squares behind them.
  const bool one = to.optimiser == Optimiser::kRowAdaGrad;
  const size_t x = !adds_up(to.optimiser) ? 0 : one ? to.rows.stride - kRowPad : to.rows.stride / 2;
  const auto overlay = [&](size_t b) -> const RowOverlay& { return of_block(b)[table]; };
  chains_.for_each_row(
      count, [&](size_t b) { return overlay(b).touched(); }, context, alone,
      [&](uint32_t row, size_t worker, const auto& each) {
        float* const change = sums_.view().row(worker);
        float* const base = to.rows.row(row);
        const float energy = to.has_energy(row) ? to.energy[row] : 0;
        std::fill_n(change, to.rows.stride, 0.0f);
        each([&](uint32_t block, uint32_t slot) {
          add_change(overlay(block).copy(slot) + x, base + x, change + x, to.rows.stride - x);
          if (to.has_energy(row)) to.energy[row] += overlay(block).energy(slot) - energy;
        });
        if (x > 0) {  // those of the squares are known now
          each([&](uint32_t block, uint32_t slot) {
            const float* const copy = overlay(block).copy(slot);
            const float before = change[to.apart.value_or(0)];
            add_earned_change(copy, base, change, x, one);
            if (to.apart) {
              const float squares = base[x + 1] + change[x + 1];
              const float share = squares > 0 ? std::sqrt(copy[x + 1] / squares) : 0;
              change[*to.apart] = before + share * (copy[*to.apart] - base[*to.apart]);
            }
          });
        }
        add_row(change, base, to.rows.stride);
      });
}

}  // namespace kith
