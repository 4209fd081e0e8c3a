// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands behind kith::Model: a file that is mapped, and as much of it in memory as questions
// have asked for so far.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/once.h"
#include "kith/model.h"
#include "models/capabilities.h"
#include "models/model.h"

namespace kith {

// Whether a model can be asked so.
bool is_able(const ModelBase& model, Can what);

struct Model::Impl {
  // A file that was opened.
  Impl(Archive archive, std::string path);
  // A model that is in memory, with what its file will say beyond it.
  Impl(const ModelInfo& info, std::unique_ptr<ModelBase> whole,
       std::map<std::string, std::string> metadata);

  const ModelInfo* info;
  std::string path, kind;
  std::map<std::string, std::string> metadata;

  // Where a message is about.
  Asked asked(std::string_view question) const {
    return {question, path.empty() ? "this model" : std::string_view(path), kind};
  }

  template <class Capability>
  bool can() const {
    return dynamic_cast<const Capability*>(prototype_.get()) != nullptr;
  }
  bool can(Can what) const { return is_able(*prototype_, what); }
  // The model as one that can be asked such questions, or Error(kUsage). For vectors only names and
  // vectors are looked at, in place; everything else is read the first time it is needed.
  template <class Capability>
  const Capability& ask(std::string_view question) const {
    require<Capability>(std::as_const(*prototype_), asked(question));
    const ModelBase& found = std::is_same_v<Capability, HasVectors> ? mapped() : whole();
    return require<Capability>(found, asked(question));
  }
  const ModelBase& whole() const;

  // The vectors of all values of a group of a table, made once.
  const Matrix& values(const CompletesRows& model, size_t group) const;
  // What a saved model says beyond its parts.
  std::map<std::string, std::string> kept_metadata() const;

 private:
  const ModelBase& mapped() const;

  std::optional<Archive> archive_;
  std::unique_ptr<ModelBase> prototype_;  // untrained: what models of this kind can do
  // Made by whoever needs one first.
  mutable Once mapped_once_, whole_once_;
  mutable std::unique_ptr<ModelBase> mapped_, whole_;
  mutable std::mutex values_mutex_;
  mutable std::map<size_t, Matrix> values_;
};

// "near is for models that have vectors; ..." for a question that more than one capability answers.
[[noreturn]] void refuse_question(const Asked& asked, std::string_view one, std::string_view other);

}  // namespace kith
