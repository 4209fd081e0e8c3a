// SPDX-License-Identifier: Apache-2.0
#include "query/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "query/eval_files.h"
#include "query/search.h"

namespace kith {
namespace {

// The row of a word among the first `limit`: as it stands, or in lower case.
std::optional<uint32_t> row_among(const Names& names, std::string_view word, size_t limit) {
  if (const auto row = names.find(word); row && *row < limit) return row;
  if (const auto row = names.find(query::lower_case(word)); row && *row < limit) return row;
  return std::nullopt;
}

std::string place_of(const std::string& path) { return path == "-" ? "standard input" : path; }

struct Questions {
  std::vector<Analogy> asked;
  std::vector<uint32_t> expected;  // the answer of each
  std::vector<size_t> section;     // of each
};

// Collects the questions whose four words are among the rows; counts the others in `result`.
Questions read_questions(const Space& space, const std::string& path, size_t limit,
                         AnalogyResult& result) {
  Questions questions;
  const auto add = [&](const std::array<std::string_view, 4>& words) {
    if (result.sections.empty()) result.sections.push_back({""});  // before any title
    std::array<uint32_t, 4> rows;
    for (size_t i = 0; i < 4; ++i) {
      const auto row = row_among(space.names(), words[i], limit);
      if (!row) {
        ++result.skipped;
        return;
      }
      rows[i] = *row;
    }
    questions.asked.push_back({rows[0], rows[1], rows[2]});
    questions.expected.push_back(rows[3]);
    questions.section.push_back(result.sections.size() - 1);
  };
  const auto source = open_source(path);
  query::Lines lines(*source, place_of(path));
  const auto begin = [&](std::string_view name) { result.sections.push_back({std::string(name)}); };
  query::read_analogies(lines, {.section = begin, .question = add});
  if (questions.asked.empty() && result.skipped == 0) {
    throw Error(ErrorKind::kInput, "{}: there are no questions in it", place_of(path));
  }
  return questions;
}

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, last; first < order.size(); first = last) {
    last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    const double rank = (static_cast<double>(first + 1) + static_cast<double>(last)) / 2;
    for (size_t i = first; i < last; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

}  // namespace

EvalKind recognise_eval_file(const std::string& path) {
  if (path == "-") {
    throw Error(ErrorKind::kUsage,
                "an evaluation file is read twice, so it cannot be standard input; name a file");
  }
  const auto source = open_source(path);
  query::Lines lines(*source, path);
  return query::recognise(lines);
}

AnalogyResult evaluate_analogies(const Space& space, const std::string& path, AnalogyRule rule,
                                 size_t restrict_to, int threads) {
  AnalogyResult result;
  const size_t limit = query::rows_asked(space.size(), restrict_to);
  const Questions questions = read_questions(space, path, limit, result);
  const auto answers = analogies(space, questions.asked, rule,
                                 {.top = 1, .restrict_to = restrict_to, .threads = threads});
  for (size_t q = 0; q < answers.size(); ++q) {
    AnalogySection& section = result.sections[questions.section[q]];
    ++section.asked;
    section.right += !answers[q].empty() && answers[q][0].row == questions.expected[q];
  }
  for (const AnalogySection& section : result.sections) {
    const bool syntactic = section.name.starts_with("gram");
    result.right += section.right;
    result.asked += section.asked;
    (syntactic ? result.syntactic_right : result.semantic_right) += section.right;
    (syntactic ? result.syntactic_asked : result.semantic_asked) += section.asked;
  }
  return result;
}

SimilarityResult evaluate_similarity(const Space& space, const std::string& path) {
  SimilarityResult result;
  std::vector<double> ours, human;
  const auto source = open_source(path);
  query::Lines lines(*source, place_of(path));
  query::read_pairs(lines, [&](std::string_view a, std::string_view b, double score) {
    const auto row_a = row_among(space.names(), a, space.size());
    const auto row_b = row_among(space.names(), b, space.size());
    if (!row_a || !row_b) {
      ++result.skipped;
      return;
    }
    ours.push_back(cosine(space, *row_a, *row_b));
    human.push_back(score);
  });
  result.pairs = ours.size();
  if (result.pairs + result.skipped == 0) {
    throw Error(ErrorKind::kInput, "{}: there are no word pairs in it", place_of(path));
  }
  result.spearman = spearman(ours, human);
  return result;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) {
    throw Error(ErrorKind::kUsage,
                "a rank correlation needs two lists of one length; got {} and {}", a.size(),
                b.size());
  }
  const std::vector<double> x = mean_ranks(a), y = mean_ranks(b);
  const double mean = (static_cast<double>(a.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (!(xx > 0) || !(yy > 0)) return std::numeric_limits<double>::quiet_NaN();
  return xy / std::sqrt(xx * yy);
}

}  // namespace kith
