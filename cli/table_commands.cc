// SPDX-License-Identifier: Apache-2.0
// predict, score, embed, update, and near for models of tables; predict and update hand models of
// ratings on.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "enums.h"
#include "json.h"
#include "ratings_query.h"
#include "table_query.h"

namespace kith::cli {
namespace {

// Arguments behind the model: terms "column=value", or files.
bool is_term(const AskedTable& asked, const std::string& word) {
  std::error_code none;
  if (word == "-" || word.find("://") != std::string::npos || std::filesystem::exists(word, none)) {
    return false;
  }
  const bool known = word.find('=') != std::string::npos || asked.knows(word);
  if (!known && word.find_first_of("./") != std::string::npos) {
    throw Error(ErrorKind::kIo, "{}: there is no such file, and no column has this value", word);
  }
  return true;
}

Json json_of(const AskedTable& asked, size_t g, std::span<const Ranked> found,
             std::span<const double> p) {
  Json out = Json::array();
  for (const Ranked& r : found) {
    Json one{{"id", asked.names(g)[r.value]}, {"score", score(r.score)}};
    if (!p.empty()) one["probability"] = score(p[r.value]);
    out.push_back(std::move(one));
  }
  return out;
}

struct PredictOptions {
  std::string target;
  int64_t top = 10;
  std::string output;
  bool json = false;

  static constexpr std::tuple fields{
      field("target", &PredictOptions::target, "the column to fill; else that of training"),
      field("top", &PredictOptions::top, "how many answers").between(1, 1e6),
      field("output", &PredictOptions::output,
            "ratings: the file to write (-o), the rows of FILE with predictions; else printed"),
      field("json", &PredictOptions::json, "one JSON object a row"),
  };
};

size_t target_of(const AskedTable& asked, const std::string& named) {
  if (!named.empty()) return asked.encoding().group(named);
  if (asked.model().target() != Encoding::npos) return asked.model().target();
  throw Error(ErrorKind::kUsage, "say which column to fill with --target");
}

void predict_number(AskedTable& asked, const SeenRow& row, size_t g, bool json) {
  const Group& group = asked.group(g);
  const bool head = asked.model().scores_target() && g == asked.model().target();
  Guess found{};
  if (head) {
    found.mean = found.median = asked.model().target_value(row);
  } else {
    found = guess(group, probabilities(asked.scores(row, g)));
  }
  if (json) {
    return put_json(
        {{"target", group.column.name}, {"value", found.mean}, {"median", found.median}});
  }
  if (head) return put("{}\n", show_number(group, found.mean));
  put("{} (expected), {} (as likely below as above)\n", show_number(group, found.mean),
      show_number(group, found.median));
}

void predict_row(AskedTable& asked, const SeenRow& row, size_t g, const PredictOptions& options,
                 bool many) {
  if (asked.group(g).numeric()) return predict_number(asked, row, g, options.json);
  const std::vector<float> scores = asked.scores(row, g);
  std::vector<double> p;
  if (asked.has_probabilities(g)) p = probabilities(scores);
  const auto found = best_of(scores, static_cast<size_t>(options.top), {});
  if (options.json) {
    return put_json(
        {{"target", asked.group(g).column.name}, {"predictions", json_of(asked, g, found, p)}});
  }
  if (many) {
    std::vector<std::string> line;
    for (const Ranked& r : found) {
      line.push_back(fmt::format("{} {:.3f}", printable(asked.names(g)[r.value]),
                                 p.empty() ? r.score : p[r.value]));
    }
    return put("{}\n", fmt::join(line, "\t"));
  }
  std::vector<std::vector<std::string>> rows;
  for (const Ranked& r : found) {
    rows.push_back(
        {printable(asked.names(g)[r.value]),
         p.empty() ? fmt::format("{:.3f}", r.score) : fmt::format("{:.1f} %", 100 * p[r.value])});
  }
  put_text(table(rows, "<>", 0));
}

int run_predict(Args args) {
  PredictOptions options;
  TableOptions table;
  RatingsOptions columns;
  std::vector<std::string> words = parse(args, options, table, columns);
  if (words.size() < 2) misused(kPredict, "predict needs a model and column=value, or a file");
  OpenModel opened = open_model(words[0]);
  if (!options.output.empty()) {
    for (const std::string& word : words) check_distinct(word, options.output);
    check_writable(options.output);
  }
  if (is_ratings(*opened.model)) {
    words.erase(words.begin());
    return predict_ratings(std::move(opened), words, {options.output, options.json}, table,
                           columns);
  }
  AskedTable asked = as_table(std::move(opened), words[0], "predict");
  words.erase(words.begin());
  if (!options.output.empty()) {
    throw Error(ErrorKind::kUsage, "--output is for models of ratings; others print");
  }
  const size_t g = target_of(asked, options.target);
  if (asked.group(g).column.type == ColumnType::kVector) {
    throw Error(ErrorKind::kUsage, "a column of vectors cannot be predicted");
  }
  if (is_term(asked, words[0])) {
    auto cells = asked.cells(words);
    cells[g].reset();
    const SeenRow& row = asked.see(cells);
    predict_row(asked, row, g, options, false);
    return kDone;
  }
  GroupedRows rows(asked.encoding(), words, table);
  while (rows.next()) {
    std::vector<Cell> cells(rows.cells().begin(), rows.cells().end());
    cells[g].reset();
    predict_row(asked, asked.see(cells), g, options, true);
  }
  return kDone;
}

struct ScoreOptions {
  int64_t top = 20;
  std::string name;
  bool all = false;
  bool json = false;

