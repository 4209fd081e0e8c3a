// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts that a model which classifies them is asked about.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/opened.h"
#include "data/labelled/text_words.h"
#include "kith/predict.h"

namespace kith {

// Such a model, with buffers of its own: one for each call and thread.
class TextAsker {
 public:
  TextAsker(const Classifies& model, std::string name);
  // Its labels, the likeliest first.
  Prediction predict(std::string_view text, size_t top, double threshold);

 private:
  const Classifies& model_;
  NumberWords numbering_;
  TextWords text_;
  std::vector<uint32_t> words_;
  std::vector<float> likely_;
};

// Of each text of sources: lines, or rows of a table.
PredictedRows predict_texts(const Classifies& model, const std::vector<std::string>& sources,
                            const PredictOptions& options, std::span<const Setting> reading,
                            const Context& context,
                            const std::function<void(const PredictedRow&)>& row,
                            Observer* observer);

}  // namespace kith
