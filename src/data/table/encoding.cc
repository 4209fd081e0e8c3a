// SPDX-License-Identifier: Apache-2.0
#include "data/table/encoding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "data/ngrams.h"
#include "data/table/cells.h"
#include "io/nfc.h"

namespace kith {
namespace {

constexpr size_t kShortest = 3, kLongest = 5;  // characters of a hashed n-gram
constexpr double kYear = 365.2425, kWeek = 7, kDay = 1;
constexpr size_t kCycles = 6;  // sin and cos of three turns
constexpr float kCycleWeight = 0.5f;

void append_number(double value, std::span<const double> knots, uint32_t first,
                   std::vector<Feature>& out) {
  const auto bias = first + static_cast<uint32_t>(knots.size());
  if (!knots.empty()) {
    const auto above = std::ranges::upper_bound(knots, value);
    if (above == knots.begin()) {
      out.push_back({first, 1.0f});
    } else if (above == knots.end()) {
      out.push_back({bias - 1, 1.0f});
    } else {
      const auto right = static_cast<uint32_t>(above - knots.begin());
      // Halves, since the distance of two large numbers may be out of range.
      const double share =
          (value / 2 - knots[right - 1] / 2) / (knots[right] / 2 - knots[right - 1] / 2);
      out.push_back({first + right - 1, static_cast<float>(1 - share)});
      out.push_back({first + right, static_cast<float>(share)});
    }
  }
  out.push_back({bias, 1.0f});
}

void append_turn(double days, double period, uint32_t row, std::vector<Feature>& out) {
  const double angle = 2 * std::numbers::pi * days / period;
  out.push_back({row, kCycleWeight * static_cast<float>(std::sin(angle))});
  out.push_back({row + 1, kCycleWeight * static_cast<float>(std::cos(angle))});
}

}  // namespace

size_t Encoding::find(std::string_view name) const {
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].column.name == name) return g;
  }
  return npos;
}

size_t Encoding::group(std::string_view name) const {
  if (const size_t g = find(name); g != npos) return g;
  std::vector<std::string_view> names;
  for (const Group& g : groups) names.push_back(g.column.name);
  const std::string nearest = suggest(name, names);
  throw fault(ErrorKind::kUsage, "the model has no column {}{}", name,
              nearest.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : nearest);
}

uint64_t Encoding::base(size_t space) const {
  uint64_t rows = 0;
  for (size_t s = 0; s < space; ++s) rows += spaces[s].rows();
  return rows;
}

void Encoding::check_size() const {
  if (rows() < kNoRow) return;
  throw fault(ErrorKind::kLimit,
              "the columns have {} values and features, and more than {} cannot be told apart; "
              "raise min_count, lower buckets, or set columns to ignore in the schema",
              rows(), kNoRow - 1);
}

void add_group(Encoding& encoding, const Column& column) {
  auto& spaces = encoding.spaces;
  const bool shared = !column.vocabulary.empty();
  const std::string& name = shared ? column.vocabulary : column.name;
  auto at = std::ranges::find(spaces, name, &ValueSpace::name);
  Group group;
  group.column = column;
  if (shared && !group.named()) {
    throw fault(ErrorKind::kInput, "column {}: a {} column has no values to share", column.name,
                detail::show(column.type));
  }
  if (at == spaces.end()) {
    at = spaces.insert(spaces.end(), ValueSpace{});
    at->name = name;
  } else if (!shared) {
    throw fault(ErrorKind::kInput, "column {}: the vocabulary of another column has this name",
                name);
  }
  group.space = static_cast<uint32_t>(at - spaces.begin());
  if (group.named()) at->buckets = std::max(at->buckets, static_cast<uint64_t>(column.buckets));
  encoding.groups.push_back(std::move(group));
}

uint64_t basis_rows(const Column& column, size_t knots, size_t components) {
  switch (column.type) {
    case ColumnType::kNumber:
      return knots + 1;
    case ColumnType::kDate:
      return knots + 1 + kCycles;
    case ColumnType::kVector:
      return components + 1;
    default:
      return 0;
  }
}

NumericCell numeric_cell(const Column& column, std::string_view cell) {
  cell = trimmed(cell);
  const bool date = column.type == ColumnType::kDate;
  if (const auto value = date ? parse_date(cell, column.order) : parse_number(cell)) return {value};
  return {std::nullopt, !cell.empty() && !is_missing_mark(cell)};
}

std::optional<std::vector<float>> vector_cell(const Column& column, std::string_view cell) {
  std::vector<float> out;
  bool good = true;
  for_each_member(cell, column.separator, [&](std::string_view member) {
    const auto value = parse_number(member);
    good = good && value;
    out.push_back(static_cast<float>(value.value_or(0)));
  });
  if (!good) return std::nullopt;
  return out;
}

void append_numeric(const Group& group, double value, uint32_t first, std::vector<Feature>& out) {
  append_number(value, group.knots, first, out);
  if (group.column.type != ColumnType::kDate) return;
  const uint32_t cycle = first + static_cast<uint32_t>(group.knots.size()) + 1;
  append_turn(value, kYear, cycle, out);
  append_turn(value, kWeek, cycle + 2, out);
  append_turn(value, kDay, cycle + 4, out);
}