  static constexpr std::tuple fields{
      field("top", &ScoreOptions::top, "how many rows, the oddest first").between(1, 1e9),
      field("name", &ScoreOptions::name, "the column that names a row; else its place"),
      field("all", &ScoreOptions::all, "every row, in the order of the file"),
      field("json", &ScoreOptions::json, "one JSON object a row, with every pair"),
  };
};

// Scores of rows, and what each pair of columns adds to them. A pair is odd if it adds much less
// than it does on average: in standard deviations, so that pairs can be compared.
class Oddities {
 public:
  explicit Oddities(size_t pairs) : sum_(pairs), squares_(pairs), seen_(pairs) {}
  struct Row {
    std::string name;
    double score = 0, odd = 0;
    std::vector<float> pairs;  // NaN where one of the two is missing
  };
  void add(Row row) {
    for (size_t p = 0; p < row.pairs.size(); ++p) {
      if (std::isnan(row.pairs[p])) continue;
      sum_[p] += row.pairs[p];
      squares_[p] += row.pairs[p] * row.pairs[p];
      ++seen_[p];
    }
    rows_.push_back(std::move(row));
  }
  double mean(size_t p) const { return seen_[p] ? sum_[p] / static_cast<double>(seen_[p]) : 0; }
  double deviation(size_t p) const {
    if (seen_[p] < 2) return 0;
    const double m = mean(p);
    return std::sqrt(std::max(0.0, squares_[p] / static_cast<double>(seen_[p]) - m * m));
  }
  double odd(const Row& row, size_t p) const {
    const double d = deviation(p);
    return std::isnan(row.pairs[p]) || d == 0 ? 0 : (mean(p) - row.pairs[p]) / d;
  }
  std::vector<Row>& finish() {
    for (Row& row : rows_) {
      size_t there = 0;
      for (size_t p = 0; p < row.pairs.size(); ++p) {
        row.odd += odd(row, p);
        there += !std::isnan(row.pairs[p]);
      }
      row.odd /= std::sqrt(static_cast<double>(std::max<size_t>(1, there)));
    }
    return rows_;
  }

