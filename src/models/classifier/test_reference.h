// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: the loss of a text as the README has it, in double precision, term by term; and texts
// whose labels are known.

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "data/labelled/labelled_reader.h"
#include "data/test_files.h"
#include "models/classifier/kernel.h"

namespace kith::classifier::reference {

using Vec = std::vector<double>;

struct Tables {
  std::vector<Vec> input, output;
};

inline Vec rows_as(const Matrix& m, size_t r, size_t dim) {
  const auto row = m.row(r).first(dim);
  return {row.begin(), row.end()};
}
inline Tables tables_of(const Matrix& input, const Matrix& output, size_t dim) {
  Tables out;
  for (size_t r = 0; r < input.rows(); ++r) out.input.push_back(rows_as(input, r, dim));
  for (size_t r = 0; r < output.rows(); ++r) out.output.push_back(rows_as(output, r, dim));
  return out;
}

inline double log_sigma(double s) { return -std::log1p(std::exp(-s)); }

inline double loss(const Problem& p, size_t text, const Tables& t) {
  std::vector<uint32_t> rows;
  p.features->find(p.documents->words_of(text), rows);
  Vec hidden(p.dim, 0.0);
  for (const uint32_t r : rows) {
    for (size_t k = 0; k < p.dim; ++k) hidden[k] += t.input[r][k] / double(rows.size());
  }
  Vec scores;
  for (const Vec& y : t.output) {
    double s = 0;
    for (size_t k = 0; k < p.dim; ++k) s += y[k] * hidden[k];
    scores.push_back(s);
  }
  const auto labels = p.documents->labels_of(text);
  const double own = p.documents->weight(text), share = own / double(labels.size());
  const auto class_weight = [&](uint32_t l) {
    return p.class_weights.empty() ? 1.0 : double{p.class_weights[l]};
  };
  double out = 0;
  if (p.loss == LabelLoss::kSoftmax) {
    double sum = 0;
    for (const double s : scores) sum += std::exp(s);
    for (const uint32_t l : labels) {
      out -= share * class_weight(l) * (scores[l] - std::log(sum));
    }
  } else if (p.loss == LabelLoss::kOneVsAll) {
    for (uint32_t l = 0; l < scores.size(); ++l) {
      const bool right = std::ranges::count(labels, l) > 0;
      out -= right ? own * class_weight(l) * log_sigma(scores[l]) : own * log_sigma(-scores[l]);
    }
  } else {
    for (const uint32_t l : labels) {
      for (const Tree::Step step : p.tree->path(l)) {
        const double s = scores[step.node];
        out -= share * class_weight(l) * log_sigma(step.right ? s : -s);
      }
    }
  }
  return out;
}

// Texts of labels that have words of their own, between words that all have.
inline std::string planted(size_t texts, size_t labels, uint64_t seed = 1) {
  std::string out;
  Rng rng(seed, 0);
  const auto word = [&](const char* kind, uint32_t n) {
    return std::string(kind) + std::to_string(rng.below(n));
  };
  for (size_t i = 0; i < texts; ++i) {
    const auto label = std::to_string(rng.below(static_cast<uint32_t>(labels)));
    out += "__label__" + label;
    for (int k = 0; k < 6; ++k) out += " " + word("all", 30);
    out += " " + word(("own" + label + "_").c_str(), 8) + " " + word("all", 30) + "\n";
  }
  return out;
}

inline Labelled read_text(const std::string& text, std::optional<double> holdout = {},
                          LabelledOptions options = {}) {
  const TestFolder folder;
  const std::string path = folder.write("texts.txt", text);
  return LabelledReader({{}, std::move(options)}, {}, {}).read({path}, holdout);
}

}  // namespace kith::classifier::reference
