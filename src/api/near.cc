// SPDX-License-Identifier: Apache-2.0
#include "kith/near.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <utility>

#include "api/lookup.h"
#include "api/opened.h"
#include "api/rows.h"
#include "api/speller.h"
#include "api/text_vectors.h"
#include "core/error.h"
#include "io/utf8.h"
#include "kith/text.h"
#include "query/analogy.h"

namespace kith {
namespace {

constexpr size_t kBatch = 1024;  // queries answered at a time

// A name with its sign, of "king - man + woman".
struct Signed {
  std::string name;
  float sign;
};

// At " + " and " - ", with the blanks around them.
std::vector<Signed> parse_expression(const std::string& text) {
  std::vector<Signed> out;
  float sign = 1;
  std::string_view rest = text;
  if (rest.starts_with("- ") || rest.starts_with("+ ")) {
    sign = rest[0] == '-' ? -1.0f : 1.0f;
    rest.remove_prefix(2);
  }
  for (bool last = false; !last;) {
    const size_t end = std::min(rest.find(" + "), rest.find(" - "));
    last = end == std::string_view::npos;
    std::string_view name = rest.substr(0, end);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty() || name == "+" || name == "-" || name.starts_with("+ ") ||
        name.starts_with("- ") || name.ends_with(" +") || name.ends_with(" -")) {
      throw fault(ErrorKind::kUsage,
                  "{}: names and signs must alternate, as in 'king - man + woman'", shown(text));
    }
    out.push_back({std::string(name), sign});
    if (last) break;
    sign = rest[end + 1] == '-' ? -1.0f : 1.0f;
    rest.remove_prefix(end + 3);
  }
  return out;
}

// What to search for: a vector, in a group, without some rows.
struct Query {
  size_t place;  // among the queries
  size_t group;
  std::vector<float> vector;
  std::vector<uint32_t> exclude;
};

// Turns what was typed into queries.
class Resolver {
 public:
  // `topics`: the group of those that stand for nothing but themselves, because others than topics
  // are asked for.
  Resolver(const Model::Impl& model, const Lookup& lookup, const Speller& speller, bool texts,
           std::optional<size_t> topics, Observer* observer)
      : model_(model), lookup_(lookup), speller_(speller), topics_(topics), observer_(observer) {
    if (texts) texts_.emplace(model, EmbedOptions{}, "the text", observer);
  }

  Query resolve(size_t place, const std::string& text) {
    Query out{place, 0, {}, {}};
    if (texts_) {  // in the first group: documents where there are some, else words
      out.vector.resize(texts_->dim());
      if (!texts_->embed(text, out.vector)) {
        throw fault(ErrorKind::kInput, "{}: the text has no word that the model knows",
                    shown(text));
      }
      return out;
    }
    const bool expression =
        text.find(" + ") != std::string::npos || text.find(" - ") != std::string::npos;
    if (!expression || lookup_.find(text)) {
      add(text, text, 1, out);
      return out;
    }
    for (const Signed& term : parse_expression(text)) add(text, term.name, term.sign, out);
    return out;
  }

