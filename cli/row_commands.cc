// SPDX-License-Identifier: Apache-2.0
// predict, score, embed, update: rows of tables, pairs of users and items, labels of texts.
#include <algorithm>
#include <map>
#include <optional>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"

namespace kith::cli {
namespace {

template <class Pack, Can... kAny>
struct Groups;
template <class... Options, Can... kAny>
struct Groups<std::tuple<Options...>, kAny...> {
  static std::vector<FieldGroup> get(std::string_view) {
    std::vector<FieldGroup> out = groups_for<Options...>();
    add_reading(out, {kAny...});
    return out;
  }
};

// Of predict and score.
struct RowsFlags {
  std::string output{};
  bool json = false;

  static constexpr std::tuple fields{
      field("output", &RowsFlags::output,
            "the file to write (-o): .csv, .tsv, .jsonl, or .npy for numbers; else printed"),
      field("json", &RowsFlags::json, "one JSON object per row"),
  };
};

// --- predict ---

Json json_of(const Candidate& c) {
  Json out{{"id", c.id}, {"score", score(c.score)}};
  if (c.probability) out["probability"] = score(*c.probability);
  return out;
}

// What is predicted stands under "prediction", be it a number or the first of the names.
Json json_of(const Prediction& p) {
  const bool rating = !p.user.empty() || !p.item.empty();
  Json out;
  if (rating) out = {{"user", p.user}, {"item", p.item}};
  out["target"] = p.target;
  if (p.number) {
    out["prediction"] = rating ? score(p.number->mean) : Json(p.number->mean);
    if (!rating) out["median"] = p.number->median.value_or(p.number->mean);
    if (p.number->deviation) out["deviation"] = score(*p.number->deviation);
  } else {
    out["prediction"] = p.candidates.empty() ? Json() : Json(p.candidates.front().id);
    out["predictions"] = Json::array();
    for (const Candidate& c : p.candidates) out["predictions"].push_back(json_of(c));
  }
  if (rating) out["known"] = {{"user", p.known_user}, {"item", p.known_item}};
  if (!p.known_text) out["known"] = false;
  return out;
}

void put_prediction(const Prediction& p) {
  if (p.number && !p.item.empty()) {
    return put("{:.4f}{}\n", p.number->mean,
               p.number->deviation ? fmt::format(" ± {:.4f}", *p.number->deviation) : "");
  }
  if (p.number) {
    return p.number->median ? put("{} (mean), {} (median)\n", p.number->text, p.number->median_text)
                            : put("{}\n", p.number->text);
  }
  std::vector<std::vector<std::string>> rows;
  for (const Candidate& c : p.candidates) {
    rows.push_back({printable(c.id), c.probability ? fmt::format("{:.1f} %", 100 * *c.probability)
                                                   : fmt::format("{:.3f}", c.score)});
  }
  put_text(table(rows, "<>", 0));
}

// A row of a source with what is predicted behind it.
Json json_of(const PredictedRow& row) {
  Json out{{"row", row.row}};
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const auto json = [&](std::string_view text) {
      return row.numbers[i] ? number_in(std::string(text)) : Json(text);
    };
    Json& to = out[row.columns[i]];
    for (const std::string_view member : row.members(i)) to.push_back(json(member));
    if (row.cells[i] && to.empty()) to = json(*row.cells[i]);
  }
  out.update(json_of(row.prediction));
  return out;
}

int run_predict(Args args) {
  PredictOptions options;
  RowsFlags flags;
  const auto [words, reading] =
      parse_reading(args, {Can::kCompleteRows, Can::kRateItems, Can::kClassify}, options, flags);
  if (words.size() < 2) {
    misused(kPredict, "predict needs a model and column=value, a text, or a file");
  }
  const Model model = open(words[0]);
  const std::vector<std::string> asked = rest_of(words);
  Narrator narrator(false);
  if (options.as_text || !are_sources(model, asked, "--as-text")) {
    if (!flags.output.empty()) {
      throw Error(ErrorKind::kUsage,
                  "a single prediction is printed; --output is for predictions from a file");
    }
    const Prediction found = predict(model, asked, options, &narrator);
    if (flags.json) {
      put_json(json_of(found));
    } else {
      put_prediction(found);
    }
    return kDone;
  }
  if (!flags.output.empty()) check_output(flags.output, words);
  ResultFile file(results_path(flags.output), flags.json);
  Context context(1);
  std::optional<Interrupts> interrupts;
  if (!flags.output.empty()) interrupts.emplace(context);  // there is something to clean up
  predict_rows(
      model, asked, options, reading, context,
      [&](const PredictedRow& row) {
        file.takes_json() ? file.json_line(dumped(json_of(row))) : add_prediction(file, row);
      },
      &narrator);
  file.commit();
  return kDone;
}

// --- score ---

Json json_of(const ScoredRow& row) {
  Json pairs = Json::object();
  for (const ScoredRow::Pair& p : row.pairs) {
    pairs[p.columns] = {
        {"score", score(p.score)}, {"usual", score(p.usual)}, {"odd", score(p.odd)}};
  }
  return {{"row", row.row},
          {row.named ? "id" : "place", row.name},
          {"score", score(row.score)},
          {"odd", score(row.odd)},
          {"pairs", std::move(pairs)}};
}

int run_score(Args args) {
  ScoreOptions options;
  RowsFlags flags;
  const auto [words, reading] = parse_reading(args, {Can::kCompleteRows}, options, flags);
  if (words.size() < 2) misused(kScore, "score needs a model and a table");
  std::optional<ResultFile> file;
  if (!flags.output.empty()) {
    check_output(flags.output, words);
    file.emplace(flags.output, flags.json);
  }
  Narrator narrator(false);
  Context context(1);
  const Interrupts interrupts(context);
  const auto found =
      score_rows(open(words[0]), rest_of(words), options, reading, context, &narrator);
  if (file || flags.json) {
    if (!file) file.emplace(results_path(""), true);
    for (const ScoredRow& row : found) {
      file->takes_json() ? file->json_line(dumped(json_of(row))) : add_score(*file, row);
    }
    file->commit();
    return kDone;
  }
  std::vector<std::vector<std::string>> lines{{"row", "score", "oddness", "because of"}};
  for (const ScoredRow& row : found) {
    lines.push_back({printable(row.name), fmt::format("{:.3f}", row.score),
                     fmt::format("{:.2f}", row.odd), printable(because(row))});
  }
  put_text(table(lines, "<>><", 0));
  return kDone;
}

// --- embed ---

struct EmbedFlags {
  std::string output{};
  bool json = false;

