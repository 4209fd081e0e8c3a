// SPDX-License-Identifier: Apache-2.0
#include "kith/embed.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "api/opened.h"
#include "api/reading.h"
#include "api/rows.h"
#include "api/text_vectors.h"
#include "api/vector_output.h"
#include "core/error.h"
#include "core/waiting.h"
#include "data/bags/bags.h"
#include "data/labelled/text_rows.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr std::string_view kQuestion = "embed";

// The vector of a row is the sum of its groups' vectors.
void add_groups(const SeenRow& row, std::span<float> out) {
  for (size_t g = 0; g < row.present.size(); ++g) {
    if (!row.present[g]) continue;
    for (size_t k = 0; k < out.size(); ++k) out[k] += row.vectors.row(g)[k];
  }
}

size_t dim_of(const RowAsker& rows) {
  if (const size_t dim = rows.model().row_dim(); dim > 0) return dim;
  throw fault(ErrorKind::kInput,
              "the model has biases but no vectors (dim = 0), so a row has none either");
}

void check_can_embed(const Model::Impl& model) {
  if (model.can(Can::kCompleteRows) || model.can(Can::kEmbedTexts)) return;
  refuse_question(model.asked(kQuestion), CompletesRows::kWhat, CountsWords::kWhat);
}

// What is said about texts to a model of rows would have no effect.
void check_options(const Model::Impl& model, const EmbedOptions& options) {
  const EmbedOptions usual;
  if (model.can(Can::kEmbedTexts)) return;
  const std::pair<std::string_view, bool> given[]{{"text", options.text},
                                                  {"column", options.column != usual.column},
                                                  {"tokens", options.tokens.has_value()},
                                                  {"weights", options.weights.has_value()},
                                                  {"smooth", options.smooth.has_value()},
                                                  {"common", options.common.has_value()}};
  for (const auto& [name, is_given] : given) {
    if (!is_given) continue;
    throw fault(ErrorKind::kUsage, "--{} is for texts, and this is a model of rows of a table",
                name);
  }
}

Embedded embed_cells(const Model& model, const std::vector<std::string>& sources,
                     VectorOutput& output, const EmbedOptions& options,
                     std::span<const Setting> reading, const Context& context, Observer* observer) {
  RowAsker asker(model.impl(), kQuestion);
  GroupedRows rows(asker.encoding(), sources, reading, context, observer);
  std::optional<size_t> name;
  if (!options.name.empty()) name = rows.column(options.name);
  const size_t dim = dim_of(asker);
  while (rows.next()) {
    const Cell label = name ? rows.raw()[*name] : std::nullopt;
    const std::span<float> vector = output.add(label.value_or(""), dim);
    add_groups(asker.see(rows.cells()), vector);
    if (!std::ranges::all_of(vector, [](float x) { return std::isfinite(x); })) {
      throw fault(ErrorKind::kInput,
                  "{}: its numbers are so large that its vector is not finite; check the row",
                  rows.where());
    }
  }
  output.write(output.join(dim), context);
  return {output.rows(), dim};
}

Embedded embed_texts(const Model& model, const std::vector<std::string>& sources,
                     VectorOutput& output, const EmbedOptions& options,
                     std::span<const Setting> reading, const Context& context, Observer* observer) {
  TableOptions table;
  const std::array sections{Section("The table", table)};
  apply_settings(reading, sections);
  const Waiting waiting(context);
  TextRows rows(sources, options.column, options.name, "name", table);
  TextVectors texts(model.impl(), options, rows.where(), observer);
  uint64_t unknown = 0;
  for (TextRow row; rows.next(row);) {
    context.check();
    unknown += !texts.embed(row.text, output.add(row.name, texts.dim()));
  }
  for (Note& n : rows.finish()) note(observer, n.level, std::move(n.text));
  if (output.rows() == 0) throw fault(ErrorKind::kInput, "{}: no texts in it", rows.where());
  texts.tell(observer);
  if (unknown > 0) {
    note(observer, Note::Level::kWarning,
         fmt::format("{} without a word that the model knows: the vector of each is 0",
                     count_of(unknown, "text")));
  }
  Matrix all = output.join(texts.dim());
  if (const size_t none = texts.finish(all, context)) {
    note(observer, Note::Level::kWarning,
         fmt::format("{} with nothing but what all texts share: the vector of each is 0; see "
                     "--common",
                     count_of(none, "text")));
  }
  output.write(std::move(all), context);
  return {output.rows(), texts.dim()};
}

