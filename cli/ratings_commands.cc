// SPDX-License-Identifier: Apache-2.0
// predict, near and update for models of ratings.
#include <algorithm>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "data/cells.h"
#include "data/rating_columns.h"
#include "io/file.h"
#include "json.h"
#include "ratings_query.h"

namespace kith::cli {
namespace {

// Predictions for pairs of names. Of whom the model does not know it says what it would of anybody:
// the mean and the other's bias.
class Predictor {
 public:
  explicit Predictor(const AskedRatings& asked)
      : asked_(asked),
        nobody_(asked.model().fold_in(Axis::kUser, {})),
        nothing_(asked.model().fold_in(Axis::kItem, {})) {}

  struct Answer {
    double value;
    std::optional<double> deviation;
    bool known_user, known_item;
  };
  Answer ask(const std::string& user, const std::string& item) {
    const auto u = asked_.find(Axis::kUser, user), i = asked_.find(Axis::kItem, item);
    const RatingsModel& model = asked_.model();
    const std::span<const float> p = u ? model.scoring_row(Axis::kUser, *u, user_room_) : nobody_;
    const std::span<const float> q = i ? model.scoring_row(Axis::kItem, *i, item_room_) : nothing_;
    unknown_users_ += !u;
    unknown_items_ += !i;
    return {model.predict(p, q), model.deviation(p, q), u.has_value(), i.has_value()};
  }
  bool tells_deviation() const { return asked_.model().deviation(nobody_, nothing_).has_value(); }
  void warn() const {
    if (unknown_users_ + unknown_items_ == 0) return;
    say("kith: warning: {} with a user and {} with an item that the model does not know: for them "
        "it predicts the mean and the bias of what it knows",
        count_of(unknown_users_, "row"), count_of(unknown_items_, "row"));
  }

