// SPDX-License-Identifier: Apache-2.0
#pragma once
// What completes a row of a table; how a user would rate an item; which label a text has.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct PredictOptions {
  std::string target{};
  std::optional<int64_t> top{};
  double threshold = 0;
  bool as_text = false;

  static constexpr std::tuple fields{
      field("target", &PredictOptions::target,
            "tables: the column to fill; by default the target of training"),
      field("top", &PredictOptions::top, "tables, texts: how many answers")
          .between(1, 1e6)
          .automatic("10 for a row, 1 for each row of a file"),
      field("threshold", &PredictOptions::threshold,
            "texts: only labels that are at least this likely")
          .between(0, 1),
      field("as-text", &PredictOptions::as_text,
            "texts: what follows the model is a text, even if it looks like the name of a file"),
  };
};

struct Candidate {
  std::string id;
  double score = 0;
  std::optional<double> probability;  // if the model knows one
};

struct PredictedNumber {
  double mean = 0;
  std::optional<double> median;     // as likely below as above; if the model knows
  std::optional<double> deviation;  // of the truth from it; if the model knows
  std::string text, median_text;    // as they would stand in the column
};

// Of a column of names, or of the labels of a text, its candidates, best first; of a number (or a
// rating) what is expected.
struct Prediction {
  std::string target;
  std::vector<Candidate> candidates;
  std::optional<PredictedNumber> number;
  std::string user, item;                     // of a rating
  bool known_user = true, known_item = true;  // whom it does not know it takes for anybody
  bool known_text = true;  // of a text without a word that it knows it says what is usual
};

// From "column=value" terms: values of a row, or one user and one item; or from the words of a
// text. Values, users and items that the model does not know count as missing, and the observer is
// told; Error(kInput) if nothing else was given of a row.
Prediction predict(const Model& model, const std::vector<std::string>& terms,
                   const PredictOptions& options = {}, Observer* observer = nullptr);

// A row of a source with what is predicted for it. Views die with the call.
struct PredictedRow {
  std::span<const std::string> columns;
  std::span<const std::optional<std::string_view>> cells;
  std::span<const uint8_t> numbers;  // by column: whether its cells are numbers, to the model
  const Prediction& prediction;
  uint64_t row = 0;                  // in the sources, from 1
  std::span<const uint8_t> lists{};  // by column: whether each cell is one, to the model

  // The members of a cell that came as a list of JSON or an array of PostgreSQL; none if it did
  // not. A list with one member is seen as such only where the model knows that cells are lists.
  std::vector<std::string_view> members(size_t column) const;
};
struct PredictedRows {
  uint64_t rows = 0, unknown_users = 0, unknown_items = 0, unknown_texts = 0;
  bool deviations = false;  // whether the model knows them
};
// `reading` are settings of how the sources are read (see reading_settings).
PredictedRows predict_rows(const Model& model, const std::vector<std::string>& sources,
                           const PredictOptions& options, std::span<const Setting> reading,
                           const Context& context,
                           const std::function<void(const PredictedRow&)>& row,
                           Observer* observer = nullptr);
// Whether the model tells deviations; the columns of such a source, before its first row.
bool tells_deviation(const Model& model);

// Whether words after a model are values (or a text) or sources: true if the first is a file, a
// database or "-". Error(kIo) for what looks like a file that is not there; it names the flag that
// would make it a text, if the front end has one.
bool are_sources(const Model& model, const std::vector<std::string>& words,
                 std::string_view text_flag = {});

}  // namespace KITH_VISIBLE
