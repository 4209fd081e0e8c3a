// SPDX-License-Identifier: Apache-2.0
// The two public protocols for vectors of words: analogy questions, and pairs with human scores.
#include <array>
#include <cmath>
#include <numeric>

#include "api/evaluate.h"
#include "api/speller.h"
#include "core/error.h"
#include "core/waiting.h"
#include "eval/metrics.h"
#include "eval/question_files.h"
#include "io/nfc.h"
#include "io/text_source.h"
#include "kith/text.h"
#include "query/analogy.h"

namespace kith {
namespace {

// The row of a word among the first `limit`: as it stands, as texts are read, or in lower case.
std::optional<uint32_t> row_among(const Names& names, std::string_view word, size_t limit) {
  const auto find = [&](std::string_view form) {
    const auto row = names.find(form);
    return row && *row < limit ? row : std::nullopt;
  };
  const auto row = find_as_read(word, find);
  return row ? row : find(eval::lower_case(nfc(word)));
}

struct Questions {
  std::vector<Analogy> asked;
  std::vector<uint32_t> expected;  // the answer of each
  std::vector<size_t> section;     // of each
  std::vector<Report::Section> sections;
  uint64_t skipped = 0;  // a word is not among the rows asked
};

Questions read_questions(const Index& index, eval::Lines& lines, size_t limit) {
  Questions out;
  const auto add = [&](const std::array<std::string_view, 4>& words) {
    if (out.sections.empty()) out.sections.push_back({""});  // before any title
    std::array<uint32_t, 4> rows{};
    for (size_t i = 0; i < 4; ++i) {
      const auto row = row_among(index.names(), words[i], limit);
      if (!row) {
        ++out.skipped;
        return;
      }
      rows[i] = *row;
    }
    out.asked.push_back({rows[0], rows[1], rows[2]});
    out.expected.push_back(rows[3]);
    out.section.push_back(out.sections.size() - 1);
  };
  const auto begin = [&](std::string_view name) { out.sections.push_back({std::string(name)}); };
  eval::read_analogies(lines, {.section = begin, .question = add});
  if (out.asked.empty()) {
    throw fault(ErrorKind::kInput, "{}: {}", lines.where(),
                out.skipped ? fmt::format("the model knows the words of none of its {} questions",
                                          grouped(out.skipped))
                            : "there are no questions in it");
  }
  return out;
}

double share(uint64_t right, uint64_t asked) {
  return asked ? static_cast<double>(right) / static_cast<double>(asked) : 0;
}

Report analogies_report(const Index& index, eval::Lines& lines, const EvaluateOptions& options,
                        const Context& context) {
  const auto restrict_to = static_cast<size_t>(options.restrict_to.value_or(0));
  const size_t limit = restrict_to ? std::min(restrict_to, index.size()) : index.size();
  Questions questions = read_questions(index, lines, limit);
  const auto answers = analogies(index, questions.asked, options.rule,
                                 {.top = 1, .restrict_to = restrict_to}, context);
  for (size_t q = 0; q < answers.size(); ++q) {
    Report::Section& section = questions.sections[questions.section[q]];
    ++section.asked;
    section.right += !answers[q].empty() && answers[q][0].row == questions.expected[q];
  }
  Report::Section semantic{"semantic"}, syntactic{"syntactic"}, all{"all"};
  for (const Report::Section& s : questions.sections) {
    for (Report::Section* sum : {s.name.starts_with("gram") ? &syntactic : &semantic, &all}) {
      sum->right += s.right;
      sum->asked += s.asked;
    }
  }
  Report out;
  out.title = lines.where();
  out.subtitle = fmt::format(
      "analogies by 3Cos{}{}; {} skipped for an unknown word",
      options.rule == AnalogyRule::kAdd ? "Add" : "Mul",
      limit < index.size() ? fmt::format(", among the {} most frequent words", grouped(limit)) : "",
      grouped(questions.skipped));
  // A guess among the words asked, the three given ones left out.
  const double chance = limit > 3 ? 1 / static_cast<double>(limit - 3) : 1;
  out.comparisons = {{{{"model",
                        {{"accuracy", share(all.right, all.asked)},
                         {"semantic", share(semantic.right, semantic.asked)},
                         {"syntactic", share(syntactic.right, syntactic.asked)}}},
                       {"chance", {{"accuracy", chance}}}}}};
  out.counts = {{"asked", all.asked}, {"skipped", questions.skipped}, {"restrict", limit}};
  out.rule = detail::show(options.rule);
  out.sections = std::move(questions.sections);
  for (const Report::Section& sum : {semantic, syntactic, all}) out.sections.push_back(sum);
  return out;
}

// The cosine of two words of which one at least is to be spelled; none if nothing is known of one.
std::optional<double> spelled_cosine(const Index& index, const Speller& speller, std::string_view a,
                                     std::string_view b) {
  const auto unit = [&](std::string_view word) -> std::optional<std::vector<float>> {
    if (const auto row = row_among(index.names(), word, index.size())) return index.unit_row(*row);
    return speller.unit_vector(std::string(word));
  };
  const auto x = unit(a), y = unit(b);
  if (!x || !y) return std::nullopt;
  return std::inner_product(x->begin(), x->end(), y->begin(), 0.0);
}

Report similarity_report(const Index& index, const Speller& speller, eval::Lines& lines) {
  std::vector<double> ours, human;
  std::vector<double> more, of_more;  // with words that the model spells
  uint64_t skipped = 0;
  eval::read_pairs(lines, [&](std::string_view a, std::string_view b, double score) {
    const auto row_a = row_among(index.names(), a, index.size());
    const auto row_b = row_among(index.names(), b, index.size());
    if (!row_a || !row_b) {
      ++skipped;
      if (const auto spelled = spelled_cosine(index, speller, a, b)) {
        more.push_back(*spelled);
        of_more.push_back(score);
      }
      return;
    }
    ours.push_back(cosine(index, *row_a, *row_b));
    human.push_back(score);
  });
  if (ours.empty()) {
    throw fault(ErrorKind::kInput, "{}: {}", lines.where(),
                skipped ? fmt::format("the model knows both words of none of its {} pairs",
                                      grouped(skipped))
                        : "there are no word pairs in it");
  }
  Report out;
  out.title = lines.where();
  out.subtitle = fmt::format("similarity of {}; {} skipped for an unknown word",
                             count_of(ours.size(), "pair"), grouped(skipped));
  // Under chance the rank correlation of n pairs is 0 with this standard deviation.
  const double spread = ours.size() > 1 ? 1 / std::sqrt(static_cast<double>(ours.size() - 1)) : 1;
  out.comparisons = {{{{"model", {{"spearman", eval::spearman(ours, human)}}},
                       {"chance", {{"spearman", 0}, {"deviation", spread}}}}}};
  out.counts = {{"pairs", ours.size()}, {"skipped", skipped}};
  if (!more.empty()) {
    out.subtitle += fmt::format("; {} with unseen words", count_of(more.size(), "more pair"));
    out.counts.push_back({"spelled", more.size()});
    more.insert(more.end(), ours.begin(), ours.end());
    of_more.insert(of_more.end(), human.begin(), human.end());
    auto& ways = out.comparisons.front().ways;
    ways.insert(ways.begin() + 1,
                {"unseen words too", {{"spearman", eval::spearman(more, of_more)}}});
  }
  return out;
}

eval::QuestionKind kind_of_questions(const std::string& path) {
  if (path == "-") {
    throw fault(ErrorKind::kUsage,
                "an evaluation file is read twice, so it cannot be standard input; name a file");
  }
  const auto source = open_text(path);
  eval::Lines lines(*source, path);
  return eval::recognise(lines);
}

}  // namespace

Report evaluate_words(const Model::Impl& model, const std::string& path,
                      const EvaluateOptions& options, const Context& context) {
  const std::vector<VectorGroup> groups = model.ask<HasVectors>("eval").vectors_of(options.vectors);
  const Index index(*groups.front().names, groups.front().vectors);
  const Speller speller(model, options.vectors);
  const Waiting waiting(context);
  const eval::QuestionKind kind = kind_of_questions(path);
  const auto source = open_text(path);
  eval::Lines lines(*source, path);
  return kind == eval::QuestionKind::kAnalogies ? analogies_report(index, lines, options, context)
                                                : similarity_report(index, speller, lines);
}

}  // namespace kith
