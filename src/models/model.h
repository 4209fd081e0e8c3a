// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a front end needs from a model. Virtual, but called a few times per run: per-example work
// happens inside `train`, on concrete types.

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "core/job.h"
#include "core/matrix.h"
#include "core/names.h"
#include "data/corpus.h"
#include "io/archive.h"
#include "io/vector_files.h"

namespace kith {

inline constexpr std::string_view kVersion = "0.1.0";

enum class Side { kInput, kOutput, kSum };  // which vectors of a model a query uses

// A line of `kith info`, and of the summary after training.
struct Fact {
  std::string name, value;
};

class Model {
 public:
  virtual ~Model() = default;

  // The model's own settings. A front end reads flags and files into them before training.
  virtual Section settings() = 0;

  // False while a run that was cancelled can still go on.
  virtual bool finished() const = 0;
  // Takes what a finished model has learned as the start of a new run, on data whose vocabulary
  // begins with this model's. Error(kUsage) if this kind cannot.
  virtual void reopen() = 0;

  // Named tensors and metadata (its settings among them) for the model file; with what is needed
  // to go on if `checkpoint`. Views of the model.
  virtual void pack(ArchiveWriter& out, bool checkpoint) const = 0;
  // The reverse, settings included. Leaves the model as it was if it throws.
  virtual void restore(const Archive& in) = 0;

  virtual const Names& names() const = 0;
  virtual std::span<const uint64_t> counts() const = 0;  // of the names; may be empty
  // Error(kUsage) if the model has no such side.
  virtual Matrix vectors(Side side) const = 0;
  virtual std::vector<Fact> info() const = 0;
};

// A model of text. One of tables is in models/table_model.h.
class TextModel : public Model {
 public:
  // Bytes that training on this corpus will take, tables and buffers included.
  virtual uint64_t memory_needed(const Corpus& corpus, const Job& job) const = 0;
  // Trains, or goes on where a restored checkpoint stopped. Returns early, at a safe point, when
  // the job is cancelled; `finished()` tells.
  virtual void train(const Corpus& corpus, Job& job) = 0;
};

// What a model learns from: nothing, a TextModel from text, a TableModel from a table, a
// RatingsModel from ratings.
enum class InputKind { kNone, kText, kTable, kRatings };

struct ModelInfo {
  std::string_view name, summary;
  InputKind input;
  std::unique_ptr<Model> (*make)();  // untrained, default settings
};

std::span<const ModelInfo> models();
const ModelInfo& model(std::string_view name);  // Error(kUsage) with a suggestion if there is none

// Opens a model file of any kind. Error(kInput) if it is a checkpoint, or of a kind this version
// does not know.
std::unique_ptr<Model> load_model(const std::string& path);
std::unique_ptr<Model> load_model(const Archive& in);
// Puts a model into the state a checkpoint of its own kind holds; Error(kInput) if `in` is not one.
void restore_checkpoint(Model& model, std::string_view name, const Archive& in);
// Writes one, with version, model name and checksum, and whatever else the front end wants kept.
void save_model(const Model& model, std::string_view name, const std::string& path, bool checkpoint,
                const std::map<std::string, std::string>& extra_metadata);

// Vectors that another tool made, as a model of the kind "vectors".
std::unique_ptr<Model> model_of(NamedVectors vectors);

}  // namespace kith

template <>
struct kith::EnumNames<kith::Side> {
  static constexpr std::array<std::string_view, 3> names{"input", "output", "sum"};
};
