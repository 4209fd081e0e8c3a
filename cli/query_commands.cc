// SPDX-License-Identifier: Apache-2.0
// near, analogy, similarity, odd: questions to a trained model.
#include <algorithm>
#include <chrono>
#include <sstream>

#include "commands.h"
#include "core/error.h"
#include "enums.h"
#include "json.h"
#include "model_file.h"
#include "query/analogy.h"
#include "ratings_query.h"
#include "table_query.h"

namespace kith::cli {
namespace {

enum class Search { kAuto, kExact, kHnsw };

}  // namespace
}  // namespace kith::cli

template <>
struct kith::EnumNames<kith::cli::Search> {
  static constexpr std::array<std::string_view, 3> names{"auto", "exact", "hnsw"};
};

namespace kith::cli {
namespace {

constexpr size_t kBatch = 1024;  // queries answered at a time

struct NearOptions {
  int64_t top = 10;
  Side vectors = Side::kInput;
  Search search = Search::kAuto;
  int64_t restrict_to = 0;
  std::string queries;
  std::string to;
  std::string names, names_column;
  int threads = 0;
  bool json = false;

  static constexpr std::tuple fields{
      field("top", &NearOptions::top, "how many answers").between(1, 1e6),
      field("vectors", &NearOptions::vectors, "which vectors of the model to compare"),
      field("search", &NearOptions::search,
            "compare with every vector, or through a graph whose recall is measured"),
      field("restrict", &NearOptions::restrict_to,
            "answers among the so many most frequent words; 0 for all")
          .between(0, 4e9),
      field("queries", &NearOptions::queries,
            "read queries from this file, one a line; - is stdin"),
      field("to", &NearOptions::to, "tables: values of this column"),
      field("names", &NearOptions::names, "ratings: show titles from this table, by item id"),
      field("names-column", &NearOptions::names_column, "its column of titles; else found"),
      field("threads", &NearOptions::threads, "0 for all cores").between(0, 1024),
      field("json", &NearOptions::json, "one JSON object a query"),
  };
};

struct AnalogyOptions {
  AnalogyRule rule = AnalogyRule::kAdd;
  int64_t top = 10;
  Side vectors = Side::kInput;
  int64_t restrict_to = 0;
  int threads = 0;
  bool json = false;

  static constexpr std::tuple fields{
      field("rule", &AnalogyOptions::rule, "3CosAdd, or 3CosMul"),
      field("top", &AnalogyOptions::top, "how many answers").between(1, 1e6),
      field("vectors", &AnalogyOptions::vectors, "which vectors of the model to compare"),
      field("restrict", &AnalogyOptions::restrict_to,
            "answers among the so many most frequent words; 0 for all")
          .between(0, 4e9),
      field("threads", &AnalogyOptions::threads, "0 for all cores").between(0, 1024),
      field("json", &AnalogyOptions::json, "print JSON"),
  };
};

struct CompareOptions {  // of similarity and odd
  Side vectors = Side::kInput;
  bool json = false;

