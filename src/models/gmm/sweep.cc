// SPDX-License-Identifier: Apache-2.0
#include "models/gmm/sweep.h"

#include <algorithm>

namespace kith::gmm {
namespace {

constexpr uint64_t kShard = 2048;  // rows; a whole number of blocks
constexpr uint64_t kSumBytes = uint64_t{64} << 20;
constexpr uint64_t kMostSums = 16, kLeastSums = 4;

uint64_t shards_of(const Points& points) { return (points.size() + kShard - 1) / kShard; }

uint64_t numbers_of_sums(const Form& form, size_t count, size_t dims) {
  const uint64_t triangle = uint64_t{dims} * (dims + 1) / 2;
  const uint64_t second = form.hard                              ? 0
                          : form.covariance == Covariance::kFull ? count * triangle
                          : form.covariance == Covariance::kTied ? triangle
                                                                 : count * dims;
  return count + count * dims + second;
}

// How many shards are summed side by side: as many as a machine has threads, about, unless sums
// are large.
uint64_t sums_for(uint64_t numbers) {
  return std::clamp(kSumBytes / (8 * std::max<uint64_t>(1, numbers)), kLeastSums, kMostSums);
}

// One for each thread, made when it is first needed.
template <class T>
struct Worker {
  std::unique_ptr<Block<T>> block;
  ReadBuffer buffer;
};

// Calls work(block, first row) for the blocks of a shard.
template <class T, class Work>
void walk(const Components<T>& components, const Points& points, uint64_t shard, Worker<T>& worker,
          const Context& context, const Work& work) {
  if (!worker.block) worker.block = std::make_unique<Block<T>>(components);
  Block<T>& block = *worker.block;
  const uint64_t end = std::min(points.size(), (shard + 1) * kShard);
  for (uint64_t row = shard * kShard; row < end; row += block.rows()) {
    context.check();  // a row of a thousand components may take long
    points.load(row, std::min<uint64_t>(block.rows(), end - row), worker.buffer, block);
    work(block, row);
  }
}

template <class T>
Sums sums_of(const Components<T>& components, const Points& points, const Context& context) {
  Sums total;
  total.clear(components);
  const uint64_t shards = shards_of(points);
  const uint64_t numbers = total.weight.size() + total.first.size() + total.second.size();
  std::vector<Sums> sums(std::min(shards, sums_for(numbers)));
  std::vector<Worker<T>> workers(static_cast<size_t>(context.threads()));
  for (uint64_t first = 0; first < shards; first += sums.size()) {
    const uint64_t count = std::min<uint64_t>(sums.size(), shards - first);
    for_each_shard(context, count, [&](size_t s, size_t worker) {
      sums[s].clear(components);
      walk(components, points, first + s, workers[worker], context, [&](Block<T>& block, uint64_t) {
        block.expect(components);
        block.accumulate(components, sums[s]);
      });
    });
    for (uint64_t s = 0; s < count; ++s) total.add(sums[s]);
  }
  return total;
}

template <class T>
Step step_of(const Form& form, const Mixture& mixture, const Points& points,
             const Context& context) {
  const auto components = components_of<T>(form, mixture);
  const Sums sums = sums_of(components, points, context);
  return {sums.objective, maximised(form, mixture, components, sums, points.size())};
}

}  // namespace

double work_of(const Form& form, uint64_t rows, size_t count, size_t dims) {
  const bool square = form.covariance == Covariance::kFull || form.covariance == Covariance::kTied;
  const auto d = static_cast<double>(dims);
  return static_cast<double>(rows) * static_cast<double>(count) * d * (square ? d : 2);
}

Step swept(const Form& form, const Mixture& mixture, const Points& points, const Context& context,
           Precision precision) {
  const bool single = precision == Precision::kAuto
                          ? in_single(form, points.size(), mixture.count, mixture.dims)
                          : precision == Precision::kSingle;
  return single ? step_of<float>(form, mixture, points, context)
                : step_of<double>(form, mixture, points, context);
}

Sums lloyd_step(size_t dims, std::vector<double>& means, const Points& points,
                const Context& context) {
  Components<float> components;
  components.metric = Metric::kPlain;
  components.dims = dims;
  components.count = means.size() / dims;
  components.mean.assign(means.begin(), means.end());
  Sums sums = sums_of(components, points, context);
  for (size_t k = 0; k < components.count; ++k) {
    for (size_t i = k * dims; i < (k + 1) * dims; ++i) {
      if (sums.weight[k] > 0)
        means[i] = double{components.mean[i]} + sums.first[i] / sums.weight[k];
    }
  }
  return sums;
}

double objective_of(const Form& form, const Mixture& mixture, const Points& points,
                    const Context& context) {
  std::vector<double> parts(shards_of(points), 0);
  for_each_block(components_of<double>(form, mixture), points, context,
                 [&](Block<double>& block, uint64_t row) {
                   for (size_t n = 0; n < block.count(); ++n) {
                     parts[row / kShard] += block.density(n);
                   }
                 });
  double out = 0;
  for (const double p : parts) out += p;
  return out;
}

void for_each_block(const Components<double>& components, const Points& points,
                    const Context& context,
                    const std::function<void(Block<double>&, uint64_t)>& work) {
  std::vector<Worker<double>> workers(static_cast<size_t>(context.threads()));
  for_each_shard(context, shards_of(points), [&](size_t s, size_t worker) {
    walk(components, points, s, workers[worker], context, [&](Block<double>& block, uint64_t row) {
      block.expect(components);
      work(block, row);
    });
  });
}

uint64_t sweep_bytes(const Form& form, const SweepSize& size) {
  const uint64_t numbers = numbers_of_sums(form, size.count, size.dims);
  const uint64_t shards = (size.rows + kShard - 1) / kShard;
  const uint64_t workers = std::min<uint64_t>(shards, static_cast<uint64_t>(size.threads));
  // A block, and its rows as they were read.
  const uint64_t worker =
      Block<double>::bytes(size.dims, size.count) + 512 * padded(size.cols) * sizeof(float);
  const uint64_t triangles = form.covariance == Covariance::kFull   ? size.count
                             : form.covariance == Covariance::kTied ? 1
                                                                    : 0;
  const uint64_t factors = triangles * size.dims * size.dims * sizeof(double) / 2;
  return (std::min(shards, sums_for(numbers)) + 1) * numbers * sizeof(double) + factors +
         workers * worker;
}

}  // namespace kith::gmm