// Documents as mixtures of topics, from whatever the model can learn from.
Embedded embed_documents(const Model& model, const std::vector<std::string>& sources,
                         VectorOutput& output, const EmbedOptions& options,
                         std::span<const Setting> reading, const Context& context,
                         Observer* observer) {
  const Model::Impl& opened = model.impl();
  refuse_weights(options);
  const auto& asked = opened.ask<Topics>(kQuestion);
  std::vector<Setting> how(reading.begin(), reading.end());
  if (!options.column.empty()) how.push_back({"column", options.column});
  if (!options.name.empty()) how.push_back({"id", options.name});
  const KnownBags known{asked.topic_words(), cut_like(opened, options.tokens)};
  const auto read = read_for(*opened.info->data, sources, how, known, context, observer);
  const auto& data = dynamic_cast<const Bags&>(*read);
  const Sparse& documents = data.train();
  if (documents.rows() == 0) {
    throw fault(ErrorKind::kInput, "{}: no documents in it", sources.front());
  }
  const size_t topics = asked.topic_names().size();
  Matrix all(documents.rows(), topics);
  asked.find_mixtures(documents, context, all);
  for (uint32_t d = 0; d < documents.rows(); ++d) {
    if (documents.row(d).size() == 0) std::ranges::fill(all.row(d), 0.0f);
    std::ranges::copy(all.row(d), output.add(data.names()[d], topics).begin());
  }
  if (const uint64_t unknown = data.counts().tokens - data.counts().kept) {
    note(observer, Note::Level::kNote,
         fmt::format("{} of {} are not known to the model and were left out", grouped(unknown),
                     count_of(data.counts().tokens, "word")));
  }
  if (const uint64_t empty = data.counts().empty) {
    note(observer, Note::Level::kWarning,
         fmt::format("{} without a word that the model knows: the vector of each is 0",
                     count_of(empty, "document")));
  }
  output.write(output.join(topics), context);
  return {output.rows(), topics};
}

}  // namespace

std::vector<float> embed(const Model& model, const std::vector<std::string>& terms,
                         const EmbedOptions& options, Observer* observer) {
  check_can_embed(model.impl());
  check_options(model.impl(), options);
  if (model.impl().can(Can::kCompleteRows)) {
    RowAsker rows(model.impl(), kQuestion);
    std::vector<float> out(dim_of(rows));
    add_groups(rows.see(rows.cells(terms, observer)), out);
    return out;
  }
  if (options.common == CommonDirection::kTexts) {
    throw fault(ErrorKind::kUsage, "--common texts is for files: one text has no others");
  }
  TextVectors texts(model.impl(), options, "the text", observer);
  std::vector<float> out(texts.dim());
  const std::string text = fmt::format("{}", fmt::join(terms, " "));
  if (!texts.embed(text, out)) {
    throw fault(ErrorKind::kInput, "the text {}",
                texts.words() == 0 ? "has no words" : "has no word that the model knows");
  }
  texts.tell(observer);
  return out;
}

Embedded embed_rows(const Model& model, const std::vector<std::string>& sources,
                    const std::string& output, const EmbedOptions& options,
                    std::span<const Setting> reading, const Context& context, Observer* observer) {
  check_can_embed(model.impl());
  check_options(model.impl(), options);
  std::vector<std::string> inputs = sources;
  inputs.push_back(model.path());
  VectorOutput file(output, options.to, inputs);
  if (model.impl().can(Can::kShowTopics)) {
    return embed_documents(model, sources, file, options, reading, context, observer);
  }
  return model.impl().can(Can::kCompleteRows)
             ? embed_cells(model, sources, file, options, reading, context, observer)
             : embed_texts(model, sources, file, options, reading, context, observer);
}

}  // namespace kith