 private:
  void add(const std::string& text, const std::string& term, float sign, Query& out) {
    if (const auto found = lookup_.find(term)) {
      out.exclude.push_back(found->row);
      if (found->group == topics_) {
        std::vector<float> alone(lookup_.index(found->group).dim(), 0.0f);
        alone[found->row] = 1;
        return add(text, found->group, alone, sign, out);
      }
      return add(text, found->group, lookup_.index(found->group).unit_row(found->row), sign, out);
    }
    if (const auto vector = speller_.unit_vector(term)) {
      note(observer_, Note::Level::kNote,
           fmt::format("{} is not among the words of the model; its vector is made of its parts",
                       shown(term)));
      return add(text, 0, *vector, sign, out);
    }
    if (!model_.can<CompletesRows>()) lookup_.fail(term);
    // A value that stands in no row: two members of a set, or one whose n-grams have vectors.
    if (!rows_) rows_.emplace(model_, "near");
    const RowAsker::Cells cells = rows_->cells({&term, 1}, observer_);
    const size_t column = given(cells);
    const auto rows = rows_->members(column, *cells[column]);
    out.exclude.insert(out.exclude.end(), rows.begin(), rows.end());
    const size_t group = group_of(column);
    const auto seen = rows_->see(cells).vectors.row(column).first(lookup_.index(group).dim());
    add(text, group, {seen.begin(), seen.end()}, sign, out);
  }
  void add(const std::string& text, size_t group, const std::vector<float>& vector, float sign,
           Query& out) {
    if (!out.vector.empty() && group != out.group) {
      throw fault(ErrorKind::kUsage, "{}: names of one kind can be added, not {} and {}",
                  shown(text), lookup_.groups()[out.group].column, lookup_.groups()[group].column);
    }
    out.group = group;
    out.vector.resize(vector.size());
    for (size_t i = 0; i < vector.size(); ++i) out.vector[i] += sign * vector[i];
  }
  static size_t given(const RowAsker::Cells& cells) {
    return static_cast<size_t>(
        std::ranges::find_if(cells, [](const auto& c) { return c.has_value(); }) - cells.begin());
  }
  size_t group_of(size_t column) const {
    const std::string& name = rows_->group(column).column.name;
    for (size_t g = 0; g < lookup_.groups().size(); ++g) {
      if (lookup_.groups()[g].column == name) return g;
    }
    throw fault(ErrorKind::kUsage, "{} holds numbers; to predict one, use kith predict", name);
  }

  const Model::Impl& model_;
  const Lookup& lookup_;
  const Speller& speller_;
  const std::optional<size_t> topics_;
  Observer* observer_;
  std::optional<RowAsker> rows_;
  std::optional<TextVectors> texts_;
};

SearchOptions search_options(const VectorGroup& group, int64_t top,
                             std::optional<int64_t> restrict_to) {
  if (restrict_to && !group.by_frequency) {
    throw fault(ErrorKind::kUsage,
                "the names of {} are not in order of frequency, so --restrict cannot tell which "
                "are frequent",
                group.column);
  }
  return {.top = static_cast<size_t>(top),
          .restrict_to = static_cast<size_t>(restrict_to.value_or(0))};
}

// Answers queries, each group's through a graph where that pays.
class Searcher {
 public:
  Searcher(const Lookup& lookup, const NearOptions& options, size_t queries, const Context& context,
           Observer* observer)
      : lookup_(lookup),
        options_(options),
        queries_(queries),
        context_(context),
        observer_(observer),
        graphs_(lookup.groups().size()) {}

  std::vector<std::vector<Hit>> ask(size_t group, std::span<const Query* const> queries) {
    const Index& index = lookup_.index(group);
    Matrix vectors(queries.size(), index.dim());
    std::vector<std::vector<uint32_t>> exclude;
    for (size_t q = 0; q < queries.size(); ++q) {
      std::ranges::copy(queries[q]->vector, vectors.row(q).begin());
      exclude.push_back(queries[q]->exclude);
    }
    const SearchOptions search =
        search_options(lookup_.groups()[group], options_.top, options_.restrict_to);
    const HnswIndex* const graph = graph_of(group);
    return graph ? graph->search(vectors, exclude, search, context_)
                 : nearest(index, vectors, exclude, search, context_);
  }

 private:
  const HnswIndex* graph_of(size_t group) {
    const Index& index = lookup_.index(group);
    const bool wanted =
        options_.search ? *options_.search == Search::kHnsw : graph_pays(index.size(), queries_);
    if (wanted && !graphs_[group]) {
      using Clock = std::chrono::steady_clock;
      const auto start = Clock::now();
      graphs_[group] = std::make_unique<HnswIndex>(index, context_);
      const std::chrono::duration<double> took = Clock::now() - start;
      note(observer_, Note::Level::kNote,
           fmt::format("hnsw graph over {} built in {}; it finds {:.1f} % of the true top 10",
                       count_of(index.size(), "vector"), in_time(took.count()),
                       100 * graphs_[group]->recall(context_)));
    }
    return graphs_[group].get();
  }

