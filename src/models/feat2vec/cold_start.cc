// SPDX-License-Identifier: Apache-2.0
// Values that training never saw: placed where the rows that hold them point. See README.md.
#include <algorithm>
#include <cmath>
#include <utility>

#include "models/feat2vec/model.h"
#include "train/ridge.h"

namespace kith::feat2vec {
namespace {

// Rows that the maps of cold start are learned from, at most.
constexpr uint64_t kMapRows = 100000;
constexpr uint64_t kLookEvery = 1024;  // rows, whether anybody still waits
constexpr double kMapPenalty = 0.01;   // of the mean square of a context

}  // namespace

Feat2Vec::Means Feat2Vec::mean_contexts(const Table& table, uint64_t most_rows,
                                        const Context& context) const {
  const size_t n = table.groups(), w = width();
  Means out{Matrix(theta_.rows(), w), std::vector<uint64_t>(theta_.rows(), 0)};
  Matrix phi(n, w), c(1, w);
  const uint64_t every = std::max<uint64_t>(1, table.rows() / std::max<uint64_t>(1, most_rows));
  std::vector<uint64_t> first(n), end(n);  // rows of the names of each group
  for (size_t g = 0; g < n; ++g) {
    const size_t space = encoding_.groups[g].space;
    first[g] = encoding_.base(space);
    end[g] = first[g] + encoding_.spaces[space].names.size();
  }
  Feature one{};
  std::vector<Feature> others;
  for (uint64_t r = 0; r < table.rows(); r += every) {
    if (r / every % kLookEvery == 0) context.check();
    const auto row = table.row(r);
    for (size_t g = 0; g < n; ++g) {
      float* const v = phi.view().row(g);
      std::fill_n(v, w, 0.0f);
      if (row[g] == kNoEntity) continue;
      add_bag(table.entities(g).bag(row[g], one), theta_.view(), w, v);
      if (*used_.biases) v[dim()] = 0;
    }
    for (size_t g = 0; g < n; ++g) {
      if (row[g] == kNoEntity || !encoding_.groups[g].named()) continue;
      others.clear();
      for (size_t j = 0; j < n; ++j) {
        const auto weight = static_cast<float>(pair_weight(g, j));
        if (j != g && row[j] != kNoEntity && weight != 0) {
          others.push_back({static_cast<uint32_t>(j), weight});
        }
      }
      std::fill_n(c.view().row(0), w, 0.0f);
      add_bag(others, std::as_const(phi).view(), w, c.view().row(0));
      const Feature whole{0, 1.0f};
      for (const Feature& f : table.entities(g).bag(row[g], one)) {
        if (f.row < first[g] || f.row >= end[g]) continue;
        ++out.rows[f.row];
        add_bag({&whole, 1}, std::as_const(c).view(), w, out.sum.view().row(f.row));
      }
    }
  }
  for (size_t r = 0; r < out.rows.size(); ++r) {
    const auto scale = 1 / static_cast<float>(std::max<uint64_t>(1, out.rows[r]));
    for (float& x : out.sum.row(r)) x *= scale;
  }
  return out;
}

// What the map of a vocabulary is asked with: a mean context, 1, and the logarithm of how many rows
// it is the mean of.
std::vector<float> Feat2Vec::map_input(const Means& means, size_t row) const {
  std::vector<float> out(means.sum.row(row).begin(),
                         means.sum.row(row).begin() + static_cast<int64_t>(dim()));
  out.push_back(1.0f);
  out.push_back(std::log1p(static_cast<float>(means.rows[row])));
  return out;
}

std::vector<float> Feat2Vec::mapped(const Matrix& map, std::span<const float> input) const {
  std::vector<float> out(dim() + biases(), 0.0f);
  for (size_t k = 0; k < out.size(); ++k) {
    for (size_t j = 0; j < input.size(); ++j) out[k] += map.row(k)[j] * input[j];
  }
  return out;
}

void Feat2Vec::learn_maps(const Table& table, const Context& context) {
  maps_.clear();
  maps_.resize(encoding_.spaces.size());
  if (dim() == 0) return;
  const Means means = mean_contexts(table, kMapRows, context);
  for (size_t s = 0; s < encoding_.spaces.size(); ++s) {
    const uint64_t first = encoding_.base(s), count = encoding_.spaces[s].names.size();
    context.check();
    RidgeFit fit(dim() + 2, dim() + biases());
    const uint64_t every = std::max<uint64_t>(1, count / kMapValues);
    for (uint64_t i = first; i < first + count; i += every) {
      if (means.rows[i] > 0) fit.add(map_input(means, i), theta_.row(i), 1.0);
    }
    if (fit.size() == 0) continue;
    maps_[s] = fit.solve(kMapPenalty);
    // Ridge regression answers with the mean of what is likely, which is shorter than any of it:
    // new values would never come first. So the map is stretched until its answers are as long as
    // trained vectors.
    double trained = 0, answered = 0;
    for (uint64_t i = first; i < first + count; i += every) {
      if (means.rows[i] == 0) continue;
      const std::vector<float> answer = mapped(maps_[s], map_input(means, i));
      for (size_t k = 0; k < dim(); ++k) {
        trained += theta_.row(i)[k] * theta_.row(i)[k];
        answered += answer[k] * answer[k];
      }
    }
    if (answered == 0) continue;
    const auto stretch = static_cast<float>(std::sqrt(trained / answered));
    for (size_t k = 0; k < dim(); ++k) {
      for (float& x : maps_[s].row(k)) x *= stretch;
    }
  }
}

Updated Feat2Vec::update(const Dataset& more, const Context& context) {
  const Table& table = as(more);
  check_extends(table.encoding());
  std::vector<size_t> known;
  for (const ValueSpace& s : encoding_.spaces) known.push_back(s.names.size());
  const std::vector<Matrix> maps = std::move(maps_);
  const std::vector<float> dense = dense_;
  const uint64_t units = units_;
  const Config given = config_;
  config_ = used_;  // whatever the rows are like, the model stays what it is
  grow(table, 0);
  config_ = given;
  dense_ = dense;
  units_ = units;
  for (size_t r = 0; r < theta_.rows(); ++r) {
    if (!learned_[r]) std::fill_n(theta_.view().row(r), theta_.stride(), 0.0f);
  }
  maps_.clear();
  for (const Matrix& m : maps) maps_.push_back(m.copy());
  const Means means = mean_contexts(table, table.rows(), context);
  Updated out;
  out.units = table.rows();
  for (size_t s = 0; s < encoding_.spaces.size(); ++s) {
    const uint64_t first = encoding_.base(s);
    const ValueSpace& space = encoding_.spaces[s];
    for (size_t i = known[s]; i < space.names.size(); ++i) {
      const uint64_t row = first + i;
      out.added.push_back({space.name, std::string(space.names[i]), means.rows[row]});
      if (maps_[s].rows() == 0 || means.rows[row] == 0) continue;
      std::ranges::copy(mapped(maps_[s], map_input(means, row)), theta_.row(row).begin());
      ++out.solved;
    }
  }
  state_.finished = true;
  return out;
}

}  // namespace kith::feat2vec
