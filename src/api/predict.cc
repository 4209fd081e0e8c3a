// SPDX-License-Identifier: Apache-2.0
#include "kith/predict.h"

#include <filesystem>

#include "api/opened.h"
#include "api/rating_names.h"
#include "api/rows.h"
#include "api/texts.h"
#include "core/error.h"
#include "core/waiting.h"
#include "data/ratings/rating_columns.h"
#include "data/table/cells.h"
#include "data/table/table_reader.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr std::string_view kQuestion = "predict";

void check_can_predict(const Model::Impl& model) {
  if (model.can<CompletesRows>() || model.can<Ranks>() || model.can<Classifies>()) return;
  refuse_question(model.asked(kQuestion),
                  fmt::format("{}, {}", Classifies::kWhat, CompletesRows::kWhat), Ranks::kWhat);
}

size_t target_of(const RowAsker& rows, const std::string& named) {
  size_t out = rows.model().target();
  if (!named.empty()) {
    out = rows.encoding().group(named);
  } else if (out == Encoding::npos) {
    throw fault(ErrorKind::kUsage, "say which column to fill with --target");
  }
  rows.check_target(out);
  return out;
}

// What one kind of question alone can be told.
void check_options(const Model::Impl& model, const PredictOptions& options) {
  const bool texts = model.can<Classifies>();
  if (texts && !options.target.empty()) {
    refuse_question(model.asked("predict with --target"), CompletesRows::kWhat);
  }
  if (!texts && options.threshold > 0) {
    refuse_question(model.asked("predict with --threshold"), Classifies::kWhat);
  }
  if (!texts && options.as_text) {
    refuse_question(model.asked("predict with --as-text"), Classifies::kWhat);
  }
}

Prediction predict_text(const Classifies& model, const std::vector<std::string>& words,
                        const PredictOptions& options) {
  return TextAsker(model, "the text")
      .predict(fmt::format("{}", fmt::join(words, " ")),
               static_cast<size_t>(options.top.value_or(10)), options.threshold);
}

// Ratings for pairs of names. Of whom the model does not know it says what it would of anybody: the
// mean and the other's bias.
class PairPredictor {
 public:
  explicit PairPredictor(const Ranks& model)
      : model_(model),
        names_(model, nullptr),
        nobody_(model.fold_in(Axis::kUser, {})),
        nothing_(model.fold_in(Axis::kItem, {})) {}

  Prediction ask(const std::string& user, const std::string& item,
                 std::optional<float> day = std::nullopt) {
    const auto u = names_.find(Axis::kUser, user), i = names_.find(Axis::kItem, item);
    const auto p = u ? model_.scoring_row(Axis::kUser, *u, user_room_) : nobody_;
    const auto q = i ? model_.scoring_row(Axis::kItem, *i, item_room_) : nothing_;
    Prediction out;
    out.target = "rating";
    PredictedNumber& number = out.number.emplace();
    number.mean = model_.rating(p, q, u && day ? model_.day_effect(*u, *day) : 0);
    number.deviation = model_.deviation(p, q);
    number.text = fmt::format("{:.6g}", number.mean);
    out.user = user;
    out.item = item;
    out.known_user = u.has_value();
    out.known_item = i.has_value();
    return out;
  }
  bool tells_deviation() const { return model_.deviation(nobody_, nothing_).has_value(); }

 private:
  const Ranks& model_;
  RatingNames names_;
  std::vector<float> nobody_, nothing_, user_room_, item_room_;
};

Prediction predict_pair(const Ranks& model, const std::vector<std::string>& terms) {
  const RatingNames names(model, nullptr);
  std::optional<std::string> user, item;
  for (const std::string& term : terms) {
    const auto thing = names.named(term);
    if (!thing) {
      throw fault(ErrorKind::kUsage, "{}: a pair is given as {}=... {}=...", shown(term),
                  model.column_of(Axis::kUser), model.column_of(Axis::kItem));
    }
    auto& place = thing->axis == Axis::kUser ? user : item;
    if (place) {
      throw fault(ErrorKind::kUsage,
                  "{}: one user and one item at a time; for more pairs, give a file", shown(term));
    }
    place = thing->id;
  }
  if (!user || !item) {
    throw fault(ErrorKind::kUsage, "name a user and an item, such as user=42 item=Alien");
  }
  return PairPredictor(model).ask(*user, *item);
}

