// SPDX-License-Identifier: Apache-2.0
#include "api/rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/error.h"
#include "core/waiting.h"
#include "io/utf8.h"

namespace kith {
namespace {

bool is_bag(const Column& c) { return c.type == ColumnType::kSet || c.type == ColumnType::kText; }

RowAsker::Guess guess_by(const Group& group, std::span<const double> p) {
  RowAsker::Guess out{0, group.values.empty() ? 0 : group.values.back()};
  double below = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    out.mean += p[i] * group.values[i];
    if (below < 0.5 && below + p[i] >= 0.5) out.median = group.values[i];
    below += p[i];
  }
  return out;
}

}  // namespace

void note(Observer* observer, Note::Level level, std::string text) {
  if (observer) observer->on(Note{level, std::move(text)});
}

RowAsker::RowAsker(const Model::Impl& model, std::string_view question)
    : opened_(model), model_(model.ask<CompletesRows>(question)), encoder_(model_.encoding()) {}

bool RowAsker::knows(const std::string& value) const {
  for (size_t g = 0; g < encoding().groups.size(); ++g) {
    if (group(g).named() && names(g).find(value)) return true;
  }
  return false;
}

size_t RowAsker::column_of(const std::string& value) const {
  std::vector<std::string> columns, near;
  size_t found = 0;
  for (size_t g = 0; g < encoding().groups.size(); ++g) {
    if (!group(g).named()) continue;
    const std::string& column = group(g).column.name;
    if (names(g).find(value)) {
      found = g;
      columns.push_back(column);
    }
    for (const std::string& name : similar_spellings(value, names(g), 1)) {
      if (near.size() < 3) near.push_back(fmt::format("{}={}", column, name));
    }
  }
  if (columns.size() == 1) return found;
  if (!columns.empty()) {
    throw fault(ErrorKind::kUsage, "{} is a value of {}; say which: {}={}", shown(value),
                fmt::join(columns, " and of "), columns[0], shown(value));
  }
  throw fault(
      ErrorKind::kInput, "no column has the value {}{}", shown(value),
      near.empty() ? "; ask as column=value" : fmt::format("; similar: {}", fmt::join(near, ", ")));
}

// What has no vector counts as missing. One unknown word of a text of many is no matter.
std::vector<std::string> RowAsker::drop_unknown(size_t g, std::optional<std::string>& cell) const {
  std::vector<std::string> out;
  if (!cell || !group(g).named() || group(g).column.type == ColumnType::kText) return out;
  const ValueSpace& space = encoding().spaces[group(g).space];
  bool known = false;
  for (const std::string_view member : encoder_.members(group(g).column, *cell)) {
    if (space.buckets > 0 || space.names.find(member)) {
      known = true;
      continue;
    }
    const auto near = similar_spellings(member, space.names);
    out.push_back(
        fmt::format("{} has no value {}{}", group(g).column.name, shown(member),
                    near.empty() ? "" : fmt::format("; similar: {}", fmt::join(near, ", "))));
  }
  if (!known) cell.reset();
  return out;
}

RowAsker::Cells RowAsker::cells(std::span<const std::string> terms, Observer* observer) const {
  Cells out(encoding().groups.size());
  for (const std::string& term : terms) {
    const size_t sign = term.find('=');
    const bool says_column = sign != std::string::npos && sign > 0;
    const size_t named = says_column ? encoding().find(term.substr(0, sign)) : Encoding::npos;
    if (says_column && named == Encoding::npos && !knows(term)) {
      encoding().group(term.substr(0, sign));  // says what there is
    }
    const size_t g = named != Encoding::npos ? named : column_of(term);
    const std::string value = named != Encoding::npos ? term.substr(sign + 1) : term;
    const Column& column = group(g).column;
    if (value.empty()) throw fault(ErrorKind::kUsage, "{}: the value is empty", shown(term));
    if (!out[g]) {
      out[g] = value;
    } else if (is_bag(column)) {
      *out[g] += (column.type == ColumnType::kSet ? column.separator : " ") + value;
    } else {
      throw fault(ErrorKind::kUsage, "{} is given twice, and holds one value", column.name);
    }
  }
  std::vector<std::string> unknown;
  for (size_t g = 0; g < out.size(); ++g) {
    std::ranges::move(drop_unknown(g, out[g]), std::back_inserter(unknown));
  }
  const bool nothing = std::ranges::none_of(out, [](const auto& cell) { return cell.has_value(); });
  if (nothing && !unknown.empty()) throw fault(ErrorKind::kInput, "{}", unknown.front());
  for (std::string& text : unknown) {
    note(observer, Note::Level::kWarning, std::move(text) + "; it counts as missing");
  }
  return out;
}