  static constexpr std::tuple fields{
      field("vectors", &CompareOptions::vectors, "which vectors of the model to compare"),
      field("json", &CompareOptions::json, "print JSON"),
  };
};

// A query as rows with signs: one word, or an expression.
struct Query {
  std::string text;
  std::vector<std::pair<uint32_t, float>> terms;
};

// "king - man + woman", with spaces around the signs; a name that holds them as it stands wins.
Query parse_query(const Space& space, const std::string& text) {
  Query out{text, {}};
  const bool expression =
      text.find(" + ") != std::string::npos || text.find(" - ") != std::string::npos;
  if (!expression || space.names().find(text)) {
    out.terms.emplace_back(space.row(text), 1.0f);
    return out;
  }
  std::istringstream words(text);
  float sign = 1;
  bool want_word = true;
  for (std::string word; words >> word;) {
    const bool is_sign = word == "+" || word == "-";
    if (is_sign && (!want_word || out.terms.empty())) {
      sign = word == "+" ? 1.0f : -1.0f;
      want_word = true;
    } else if (!is_sign && want_word) {
      out.terms.emplace_back(space.row(word), sign);
      want_word = false;
    } else {
      throw Error(ErrorKind::kUsage,
                  "{}: words and signs must alternate, as in 'king - man + woman'", text);
    }
  }
  if (want_word) throw Error(ErrorKind::kUsage, "{}: a word is missing after the last sign", text);
  return out;
}

void put_neighbours(const Space& space, const std::string& query, bool heading, bool json,
                    std::span<const Neighbour> found) {
  if (json) {
    Json list = Json::array();
    for (const Neighbour& n : found) {
      list.push_back({{"id", space.names()[n.row]}, {"score", score(n.score)}});
    }
    return put_json({{"query", query}, {"neighbours", std::move(list)}});
  }
  if (heading) put("{}\n", styled(Stream::kOut, Look::kBold, printable(query)));
  std::vector<std::vector<std::string>> rows;
  for (const Neighbour& n : found) {
    rows.push_back({printable(space.names()[n.row]), fmt::format("{:.4f}", n.score)});
  }
  put_text(table(rows, "<>", heading ? 2 : 0));
}

// Asks in batches, so that memory does not grow with the number of queries.
class Asker {
 public:
  Asker(const Space& space, const NearOptions& options, size_t queries)
      : space_(space),
        options_{.top = static_cast<size_t>(options.top),
                 .restrict_to = static_cast<size_t>(options.restrict_to),
                 .threads = thread_count(options.threads)} {
    const bool graph = options.search == Search::kHnsw ||
                       (options.search == Search::kAuto && graph_pays(space.size(), queries));
    if (!graph) return;
    const auto start = std::chrono::steady_clock::now();
    index_ = std::make_unique<HnswIndex>(space, options_.threads);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    say("hnsw graph over {} built in {}; it finds {:.1f} % of the true top 10",
        count_of(space.size(), "vector"), in_time(took.count()), 100 * index_->recall());
  }

  std::vector<std::vector<Neighbour>> ask(std::span<const Query> queries) const {
    Matrix vectors(queries.size(), space_.dim());
    std::vector<std::vector<uint32_t>> exclude(queries.size());
    for (size_t q = 0; q < queries.size(); ++q) {
      const auto sum = vectors.row(q);
      for (const auto& [row, sign] : queries[q].terms) {
        const auto unit = space_.unit().row(row);
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += sign * unit[i];
        exclude[q].push_back(row);
      }
    }
    return index_ ? index_->search(vectors, exclude, options_)
                  : exact_neighbours(space_, vectors, exclude, options_);
  }

