// SPDX-License-Identifier: Apache-2.0
#pragma once
// The items that users would rate highest.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/model.h"
#include "kith/settings.h"
#include "kith/titles.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct RecommendOptions {
  int64_t top = 10;
  bool include_seen = false;
  bool explain = false;

  static constexpr std::tuple fields{
      field("top", &RecommendOptions::top, "how many items").between(1, 1e6),
      field("include-seen", &RecommendOptions::include_seen,
            "also recommend what the user has rated"),
      field("explain", &RecommendOptions::explain,
            "beside each item, show what the user rated or chose that speaks most for it"),
  };
};

// Something that the user rated or chose: how much more someone with nothing but that would score
// the item than someone with nothing at all.
struct Reason {
  std::string id, title;
  double weight = 0;
};

struct Recommendation {
  std::string id;
  std::string title;  // if titles were given
  double prediction = 0;
  std::optional<double> deviation;  // of the truth from it; if the model knows
  std::vector<Reason> reasons;      // if they were asked for: up to three, the strongest first
};

// Of someone's ratings: "Alien", 4.5.
struct GivenRating {
  std::string item;
  double rating = 1;
};
// "Alien=4.5"; for a model of interactions "Alien". Error(kUsage) otherwise.
GivenRating parse_given(const Model& model, const std::string& text);

class Recommender {
 public:
  // `only`, `exclude`: ids or titles of items; `only` empty is all of them. Both may be empty.
  // Borrows the model and the titles.
  struct Items {
    std::vector<std::string> only, exclude;
  };
  Recommender(const Model& model, const RecommendOptions& options, const Items& items = {},
              const Titles* titles = nullptr);
  ~Recommender();
  // Of `only` and `exclude`, those that are no items of the model.
  uint64_t unknown_items() const;

  // For a user of the model, with or without more ratings; or for somebody new with ratings alone.
  // "user=42" and "42" are the same. Error(kInput) with the nearest spellings.
  std::vector<Recommendation> list(const std::string& user, std::span<const GivenRating> given,
                                   const Context& context) const;
  // For every user, some at a time; memory does not grow with their number. Without reasons.
  void for_all(const Context& context,
               const std::function<void(const std::string& user,
                                        std::span<const Recommendation> list)>& take,
               const std::function<void(double share)>& progress = {}) const;
  uint64_t users() const;
  const std::string& user_column() const;
  const std::string& item_column() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace KITH_VISIBLE
