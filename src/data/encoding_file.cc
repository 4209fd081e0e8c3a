// SPDX-License-Identifier: Apache-2.0
#include "data/encoding_file.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace kith {
namespace {

bool rising(std::span<const double> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || (i > 0 && !(values[i] > values[i - 1]))) return false;
  }
  return true;
}

}  // namespace

void add_group(Encoding& encoding, const Column& column) {
  auto& spaces = encoding.spaces;
  const bool shared = !column.vocabulary.empty();
  const std::string& name = shared ? column.vocabulary : column.name;
  auto at = std::ranges::find(spaces, name, &ValueSpace::name);
  Group group;
  group.column = column;
  if (shared && !group.named()) {
    throw Error(ErrorKind::kInput, "column {}: a {} column has no values to share", column.name,
                detail::show(column.type));
  }
  if (at == spaces.end()) {
    at = spaces.insert(spaces.end(), ValueSpace{});
    at->name = name;
  } else if (!shared) {
    throw Error(ErrorKind::kInput, "column {}: the vocabulary of another column has this name",
                name);
  }
  group.space = static_cast<uint32_t>(at - spaces.begin());
  if (group.named()) at->buckets = std::max(at->buckets, static_cast<uint64_t>(column.buckets));
  encoding.groups.push_back(std::move(group));
}

void pack(const Encoding& encoding, ArchiveWriter& out) {
  Schema schema;
  for (const Group& g : encoding.groups) schema.columns.push_back(g.column);
  out.metadata["schema"] = to_json(schema);
  for (size_t s = 0; s < encoding.spaces.size(); ++s) {
    const ValueSpace& space = encoding.spaces[s];
    out.add_names(fmt::format("space.{}", s), space.names);
    out.tensors[fmt::format("space.{}.counts", s)] =
        tensor_of(std::span<const uint64_t>(space.counts));
  }
  for (size_t g = 0; g < encoding.groups.size(); ++g) {
    const Group& group = encoding.groups[g];
    const auto name = [&](std::string_view part) { return fmt::format("group.{}.{}", g, part); };
    if (group.numeric()) {
      out.tensors[name("knots")] = tensor_of(std::span<const double>(group.knots));
      out.tensors[name("values")] = tensor_of(std::span<const double>(group.values));
      out.tensors[name("value_counts")] = tensor_of(std::span<const uint64_t>(group.value_counts));
    } else if (!group.named()) {
      out.tensors[name("mean")] = tensor_of(std::span<const float>(group.mean));
      out.tensors[name("scale")] = tensor_of(std::span<const float>(group.scale));
    }
  }
}

Encoding read_encoding(const Archive& in) {
  const auto check = [&](bool good, std::string_view what) {
    if (!good) throw Error(ErrorKind::kInput, "{}: {}; the file is damaged", in.where(), what);
  };
  Encoding out;
  for (const Column& column : schema_from_json(in.metadata_at("schema"), in.where()).columns) {
    check(column.type != ColumnType::kIgnore, "the schema keeps a column that is ignored");
    add_group(out, column);
  }
  check(out.groups.size() >= 2, "the schema has fewer than two columns");
  for (size_t s = 0; s < out.spaces.size(); ++s) {
    ValueSpace& space = out.spaces[s];
    space.names = in.names(fmt::format("space.{}", s));
    space.counts = in.values<uint64_t>(fmt::format("space.{}.counts", s));
    check(space.counts.size() == space.names.size(), "the counts do not fit the names");
  }
  for (size_t g = 0; g < out.groups.size(); ++g) {
    Group& group = out.groups[g];
    const auto name = [&](std::string_view part) { return fmt::format("group.{}.{}", g, part); };
    if (group.numeric()) {
      group.knots = in.values<double>(name("knots"));
      group.values = in.values<double>(name("values"));
      group.value_counts = in.values<uint64_t>(name("value_counts"));
      check(rising(group.knots) && rising(group.values) && !group.knots.empty() &&
                group.values.size() == group.value_counts.size() && !group.values.empty(),
            "the knots of a number do not rise");
    } else if (!group.named()) {
      group.mean = in.values<float>(name("mean"));
      group.scale = in.values<float>(name("scale"));
      const auto finite = [](float x) { return std::isfinite(x); };
      check(group.mean.size() == group.scale.size() && std::ranges::all_of(group.mean, finite) &&
                std::ranges::all_of(group.scale, finite),
            "the scale of a vector does not fit");
    }
    if (!group.named()) {
      out.spaces[group.space].basis =
          basis_rows(group.column, group.knots.size(), group.mean.size());
    }
  }
  return out;
}

}  // namespace kith