 private:
  std::vector<double> sum_, squares_;
  std::vector<uint64_t> seen_;
  std::vector<Row> rows_;
};

int run_score(Args args) {
  ScoreOptions options;
  TableOptions table_options;
  const std::vector<std::string> words = parse(args, options, table_options);
  if (words.size() < 2) misused(kScore, "score needs a model and a table");
  AskedTable asked = open_table_model(words[0], "score");
  GroupedRows rows(asked.encoding(), {words.begin() + 1, words.end()}, table_options);
  std::optional<size_t> name;
  if (!options.name.empty()) {
    name = rows.column(options.name);
    if (!name) throw Error(ErrorKind::kUsage, "{} has no column {}", words[1], options.name);
  }
  const size_t n = asked.encoding().groups.size();
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = a + 1; b < n; ++b) pairs.emplace_back(a, b);
  }
  const auto pair_name = [&](size_t p) {
    return fmt::format("{} x {}", asked.group(pairs[p].first).column.name,
                       asked.group(pairs[p].second).column.name);
  };
  Oddities oddities(pairs.size());
  while (rows.next()) {
    const SeenRow& row = asked.see(rows.cells());
    Oddities::Row out;
    out.name = name && rows.raw(*name) ? std::string(*rows.raw(*name)) : rows.where();
    for (const auto& [a, b] : pairs) {
      const bool there = row.present[a] && row.present[b];
      out.pairs.push_back(there ? static_cast<float>(asked.model().pair_score(row, a, b))
                                : std::nanf(""));
      if (there) out.score += out.pairs.back();
    }
    oddities.add(std::move(out));
  }
  auto& found = oddities.finish();
  if (!options.all) {
    std::ranges::stable_sort(found, [](auto& a, auto& b) { return a.odd > b.odd; });
    found.resize(std::min(found.size(), static_cast<size_t>(options.top)));
  }
  std::vector<std::vector<std::string>> lines{{"row", "score", "oddness", "because of"}};
  for (const auto& row : found) {
    std::vector<size_t> order(pairs.size());
    for (size_t p = 0; p < order.size(); ++p) order[p] = p;
    std::ranges::stable_sort(
        order, [&](size_t a, size_t b) { return oddities.odd(row, a) > oddities.odd(row, b); });
    if (options.json) {
      Json parts;
      for (size_t p = 0; p < pairs.size(); ++p) {
        if (!std::isnan(row.pairs[p])) {
          parts[pair_name(p)] = {{"score", score(row.pairs[p])},
                                 {"usual", score(oddities.mean(p))},
                                 {"odd", score(oddities.odd(row, p))}};
        }
      }
      put_json({{"row", row.name},
                {"score", score(row.score)},
                {"odd", score(row.odd)},
                {"pairs", std::move(parts)}});
      continue;
    }
    std::vector<std::string> reasons;
    for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
      if (oddities.odd(row, order[i]) <= 0) break;
      reasons.push_back(fmt::format("{} {:.2f}, usually {:.2f}", pair_name(order[i]),
                                    row.pairs[order[i]], oddities.mean(order[i])));
    }
    lines.push_back({printable(row.name), fmt::format("{:.3f}", row.score),
                     fmt::format("{:.2f}", row.odd),
                     printable(fmt::format("{}", fmt::join(reasons, "; ")))});
  }
  if (!options.json) put_text(table(lines, "<>><", 0));
  return kDone;
}

struct EmbedOptions {
  std::string output;
  VectorFormat to = VectorFormat::kNpy;
  std::string name;
  bool quiet = false;
  bool json = false;

  static constexpr std::tuple fields{
      field("output", &EmbedOptions::output,
            "the file to write (-o); one that ends in .kith is a model that near can ask"),
      field("to", &EmbedOptions::to, "its format, if it is no .kith"),
      field("name", &EmbedOptions::name, "the column that names a row; else its number"),
      field("quiet", &EmbedOptions::quiet, "no remarks (-q)"),
      field("json", &EmbedOptions::json, "print the vector of column=value as JSON"),
  };
};

// The vector of a row is the sum of its groups' vectors.
void add_groups(const SeenRow& row, std::span<float> out) {
  for (size_t g = 0; g < row.present.size(); ++g) {
    if (!row.present[g]) continue;
    for (size_t k = 0; k < out.size(); ++k) out[k] += row.vectors.row(g)[k];
  }
}

size_t dim_of(const Model& model) { return model.vectors(Side::kInput).cols(); }

int run_embed(Args args) {
  EmbedOptions options;
  TableOptions table;
  std::vector<std::string> words = parse(args, options, table);
  if (words.size() < 2) misused(kEmbed, "embed needs a model and a table, or column=value");
  AskedTable asked = open_table_model(words[0], "embed");
  const size_t dim = dim_of(asked.model());
  const std::string model_path = words[0];
  words.erase(words.begin());
  if (is_term(asked, words[0])) {
    const auto cells = asked.cells(words);
    std::vector<float> vector(dim);
    add_groups(asked.see(cells), vector);
    if (options.json) {
      put_json({{"query", words}, {"vector", vector}});
    } else {
      put("{}\n", fmt::join(vector, " "));
    }
    return kDone;
  }
  if (options.output.empty()) misused(kEmbed, "embed needs a file to write: -o FILE");
  check_distinct(model_path, options.output);
  for (const std::string& file : words) check_distinct(file, options.output);
  check_writable(options.output);
  GroupedRows rows(asked.encoding(), words, table);
  std::optional<size_t> name;
  if (!options.name.empty()) {
    name = rows.column(options.name);
    if (!name) throw Error(ErrorKind::kUsage, "{} has no column {}", words[0], options.name);
  }
  NamedVectors out;
  std::vector<Matrix> pages;  // how many rows there are is known at the end
  constexpr size_t kPage = 1 << 16;
  for (uint64_t r = 0; rows.next(); ++r) {
    std::string label = name && rows.raw(*name) ? std::string(*rows.raw(*name)) : "";
    if (label.empty()) label = fmt::format("{}", r + 1);
    if (out.names.add(label) != r) {  // two films of one title are two rows
      for (size_t copy = 2; out.names.add(fmt::format("{} ({})", label, copy)) != r;) ++copy;
    }
    if (r % kPage == 0) pages.emplace_back(kPage, dim);
    add_groups(asked.see(rows.cells()), pages.back().row(r % kPage));
  }
  out.matrix = Matrix(out.names.size(), dim);
  for (size_t r = 0; r < out.names.size(); ++r) {
    std::ranges::copy(pages[r / kPage].row(r % kPage), out.matrix.row(r).begin());
    if (r % kPage + 1 == kPage) pages[r / kPage] = Matrix();
  }
  const size_t count = out.names.size();
  if (options.output.ends_with(".kith")) {
    const auto vectors = model_of(std::move(out));
    save_model(*vectors, "vectors", options.output, false, {});
  } else {
    write_vectors(options.output, options.to, out.names, out.matrix);
  }
  if (!options.quiet) say("{}: {} of length {}", options.output, count_of(count, "row"), dim);
  return kDone;
}

