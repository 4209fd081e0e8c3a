// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every model is. Virtual, but called a few times per run: per-example work happens inside
// learn(), on concrete types. What a model can be asked is in capabilities.h.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/job.h"
#include "data/dataset.h"
#include "io/archive.h"
#include "io/fasttext_bin.h"
#include "io/vector_files.h"
#include "kith/events.h"
#include "kith/settings.h"
#include "models/parts.h"
#include "models/visitors.h"
#include "train/schedule.h"

namespace kith {

constexpr uint64_t kMemoryOfAll = uint64_t{4} << 20;  // buffers that every run has

class ModelBase {
 public:
  virtual ~ModelBase() = default;

  // The model's own settings, as given; front ends read flags and files into them before training.
  virtual Section settings() = 0;
  // Each tensor and number once; those that every model has, settings and run, left out.
  virtual void visit(Parts& parts) = 0;
  // After visit() has loaded a file: whatever follows from the parts.
  virtual void loaded() {}
  virtual std::vector<Fact> info() const = 0;

  virtual const DataKind* data() const = 0;  // that it learns from; null for none
  virtual Wishes wishes() const { return {}; }
  // Whether a setting makes a difference on these data.
  virtual bool matters(std::string_view /*setting*/, const Dataset&) const { return true; }
  // Bytes that training on these data will take, tables and buffers included.
  virtual uint64_t memory_needed(const Dataset& data, const Job& job) const = 0;
  // Trains, or goes on where a restored checkpoint stopped; true at the end, false at a safe point
  // once the job is cancelled. `last`: the data are not needed afterwards, and may be given up.
  virtual bool fit(Dataset& data, Job& job, bool last) = 0;

  bool finished() const { return state_.finished; }
  const RunState& state() const { return state_; }
  // Error(kDiverged) if what was learned is not finite, Error(kInput) if the file would be refused.
  void check_loadable() const;

 protected:
  ModelBase() = default;
  ModelBase(ModelBase&&) = default;
  ModelBase& operator=(ModelBase&&) = default;
  std::vector<Fact> run_facts() const;  // loss, held-out scores, rollbacks
  RunState state_;

 private:
  friend class ModelCourse;
  friend void visit_all(ModelBase& model, Parts& parts);
  friend void take_parts(ModelBase& from, ModelBase& to, bool move);
  Best best_;
};

// All parts: settings, run, those of visit(), the best epoch's.
void visit_all(ModelBase& model, Parts& parts);

// Everything of one model becomes that of another of its kind: by copying, or by moving, which
// leaves nothing of the first.
void take_parts(ModelBase& from, ModelBase& to, bool move);

// What a model brings to its training, as far as its parts tell.
class ModelCourse : public Course {
 public:
  explicit ModelCourse(ModelBase& model) : model_(model) {}
  bool finite() override;
  void keep_best() override { model_.best_.keep(model_); }
  void take_best() override { model_.best_.take(model_); }
  void finish() override { model_.best_.clear(); }

 protected:
  void forget_best() { model_.best_.clear(); }

 private:
  ModelBase& model_;
};

// A model that learns from one kind of data. The only cast from data as everyone sees them to data
// as they are.
template <class Data>
class Learns : public ModelBase {
 public:
  using LearnsFrom = Data;
  const DataKind* data() const final { return &Data::data_kind(); }
  uint64_t memory_needed(const Dataset& data, const Job& job) const final {
    return memory(as(data), job);
  }
  bool fit(Dataset& data, Job& job, bool last) final {
    auto& own = const_cast<Data&>(as(data));
    return last ? learn_last(std::move(own), job) : learn(own, job);
  }
  bool matters(std::string_view setting, const Dataset& data) const final {
    return has_say(setting, as(data));
  }
  bool train(const Data& data, Job& job) { return learn(data, job); }

 protected:
  Learns() = default;
  virtual uint64_t memory(const Data& data, const Job& job) const = 0;
  virtual bool learn(const Data& data, Job& job) = 0;
  virtual bool learn_last(Data&& data, Job& job) { return learn(data, job); }
  virtual bool has_say(std::string_view /*setting*/, const Data&) const { return true; }

  static const Data& as(const Dataset& data) {
    if (&data.kind() != &Data::data_kind()) {
      throw fault(ErrorKind::kUsage, "this model learns from {}, and these data are {}",
                  Data::data_kind().noun, data.kind().noun);
    }
    return static_cast<const Data&>(data);
  }
};

struct ModelInfo {
  std::string_view name, summary;
  const DataKind* data;                  // null: it cannot be trained
  std::unique_ptr<ModelBase> (*make)();  // untrained, default settings
};
template <class M>
ModelInfo model_info(std::string_view name, std::string_view summary) {
  return {name, summary, &M::LearnsFrom::data_kind(),
          []() -> std::unique_ptr<ModelBase> { return std::make_unique<M>(); }};
}

std::span<const ModelInfo> models();
const ModelInfo* find_model(std::string_view name);  // null if there is none
const ModelInfo& model(std::string_view name);       // Error(kUsage) with a suggestion

// The capability, or Error(kUsage): "near is for models that have vectors; x.kith holds ...".
// `what` is the question, `where` and `kind` the model that was asked.
struct Asked {
  std::string_view what, where, kind;
};
// "X is for models that ...; FILE holds ..., which": how each refusal begins.
std::string unanswered(const Asked& asked, std::string_view for_models_that);
[[noreturn]] void refuse_question(const Asked& asked, std::string_view for_models_that);
template <class Capability>
const Capability& require(const ModelBase& model, const Asked& asked) {
  if (const auto* found = dynamic_cast<const Capability*>(&model)) return *found;
  refuse_question(asked, Capability::kWhat);
}
template <class Capability>
Capability& require(ModelBase& model, const Asked& asked) {
  return const_cast<Capability&>(require<Capability>(std::as_const(model), asked));
}

// The name of the model in a file. Error(kInput) if this version cannot read it.
std::string kind_of(const Archive& in);
bool is_checkpoint(const Archive& in);
// The model in a file. Error(kInput) if it is a checkpoint, or of a kind this version does not
// know.
const ModelInfo& model_in(const Archive& in);
std::unique_ptr<ModelBase> load_model(const Archive& in, Loader::Mode mode = Loader::Mode::kOwn);
// Puts a model into the state a checkpoint of its own kind holds; Error(kInput) if `in` is not one.
// Leaves it as it was if it throws.
void restore_checkpoint(ModelBase& model, std::string_view name, const Archive& in);
// Writes one, with version, model name and checksum, and whatever else the caller wants kept.
void save_model(const ModelBase& model, std::string_view name, const std::string& path,
                bool checkpoint, const std::map<std::string, std::string>& extra_metadata);
std::unique_ptr<ModelBase> clone(const ModelBase& model, std::string_view name);

// Vectors that another tool made, as a model of the kind "vectors".
std::unique_ptr<ModelBase> model_of(NamedVectors vectors);
// What fastText learned of words, as a model of the kind "fasttext".
std::unique_ptr<ModelBase> model_of(FastTextFile file);
// What it learned of labelled texts, as one of the kind "classifier". Error(kInput), with the file,
// if it has fewer than two labels, or more than a classifier takes.
std::unique_ptr<ModelBase> classifier_of(FastTextFile file, const std::string& path);

}  // namespace kith
