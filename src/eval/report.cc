// SPDX-License-Identifier: Apache-2.0
#include "kith/report.h"

#include <algorithm>
#include <span>
#include <utility>

namespace kith {
namespace {

const Way* find_way(const Comparison& comparison, std::string_view name) {
  const auto at = std::ranges::find(comparison.ways, name, &Way::name);
  return at == comparison.ways.end() ? nullptr : &*at;
}

// What a way reached on all parts; nothing if one of them does not say.
std::optional<double> mean_at(std::span<const Report> parts, size_t comparison,
                              std::string_view way, std::string_view measure) {
  double sum = 0;
  for (const Report& part : parts) {
    if (comparison >= part.comparisons.size()) return std::nullopt;
    const Way* const here = find_way(part.comparisons[comparison], way);
    const auto value = here ? here->at(measure) : std::nullopt;
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(parts.size());
}

}  // namespace

std::optional<double> Way::at(std::string_view measure) const {
  const auto found = std::ranges::find(measures, measure, &Measure::name);
  return found == measures.end() ? std::nullopt : std::optional(found->value);
}

std::optional<double> Report::at(std::string_view measure) const { return at("model", measure); }

std::optional<double> Report::at(std::string_view way, std::string_view measure) const {
  for (const Comparison& c : comparisons) {
    const Way* const found = find_way(c, way);
    if (const auto value = found ? found->at(measure) : std::nullopt) return value;
  }
  return std::nullopt;
}

std::optional<uint64_t> Report::count(std::string_view name) const {
  for (const auto& [key, value] : counts) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Report mean_of(std::vector<Report> parts) {
  Report out;
  if (parts.empty()) return out;
  const Report& first = parts.front();
  out.title = first.title;
  for (size_t c = 0; c < first.comparisons.size(); ++c) {
    Comparison mean;
    for (const Way& way : first.comparisons[c].ways) {
      Way kept{way.name, {}};
      for (const Measure& m : way.measures) {
        if (const auto value = mean_at(parts, c, way.name, m.name)) {
          kept.measures.push_back({m.name, *value});
        }
      }
      if (!kept.measures.empty()) mean.ways.push_back(std::move(kept));
    }
    if (!mean.ways.empty()) out.comparisons.push_back(std::move(mean));
  }
  for (const auto& [name, value] : first.counts) {
    uint64_t sum = 0;
    for (const Report& part : parts) sum += part.count(name).value_or(0);
    out.counts.emplace_back(name, sum);
  }
  for (const Note& note : first.notes) {  // what is true of all
    const bool everywhere = std::ranges::all_of(parts, [&](const Report& part) {
      return std::ranges::any_of(part.notes, [&](const Note& n) { return n.text == note.text; });
    });
    if (everywhere) out.notes.push_back(note);
  }
  out.parts = std::move(parts);
  return out;
}

}  // namespace kith