PredictedRows predict_pairs(const Ranks& model, const std::vector<std::string>& sources,
                            std::span<const Setting> reading, const Context& context,
                            const std::function<void(const PredictedRow&)>& row,
                            Observer* observer) {
  TableOptions table;
  RatingsOptions columns;
  const std::array sections{Section("The table", table), Section("The ratings", columns)};
  apply_settings(reading, sections);
  columns.implicit = true;  // pairs need no rating
  const Waiting waiting(context);
  const auto reader = open_ratings_for(model.column_of(Axis::kUser), model.column_of(Axis::kItem),
                                       sources, table, columns);
  const RatingColumns at = find_rating_columns(reader->columns(), columns, sources.front());
  PairPredictor predictor(model);
  std::vector<uint8_t> numbers(reader->columns().size());
  if (at.rating) numbers[*at.rating] = 1;
  PredictedRows out;
  out.deviations = predictor.tells_deviation();
  const auto text = [](const Cell& cell) {
    return std::string(cell ? trimmed(*cell) : std::string_view());
  };
  const auto day = [&](std::span<const Cell> cells) -> std::optional<float> {
    if (!model.knows_days() || !at.time || !cells[*at.time]) return std::nullopt;
    const auto time = parse_time(trimmed(*cells[*at.time]));
    return time ? day_of(*time) : std::nullopt;
  };
  for (std::vector<Cell> cells; reader->next(cells);) {
    context.check();
    const Prediction answer = predictor.ask(text(cells[at.user]), text(cells[at.item]), day(cells));
    ++out.rows;
    out.unknown_users += !answer.known_user;
    out.unknown_items += !answer.known_item;
    row({reader->columns(), cells, numbers, answer, reader->row()});
  }
  for (Note& n : reader->tally()->finish()) note(observer, n.level, std::move(n.text));
  return out;
}

PredictedRows predict_cells(const Model::Impl& model, const std::vector<std::string>& sources,
                            const PredictOptions& options, std::span<const Setting> reading,
                            const Context& context,
                            const std::function<void(const PredictedRow&)>& row,
                            Observer* observer) {
  RowAsker asker(model, kQuestion);
  const size_t target = target_of(asker, options.target);
  GroupedRows rows(asker.encoding(), sources, reading, context, observer);
  const std::vector<uint8_t> numbers = rows.numbers(), lists = rows.lists();
  PredictedRows out;
  std::vector<Cell> cells;
  while (rows.next()) {
    cells.assign(rows.cells().begin(), rows.cells().end());
    cells[target].reset();
    ++out.rows;
    row({rows.columns(), rows.raw(), numbers,
         asker.predict(asker.see(cells), target, static_cast<size_t>(options.top.value_or(1))),
         rows.row(), lists});
  }
  return out;
}

void tell_of_unknown(const Prediction& p, Observer* observer) {
  const auto warn = [&](bool known, std::string text) {
    if (!known) note(observer, Note::Level::kWarning, std::move(text));
  };
  warn(p.known_user, fmt::format("the model does not know the user {}", shown(p.user)));
  warn(p.known_item, fmt::format("the model does not know the item {}", shown(p.item)));
  warn(p.known_text, "the model knows no word of the text; this is how frequent labels are");
}

