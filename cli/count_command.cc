// SPDX-License-Identifier: Apache-2.0
// count: words that stand together, counted, or looked at.
#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"

namespace kith::cli {
namespace {

struct CountFlags {
  std::string output{};
  std::string scratch{};

  static constexpr std::tuple fields{
      field("output", &CountFlags::output,
            "the file of counts to write (-o); else named after the input"),
      field("scratch", &CountFlags::scratch,
            "folder for temporary data; by default that of OUTPUT"),
  };
};

std::vector<FieldGroup> count_groups(std::string_view) {
  std::vector<FieldGroup> out = groups_for<CountFlags, CompanyOptions, Threads, Quiet, Output>();
  for (FieldGroup& group : count_settings()) out.push_back(std::move(group));
  return out;
}

Json json_of(const CountsSummary& s) {
  return {{"file", s.path}, {"words", s.words}, {"cells", s.cells}, {"total", s.total}};
}

void show_summary(const CountsSummary& s) {
  put("{}\n", styled(Stream::kOut, Look::kBold, s.path));
  put_text(table({{"words", grouped(s.words)},
                  {"cells", grouped(s.cells)},
                  {"sum of all counts", grouped(static_cast<uint64_t>(s.total))}},
                 "<>"));
}

void show_company(const CountTable& counts, const std::string& word, const CompanyOptions& options,
                  bool json, bool many) {
  const std::vector<Company> found = counts.company(word, options);
  if (json) {
    Json all = Json::array();
    for (const Company& c : found) {
      all.push_back({{"id", c.id}, {"count", c.count}, {"pmi", score(c.pmi)}});
    }
    return put_json({{"query", word}, {"company", std::move(all)}});
  }
  if (many) put("{}\n", styled(Stream::kOut, Look::kBold, printable(word)));
  std::vector<std::vector<std::string>> rows{{"", "count", "pmi"}};
  for (const Company& c : found) {
    rows.push_back({printable(c.id), fmt::format("{:.6g}", c.count), fmt::format("{:.2f}", c.pmi)});
  }
  put_text(table(rows, "<>>", many ? 2 : 0));
}

// A file of counts: what is in it, or around some words.
int look_at(const std::vector<std::string>& words, const CompanyOptions& options, bool json) {
  const CountTable counts(words.front());
  if (words.size() == 1) {
    if (json) {
      put_json(json_of(counts.summary()));
    } else {
      show_summary(counts.summary());
    }
    return kDone;
  }
  int result = kDone;
  for (const std::string& word : rest_of(words)) {
    try {
      show_company(counts, word, options, json, words.size() > 2);
    } catch (const Error& e) {
      complain(e.kind(), e.what());
      result = exit_code(e.kind());
    }
  }
  return result;
}

int run_count(Args args) {
  CountFlags flags;
  CompanyOptions company;
  Threads threads;
  Quiet quiet;
  Output output;
  Arguments told = parse_arguments(args, count_groups({}));
  apply_known(told.settings, std::vector<Section>{{"Options", flags},
                                                  {"Options", company},
                                                  {"Options", threads},
                                                  {"Options", quiet},
                                                  {"Options", output}});
  const std::vector<std::string>& words = told.positional;
  if (words.empty()) misused(kCount, "count needs a text, or a file of counts");
  if (is_counts(words.front())) {
    if (!told.settings.empty() || !flags.output.empty()) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("{}: these are counts already; --{} is for counting a text", words.front(),
                      told.settings.empty() ? "output" : told.settings.front().name));
    }
    return look_at(words, company, output.json);
  }
  Context context(threads.threads);
  const Interrupts interrupts(context);
  Narrator narrator(quiet.quiet || output.json);
  const CountsSummary done =
      count({words, flags.output, flags.scratch, told.settings}, context, &narrator);
  narrator.status().clear();
  if (output.json) {
    put_json(json_of(done));
    return kDone;
  }
  if (quiet.quiet) return kDone;
  show_summary(done);
  say("{}", labelled("next", fmt::format("{} train glove {}", program, shell_quoted(done.path))));
  return kDone;
}

}  // namespace

const Command kCount{
    "count",
    "TEXT... | COUNTS [WORD...]",
    "count which words stand together, or look at such counts",
    {"kith count corpus.txt --window 10 -o corpus.counts", "kith count corpus.counts king --by pmi",
     "kith train glove corpus.counts"},
    "Models of counts (glove, pmi) learn from a text as well, and count it first; a file of counts "
    "saves that. Of a file of counts it shows what is in it, or the words around each WORD.",
    count_groups,
    run_count,
};

}  // namespace kith::cli