struct UpdateOptions {
  std::string output;
  bool json = false;

  static constexpr std::tuple fields{
      field("output", &UpdateOptions::output, "the model file to write (-o)"),
      field("json", &UpdateOptions::json, "print what was added as JSON"),
  };
};

int run_update(Args args) {
  UpdateOptions options;
  TableOptions table_options;
  RatingsOptions columns;
  const std::vector<std::string> words = parse(args, options, table_options, columns);
  if (words.size() < 2) misused(kUpdate, "update needs a model and a table of new rows");
  if (options.output.empty()) misused(kUpdate, "update needs a model file to write: -o MODEL");
  for (size_t i = 1; i < words.size(); ++i) check_distinct(words[i], options.output);
  check_writable(options.output);
  OpenModel opened = open_model(words[0]);
  if (is_ratings(*opened.model)) {
    return update_ratings(std::move(opened), {words.begin() + 1, words.end()},
                          {options.output, options.json}, table_options, columns);
  }
  auto* const model = dynamic_cast<TableModel*>(opened.model.get());
  if (!model) {
    throw Error(ErrorKind::kUsage, "update is for models of tables and ratings; {} holds {}",
                words[0], opened.kind);
  }
  const auto reader = open_table({words.begin() + 1, words.end()}, table_options);
  const Encoding before = model->encoding();
  const Table table = Table::read(*reader, Schema{}, 0, &before);
  for (const std::string& sentence : unreadable_cells(table)) say("kith: warning: {}", sentence);
  const auto folded = model->fold_in(table);
  for (const char* own : {"format", "version", "model", "checksum"}) opened.metadata.erase(own);
  save_model(*model, opened.kind, options.output, false, opened.metadata);
  Json added = Json::array();
  std::vector<uint64_t> values(before.spaces.size()), rows(before.spaces.size());
  for (const auto& f : folded) {
    ++values[f.space];
    rows[f.space] += f.rows;
    const ValueSpace& space = model->encoding().spaces[f.space];
    added.push_back({{"column", space.name},
                     {"id", space.names[f.name]},
                     {"rows", f.rows},
                     {"path", f.rows ? "mean context of its rows, mapped" : "n-grams only"}});
  }
  if (options.json) {
    put_json({{"output", options.output}, {"rows", table.rows()}, {"added", std::move(added)}});
    return kDone;
  }
  say("{}: {} read", options.output, count_of(table.rows(), "row"));
  for (size_t s = 0; s < values.size(); ++s) {
    if (values[s] == 0) continue;
    say("  {}: {} placed where the rows that hold them point ({:.1f} rows each)",
        before.spaces[s].name, count_of(values[s], "new value"),
        static_cast<double>(rows[s]) / static_cast<double>(values[s]));
  }
  return kDone;
}

}  // namespace