 private:
  const AskedRatings& asked_;
  std::vector<float> nobody_, nothing_, user_room_, item_room_;
  uint64_t unknown_users_ = 0, unknown_items_ = 0;
};

void predict_pair(const AskedRatings& asked, const std::vector<std::string>& words, bool json) {
  std::optional<std::string> user, item;
  for (const std::string& word : words) {
    const auto thing = asked.named(word);
    if (!thing) {
      throw Error(ErrorKind::kUsage, "{}: there is no such file, and it is no {}=... or {}=...",
                  word, asked.model().column_of(Axis::kUser), asked.model().column_of(Axis::kItem));
    }
    auto& place = thing->axis == Axis::kUser ? user : item;
    if (place) {
      throw Error(ErrorKind::kUsage, "{}: one user and one item at a time; many pairs: a file",
                  word);
    }
    place = thing->id;
  }
  if (!user || !item) {
    throw Error(ErrorKind::kUsage, "name a user and an item, such as user=42 item=Alien");
  }
  Predictor predictor(asked);
  const auto answer = predictor.ask(*user, *item);
  if (json) {
    Json out{{"user", *user}, {"item", *item}, {"prediction", score(answer.value)}};
    if (answer.deviation) out["deviation"] = score(*answer.deviation);
    out["known"] = {{"user", answer.known_user}, {"item", answer.known_item}};
    return put_json(out);
  }
  if (!answer.known_user) say("kith: warning: the model does not know the user {}", *user);
  if (!answer.known_item) say("kith: warning: the model does not know the item {}", *item);
  put("{:.4f}{}\n", answer.value,
      answer.deviation ? fmt::format(" ± {:.4f}", *answer.deviation) : "");
}

// The rows of the file as they are, and what is predicted behind them.
class PredictedRows {
 public:
  PredictedRows(const std::string& path, const std::vector<std::string>& columns, bool json,
                bool deviation)
      : file_(path), columns_(columns), json_(json), deviation_(deviation) {
    if (json) return;
    for (const std::string& name : columns) line_ += csv_cell(name) + ',';
    file_.write(line_ + (deviation ? "prediction,deviation\n" : "prediction\n"));
  }
  void add(std::span<const Cell> cells, const Predictor::Answer& answer) {
    line_.clear();
    if (json_) {
      Json out;
      for (size_t i = 0; i < cells.size(); ++i) {
        out[columns_[i]] = cells[i] ? Json(*cells[i]) : Json(nullptr);
      }
      out["prediction"] = score(answer.value);
      if (deviation_) out["deviation"] = score(answer.deviation.value_or(0));
      line_ = out.dump(-1, ' ', false, Json::error_handler_t::replace);
    } else {
      for (const Cell& cell : cells) line_ += (cell ? csv_cell(*cell) : "") + ',';
      line_ += fmt::format("{:.6g}", answer.value);
      if (deviation_) line_ += fmt::format(",{:.6g}", answer.deviation.value_or(0));
    }
    file_.write(line_ += '\n');
  }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  std::vector<std::string> columns_;
  bool json_, deviation_;
  std::string line_;
};

int predict_file(const AskedRatings& asked, const std::vector<std::string>& files,
                 const RatingsPredict& options, const TableOptions& table, RatingsOptions columns) {
  columns.implicit = true;  // pairs need no rating
  const auto reader = open_pairs(asked.model(), files, table, columns);
  const RatingColumns at = find_rating_columns(reader->columns(), columns, files.front());
  Predictor predictor(asked);
  PredictedRows out(options.output.empty() ? "-" : options.output, reader->columns(), options.json,
                    predictor.tells_deviation());
  const auto text = [](const Cell& cell) {
    return std::string(cell ? trimmed(*cell) : std::string_view());
  };
  for (std::vector<Cell> cells; reader->next(cells);) {
    out.add(cells, predictor.ask(text(cells[at.user]), text(cells[at.item])));
  }
  out.commit();
  predictor.warn();
  return kDone;
}

// The vectors of one side without their biases, to be compared by cosine.
Matrix directions(const RatingsModel& model, Axis axis) {
  const Matrix& rows = model.rows_of(axis);
  Matrix out(rows.rows(), model.dim());
  for (size_t r = 0; r < rows.rows(); ++r) {
    std::copy_n(rows.row(r).begin(), model.dim(), out.row(r).begin());
  }
  return out;
}

class Neighbourhoods {
 public:
  explicit Neighbourhoods(const RatingsModel& model) : model_(model) {
    if (model.dim() == 0) {
      throw Error(ErrorKind::kUsage,
                  "the model has biases and no vectors (dim = 0), so nothing is near anything");
    }
  }
  std::vector<Neighbour> ask(Axis axis, uint32_t number, const SearchOptions& options) {
    if (!spaces_.contains(axis)) {
      spaces_.try_emplace(axis, model_.names_of(axis), directions(model_, axis));
    }
    const Space& space = spaces_.at(axis);
    Matrix query(1, space.dim());
    std::ranges::copy(space.unit().row(number), query.row(0).begin());
    const std::vector<std::vector<uint32_t>> itself{{number}};
    return exact_neighbours(space, query, itself, options).front();
  }

 private:
  const RatingsModel& model_;
  std::map<Axis, Space> spaces_;
};

void put_neighbours(const AskedRatings& asked, const AskedRatings::Thing& thing,
                    const std::string& query, std::span<const Neighbour> found, bool heading,
                    bool json) {
  const Names& names = asked.model().names_of(thing.axis);
  const bool titled = thing.axis == Axis::kItem && !asked.titles().empty();
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const Neighbour& n : found) {
    Json one{{"id", names[n.row]}};
    std::vector<std::string> row{printable(names[n.row])};
    if (titled) {
      one["title"] = asked.titles().of(names[n.row]);
      row.push_back(printable(asked.titles().of(names[n.row])));
    }
    one["score"] = score(n.score);
    row.push_back(fmt::format("{:.4f}", n.score));
    list.push_back(std::move(one));
    rows.push_back(std::move(row));
  }
  if (json) {
    return put_json({{"query", query},
                     {"column", asked.model().column_of(thing.axis)},
                     {"neighbours", std::move(list)}});
  }
  if (heading) put("{}\n", styled(Stream::kOut, Look::kBold, printable(query)));
  put_text(table(rows, titled ? "<<>" : "<>", heading ? 2 : 0));
  if (found.empty()) say("kith: {} has no vector of its own, so nothing is near it", query);
}

}  // namespace

