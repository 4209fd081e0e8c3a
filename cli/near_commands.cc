// SPDX-License-Identifier: Apache-2.0
// near, analogy, similarity, odd: what is like what.
#include <algorithm>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"
#include "titles.h"

namespace kith::cli {
namespace {

struct Queries {
  std::string queries{};

  static constexpr std::tuple fields{
      field("queries", &Queries::queries,
            "read queries from this file, one per line; - is standard input"),
  };
};

struct CompareOptions {  // of similarity and odd
  std::optional<Side> vectors{};

  static constexpr std::tuple fields{
      field("vectors", &CompareOptions::vectors, "which vectors of the model to compare")
          .automatic(kUsualSide),
  };
};

Json json_of(const std::vector<Neighbour>& neighbours, bool titled) {
  Json out = Json::array();
  for (const Neighbour& n : neighbours) {
    Json one{{"id", n.id}};
    if (titled) one["title"] = n.title;
    one["score"] = score(n.score);
    out.push_back(std::move(one));
  }
  return out;
}

void put_neighbours(const std::vector<Neighbour>& neighbours, bool titled, size_t indent) {
  std::vector<std::vector<std::string>> rows;
  for (const Neighbour& n : neighbours) {
    auto& row = rows.emplace_back(std::vector<std::string>{printable(n.id)});
    if (titled) row.push_back(printable(n.title));
    row.push_back(fmt::format("{:.4f}", n.score));
  }
  put_text(table(rows, titled ? "<<>" : "<>", indent));
}

void put_heading(std::string_view text) {
  put("{}\n", styled(Stream::kOut, Look::kBold, printable(text)));
}

int run_near(Args args) {
  NearOptions options;
  Queries queries;
  TitleOptions title_options;
  Threads threads;
  Output output;
  std::vector<std::string> words = parse(args, options, queries, title_options, threads, output);
  if (words.empty()) misused(kNear, "near needs a model and a query");
  const std::string path = words.front();
  words.erase(words.begin());
  if (!queries.queries.empty()) {
    const auto more = read_lines(queries.queries);
    words.insert(words.end(), more.begin(), more.end());
  }
  if (words.empty()) misused(kNear, "near needs a query, a name that the model knows");
  const Model model = open(path);
  const Titles titles = titles_for(title_options, model);
  Context context(threads.threads);
  const Interrupts interrupts(context);
  Narrator narrator(false);
  int result = kDone;
  const bool many = words.size() > 1 && options.to.empty();
  const auto show = [&](const Near& found) {
    if (!found.error.empty()) {
      complain(ErrorKind::kInput, found.error);
      result = kFailed;
      return;
    }
    const bool titled =
        std::ranges::any_of(found.neighbours, [](const Neighbour& n) { return !n.title.empty(); });
    if (output.json) {
      Json out{{"query", found.query}};
      if (!found.column.empty()) out["column"] = found.column;
      out["neighbours"] = json_of(found.neighbours, titled);
      return put_json(out);
    }
    if (many) put_heading(found.query);
    put_neighbours(found.neighbours, titled, many ? 2 : 0);
    if (found.neighbours.empty()) {
      say("kith: warning: nothing is near {}: it has no vector of its own, or nothing is left to "
          "compare with",
          printable(found.query));
    }
  };
  near(model, words, options, context, show, &narrator, &titles);
  return result;
}

int run_analogy(Args args) {
  AnalogyOptions options;
  Threads threads;
  Output output;
  const std::vector<std::string> words = parse(args, options, threads, output);
  if (words.size() != 4) misused(kAnalogy, "analogy needs a model and three words");
  const Model model = open(words[0]);
  Context context(threads.threads);
  const Interrupts interrupts(context);
  const auto found = analogy(model, words[1], words[2], words[3], options, context);
  const std::string query = fmt::format("{} : {} = {} : ?", words[1], words[2], words[3]);
  if (output.json) {
    put_json({{"query", query}, {"neighbours", json_of(found, false)}});
    return kDone;
  }
  put_heading(query);
  put_neighbours(found, false, 2);
  return kDone;
}

int run_similarity(Args args) {
  CompareOptions options;
  Output output;
  const std::vector<std::string> words = parse(args, options, output);
  if (words.size() != 3) misused(kSimilarity, "similarity needs a model and two words");
  const double value = similarity(open(words[0]), words[1], words[2], options.vectors);
  if (output.json) {
    put_json({{"a", words[1]}, {"b", words[2]}, {"score", score(value)}});
  } else {
    put("{:.4f}\n", value);
  }
  return kDone;
}

int run_odd(Args args) {
  CompareOptions options;
  Output output;
  const std::vector<std::string> words = parse(args, options, output);
  if (words.size() < 4) misused(kOdd, "odd needs a model and three words or more");
  const std::vector<std::string> names = rest_of(words);
  const std::vector<double> fit = fit_with_others(open(words[0]), names, options.vectors);
  const auto odd = static_cast<size_t>(std::ranges::min_element(fit) - fit.begin());
  if (output.json) {
    Json fits = Json::array();
    for (size_t i = 0; i < fit.size(); ++i) {
      fits.push_back({{"id", names[i]}, {"score", score(fit[i])}});
    }
    put_json({{"id", names[odd]}, {"fit", std::move(fits)}});
    return kDone;
  }
  std::vector<std::vector<std::string>> lines;
  for (size_t i = 0; i < fit.size(); ++i) {
    lines.push_back(
        {printable(names[i]), fmt::format("{:.4f}", fit[i]), i == odd ? "does not fit" : ""});
  }
  put_text(table(lines, "<><", 0));
  return kDone;
}

}  // namespace

const Command kNear{
    "near",
    "MODEL QUERY...",
    "find what is like a word, or like a sum of words",
    {"kith near words.kith king queen --top 5", "kith near words.kith 'king - man + woman'",
     "kith near movies.kith 'cast=Sigourney Weaver' genres=Horror --to director"},
    "A query is a name that the model knows, or an expression in one argument with spaces around + "
    "and -. A model of a table is asked with column=value, a model of ratings with item=ID or "
    "user=ID. With --to, the queries are values of one row, and the answers are values of another "
    "column that go with them. kith similar is another name for kith near.",
    groups_for<NearOptions, Queries, TitleOptions, Threads, Output>,
    run_near,
};

const Command kAnalogy{
    "analogy",
    "MODEL A B C",
    "answer: A is to B as C is to what?",
    {"kith analogy words.kith man king woman",
     "kith analogy words.kith paris france rome --rule mul",
     "kith analogy words.kith man king woman --top 1 --json"},
    "",
    groups_for<AnalogyOptions, Threads, Output>,
    run_analogy,
};

const Command kSimilarity{
    "similarity",
    "MODEL A B",
    "print the cosine of two words",
    {"kith similarity words.kith coffee tea", "kith similarity words.kith coffee tea --vectors sum",
     "kith similarity words.kith coffee tea --json"},
    "",
    groups_for<CompareOptions, Output>,
    run_similarity,
};

const Command kOdd{
    "odd",
    "MODEL WORD WORD WORD...",
    "find the word that does not fit with the others",
    {"kith odd words.kith breakfast lunch dinner cereal",
     "kith odd words.kith red green seven blue", "kith odd words.kith violin cello hammer --json"},
    "Each word is compared with the mean of the others.",
    groups_for<CompareOptions, Output>,
    run_odd,
};

}  // namespace kith::cli