  static constexpr std::tuple fields{
      field("output", &EmbedFlags::output,
            "the file to write (-o): .npy, .csv, .tsv, .jsonl, .safetensors, or .kith, for kith "
            "near"),
      field("json", &EmbedFlags::json, "print the vector of column=value, or of a text, as JSON"),
  };
};

int run_embed(Args args) {
  EmbedOptions options;
  EmbedFlags flags;
  Quiet quiet;
  const auto [words, reading] =
      parse_reading(args, {Can::kCompleteRows, Can::kShowTopics}, options, flags, quiet);
  if (words.size() < 2) misused(kEmbed, "embed needs a model and a file, column=value or a text");
  const Model model = open(words[0]);
  const std::vector<std::string> asked = rest_of(words);
  Narrator narrator(quiet.quiet);
  const bool can = model.can(Can::kCompleteRows) || model.can(Can::kEmbedTexts);
  if (!can || options.text || !are_sources(model, asked, "--text")) {
    const bool of_files =
        !flags.output.empty() || options.to || !options.name.empty() || !options.column.empty();
    if (can && of_files) {
      misused(kEmbed,
              fmt::format("{} is {}, and --output, --to, --name and --column are for files; "
                          "leave them out to have one vector printed",
                          printable(asked.front()), options.text ? "a text" : "no file"));
    }
    const std::vector<float> vector = embed(model, asked, options, &narrator);
    if (flags.json) {
      put_json({{"query", asked}, {"vector", vector}});
    } else {
      put("{}\n", fmt::join(vector, " "));
    }
    return kDone;
  }
  if (flags.output.empty()) misused(kEmbed, "embed needs a file to write: -o FILE");
  Context context(1);
  const Interrupts interrupts(context);
  const Embedded done =
      embed_rows(model, asked, results_path(flags.output), options, reading, context, &narrator);
  if (!quiet.quiet) {
    say("{}: {} of length {}", flags.output, count_of(done.rows, "row"), done.dim);
  }
  return kDone;
}

// --- update ---

struct UpdateFlags {
  std::string output{};
  bool json = false;

