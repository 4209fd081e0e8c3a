// SPDX-License-Identifier: Apache-2.0
// Which models there are, and the part of the model file that is the same for all of them.
#include <vector>

#include "models/model.h"

#define MODEL(name)      \
  namespace kith::name { \
  ModelInfo info();      \
  }
#include "models/models.def"
#undef MODEL

namespace kith {
namespace {

constexpr std::string_view kFormat = "1";  // of what stands in the metadata and the tensors

// The model's name in the file, once it is clear that this version can read it.
std::string kind_of(const Archive& in) {
  if (!in.metadata().contains("model") || !in.metadata().contains("format")) {
    throw Error(ErrorKind::kInput,
                "{}: not a Kith model; vectors of another tool are read with "
                "kith import",
                in.where());
  }
  const std::string format = in.metadata_at("format");
  if (format != kFormat) {
    throw Error(ErrorKind::kInput, "{}: written in format {}; this program reads format {}",
                in.where(), format, kFormat);
  }
  return in.metadata_at("model");
}

bool is_checkpoint(const Archive& in) { return in.metadata().contains("checkpoint"); }

}  // namespace

std::span<const ModelInfo> models() {
  static const std::vector<ModelInfo> all{
#define MODEL(name) kith::name::info(),
#include "models/models.def"
#undef MODEL
  };
  return all;
}

const ModelInfo& model(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ModelInfo& info : models()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  const std::string nearest = suggest(name, names);
  throw Error(ErrorKind::kUsage, "unknown model {}{}", name,
              nearest.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : nearest);
}

std::unique_ptr<Model> load_model(const std::string& path) {
  return load_model(Archive::open(path));
}

std::unique_ptr<Model> load_model(const Archive& in) {
  const std::string kind = kind_of(in);
  if (is_checkpoint(in)) {
    throw Error(ErrorKind::kInput,
                "{}: the checkpoint of an unfinished run; finish it with kith train ... --resume",
                in.where());
  }
  for (const ModelInfo& info : models()) {
    if (info.name != kind) continue;
    std::unique_ptr<Model> model = info.make();
    model->restore(in);
    return model;
  }
  throw Error(ErrorKind::kInput, "{}: a model of kind {:.40}, which version {} does not know",
              in.where(), kind, kVersion);
}

void restore_checkpoint(Model& model, std::string_view name, const Archive& in) {
  const std::string kind = kind_of(in);
  if (!is_checkpoint(in)) {
    throw Error(ErrorKind::kInput, "{}: a finished model, not a checkpoint", in.where());
  }
  if (kind != name) {
    throw Error(ErrorKind::kInput, "{}: the checkpoint of a {:.40} run, not of {}", in.where(),
                kind, name);
  }
  model.restore(in);
}

void save_model(const Model& model, std::string_view name, const std::string& path, bool checkpoint,
                const std::map<std::string, std::string>& extra_metadata) {
  ArchiveWriter out;
  out.metadata = extra_metadata;
  out.metadata.insert_or_assign("format", std::string(kFormat));
  out.metadata.insert_or_assign("version", std::string(kVersion));
  out.metadata.insert_or_assign("model", std::string(name));
  if (checkpoint) out.metadata.insert_or_assign("checkpoint", "true");
  model.pack(out, checkpoint);
  out.save(path);
}

}  // namespace kith
