// SPDX-License-Identifier: Apache-2.0
#include "ratings_measures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <unordered_set>

#include "core/rng.h"
#include "models/ratings_baselines.h"
#include "recommender.h"

namespace kith::cli {
namespace {

class Errors {
 public:
  explicit Errors(std::string name) : name_(std::move(name)) {}
  void add(double guess, double truth) {
    const double error = guess - truth;
    squares_ += error * error;
    sizes_ += std::abs(error);
    n_ += 1;
  }
  Way way() const {
    const double n = std::max(n_, 1.0);
    return {name_, {{"rmse", std::sqrt(squares_ / n)}, {"mae", sizes_ / n}}};
  }

 private:
  std::string name_;
  double squares_ = 0, sizes_ = 0, n_ = 0;
};

class Ranking {
 public:
  Ranking(std::string name, size_t top) : name_(std::move(name)), top_(top) {}
  // `found` best first; `relevant` rising and not empty.
  void add(std::span<const Neighbour> found, std::span<const uint32_t> relevant) {
    double hits = 0, gain = 0, precision = 0, ideal = 0;
    const size_t best = std::min(top_, relevant.size());
    for (size_t i = 0; i < best; ++i) ideal += 1 / std::log2(static_cast<double>(i) + 2);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!std::binary_search(relevant.begin(), relevant.end(), found[i].row)) continue;
      hits += 1;
      gain += 1 / std::log2(static_cast<double>(i) + 2);
      precision += hits / static_cast<double>(i + 1);
    }
    recall_ += hits / static_cast<double>(relevant.size());
    ndcg_ += gain / ideal;
    map_ += precision / static_cast<double>(best);
    users_ += 1;
  }
  Way way() const {
    const double n = std::max(users_, 1.0);
    return {name_, {{"recall", recall_ / n}, {"ndcg", ndcg_ / n}, {"map", map_ / n}}};
  }

 private:
  std::string name_;
  size_t top_;
  double recall_ = 0, ndcg_ = 0, map_ = 0, users_ = 0;
};

// A user and what a good list would hold.
struct Asked {
  uint32_t user;
  std::vector<uint32_t> relevant;
};

double mean_of(std::span<const float> values, double otherwise) {
  if (values.empty()) return otherwise;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<Asked> askable(const RatingsModel& model, const Sparse& test,
                           const MeasureOptions& options, double overall) {
  std::vector<Asked> out;
  const size_t users = model.names_of(Axis::kUser).size();
  const size_t items = model.names_of(Axis::kItem).size();
  for (uint32_t u = 0; u < std::min<size_t>(users, test.rows()); ++u) {
    const Sparse::Row row = test.row(u), seen = model.seen().row(u);
    double least = -std::numeric_limits<double>::infinity();
    if (!model.implicit()) least = options.relevant.value_or(mean_of(seen.values, overall));
    std::vector<uint32_t> relevant;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool known =
          row.columns[i] < items &&
          !std::binary_search(seen.columns.begin(), seen.columns.end(), row.columns[i]);
      if (known && row.values[i] >= least) relevant.push_back(row.columns[i]);
    }
    if (!relevant.empty()) out.push_back({u, std::move(relevant)});
  }
  return out;
}

// As many items that the user has not seen, each as likely.
std::vector<Neighbour> by_chance(std::span<const uint32_t> seen, uint32_t items, size_t top,
                                 uint64_t stream) {
  std::vector<Neighbour> out;
  Rng rng(1, stream);
  std::unordered_set<uint32_t> drawn;
  const size_t wanted = std::min<size_t>(top, items - seen.size());
  while (out.size() < wanted) {
    const uint32_t item = rng.below(items);
    if (std::binary_search(seen.begin(), seen.end(), item) || !drawn.insert(item).second) continue;
    out.push_back({item, 0});
  }
  return out;
}

Matrix popularity(const RatingsModel& model) {
  Matrix out(model.names_of(Axis::kItem).size(), 1);
  for (const uint32_t i : model.seen().column) out.row(i)[0] += 1;
  return out;
}

void rank(const RatingsModel& model, std::span<const Asked> asked, const MeasureOptions& options,
          Measured& out) {
  const Recommender recommender(model, {}, options.top, options.threads);
  const Matrix popular = popularity(model);
  Ranking own("model", options.top), most("popularity", options.top), chance("chance", options.top);
  for (size_t begin = 0; begin < asked.size(); begin += recommender.batch()) {
    const auto block = asked.subspan(begin, std::min(recommender.batch(), asked.size() - begin));
    std::vector<uint32_t> users;
    std::vector<std::vector<uint32_t>> seen;
    Matrix ones(block.size(), 1);
    for (const Asked& a : block) {
      const auto columns = model.seen().row(a.user).columns;
      ones.row(users.size())[0] = 1;
      users.push_back(a.user);
      seen.emplace_back(columns.begin(), columns.end());
    }
    const auto found = recommender.ask(users, false);
    const auto frequent =
        highest_products(popular, ones, seen, {.top = options.top, .threads = options.threads});
    for (size_t b = 0; b < block.size(); ++b) {
      own.add(found[b], block[b].relevant);
      most.add(frequent[b], block[b].relevant);
      chance.add(by_chance(seen[b], static_cast<uint32_t>(popular.rows()), options.top, users[b]),
                 block[b].relevant);
    }
  }
  out.rankings = {own.way(), most.way(), chance.way()};
}

}  // namespace

Measured measure(const RatingsModel& model, const Sparse& test, const MeasureOptions& options) {
  Measured out;
  const RatingBaselines baselines(model.seen());
  const size_t users = model.names_of(Axis::kUser).size();
  const size_t items = model.names_of(Axis::kItem).size();
  const std::vector<float> nobody = model.fold_in(Axis::kUser, {});
  const std::vector<float> nothing = model.fold_in(Axis::kItem, {});
  Errors own("model"), mean("mean"), biases("biases");
  std::vector<float> user_room, item_room;
  for (uint32_t u = 0; u < test.rows(); ++u) {
    const Sparse::Row row = test.row(u);
    const auto p = u < users ? model.scoring_row(Axis::kUser, u, user_room) : nobody;
    for (size_t i = 0; i < row.size(); ++i) {
      const uint32_t item = row.columns[i];
      const auto q = item < items ? model.scoring_row(Axis::kItem, item, item_room) : nothing;
      own.add(model.predict(p, q), row.values[i]);
      mean.add(baselines.mean(), row.values[i]);
      biases.add(baselines.predict(u, item), row.values[i]);
      ++out.ratings;
      out.unknown_users += u >= users;
      out.unknown_items += item >= items;
      if (u >= users) continue;
      const auto seen = model.seen().row(u).columns;
      out.trained_on += std::binary_search(seen.begin(), seen.end(), item);
    }
  }
  if (!model.implicit()) out.errors = {own.way(), mean.way(), biases.way()};
  const std::vector<Asked> asked = askable(model, test, options, baselines.mean());
  out.users = asked.size();
  if (!asked.empty()) rank(model, asked, options, out);
  return out;
}

}  // namespace kith::cli