int near_table(OpenModel opened, std::span<const std::string> terms, const TableNear& options) {
  AskedTable asked(std::move(opened));
  const auto cells = asked.cells(terms);
  std::vector<size_t> given;
  for (size_t g = 0; g < cells.size(); ++g) {
    if (cells[g]) given.push_back(g);
  }
  if (given.size() > 1 && options.to.empty()) {
    throw Error(ErrorKind::kUsage, "of which column should the answers be? say it with --to");
  }
  const size_t to = options.to.empty() ? given[0] : asked.encoding().group(options.to);
  if (!asked.group(to).named()) {
    throw Error(ErrorKind::kUsage, "{} holds numbers; kith predict says which fits",
                asked.group(to).column.name);
  }
  const SeenRow& row = asked.see(cells);
  std::vector<float> scores;
  std::vector<uint8_t> itself(asked.names(to).size(), 0);
  const bool same = given.size() == 1 && given[0] == to;
  if (same) {  // what is like it: by cosine, and not it
    const Matrix& values = asked.values(to);
    const size_t dim = dim_of(asked.model());  // a bias may stand behind it
    const auto query = row.vectors.row(to).first(dim);
    const auto length = [](std::span<const float> v) {
      float sum = 0;
      for (const float x : v) sum += x * x;
      return std::sqrt(sum) + 1e-12f;
    };
    for (size_t v = 0; v < values.rows(); ++v) {
      float dot = 0;
      for (size_t k = 0; k < dim; ++k) dot += query[k] * values.row(v)[k];
      scores.push_back(dot / (length(query) * length(values.row(v).first(dim))));
    }
  } else {  // what goes with it: by score
    scores = asked.scores(row, to);
  }
  if (cells[to]) {
    CellEncoder encoder(asked.encoding());
    for (const std::string_view m : encoder.members(asked.group(to).column, *cells[to])) {
      if (const auto id = asked.names(to).find(m)) itself[*id] = 1;
    }
  }
  const auto found = best_of(scores, options.top, [&](size_t v) { return itself[v] != 0; });
  if (options.json) {
    put_json({{"query", fmt::format("{}", fmt::join(terms, " "))},
              {"column", asked.group(to).column.name},
              {"neighbours", json_of(asked, to, found, {})}});
    return kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Ranked& r : found) {
    rows.push_back({printable(asked.names(to)[r.value]), fmt::format("{:.4f}", r.score)});
  }
  put_text(table(rows, "<>", 0));
  return kDone;
}

const Command kPredict{
    "predict",
    "MODEL column=value... | FILE...",
    "fill a column of a row, or of all rows of a table; or say how a user would rate an item",
    {"kith predict movies.kith --target director 'cast=Sigourney Weaver|Tom Skerritt' year=1979",
     "kith predict movies.kith --target director new.csv --top 1 --json",
     "kith predict ratings.kith user=42 item=Alien"},
    "Categories come with their probabilities, numbers as the expectation and the middle. Of a "
    "user "
    "or an item that a model of ratings does not know, it predicts the mean and the bias of the "
    "other.",
    sections_of<PredictOptions, TableOptions, RatingsOptions>,
    run_predict,
};

const Command kScore{
    "score",
    "MODEL FILE...",
    "find odd rows of a table, and say what is odd about them",
    {"kith score movies.kith movies.csv --name title",
     "kith score movies.kith new.csv --all --json",
     "kith score movies.kith movies.db --query movies --top 5"},
    "A row's score is the sum over pairs of its columns; what each pair adds is compared with what "
    "it adds elsewhere in the table.",
    sections_of<ScoreOptions, TableOptions>,
    run_score,
};

const Command kEmbed{
    "embed",
    "MODEL FILE... | column=value...",
    "turn rows of a table into vectors",
    {"kith embed movies.kith movies.csv --name title -o films.kith",
     "kith embed movies.kith new.csv --to npy -o new.npy",
     "kith embed movies.kith 'director=Ridley Scott' genres=Drama --json"},
    "The vector of a row is the sum of those of its columns; what is missing or unknown is left "
    "out. The vectors of values are written by kith export.",
    sections_of<EmbedOptions, TableOptions>,
    run_embed,
};

const Command kUpdate{
    "update",
    "MODEL FILE... -o MODEL",
    "add what new rows say to a model, without training",
    {"kith update movies.kith new.csv -o movies2.kith",
     "kith update ratings.kith today.csv -o ratings.kith --json",
     "kith update movies.kith postgresql://localhost/films --query new_films -o movies2.kith"},
    "A new value is placed where its rows point: the mean of what the rest of each row asks for, "
    "mapped to where trained values lie. To train on instead: kith train feat2vec FILE --from "
    "MODEL. In a model of ratings, users with new ratings and new items are solved from all their "
    "ratings.",
    sections_of<UpdateOptions, TableOptions, RatingsOptions>,
    run_update,
};

}  // namespace kith::cli