 private:
  const Space& space_;
  SearchOptions options_;
  std::unique_ptr<HnswIndex> index_;
};

int run_near(Args args) {
  NearOptions options;
  std::vector<std::string> words = parse(args, options);
  if (words.empty()) misused(kNear, "near needs a model and a query");
  const std::string path = words.front();
  words.erase(words.begin());
  if (!options.queries.empty()) {
    const auto more = read_lines(options.queries);
    words.insert(words.end(), more.begin(), more.end());
  }
  if (words.empty()) misused(kNear, "near needs a query, a word of the model");
  OpenModel opened = open_model(path);
  if (dynamic_cast<TableModel*>(opened.model.get())) {
    if (!options.queries.empty() || options.vectors != Side::kInput || options.restrict_to != 0) {
      throw Error(ErrorKind::kUsage,
                  "a model of a table is asked one row at a time, without --queries, --vectors and "
                  "--restrict; many rows: kith predict");
    }
    return near_table(std::move(opened), words,
                      {options.to, static_cast<size_t>(options.top), options.json});
  }
  if (!options.to.empty()) throw Error(ErrorKind::kUsage, "--to is for models of tables");
  if (is_ratings(*opened.model)) {
    if (options.vectors != Side::kInput || options.restrict_to != 0) {
      throw Error(ErrorKind::kUsage,
                  "a model of ratings has one vector for each user and item; ask without --vectors "
                  "and --restrict");
    }
    return near_ratings(std::move(opened), words,
                        {options.names, options.names_column, static_cast<size_t>(options.top),
                         options.threads, options.json});
  }
  if (!options.names.empty()) throw Error(ErrorKind::kUsage, "--names is for models of ratings");
  const AskedModel asked(std::move(opened), options.vectors);

  // One query that fails is an error. Of many, those that can be answered are.
  int result = kDone;
  const Asker asker(asked.space, options, words.size());
  for (size_t begin = 0; begin < words.size(); begin += kBatch) {
    std::vector<Query> batch;
    for (size_t i = begin; i < std::min(words.size(), begin + kBatch); ++i) {
      try {
        batch.push_back(parse_query(asked.space, words[i]));
      } catch (const Error& e) {
        if (words.size() == 1) throw;
        say("kith: {}", e.what());
        result = kFailed;
      }
    }
    if (batch.empty()) continue;
    const auto found = asker.ask(batch);
    for (size_t q = 0; q < batch.size(); ++q) {
      put_neighbours(asked.space, batch[q].text, words.size() > 1, options.json, found[q]);
    }
  }
  return result;
}

int run_analogy(Args args) {
  AnalogyOptions options;
  const std::vector<std::string> words = parse(args, options);
  if (words.size() != 4) misused(kAnalogy, "analogy needs a model and three words");
  const AskedModel asked(words[0], options.vectors);
  const Space& space = asked.space;
  const auto found =
      analogy(space, space.row(words[1]), space.row(words[2]), space.row(words[3]), options.rule,
              {.top = static_cast<size_t>(options.top),
               .restrict_to = static_cast<size_t>(options.restrict_to),
               .threads = thread_count(options.threads)});
  const std::string query = fmt::format("{} : {} = {} : ?", words[1], words[2], words[3]);
  put_neighbours(space, query, !options.json, options.json, found);
  return kDone;
}

int run_similarity(Args args) {
  CompareOptions options;
  const std::vector<std::string> words = parse(args, options);
  if (words.size() != 3) misused(kSimilarity, "similarity needs a model and two words");
  const AskedModel asked(words[0], options.vectors);
  const float value = cosine(asked.space, asked.space.row(words[1]), asked.space.row(words[2]));
  if (options.json) {
    put_json({{"a", words[1]}, {"b", words[2]}, {"similarity", score(value)}});
  } else {
    put("{:.4f}\n", value);
  }
  return kDone;
}

int run_odd(Args args) {
  CompareOptions options;
  const std::vector<std::string> words = parse(args, options);
  if (words.size() < 4) misused(kOdd, "odd needs a model and three words or more");
  const AskedModel asked(words[0], options.vectors);
  std::vector<uint32_t> rows;
  for (size_t i = 1; i < words.size(); ++i) rows.push_back(asked.space.row(words[i]));
  const std::vector<float> fit = fit_with_others(asked.space, rows);
  const size_t odd = static_cast<size_t>(std::ranges::min_element(fit) - fit.begin());
  if (options.json) {
    Json fits = Json::array();
    for (size_t i = 0; i < fit.size(); ++i) {
      fits.push_back({{"id", words[i + 1]}, {"score", score(fit[i])}});
    }
    put_json({{"odd", words[odd + 1]}, {"fit", std::move(fits)}});
    return kDone;
  }
  std::vector<std::vector<std::string>> lines;
  for (size_t i = 0; i < fit.size(); ++i) {
    lines.push_back(
        {printable(words[i + 1]), fmt::format("{:.4f}", fit[i]), i == odd ? "does not fit" : ""});
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
    "A query is a word, or an expression in one argument with spaces around + and -. A model of a "
    "table is asked with column=value: for what is like a value, or, with --to, for what goes with "
    "part of a row; a model of ratings with item=ID or user=ID. similar is another name of near.",
    sections_of<NearOptions>,
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
    sections_of<AnalogyOptions>,
    run_analogy,
};

const Command kSimilarity{
    "similarity",
    "MODEL A B",
    "print the cosine of two words",
    {"kith similarity words.kith coffee tea", "kith similarity words.kith coffee tea --vectors sum",
     "kith similarity words.kith coffee tea --json"},
    "",
    sections_of<CompareOptions>,
    run_similarity,
};

const Command kOdd{
    "odd",
    "MODEL WORD WORD WORD...",
    "find the word that does not fit with the others",
    {"kith odd words.kith breakfast lunch dinner cereal",
     "kith odd words.kith red green seven blue", "kith odd words.kith violin cello hammer --json"},
    "Each word is compared with the mean of the others.",
    sections_of<CompareOptions>,
    run_odd,
};

}  // namespace kith::cli
