// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: a table whose truth is known, models trained on it, and what they answer.

#include "core/error.h"
#include "models/feat2vec/test_reference.h"

namespace kith::feat2vec {

inline void train(Feat2Vec& model, const Table& table, int threads = 1,
                  bool deterministic = false) {
  Job job(threads);
  job.deterministic = deterministic;
  model.train(table, job);
}

inline SeenRow see(const Feat2Vec& model, const std::vector<Cell>& cells) {
  CellEncoder encoder(model.encoding());
  SeenRow out;
  model.see(encoder, cells, out);
  return out;
}

inline std::vector<double> chances(const Feat2Vec& model, const SeenRow& row, size_t group) {
  const auto c = model.context(row, group);
  const Matrix values = model.values(group);
  std::vector<double> out;
  double total = 0;
  for (size_t v = 0; v < values.rows(); ++v) {
    double s = 0;
    for (size_t k = 0; k < c.size(); ++k) s += double{c[k]} * values.row(v)[k];
    out.push_back(std::exp(s));
    total += out.back();
  }
  for (double& p : out) p /= total;
  return out;
}

// Planted groups: directors belong to genres, casts too. A value never seen is placed by its rows.
inline std::string planted(int rows, int from = 0) {
  std::mt19937 rng(static_cast<unsigned>(from + 1));
  std::string csv = "director,cast,year,genre\n";
  for (int i = from; i < from + rows; ++i) {
    const int topic = static_cast<int>(rng() % 4);
    const auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    csv += fmt::format("d{}_{},c{}_{}|c{}_{},{},g{}\n", topic, pick(5), topic, pick(6), topic,
                       pick(6), 1900 + 25 * topic + pick(20), topic);
  }
  return csv;
}
inline constexpr const char* kPlanted = R"({"columns": [{"name": "director", "type": "category"},
  {"name": "cast", "type": "set", "separator": "|"}, {"name": "year", "type": "number"},
  {"name": "genre", "type": "category"}]})";

}  // namespace kith::feat2vec