void tell_of_unknown(const PredictedRows& rows, Observer* observer) {
  if (rows.unknown_users + rows.unknown_items > 0) {
    note(observer, Note::Level::kWarning,
         fmt::format("{} with a user and {} with an item that the model does not know: the "
                     "prediction is the mean plus the bias of the one that it knows",
                     count_of(rows.unknown_users, "row"), count_of(rows.unknown_items, "row")));
  }
  if (rows.unknown_texts > 0) {
    note(observer, Note::Level::kWarning,
         fmt::format("{} without a word that the model knows: each got the most frequent label",
                     count_of(rows.unknown_texts, "text")));
  }
}

}  // namespace

Prediction predict(const Model& model, const std::vector<std::string>& terms,
                   const PredictOptions& options, Observer* observer) {
  const Model::Impl& opened = model.impl();
  check_can_predict(opened);
  check_options(opened, options);
  if (!opened.can<CompletesRows>()) {
    Prediction out = opened.can<Classifies>()
                         ? predict_text(opened.ask<Classifies>(kQuestion), terms, options)
                         : predict_pair(opened.ask<Ranks>(kQuestion), terms);
    tell_of_unknown(out, observer);
    return out;
  }
  RowAsker rows(opened, kQuestion);
  const size_t target = target_of(rows, options.target);
  RowAsker::Cells cells = rows.cells(terms, observer);
  cells[target].reset();
  return rows.predict(rows.see(cells), target, static_cast<size_t>(options.top.value_or(10)));
}

PredictedRows predict_rows(const Model& model, const std::vector<std::string>& sources,
                           const PredictOptions& options, std::span<const Setting> reading,
                           const Context& context,
                           const std::function<void(const PredictedRow&)>& row,
                           Observer* observer) {
  const Model::Impl& opened = model.impl();
  check_can_predict(opened);
  check_options(opened, options);
  if (opened.can<CompletesRows>()) {
    return predict_cells(opened, sources, options, reading, context, row, observer);
  }
  PredictedRows out =
      opened.can<Classifies>()
          ? predict_texts(opened.ask<Classifies>(kQuestion), sources, options, reading, context,
                          row, observer)
          : predict_pairs(opened.ask<Ranks>(kQuestion), sources, reading, context, row, observer);
  tell_of_unknown(out, observer);
  return out;
}

bool tells_deviation(const Model& model) {
  if (!model.impl().can<Ranks>()) return false;
  return PairPredictor(model.impl().ask<Ranks>(kQuestion)).tells_deviation();
}

std::vector<std::string_view> PredictedRow::members(size_t column) const {
  std::vector<std::string_view> out;
  const bool known = column < lists.size() && lists[column];
  if (!cells[column] || (!known && cells[column]->find(kListSeparator) == std::string_view::npos)) {
    return out;
  }
  for (std::string_view rest = *cells[column];;) {
    const size_t end = rest.find(kListSeparator);
    out.push_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return out;
}

bool are_sources(const Model& model, const std::vector<std::string>& words,
                 std::string_view text_flag) {
  if (words.empty()) return false;
  const std::string& first = words.front();
  std::error_code none;
  if (first == "-" || is_database(first) || std::filesystem::exists(first, none)) return true;
  const Model::Impl& opened = model.impl();
  if (opened.can(Can::kClassify) || opened.can(Can::kEmbedTexts)) {
    // One word with a point inside or a slash is the name of a file; a text has more words.
    const size_t point = first.rfind('.');
    const bool name = words.size() == 1 && first.find(' ') == std::string::npos &&
                      (first.find('/') != std::string::npos ||
                       (point != std::string::npos && point > 0 && point + 1 < first.size()));
    if (name) {
      throw fault(
          ErrorKind::kIo, "{}: there is no such file of texts{}", first,
          text_flag.empty() ? "" : fmt::format("; if it is a text itself, add {}", text_flag));
    }
    return false;
  }
  const bool value = first.find('=') != std::string::npos ||
                     (opened.can<CompletesRows>() && RowAsker(opened, kQuestion).knows(first));
  if (!value && first.find_first_of("./") != std::string::npos) {
    throw fault(ErrorKind::kIo, "{}: there is no such file, and no column has this value", first);
  }
  return false;
}

}  // namespace kith