int predict_ratings(OpenModel opened, const std::vector<std::string>& words,
                    const RatingsPredict& options, const TableOptions& table,
                    RatingsOptions columns) {
  refuse_training_options(columns);
  const AskedRatings asked(std::move(opened));
  std::error_code none;
  const std::string& first = words.front();
  const bool file = first == "-" || first.find("://") != std::string::npos ||
                    std::filesystem::exists(first, none);
  if (!file && !asked.named(first) && first.find_first_of("./") != std::string::npos) {
    throw Error(ErrorKind::kIo, "{}: there is no such file", first);
  }
  if (file) return predict_file(asked, words, options, table, std::move(columns));
  if (!options.output.empty()) {
    throw Error(ErrorKind::kUsage, "one prediction is printed; --output is for those of a file");
  }
  predict_pair(asked, words, options.json);
  return kDone;
}

int near_ratings(OpenModel opened, std::span<const std::string> terms, const RatingsNear& options) {
  auto& model = dynamic_cast<RatingsModel&>(*opened.model);
  Titles titles;
  if (!options.names.empty()) titles = Titles(options.names, options.names_column, model);
  const AskedRatings asked(std::move(opened), std::move(titles));
  Neighbourhoods near(model);
  const SearchOptions search{.top = options.top, .threads = thread_count(options.threads)};
  int result = kDone;
  for (const std::string& term : terms) {
    try {
      const AskedRatings::Thing thing = asked.thing(term);
      const auto found = near.ask(thing.axis, asked.number(thing.axis, thing.id), search);
      put_neighbours(asked, thing, term, found, terms.size() > 1, options.json);
    } catch (const Error& e) {
      if (terms.size() == 1) throw;
      say("kith: {}", e.what());
      result = kFailed;
    }
  }
  return result;
}

int update_ratings(OpenModel opened, const std::vector<std::string>& files,
                   const RatingsUpdate& options, const TableOptions& table,
                   RatingsOptions columns) {
  refuse_training_options(columns);
  auto& model = dynamic_cast<RatingsModel&>(*opened.model);
  const Ratings names =
      Ratings::of(model.names_of(Axis::kUser), model.names_of(Axis::kItem), {}, {});
  const auto reader = open_pairs(model, files, table, columns);
  columns.implicit = columns.implicit || model.implicit();
  const Ratings more = Ratings::read(*reader, columns, 0, false, &names);
  if (more.implicit() != model.implicit()) {
    throw Error(ErrorKind::kInput,
                "{}: these are interactions without ratings, and the model was trained on ratings; "
                "name their column with --rating",
                files.front());
  }
  const RatingsModel::Updated done = model.update(more);
  for (const char* own : {"format", "version", "model", "checksum"}) opened.metadata.erase(own);
  save_model(model, opened.kind, options.output, false, opened.metadata);
  if (options.json) {
    put_json({{"output", options.output},
              {"ratings", more.train().size()},
              {"new_users", done.new_users},
              {"new_items", done.new_items},
              {"solved", done.solved}});
    return kDone;
  }
  Status status(false);
  report_oddities(more.profile(), status);
  say("{}: {} read; {} and {} added, {} solved anew", options.output,
      count_of(more.train().size(), more.implicit() ? "interaction" : "rating"),
      count_of(done.new_users, "new user"), count_of(done.new_items, "new item"),
      count_of(done.solved, "row"));
  return kDone;
}

}  // namespace kith::cli
