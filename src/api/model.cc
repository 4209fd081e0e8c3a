// SPDX-License-Identifier: Apache-2.0
#include "kith/model.h"

#include <array>
#include <filesystem>
#include <utility>

#include "api/opened.h"
#include "core/error.h"
#include "io/file.h"
#include "kith/text.h"
#include "kith/train.h"
#include "models/text_inference.h"

namespace kith {
namespace {

// Whether a file that is not ours could be someone's vectors: it begins like no safetensors file,
// or like one that never had our checksum.
bool looks_foreign(const std::string& path) {
  if (path.ends_with(".kith") || path.ends_with(".checkpoint")) return false;
  try {
    const auto source = open_source(path);
    const auto bytes = source->next();
    if (bytes.size() < 9 || bytes[8] != '{') return !bytes.empty();
    return !Archive::open(path, false).metadata().contains("checksum");
  } catch (const Error&) {
    return false;
  }
}

Archive open_archive(const std::string& path) {
  try {
    return Archive::open(path);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput || !looks_foreign(path)) throw;
    const std::string stem = std::filesystem::path(path).stem().string();
    throw fault(ErrorKind::kInput,
                "{}: not a Kith model; if it holds vectors of another tool, run: kith import {} "
                "-o {}",
                path, shell_quoted(path), shell_quoted(stem + ".kith"));
  }
}

// The settings of a run of version 0.1, in the words of this one.
std::string modern_run(const ModelInfo& info, const std::string& text, const std::string& where) {
  RunOptions run;
  const auto reader = info.data->reader();
  const auto made = info.make();
  std::vector<Section> sections{{"The run", run}};
  for (Section& s : reader->settings()) sections.push_back(std::move(s));
  sections.push_back(made->settings());
  try {
    apply_settings(modernised(settings_from_toml_text(text, where), sections), sections);
  } catch (const Error& e) {
    throw Error(ErrorKind::kInput, e.what());
  }
  return to_toml(sections);
}

}  // namespace

Model::Impl::Impl(Archive archive, std::string file)
    : info(&model_in(archive)),
      path(std::move(file)),
      kind(info->name),
      metadata(archive.metadata()),
      archive_(std::move(archive)),
      prototype_(info->make()) {
  const auto run = metadata.find("run");
  if (run != metadata.end() && info->data && metadata.at("format") == "1") {
    run->second = modern_run(*info, run->second, path);
  }
}

Model::Impl::Impl(const ModelInfo& of, std::unique_ptr<ModelBase> whole,
                  std::map<std::string, std::string> also)
    : info(&of), kind(of.name), metadata(std::move(also)), prototype_(of.make()) {
  metadata["model"] = kind;
  whole_ = std::move(whole);
}

const ModelBase& Model::Impl::mapped() const {
  if (!archive_) return whole();
  mapped_once_([&] { mapped_ = load_model(*archive_, Loader::Mode::kMapped); });
  return *mapped_;
}

const ModelBase& Model::Impl::whole() const {
  if (archive_) {
    whole_once_([&] { whole_ = load_model(*archive_, Loader::Mode::kOwn); });
  }
  return *whole_;
}

const Matrix& Model::Impl::values(const CompletesRows& model, size_t group) const {
  const std::lock_guard lock(values_mutex_);
  auto found = values_.find(group);
  if (found == values_.end()) found = values_.emplace(group, model.values(group)).first;
  return found->second;
}

std::map<std::string, std::string> Model::Impl::kept_metadata() const {
  std::map<std::string, std::string> out = metadata;
  for (const char* own : {"format", "version", "model", "checksum", "compressed"}) out.erase(own);
  return out;
}

void refuse_question(const Asked& asked, std::string_view one, std::string_view other) {
  refuse_question(asked, fmt::format("{} or {}", one, other));
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const std::string& Model::path() const { return impl_->path; }
const std::string& Model::kind() const { return impl_->kind; }
const std::map<std::string, std::string>& Model::metadata() const { return impl_->metadata; }
std::string_view Model::data() const { return impl_->info->data ? impl_->info->data->name : ""; }

bool Model::can(Can what) const { return impl_->can(what); }

bool is_able(const ModelBase& model, Can what) {
  switch (what) {
    case Can::kCompareVectors:
      return dynamic_cast<const HasVectors*>(&model) != nullptr;
    case Can::kCompleteRows:
      return dynamic_cast<const CompletesRows*>(&model) != nullptr;
    case Can::kRateItems:
      return dynamic_cast<const Ranks*>(&model) != nullptr;
    case Can::kClassify:
      return dynamic_cast<const Classifies*>(&model) != nullptr;
    case Can::kEmbedTexts:
      return dynamic_cast<const CountsWords*>(&model) != nullptr ||
             dynamic_cast<const InfersTexts*>(&model) != nullptr ||
             dynamic_cast<const AveragesTexts*>(&model) != nullptr;
    case Can::kShowTopics:
      return dynamic_cast<const Topics*>(&model) != nullptr;
    case Can::kUpdate:
      return dynamic_cast<const Updates*>(&model) != nullptr;
    case Can::kTrainFurther:
      return dynamic_cast<const Continues*>(&model) != nullptr;
  }
  return false;
}

std::vector<Fact> Model::facts() const { return impl_->whole().info(); }

std::string Model::run_settings() const {
  const auto found = metadata().find("run");
  return found == metadata().end() ? "" : found->second;
}

void Model::save(const std::string& path) const {
  save_model(impl_->whole(), impl_->kind, path, false, impl_->kept_metadata());
}

Model open(const std::string& path) {
  return Model(std::make_unique<Model::Impl>(open_archive(path), path));
}

}  // namespace kith
