// SPDX-License-Identifier: Apache-2.0
#include "api/texts.h"

#include <array>
#include <utility>

#include "api/rows.h"
#include "core/waiting.h"
#include "data/labelled/label_source.h"

namespace kith {

TextAsker::TextAsker(const Classifies& model, std::string name)
    : model_(model),
      numbering_(model.numbering()),
      text_(model.form().options, std::move(name)),
      likely_(model.labels().size()) {}

Prediction TextAsker::predict(std::string_view text, size_t top, double threshold) {
  Prediction out;
  out.target = "label";
  if (numbering_) {
    text_.find(text, numbering_, words_);
  } else {
    text_.find(text, model_.words(), words_);
  }
  out.known_text = model_.classify(words_, likely_);
  for (const Ranked& r : best_of(likely_, top)) {
    if (r.score < threshold) break;
    out.candidates.push_back({std::string(model_.labels()[r.value]), r.score, r.score});
  }
  return out;
}

PredictedRows predict_texts(const Classifies& model, const std::vector<std::string>& sources,
                            const PredictOptions& options, std::span<const Setting> reading,
                            const Context& context,
                            const std::function<void(const PredictedRow&)>& row,
                            Observer* observer) {
  LabelColumns said;
  TableOptions table;
  const std::array sections{Section("Texts and labels", said), Section("The table", table)};
  apply_settings(reading, sections);
  const Waiting waiting(context);
  const LabelColumns columns = columns_for(sources.front(), said, model.form().columns);
  const auto source = open_labelled(sources, columns, table, false);
  TextAsker asker(model, name_of_sources(sources));
  PredictedRows out;
  std::vector<uint8_t> numbers;
  for (LabelledText item; source->next(item);) {
    context.check();
    const Prediction answer =
        asker.predict(item.text, static_cast<size_t>(options.top.value_or(1)), options.threshold);
    ++out.rows;
    out.unknown_texts += !answer.known_text;
    numbers.resize(item.columns.size());
    row({item.columns, item.cells, numbers, answer, source->row()});
  }
  for (Note& n : source->finish()) note(observer, n.level, std::move(n.text));
  return out;
}

}  // namespace kith