void append_vector(std::span<const float> values, const Group& group, uint32_t first,
                   std::vector<Feature>& out) {
  for (size_t i = 0; i < values.size(); ++i) {
    out.push_back({first + static_cast<uint32_t>(i), (values[i] - group.mean[i]) * group.scale[i]});
  }
  out.push_back({first + static_cast<uint32_t>(values.size()), 1.0f});
}

void append_members(const Column& column, const ValueSpace& space,
                    std::span<const std::string_view> members, std::span<const uint32_t> rows,
                    uint32_t base, std::vector<Feature>& out) {
  const size_t begin = out.size();
  const auto buckets = static_cast<uint32_t>(space.buckets);
  const uint32_t first_bucket = base + static_cast<uint32_t>(space.names.size());
  size_t known = 0;
  for (size_t m = 0; m < members.size(); ++m) {
    const size_t before = out.size();
    if (rows[m] != kNoRow) out.push_back({base + rows[m], 1.0f});
    if (buckets > 0) {
      const size_t own = out.size();
      const auto add = [&](std::string_view gram, uint64_t seed) {
        const auto bucket = static_cast<uint32_t>(bucket_hash(gram, seed) % buckets);
        out.push_back({first_bucket + bucket, 1.0f});
      };
      if (column.type == ColumnType::kText) {
        if (m > 0) add(members[m], bucket_hash(members[m - 1], 0));
        if (rows[m] == kNoRow)
          for_each_ngram(members[m], kShortest, kLongest, [&](auto gram) { add(gram, 1); });
      } else {
        for_each_ngram(members[m], kShortest, kLongest, [&](auto gram) { add(gram, 1); });
      }
      // Many n-grams weigh as much together as a few: their sum grows like a walk, so divide by the
      // root of their number.
      const auto scale = 1 / std::sqrt(static_cast<float>(std::max<size_t>(1, out.size() - own)));
      for (size_t i = own; i < out.size(); ++i) out[i].weight *= scale;
    }
    known += out.size() > before;
  }
  if (known > 1 && column.type != ColumnType::kCategory && column.type != ColumnType::kBoolean) {
    const auto scale = static_cast<float>(std::pow(static_cast<double>(known), -column.pooling));
    for (size_t i = begin; i < out.size(); ++i) out[i].weight *= scale;
  }
}

CellEncoder::CellEncoder(const Encoding& encoding) : encoding_(encoding) {
  encoding.check_size();
  for (size_t s = 0; s < encoding.spaces.size(); ++s) base_.push_back(encoding.base32(s));
  CorpusOptions options;
  options.tokens = Tokens::kWords;
  options.emoji = encoding.normal_form;  // the words of a model stay those it was trained with
  tokenizer_ = make_tokenizer(options, [this](std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      if (word.empty()) continue;  // the end of a line
      spans_.emplace_back(words_.size(), word.size());
      words_ += word;
    }
  });
}

CellEncoder::~CellEncoder() = default;

std::span<const std::string_view> CellEncoder::members(const Column& column,
                                                       std::string_view cell) {
  members_.clear();
  if (encoding_.normal_form && !is_surely_nfc(cell)) cell = form_ = nfc(cell);
  if (column.type == ColumnType::kSet) {
    for_each_member(cell, column.separator, [&](std::string_view m) { members_.push_back(m); });
  } else if (column.type == ColumnType::kText) {
    words_.clear();
    spans_.clear();
    tokenizer_->begin_file(column.name);
    tokenizer_->feed(cell);
    tokenizer_->end_file();
    for (const auto& [begin, size] : spans_) {
      members_.push_back(std::string_view(words_).substr(begin, size));
    }
  } else if (const std::string_view value = trimmed(cell); !value.empty()) {
    members_.push_back(value);
  }
  return members_;
}

bool CellEncoder::encode(size_t g, const Cell& cell, std::vector<Feature>& out) {
  if (!cell) return false;
  const Group& group = encoding_.groups[g];
  const uint32_t base = base_[group.space];
  const size_t before = out.size();
  if (group.numeric()) {
    const NumericCell found = numeric_cell(group.column, *cell);
    if (found.unreadable) {
      throw fault(ErrorKind::kInput, "column {}: \"{:.40}\" is not a {}", group.column.name, *cell,
                  group.column.type == ColumnType::kDate ? "date" : "number");
    }
    if (!found.value) return false;
    append_numeric(group, *found.value, base, out);
  } else if (group.column.type == ColumnType::kVector) {
    const auto values = vector_cell(group.column, *cell);
    if (values && values->empty()) return false;
    if (!values || values->size() != group.mean.size()) {
      throw fault(ErrorKind::kInput, "column {}: \"{:.40}\" is not a vector of {} numbers",
                  group.column.name, *cell, group.mean.size());
    }
    append_vector(*values, group, base, out);
  } else {
    const ValueSpace& space = encoding_.spaces[group.space];
    const auto names = members(group.column, *cell);
    std::vector<uint32_t> rows;
    for (const std::string_view name : names)
      rows.push_back(space.names.find(name).value_or(kNoRow));
    append_members(group.column, space, names, rows, base, out);
  }
  return out.size() > before;
}

}  // namespace kith
