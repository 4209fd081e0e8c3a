// SPDX-License-Identifier: Apache-2.0
#include "kith/models.h"

#include <algorithm>

#include "api/opened.h"
#include "core/error.h"
#include "data/dataset.h"
#include "kernels/rows.h"
#include "kith/version.h"
#include "models/model.h"

namespace kith {
namespace {

ModelDescription described(const ModelInfo& info) {
  const auto made = info.make();
  ModelDescription out{info.name,
                       info.summary,
                       info.data ? info.data->name : std::string_view(),
                       made->settings(),
                       {}};
  for (const Can what : {Can::kCompareVectors, Can::kCompleteRows, Can::kRateItems, Can::kClassify,
                         Can::kEmbedTexts, Can::kShowTopics, Can::kUpdate, Can::kTrainFurther}) {
    if (is_able(*made, what)) out.can.push_back(what);
  }
  return out;
}

const DataKind& kind_called(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DataKind* kind : data_kinds()) {
    if (kind->name == name) return *kind;
    names.push_back(kind->name);
  }
  throw fault(ErrorKind::kUsage, "there is no kind of data called {}; there are {}", name,
              fmt::join(names, ", "));
}

}  // namespace

std::string_view vector_instructions() { return instructions_in_use(); }

std::vector<ModelDescription> available_models() {
  std::vector<ModelDescription> out;
  for (const ModelInfo& info : models()) out.push_back(described(info));
  return out;
}

ModelDescription describe_model(std::string_view name) { return described(model(name)); }

bool is_model(std::string_view name) { return find_model(name) != nullptr; }

std::vector<std::string_view> available_data() {
  std::vector<std::string_view> out;
  for (const DataKind* kind : data_kinds()) out.push_back(kind->name);
  return out;
}

std::vector<FieldGroup> data_settings(std::string_view kind) {
  return groups_of(kind_called(kind).reader()->settings());
}

std::vector<FieldGroup> reading_settings(std::string_view kind) {
  return groups_of(kind_called(kind).reader()->reading());
}

std::vector<FieldGroup> reading_settings(std::initializer_list<Can> any_of) {
  std::vector<std::string_view> kinds;
  for (const ModelDescription& model : available_models()) {
    const bool wanted = std::ranges::any_of(model.can, [&](Can can) {
      return std::find(any_of.begin(), any_of.end(), can) != any_of.end();
    });
    if (wanted && std::ranges::find(kinds, model.data) == kinds.end()) kinds.push_back(model.data);
  }
  std::vector<FieldGroup> out;
  for (const std::string_view kind : kinds) {
    for (FieldGroup& group : reading_settings(kind)) {
      const bool known = std::ranges::find(out, group.title, &FieldGroup::title) != out.end();
      if (!known) out.push_back(std::move(group));
    }
  }
  return out;
}

std::string_view guess_kind(const std::string& source, const std::string& query) {
  return seen_as(source, query).kind->name;
}

}  // namespace kith
