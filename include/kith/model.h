// SPDX-License-Identifier: Apache-2.0
#pragma once
// A model that was trained before.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/error.h"
#include "kith/events.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// What a model can be asked. Questions that it cannot answer are Error(kUsage), which says so; this
// is for front ends that would rather know beforehand.
enum class Can {
  kCompareVectors,  // near, analogy, similarity, odd, export
  kCompleteRows,    // predict, score, embed: rows of a table
  kRateItems,       // predict, recommend: users and items
  kClassify,        // predict: labels of texts
  kEmbedTexts,      // embed: texts
  kShowTopics,      // topics; embed, eval: documents
  kUpdate,          // take in new data without training
  kTrainFurther,    // train --from
};

// Mapped, not read: opening costs what hashing the file takes. Questions take it const and may come
// from many threads at once; they see the file as it was opened, whatever replaces it meanwhile.
class Model {
 public:
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const std::string& path() const;  // "" if it was never in a file
  const std::string& kind() const;  // "word2vec"
  std::string_view data() const;    // the kind of data it learns from: "text"; "" for none
  bool can(Can what) const;
  std::vector<Fact> facts() const;
  const std::map<std::string, std::string>& metadata() const;  // of the file
  // The settings of the run that made it, as TOML; "" if no run did.
  std::string run_settings() const;
  // Writes it whole or not at all; a file that stands there keeps its permissions.
  void save(const std::string& path) const;

  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  Impl& impl() const { return *impl_; }  // for the engine

 private:
  std::unique_ptr<Impl> impl_;
};

// Error(kInput) if it is damaged, a checkpoint, or of a kind this version does not know; with the
// command that imports it if it is another tool's.
Model open(const std::string& path);

}  // namespace KITH_VISIBLE
