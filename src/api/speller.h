// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vectors of words that a model has not seen, if it is of the kind that has such.

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "api/opened.h"
#include "io/nfc.h"

namespace kith {

class Speller {
 public:
  // Words that are spelled stand on the input side alone.
  Speller(const Model::Impl& model, std::optional<Side> side)
      : model_(model.can<Spells>() && side.value_or(Side::kInput) == Side::kInput ? &model
                                                                                  : nullptr) {}

  std::optional<std::vector<float>> unit_vector(const std::string& word) const {
    if (!model_) return std::nullopt;
    // Only who asks for an unseen word pays for reading what words are made of.
    const auto& speller = model_->ask<Spells>("near");
    std::vector<float> out(speller.dim());
    if (!speller.spell(nfc(word), out)) return std::nullopt;
    double square = 0;
    for (const float x : out) square += double{x} * x;
    if (square == 0) return std::nullopt;
    for (float& x : out) x = static_cast<float>(x / std::sqrt(square));
    return out;
  }

 private:
  const Model::Impl* model_;
};

}  // namespace kith
