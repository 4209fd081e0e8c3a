// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sweep over the rows: the E step of each and the sums of the M step, in one pass, in memory that
// does not grow with the rows. They are cut into shards of a fixed size; shards are summed a few at
// a time and added in their order, so the bits do not depend on the number of threads.

#include <cstdint>
#include <functional>
#include <vector>

#include "core/parallel.h"
#include "models/gmm/kernel.h"
#include "models/gmm/mixture.h"
#include "models/gmm/points.h"

namespace kith::gmm {

// Single precision is twice as fast and leaves the last digits of a likelihood to chance, so it is
// for what takes time: sweeps of more multiply-adds than this.
inline constexpr double kSingle = 0x1p29;
// Multiply-adds of an E step, about.
double work_of(const Form& form, uint64_t rows, size_t count, size_t dims);
inline bool in_single(const Form& form, uint64_t rows, size_t count, size_t dims) {
  return work_of(form, rows, count, dims) > kSingle;
}

enum class Precision { kAuto, kSingle, kDouble };

// The mixture that a sweep over the points makes of one, and what it saw: the log-likelihood of the
// points under `mixture` itself, or with k-means the sum of their squared distances.
struct Step {
  double objective = 0;
  Mixture next;
};
Step swept(const Form& form, const Mixture& mixture, const Points& points, const Context& context,
           Precision precision = Precision::kAuto);
// One step of k-means from these means: the sums, and the means moved.
Sums lloyd_step(size_t dims, std::vector<double>& means, const Points& points,
                const Context& context);

// The same objective, without a step.
double objective_of(const Form& form, const Mixture& mixture, const Points& points,
                    const Context& context);

// Calls work(block, first row) for blocks of all rows, on threads of the context, `expect()` done
// if the form has responsibilities, else distances().
void for_each_block(const Components<double>& components, const Points& points,
                    const Context& context,
                    const std::function<void(Block<double>&, uint64_t)>& work);

// Bytes that a sweep takes beside the mixture.
struct SweepSize {
  uint64_t rows;
  size_t count, dims, cols;
  int threads;
};
uint64_t sweep_bytes(const Form& form, const SweepSize& size);

}  // namespace kith::gmm
