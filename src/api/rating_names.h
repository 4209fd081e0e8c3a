// SPDX-License-Identifier: Apache-2.0
#pragma once
// Users and items of a model as people call them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kith/titles.h"
#include "models/capabilities.h"

namespace kith {

class RatingNames {
 public:
  // Borrows both; `titles` may be null.
  RatingNames(const Ranks& model, const Titles* titles) : model_(model), titles_(titles) {}

  struct Thing {
    Axis axis;
    std::string id;
  };
  // "user=42", "item=Alien", or with the names of the columns that the model was trained on.
  // Nothing if it begins with neither.
  std::optional<Thing> named(std::string_view term) const;
  // Its number. An item may be called by its title.
  std::optional<uint32_t> find(Axis axis, const std::string& id) const;
  // The same, or Error(kInput) with the nearest spellings.
  uint32_t number(Axis axis, const std::string& id) const;
  std::string title(std::string_view id) const;

 private:
  const Ranks& model_;
  const Titles* titles_;
};

}  // namespace kith