std::vector<uint32_t> RowAsker::members(size_t g, std::string_view cell) {
  std::vector<uint32_t> out;
  for (const std::string_view member : encoder_.members(group(g).column, cell)) {
    if (const auto row = names(g).find(member)) out.push_back(*row);
  }
  return out;
}

const SeenRow& RowAsker::see(const Cells& cells) {
  std::vector<Cell> views;
  for (const auto& cell : cells) views.push_back(cell ? Cell(*cell) : std::nullopt);
  return see(views);
}

const SeenRow& RowAsker::see(std::span<const Cell> cells) {
  model_.see(encoder_, cells, seen_);
  return seen_;
}

bool RowAsker::scores_alone(size_t g) const {
  return model_.scores_target() && g == model_.target();
}

RowAsker::Scores RowAsker::scores(const SeenRow& row, size_t g) const {
  if (scores_alone(g) && group(g).named()) {
    auto [scores, are_probabilities] = model_.class_scores(row);
    return {std::move(scores), are_probabilities};
  }
  const std::vector<float> context = model_.context(row, g);
  const Matrix& all = opened_.values(model_, g);
  Scores out{std::vector<float>(all.rows()), true};
  for (size_t v = 0; v < all.rows(); ++v) {
    out.scores[v] = std::inner_product(context.begin(), context.end(), all.row(v).begin(), 0.0f);
  }
  return out;
}

void RowAsker::check_target(size_t g) const {
  if (group(g).column.type != ColumnType::kVector) return;
  throw fault(ErrorKind::kUsage, "{} is a column of vectors, which cannot be predicted",
              group(g).column.name);
}

RowAsker::Guess RowAsker::guess(const SeenRow& row, size_t g) const {
  if (scores_alone(g)) {
    const double value = model_.target_value(row);
    return {value, value};
  }
  return guess_by(group(g), probabilities(scores(row, g).scores));
}

RowAsker::Guess RowAsker::guess_of_all(size_t g) const {
  const std::vector<uint64_t>& counts = group(g).value_counts;
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  std::vector<double> p;
  for (const uint64_t c : counts) p.push_back(static_cast<double>(c) / total);
  return guess_by(group(g), p);
}

Prediction RowAsker::predict(const SeenRow& row, size_t g, size_t top) const {
  Prediction out;
  out.target = group(g).column.name;
  if (group(g).numeric()) {
    const Guess found = guess(row, g);
    PredictedNumber& number = out.number.emplace();
    number.mean = found.mean;
    number.text = show_number(group(g), found.mean);
    if (scores_alone(g)) return out;
    number.median = found.median;
    number.median_text = show_number(group(g), found.median);
    return out;
  }
  const Scores found = scores(row, g);
  std::vector<double> p;
  if (found.probabilities) p = probabilities(found.scores);
  for (const Ranked& r : best_of(found.scores, top)) {
    out.candidates.push_back({std::string(names(g)[r.value]), r.score,
                              p.empty() ? std::nullopt : std::optional(p[r.value])});
  }
  return out;
}

GroupedRows::GroupedRows(const Encoding& encoding, const std::vector<std::string>& sources,
                         std::span<const Setting> reading, const Context& context,
                         Observer* observer)
    : encoding_(encoding),
      source_(sources.front()),
      context_(context),
      observer_(observer),
      cells_(encoding.groups.size()),
      warned_(encoding.groups.size(), 0) {
  TableOptions options;
  const Section section("The table", options);
  apply_settings(reading, {&section, 1});
  const Waiting waiting(context);
  reader_ = open_table(sources, options);
  size_t known = 0;
  for (const Group& g : encoding.groups) {
    const auto at = find(g.column.name);
    column_.push_back(at.value_or(Encoding::npos));
    known += at.has_value();
  }
  if (known == 0) {
    throw fault(ErrorKind::kInput, "{}: none of its columns ({}) is one of the model's", source_,
                fmt::join(columns(), ", "));
  }
}

std::optional<size_t> GroupedRows::find(const std::string& name) const {
  const auto at = std::ranges::find(columns(), name);
  if (at == columns().end()) return std::nullopt;
  return static_cast<size_t>(at - columns().begin());
}