  const Lookup& lookup_;
  const NearOptions& options_;
  size_t queries_;
  const Context& context_;
  Observer* observer_;
  std::vector<std::unique_ptr<HnswIndex>> graphs_;
};

std::vector<Neighbour> named(const Lookup& lookup, size_t group, std::span<const Hit> hits) {
  std::vector<Neighbour> out;
  for (const Hit& hit : hits) {
    out.push_back({std::string((*lookup.groups()[group].names)[hit.row]),
                   lookup.title(group, hit.row), hit.score});
  }
  return out;
}

// What goes with part of a row, of one of its columns: by score.
Near going_with(const Model::Impl& model, const std::vector<std::string>& terms,
                const NearOptions& options) {
  RowAsker rows(model, "near --to");
  const size_t to = rows.encoding().group(options.to);
  if (!rows.group(to).named()) {
    throw fault(ErrorKind::kUsage, "{} holds numbers; to predict one, use kith predict",
                rows.group(to).column.name);
  }
  const RowAsker::Cells cells = rows.cells(terms);
  std::vector<uint32_t> given;
  if (cells[to]) given = rows.members(to, *cells[to]);
  const auto scores = rows.scores(rows.see(cells), to).scores;
  Near out{fmt::format("{}", fmt::join(terms, " ")), options.to, {}, ""};
  for (const Ranked& r : best_of(scores, static_cast<size_t>(options.top), given)) {
    out.neighbours.push_back({std::string(rows.names(to)[r.value]), "", r.score});
  }
  return out;
}

// Whether all terms are of the column that is asked for: then what is like them is meant.
bool asks_for_itself(const Lookup& lookup, const std::vector<std::string>& terms,
                     const std::string& to) {
  if (terms.size() != 1) return false;
  const auto found = lookup.find(terms[0]);
  return found && lookup.groups()[found->group].column == to;
}

std::optional<size_t> topics_of(const Lookup& lookup) {
  const auto& groups = lookup.groups();
  const auto found = std::ranges::find(groups, "topic", &VectorGroup::column);
  if (found == groups.end()) return std::nullopt;
  return static_cast<size_t>(found - groups.begin());
}

// The group whose names a model of topics is asked for, whatever the queries are: all are in the
// space of topics.
std::optional<size_t> group_asked_for(const Model::Impl& model, const Lookup& lookup,
                                      const std::string& to) {
  if (to.empty() || !model.can<Topics>()) return std::nullopt;
  std::vector<std::string_view> names;
  for (size_t g = 0; g < lookup.groups().size(); ++g) {
    if (lookup.groups()[g].column == to) return g;
    names.push_back(lookup.groups()[g].column);
  }
  throw fault(ErrorKind::kUsage, "--to {}: there are {}", shown(to), fmt::join(names, ", "));
}

void check_texts(const Model::Impl& model, const NearOptions& options) {
  if (!options.to.empty() || options.vectors) {
    throw fault(ErrorKind::kUsage, "--text has vectors of its own; leave --to and --vectors out");
  }
  if (!model.can(Can::kEmbedTexts)) {
    refuse_question(model.asked("near --text"), CountsWords::kWhat);
  }
}

}  // namespace