  static constexpr std::tuple fields{
      field("output", &UpdateFlags::output, "the model file to write (-o)"),
      field("json", &UpdateFlags::json, "print what was added as JSON"),
  };
};

int run_update(Args args) {
  UpdateFlags flags;
  Threads threads;
  const auto [words, reading] = parse_reading(args, {Can::kUpdate}, flags, threads);
  if (words.size() < 2) misused(kUpdate, "update needs a model and a table of new rows");
  if (flags.output.empty()) misused(kUpdate, "update needs a model file to write: -o MODEL");
  check_output(flags.output, rest_of(words));
  Context context(threads.threads);
  const Interrupts interrupts(context);
  Narrator narrator(flags.json);
  Model model = open(words[0]);
  const UpdateReport done = update(model, rest_of(words), reading, context, &narrator);
  model.save(flags.output);
  std::map<std::string, std::pair<uint64_t, uint64_t>> columns;  // values, and rows that hold them
  Json added = Json::array();
  for (const UpdateReport::Added& a : done.added) {
    columns[a.column].first += 1;
    columns[a.column].second += a.rows;
    added.push_back({{"column", a.column}, {"id", a.id}, {"rows", a.rows}});
  }
  if (flags.json) {
    Json counts = Json::object();
    for (const auto& [column, sums] : columns) counts[column] = sums.first;
    put_json({{"output", flags.output},
              {done.unit + "s", done.units},
              {"new", std::move(counts)},
              {"added", std::move(added)},
              {"solved", done.solved}});
    return kDone;
  }
  say("{}: {} read, {} computed", flags.output, count_of(done.units, done.unit),
      count_of(done.solved, "vector"));
  for (const auto& [column, sums] : columns) {
    say("  {}: {}, in {}", column, count_of(sums.first, "new value"),
        count_of(sums.second, done.unit));
  }
  return kDone;
}

}  // namespace

const Command kPredict{
    "predict",
    "MODEL column=value... | TEXT | FILE...",
    "fill a column of a row, or of all rows of a table; predict how a user would rate an item, or "
    "the labels of a text",
    {"kith predict movies.kith --target director new.csv -o filled.csv",
     "kith predict ratings.kith user=42 item=Alien",
     "kith predict spam.kith 'you have won a prize' --top 2"},
    "Categories come with their probabilities, numbers as mean and median. If a model of ratings "
    "does not know the user or the item, it predicts the mean plus the bias of the one that it "
    "knows. Of texts each line of a file is one, or each row of a table with --text COLUMN.",
    Groups<std::tuple<PredictOptions, RowsFlags>, Can::kCompleteRows, Can::kRateItems,
           Can::kClassify>::get,
    run_predict,
};

const Command kScore{
    "score",
    "MODEL FILE...",
    "find odd rows of a table, and show what is odd about them",
    {"kith score movies.kith movies.csv --name title",
     "kith score movies.kith new.csv --all --json",
     "kith score movies.kith movies.db --query movies --top 5"},
    "A row's score is a sum over pairs of its columns; what each pair adds is compared with what "
    "the same pair adds in the other rows.",
    Groups<std::tuple<ScoreOptions, RowsFlags>, Can::kCompleteRows>::get,
    run_score,
};

const Command kEmbed{
    "embed",
    "MODEL FILE... | column=value... | TEXT",
    "turn rows of a table, or texts, into vectors",
    {"kith embed movies.kith movies.csv --name title -o films.kith",
     "kith embed words.kith sentences.txt -o sentences.npy",
     "kith embed movies.kith 'director=Ridley Scott' genres=Drama --json"},
    "The vector of a row is the sum of the vectors of its columns; missing and unknown values are "
    "left out. For the vectors of the values themselves, use kith export. With a model of words "
    "each line of a file is a text, or each cell of a --column, and its vector is the mean of the "
    "vectors of its words, in which rare words count more; a classifier takes the plain mean. "
    "With a model of topics a document, be it a line or counts of words, becomes the shares of its "
    "topics.",
    Groups<std::tuple<EmbedOptions, EmbedFlags, Quiet>, Can::kCompleteRows, Can::kShowTopics>::get,
    run_embed,
};

const Command kUpdate{
    "update",
    "MODEL FILE... -o MODEL",
    "add new rows to a model, without training",
    {"kith update movies.kith new.csv -o movies2.kith",
     "kith update ratings.kith today.csv -o ratings.kith --json",
     "kith update movies.kith postgresql://localhost/films --query new_films -o movies2.kith"},
    "The vector of a new value is computed from its rows: the mean of what the other values of "
    "each row predict, mapped to where trained values lie. In a model of ratings, the vectors of "
    "new items and of users with new ratings are solved from all their ratings. To train further "
    "instead: kith train "
    "MODEL FILE --from MODEL.",
    Groups<std::tuple<UpdateFlags, Threads>, Can::kUpdate>::get,
    run_update,
};

}  // namespace kith::cli
