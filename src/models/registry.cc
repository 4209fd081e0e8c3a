// SPDX-License-Identifier: Apache-2.0
// Which models there are, and the part of the model file that is the same for all of them.
#include <algorithm>
#include <vector>

#include "core/error.h"
#include "kith/version.h"
#include "models/model.h"

#define MODEL(name)      \
  namespace kith::name { \
  ModelInfo info();      \
  }
#include "models/models.def"
#undef MODEL

namespace kith {
namespace {

// Of what stands in the metadata and the tensors. Files of all earlier formats are read: 1 is that
// of version 0.1, in which numbers stood for settings that were not given.
constexpr std::string_view kFormat = "2";
constexpr std::array<std::string_view, 2> kReadable{"1", "2"};

}  // namespace

std::string kind_of(const Archive& in) {
  if (in.metadata().contains("data") && !in.metadata().contains("model")) {
    throw fault(ErrorKind::kInput, "{}: these are {:.40}, not a model; kith count shows them",
                in.where(), in.metadata_at("data"));
  }
  if (!in.metadata().contains("model") || !in.metadata().contains("format")) {
    throw fault(ErrorKind::kInput,
                "{}: not a Kith model; vectors of another tool are read with "
                "kith import",
                in.where());
  }
  const std::string format = in.metadata_at("format");
  if (std::ranges::find(kReadable, format) == kReadable.end()) {
    throw fault(
        ErrorKind::kInput,
        "{}: written in format {:.20}; this program reads formats up to {}: use a newer one",
        in.where(), format, kFormat);
  }
  return in.metadata_at("model");
}

bool is_checkpoint(const Archive& in) { return in.metadata().contains("checkpoint"); }

std::span<const ModelInfo> models() {
  static const std::vector<ModelInfo> all{
#define MODEL(name) kith::name::info(),
#include "models/models.def"
#undef MODEL
  };
  return all;
}

const ModelInfo* find_model(std::string_view name) {
  const auto all = models();
  const auto at = std::ranges::find(all, name, &ModelInfo::name);
  return at == all.end() ? nullptr : &*at;
}

const ModelInfo& model(std::string_view name) {
  if (const ModelInfo* const found = find_model(name)) return *found;
  std::vector<std::string_view> names;
  for (const ModelInfo& info : models()) names.push_back(info.name);
  const std::string nearest = suggest(name, names);
  throw fault(ErrorKind::kUsage, "unknown model {}{}", name,
              nearest.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : nearest);
}

const ModelInfo& model_in(const Archive& in) {
  const std::string kind = kind_of(in);
  if (is_checkpoint(in)) {
    throw fault(ErrorKind::kInput,
                "{}: the checkpoint of an unfinished run; finish it with kith train ... --resume",
                in.where());
  }
  const ModelInfo* const info = find_model(kind);
  if (!info) {
    throw fault(ErrorKind::kInput, "{}: a model of kind {:.40}, which version {} does not know",
                in.where(), kind, kVersion);
  }
  return *info;
}

std::unique_ptr<ModelBase> load_model(const Archive& in, Loader::Mode mode) {
  std::unique_ptr<ModelBase> model = model_in(in).make();
  Loader loader(in, mode);
  visit_all(*model, loader);
  loader.check(!model->data() || model->finished(), "its run is not finished");
  model->loaded();
  return model;
}

void restore_checkpoint(ModelBase& model, std::string_view name, const Archive& in) {
  const std::string kind = kind_of(in);
  if (!is_checkpoint(in)) {
    throw fault(ErrorKind::kInput, "{}: a finished model, not a checkpoint", in.where());
  }
  if (kind != name) {
    throw fault(ErrorKind::kInput, "{}: the checkpoint of a {:.40} run, not of {}", in.where(),
                kind, name);
  }
  // In format 1 blocks were others, and nothing says whether the parameters are those of the run.
  if (in.metadata_at("format") != kFormat) {
    throw fault(
        ErrorKind::kInput,
        "{}: the checkpoint of an earlier version, which cannot go on; start over without --resume",
        in.where());
  }
  const std::unique_ptr<ModelBase> fresh = kith::model(name).make();
  Loader loader(in, Loader::Mode::kOwn);
  visit_all(*fresh, loader);
  take_parts(*fresh, model, true);
}

void save_model(const ModelBase& model, std::string_view name, const std::string& path,
                bool checkpoint, const std::map<std::string, std::string>& extra_metadata) {
  model.check_loadable();
  ArchiveWriter out;
  out.metadata = extra_metadata;
  out.metadata.insert_or_assign("format", std::string(kFormat));
  out.metadata.insert_or_assign("version", std::string(kVersion));
  out.metadata.insert_or_assign("model", std::string(name));
  if (checkpoint) out.metadata.insert_or_assign("checkpoint", "true");
  Saver saver(out, checkpoint);
  visit_all(const_cast<ModelBase&>(model), saver);  // which only looks
  out.save(path);
}

std::unique_ptr<ModelBase> clone(const ModelBase& model, std::string_view name) {
  std::unique_ptr<ModelBase> out = kith::model(name).make();
  take_parts(const_cast<ModelBase&>(model), *out, false);
  return out;
}

}  // namespace kith