void near(const Model& model, const std::vector<std::string>& queries, const NearOptions& options,
          const Context& context, const std::function<void(const Near&)>& answer,
          Observer* observer, const Titles* titles) {
  const Model::Impl& opened = model.impl();
  if (options.text) check_texts(opened, options);
  const Lookup lookup(opened.ask<HasVectors>("near").vectors_of(options.vectors), titles);
  const auto to = group_asked_for(opened, lookup, options.to);
  if (!to && !options.to.empty() && !asks_for_itself(lookup, queries, options.to)) {
    return answer(going_with(opened, queries, options));
  }
  const Speller speller(opened, options.vectors);
  const auto topics = to ? topics_of(lookup) : std::nullopt;
  Resolver resolver(opened, lookup, speller, options.text, topics == to ? std::nullopt : topics,
                    observer);
  Searcher searcher(lookup, options, queries.size(), context, observer);
  for (size_t begin = 0; begin < queries.size(); begin += kBatch) {
    const size_t end = std::min(queries.size(), begin + kBatch);
    std::vector<Near> answers(end - begin);
    std::vector<Query> resolved;
    for (size_t i = begin; i < end; ++i) {
      answers[i - begin].query = queries[i];
      try {
        resolved.push_back(resolver.resolve(i - begin, queries[i]));
        if (to && resolved.back().group != *to) {
          resolved.back().group = *to;
          resolved.back().exclude.clear();
        }
      } catch (const Error& e) {
        if (queries.size() == 1 || !is_about_what_was_asked(e)) throw;
        answers[i - begin].error = e.what();
      }
    }
    for (size_t g = 0; g < lookup.groups().size(); ++g) {
      std::vector<const Query*> own;
      for (const Query& q : resolved) {
        if (q.group == g) own.push_back(&q);
      }
      if (own.empty()) continue;
      const auto found = searcher.ask(g, own);
      for (size_t q = 0; q < own.size(); ++q) {
        Near& here = answers[own[q]->place];
        here.column = lookup.groups()[g].column;
        here.neighbours = named(lookup, g, found[q]);
      }
    }
    for (const Near& a : answers) answer(a);
  }
}

std::vector<Near> near(const Model& model, const std::vector<std::string>& queries,
                       const NearOptions& options, const Context& context) {
  std::vector<Near> out;
  near(model, queries, options, context, [&](const Near& a) { out.push_back(a); });
  return out;
}

std::vector<Neighbour> analogy(const Model& model, const std::string& a, const std::string& b,
                               const std::string& c, const AnalogyOptions& options,
                               const Context& context) {
  const Lookup lookup(model.impl().ask<HasVectors>("analogy").vectors_of(options.vectors), nullptr);
  const auto found = lookup.of_one_group({a, b, c});
  const size_t group = found[0].group;
  const auto hits =
      analogy(lookup.index(group), found[0].row, found[1].row, found[2].row, options.rule,
              search_options(lookup.groups()[group], options.top, options.restrict_to), context);
  return named(lookup, group, hits);
}

double similarity(const Model& model, const std::string& a, const std::string& b,
                  std::optional<Side> side) {
  const Lookup lookup(model.impl().ask<HasVectors>("similarity").vectors_of(side), nullptr);
  const Speller speller(model.impl(), side);
  if (!lookup.find(a) || !lookup.find(b)) {
    const auto unit = [&](const std::string& name) {
      const auto known = lookup.find(name);
      return known ? lookup.index(known->group).unit_row(known->row) : speller.unit_vector(name);
    };
    const std::optional<std::vector<float>> x = unit(a), y = unit(b);
    if (x && y) return std::inner_product(x->begin(), x->end(), y->begin(), 0.0);
  }
  const auto found = lookup.of_one_group({a, b});
  return cosine(lookup.index(found[0].group), found[0].row, found[1].row);
}

std::vector<double> fit_with_others(const Model& model, const std::vector<std::string>& names,
                                    std::optional<Side> side) {
  const Lookup lookup(model.impl().ask<HasVectors>("odd").vectors_of(side), nullptr);
  const auto found = lookup.of_one_group(names);
  if (found.size() < 2) throw fault(ErrorKind::kUsage, "give two names or more to compare");
  std::vector<uint32_t> rows;
  for (const Lookup::Found& f : found) rows.push_back(f.row);
  const std::vector<float> fits = fit_with_others(lookup.index(found[0].group), rows);
  return {fits.begin(), fits.end()};
}

}  // namespace kith