size_t GroupedRows::column(const std::string& name) const {
  if (const auto at = find(name)) return *at;
  const std::vector<std::string_view> known(columns().begin(), columns().end());
  throw fault(ErrorKind::kUsage, "{} has no column {}{}", source_, shown(name),
              suggest(name, known));
}

std::vector<uint8_t> GroupedRows::numbers() const {
  std::vector<uint8_t> out(columns().size());
  for (size_t g = 0; g < column_.size(); ++g) {
    const ColumnType type = encoding_.groups[g].column.type;
    if (has(g)) out[column_[g]] = type == ColumnType::kNumber || type == ColumnType::kVector;
  }
  return out;
}

std::vector<uint8_t> GroupedRows::lists() const {
  const std::string_view list(&kListSeparator, 1);
  std::vector<uint8_t> out(columns().size());
  for (size_t g = 0; g < column_.size(); ++g) {
    if (has(g)) out[column_[g]] = encoding_.groups[g].column.separator == list;
  }
  return out;
}

bool GroupedRows::next() {
  context_.check();
  const Waiting waiting(context_);
  if (!reader_->next(raw_)) {
    for (Note& n : reader_->tally()->finish()) note(observer_, n.level, std::move(n.text));
    return false;
  }
  for (size_t g = 0; g < cells_.size(); ++g) {
    cells_[g] = has(g) ? raw_[column_[g]] : std::nullopt;
    if (cells_[g]) drop_unreadable(g);
  }
  return true;
}

void GroupedRows::drop_unreadable(size_t g) {
  const Group& group = encoding_.groups[g];
  bool readable = true;
  if (group.numeric()) {
    readable = !numeric_cell(group.column, *cells_[g]).unreadable;
  } else if (group.column.type == ColumnType::kVector) {
    const auto values = vector_cell(group.column, *cells_[g]);
    readable = values && (values->empty() || values->size() == group.mean.size());
  }
  if (readable) return;
  if (!warned_[g]) {
    note(observer_, Note::Level::kWarning,
         fmt::format(
             "{}: column {}: \"{}\" is not a {} and counts as missing, as do others like it",
             where(), group.column.name, shown(*cells_[g]), detail::show(group.column.type)));
  }
  warned_[g] = 1;
  cells_[g].reset();
}

std::vector<Ranked> best_of(std::span<const float> scores, size_t top,
                            std::span<const uint32_t> skip) {
  std::vector<Ranked> out;
  out.reserve(scores.size());
  for (uint32_t v = 0; v < scores.size(); ++v) {
    if (std::ranges::find(skip, v) == skip.end()) out.push_back({v, scores[v]});
  }
  const size_t n = std::min(top, out.size());
  std::ranges::partial_sort(out, out.begin() + static_cast<int64_t>(n), [](auto& a, auto& b) {
    return a.score > b.score || (a.score == b.score && a.value < b.value);
  });
  out.resize(n);
  return out;
}

std::vector<double> probabilities(std::span<const float> scores) {
  std::vector<double> out(scores.size());
  if (scores.empty()) return out;
  const double highest = *std::ranges::max_element(scores);
  double total = 0;
  for (size_t i = 0; i < out.size(); ++i) total += out[i] = std::exp(scores[i] - highest);
  for (double& p : out) p /= total;
  return out;
}

std::string show_number(const Group& group, double value) {
  if (group.column.type != ColumnType::kDate) return fmt::format("{:.6g}", value);
  // A date has four digits for the year; a line through dates may lead beyond.
  constexpr double kFirst = -719528, kLast = 2932896;  // 0000-01-01, 9999-12-31
  if (std::isnan(value)) return "nan";
  // To the minute first, so that a moment before midnight is not shown as 24:00.
  const double minutes = std::round(std::clamp(value, kFirst, kLast) * 1440);
  const double days = std::floor(minutes / 1440);
  const auto rest = static_cast<int>(minutes - days * 1440);
  const std::chrono::year_month_day d{
      std::chrono::sys_days{std::chrono::days(static_cast<int>(days))}};
  std::string out = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(d.year()),
                                static_cast<unsigned>(d.month()), static_cast<unsigned>(d.day()));
  if (rest > 0) out += fmt::format(" {:02}:{:02}", rest / 60, rest % 60);
  return out;
}

}  // namespace kith
