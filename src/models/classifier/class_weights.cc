// SPDX-License-Identifier: Apache-2.0
#include "models/classifier/class_weights.h"

#include <algorithm>

#include "core/error.h"
#include "data/table/cells.h"
#include "kith/fields.h"

namespace kith::classifier {
namespace {

uint32_t label_called(std::string_view name, const Names& labels) {
  if (const auto at = labels.find(name)) return *at;
  const std::vector<std::string> near = similar_spellings(name, labels, 1);
  throw fault(ErrorKind::kUsage, "class-weights: there is no label {}{}", name,
              near.empty() ? "" : fmt::format("; did you mean {}?", near.front()));
}

}  // namespace

std::vector<float> class_weights(const std::string& setting, const Names& labels,
                                 std::span<const uint64_t> counts, uint64_t texts) {
  if (setting == "none") return {};
  std::vector<float> out(labels.size(), 1.0f);
  if (setting == "balanced") {
    for (size_t k = 0; k < out.size(); ++k) {
      const double even = static_cast<double>(texts) / static_cast<double>(labels.size());
      out[k] = static_cast<float>(even / static_cast<double>(std::max<uint64_t>(1, counts[k])));
    }
    return out;
  }
  for_each_member(setting, ",", [&](std::string_view item) {
    constexpr double kMost = 1e6;  // they multiply the steps of training
    const size_t at = item.rfind('=');
    const auto weight =
        at == std::string_view::npos ? std::nullopt : parse_number(item.substr(at + 1));
    if (!weight || *weight < 0 || *weight > kMost) {
      throw fault(ErrorKind::kUsage,
                  "class-weights must be none, balanced, or a list such as spam=5,ham=1 with "
                  "weights from 0 to {:g}; got {}",
                  kMost, item);
    }
    out[label_called(trimmed(item.substr(0, at)), labels)] = static_cast<float>(*weight);
  });
  return out;
}

}  // namespace kith::classifier
