// SPDX-License-Identifier: Apache-2.0
#include "kith/update.h"

#include "api/opened.h"
#include "api/reading.h"
#include "core/error.h"

namespace kith {

UpdateReport update(Model& model, const std::vector<std::string>& sources,
                    std::span<const Setting> reading, const Context& context, Observer* observer) {
  Model::Impl& opened = model.impl();
  const std::any known = opened.ask<Updates>("update").known();
  const auto more = read_for(*opened.info->data, sources, reading, known, context, observer);
  // A copy takes them in, and becomes the model when nothing can go wrong any more.
  std::unique_ptr<ModelBase> copy = clone(opened.whole(), opened.kind);
  Updated done = require<Updates>(*copy, opened.asked("update")).update(*more, context);
  copy->check_loadable();
  auto next = std::make_unique<Model::Impl>(*opened.info, std::move(copy), opened.metadata);
  next->path = opened.path;
  UpdateReport out{done.units, std::string(opened.info->data->unit), {}, done.solved};
  for (Updated::Added& a : done.added) {
    out.added.push_back({std::move(a.column), std::move(a.id), a.rows});
  }
  model = Model(std::move(next));
  return out;
}

}  // namespace kith
