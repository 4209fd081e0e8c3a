// SPDX-License-Identifier: Apache-2.0
// topics: what the topics of a model are about.
#include <algorithm>
#include <numeric>
#include <optional>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"

namespace kith::cli {
namespace {

struct TopicFlags {
  std::string plot{};

  static constexpr std::tuple fields{
      field("plot", &TopicFlags::plot, "also draw their words as bars, to this SVG file"),
  };
};

double mean_coherence(const std::vector<TopicSummary>& all) {
  double sum = 0;
  for (const TopicSummary& t : all) sum += t.coherence;
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

Json json_of(const std::vector<TopicSummary>& all, const TopicOptions& options) {
  Json out = Json::array();
  for (const TopicSummary& t : all) {
    Json words = Json::array();
    for (const TopicWord& w : t.words) {
      Json word{{"word", w.word}, {"probability", score(w.probability)}, {"lift", score(w.lift)}};
      if (options.by == TopicOrder::kFrex) word["frex"] = score(w.score);
      words.push_back(std::move(word));
    }
    out.push_back({{"id", t.name},
                   {"size", score(t.size)},
                   {"coherence", score(t.coherence)},
                   {"words", std::move(words)}});
  }
  return {{"topics", std::move(out)}, {"coherence", score(mean_coherence(all))}};
}

// A line for each topic, broken at blanks where the terminal ends.
void show(const std::vector<TopicSummary>& all) {
  std::vector<std::vector<std::string>> rows{{"topic", "size", "coherence", "words"}};
  for (const TopicSummary& t : all) {
    std::string words;
    for (const TopicWord& w : t.words) words += (words.empty() ? "" : " ") + printable(w.word);
    rows.push_back({t.name, fmt::format("{:.1f} %", 100 * t.size),
                    fmt::format("{:.2f}", t.coherence), std::move(words)});
  }
  size_t before = 2;  // where the words begin
  for (size_t column = 0; column < 3; ++column) {
    size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row[column].size());
    before += width + 2;
  }
  constexpr size_t kNarrow = 24;
  const bool wraps = is_terminal(Stream::kOut) && columns(Stream::kOut) > before + kNarrow;
  const size_t room = wraps ? columns(Stream::kOut) : 0;  // 0: a line for each, for scripts
  std::vector<std::string> words;
  for (auto& row : rows) {
    words.push_back(std::move(row.back()));
    row.pop_back();
    row.emplace_back();
  }
  const std::string heads = table(rows, "<>><");
  size_t begin = 0;
  for (const std::string& w : words) {
    const size_t end = heads.find('\n', begin);
    std::string line = heads.substr(begin, end - begin);
    line.resize(std::max(before, line.size()), ' ');
    begin = end + 1;
    put("{}{}\n", line, room == 0 ? w : wrapped(w, room - before, before));
  }
  put("mean coherence {:.3f}\n", mean_coherence(all));
}

int run_topics(Args args) {
  TopicOptions options;
  TopicFlags flags;
  Output output;
  Threads threads;
  const std::vector<std::string> words = parse(args, options, flags, output, threads);
  if (words.size() != 1) misused(kTopics, "topics needs one model");
  const Model model = open(words[0]);
  Context context(threads.threads);
  const Interrupts interrupts(context);
  const std::vector<TopicSummary> all = topics(model, options, context);
  if (!flags.plot.empty()) {
    check_output(flags.plot, words);
    OutputFile file(flags.plot);
    file.write(topics_plot(all, options));
    file.commit();
  }
  if (output.json) {
    put_json(json_of(all, options));
    return kDone;
  }
  show(all);
  if (!flags.plot.empty()) say("drawn to {}", flags.plot);
  return kDone;
}

}  // namespace

const Command kTopics{
    "topics",
    "MODEL",
    "show what the topics of a model are about",
    {"kith topics news.kith", "kith topics news.kith --by frex --top 15 --plot topics.svg",
     "kith topics news.kith --json"},
    "The largest topic first; its size is its share of the words of the documents that were "
    "learned from. Coherence says whether its ten most frequent words stand together in these "
    "documents: 1 always, 0 by chance, -1 never.",
    groups_for<TopicOptions, TopicFlags, Output, Threads>,
    run_topics,
};

}  // namespace kith::cli
