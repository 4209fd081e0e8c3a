// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paragraph vectors (Le and Mikolov 2014): a vector for each document, and, where they are learned,
// one for each word. How they are trained is in trainer.cc, how those of new texts are found in
// infer.cc.

#include <memory>
#include <string>
#include <vector>

#include "data/documents/documents.h"
#include "models/capabilities.h"
#include "models/doc2vec/config.h"
#include "models/model.h"
#include "models/text_inference.h"

namespace kith::doc2vec {

class Doc2Vec final : public Learns<DocumentSet>, public HasVectors, public InfersTexts {
 public:
  Section settings() override { return {"doc2vec", config_}; }
  void visit(Parts& parts) override;
  std::vector<Fact> info() const override;
  std::vector<VectorGroup> vectors(Side side) const override;
  const Names& text_words() const override { return names_; }
  std::unique_ptr<TextInferrer> inferrer() const override;

  // Read by the trainer and by tests.
  Config& config() { return config_; }
  const Config& config() const { return config_; }
  const Names& names() const { return names_; }
  const Names& documents() const { return documents_; }
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }

 protected:
  uint64_t memory(const DocumentSet& data, const Job& job) const override;
  bool learn(const DocumentSet& data, Job& job) override;
  bool has_say(std::string_view setting, const DocumentSet& data) const override;

 private:
  friend class DocumentTrainer;
  friend class DocumentCourse;
  // Rows of the input table before those of documents: where words have vectors.
  uint64_t word_rows() const { return config_.learns_words() ? rows_ : 0; }
  // Takes words and documents; tables as they are before any training.
  void start(const DocumentSet& data, uint64_t seed);

  Config config_;
  uint64_t rows_ = 0, texts_ = 0;  // words, documents
  Names names_, documents_;
  std::vector<uint64_t> counts_;
  Matrix input_, output_;  // in the input table documents stand behind words, if those are learned
  std::vector<float> input_energy_, output_energy_;
  uint64_t words_ = 0;  // seen, before thinning
};

}  // namespace kith::doc2vec
