// SPDX-License-Identifier: Apache-2.0
#include "train/overlay.h"

namespace kith {

void add_changes(std::span<const RowOverlay> overlays, Rows table, RoundChains& chains,
                 const Job& job) {
  const auto workers = static_cast<size_t>(std::max(1, job.threads));
  Matrix sums(workers, table.stride);
  chains.for_each_row(
      overlays.size(), [&](size_t b) { return overlays[b].touched(); }, job,
      [&](uint32_t row, size_t worker, const auto& each) {
        float* const base = table.row(row);
        float* const change = sums.view().row(worker);
        std::fill_n(change, table.stride, 0.0f);
        each([&](uint32_t block, uint32_t slot) {
          const float* const copy = overlays[block].copy(slot);
          for (size_t k = 0; k < table.stride; ++k) change[k] += copy[k] - base[k];
        });
        for (size_t k = 0; k < table.stride; ++k) base[k] += change[k];
      });
}

}  // namespace kith
