// SPDX-License-Identifier: Apache-2.0
#pragma once
// Labels of texts from the mean of the vectors of their words and runs of words (fastText's
// supervised model): its tables, what it says. How it learns is in trainer.cc.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/labelled/labelled.h"
#include "models/capabilities.h"
#include "models/classifier/config.h"
#include "models/classifier/fasttext_features.h"
#include "models/classifier/features.h"
#include "models/fasttext_origin.h"
#include "models/model.h"
#include "models/text_inference.h"
#include "train/huffman.h"

namespace kith::classifier {

class Classifier final : public Learns<Labelled>,
                         public HasVectors,
                         public Classifies,
                         public AveragesTexts,
                         public WritesFastText {
 public:
  Section settings() override { return {"classifier", config_}; }
  void visit(Parts& parts) override;
  void loaded() override;
  std::vector<Fact> info() const override;
  Wishes wishes() const override;
  std::vector<VectorGroup> vectors(Side side) const override;

  const Names& words() const override { return words_; }
  const Names& labels() const override { return labels_; }
  std::span<const uint64_t> label_counts() const override { return label_counts_; }
  const LabelledForm& form() const override { return form_; }
  bool exclusive() const override { return config_.loss != LabelLoss::kOneVsAll; }
  NumberWords numbering() const override;
  bool classify(std::span<const uint32_t> words, std::span<float> out) const override;
  size_t text_dim() const override { return input_.cols(); }
  bool average(std::span<const uint32_t> words, std::span<float> out) const override;
  void write_fasttext(const std::string& path, const Context& context) const override;
  // What fastText learned, instead of anything of this.
  void take(FastTextFile file);

  // Read by the trainer and by tests.
  const Config& config() const { return config_; }
  Config& config() { return config_; }
  const Matrix& input() const { return input_; }
  const Matrix& output() const { return output_; }
  const Features& features() const { return features_; }

 protected:
  uint64_t memory(const Labelled& data, const Job& job) const override;
  bool learn(const Labelled& data, Job& job) override;
  bool has_say(std::string_view setting, const Labelled& data) const override;

 private:
  friend class TextTrainer;
  friend class TextCourse;
  size_t outputs() const {
    return config_.loss == LabelLoss::kHierarchical ? classes_ - 1 : classes_;
  }
  // Made by fastText: a text is then the list of its rows, and not of its words.
  bool of_fasttext() const { return max_n_.has_value(); }
  FastTextRule fasttext_rule() const;
  std::vector<uint32_t> rows_of(std::span<const uint32_t> words) const;
  void whole_words();
  // Whether there is a second run, on what was held out as well.
  bool refits(const Labelled& data) const;
  uint64_t memory_of_run(const Labelled& data, const Job& job, bool again) const;
  // Takes words, labels and runs of these texts; tables as they are before any training.
  void start(const Labelled& data, const Documents& texts, uint64_t seed);
  void prepare();  // what follows from the parts
  void finish();   // working rows become vectors

  Config config_;
  LabelledForm form_;
  uint64_t rows_ = 0, classes_ = 0, runs_ = 0;  // words, labels, runs of words
  Names words_, labels_;
  std::vector<uint64_t> counts_, label_counts_;
  std::vector<uint32_t> buckets_;  // of the runs, rising
  Matrix input_, output_;          // working rows (kernel.h) while `working_`
  bool working_ = false;
  // Of models that fastText made: letters of its runs of letters, and the vectors of whole words
  // where there are such runs.
  std::optional<uint64_t> min_n_, max_n_;
  FastTextOrigin origin_;
  Matrix vectors_;

  Features features_;
  Tree tree_;
};

}  // namespace kith::classifier
