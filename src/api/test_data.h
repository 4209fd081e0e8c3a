// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: data whose truth is known. Text of topics that never mix, a table whose columns follow
// rules, ratings of few factors.

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace kith::test {

// --- Text ---

inline constexpr size_t kTopicWords = 6;
inline constexpr std::array<std::array<std::string_view, kTopicWords>, 4> kTopics{{
    {"ship", "sail", "wave", "harbour", "anchor", "tide"},
    {"oven", "bread", "flour", "butter", "dough", "crust"},
    {"snow", "slope", "summit", "glacier", "ridge", "rope"},
    {"violin", "choir", "tune", "chord", "tempo", "opera"},
}};

// A sentence has words of one topic; "the" stands in all of them and is the most frequent.
inline std::string topic_text(size_t sentences = 1500, uint64_t seed = 1) {
  std::string out;
  Rng rng(seed, 0);
  for (size_t s = 0; s < sentences; ++s) {
    const auto& topic = kTopics[rng.below(kTopics.size())];
    for (int i = 0; i < 8; ++i) {
      if (i % 2 == 0) out += "the ";
      out += fmt::format("{} ", topic[rng.below(kTopicWords)]);
    }
    out.back() = '\n';
  }
  return out;
}

// --- A table ---

// A city lies in a country, has a twin in the same one, two tags that are usual there, a year
// and an opening day of its country's time.
inline constexpr size_t kCities = 3;  // of a country
struct Country {
  std::string_view name;
  std::array<std::string_view, kCities> cities, tags;
  int year;
};
inline constexpr std::array<Country, 4> kCountries{{
    {"France", {"Paris", "Lyon", "Nice"}, {"cheese", "wine", "dance"}, 1900},
    {"Italy", {"Rome", "Milan", "Turin"}, {"opera", "fashion", "marble"}, 1920},
    {"Japan", {"Tokyo", "Kyoto", "Osaka"}, {"shrine", "garden", "robot"}, 1940},
    {"Peru", {"Lima", "Cusco", "Puno"}, {"ruins", "llama", "cactus"}, 1960},
}};
inline constexpr std::string_view kPlacesHeader = "id,city,twin,country,tags,year,opened,notes\n";

struct Place {
  size_t country, city, twin, tag, year;
};
inline std::string place_line(const std::string& id, const Place& p, std::string_view country) {
  const Country& c = kCountries[p.country];
  return fmt::format("{},{},{},{},{}|{},{},{}-06-{:02},a place with {} nearby\n", id,
                     c.cities[p.city], c.cities[p.twin], country, c.tags[p.tag],
                     c.tags[(p.tag + 1) % kCities], c.year + static_cast<int>(p.year),
                     c.year + static_cast<int>(p.year), 1 + p.year, c.tags[p.tag]);
}
inline std::string places_table(size_t rows = 400, uint64_t seed = 1) {
  std::string out(kPlacesHeader);
  Rng rng(seed, 0);
  for (size_t r = 0; r < rows; ++r) {
    Place p{};
    p.country = rng.below(kCountries.size());
    p.city = rng.below(kCities);
    p.twin = (p.city + 1 + rng.below(kCities - 1)) % kCities;
    p.tag = rng.below(kCities);
    p.year = rng.below(5);
    out += place_line(fmt::format("p{}", r), p, kCountries[p.country].name);
  }
  return out;
}

// --- Ratings ---

// 3 + b_u + c_i + p_u . q_i with a little noise; about half of the pairs are there.
struct PlantedRatings {
  size_t users = 50, items = 30, rank = 2;
  double share = 0.5, noise = 0.1;
  uint64_t seed = 1;

  double truth(size_t u, size_t i) const {
    double out = 3 + 0.4 * normal(1, u) + 0.4 * normal(2, i);
    for (size_t k = 0; k < rank; ++k) out += 0.7 * normal(3 + 2 * k, u) * normal(4 + 2 * k, i);
    return out;
  }
  double rated(size_t u, size_t i) const { return truth(u, i) + noise * normal(1000 + u, i); }
  bool is_there(size_t u, size_t i) const { return Rng(seed + 2000 + u, i).uniform() < share; }
  std::string line(size_t u, size_t i) const {
    return fmt::format("u{},i{},{:.3f},{}\n", u, i, rated(u, i), 1000 + (7 * u + 13 * i) % 997);
  }

 private:
  double normal(uint64_t what, uint64_t which) const {
    Rng rng(seed + what, which);
    double sum = -6;  // twelve uniform numbers have variance 1
    for (int i = 0; i < 12; ++i) sum += rng.uniform();
    return sum;
  }
};
inline constexpr std::string_view kRatingsHeader = "user,item,rating,timestamp\n";

// The pairs that are there, or those that are not.
inline std::string ratings_table(const PlantedRatings& r = {}, bool rest = false) {
  std::string out(kRatingsHeader);
  for (size_t u = 0; u < r.users; ++u) {
    for (size_t i = 0; i < r.items; ++i) {
      if (r.is_there(u, i) != rest) out += r.line(u, i);
    }
  }
  return out;
}
inline std::string title_of(size_t item) { return fmt::format("Film No. {}", item); }
inline std::string titles_table(size_t items = PlantedRatings{}.items) {
  std::string out = "item,title\n";
  for (size_t i = 0; i < items; ++i) out += fmt::format("i{},{}\n", i, title_of(i));
  return out;
}

// --- Vectors of another tool ---

// Royalty, sex, and what has nothing to do with either; the most frequent first, as such files are.
inline constexpr std::string_view kRoyals =
    "man 0 1 0 0\n"
    "woman 0 -1 0 0\n"
    "king 1 1 0 0\n"
    "queen 1 -1 0 0\n"
    "prince 1 0.9 0.3 0\n"
    "princess 1 -0.9 0.3 0\n"
    "apple 0 0 0 1\n"
    "pear 0 0.1 0 1\n"
    "New York 0 0 1 0.2\n"
    "rock - roll 0.2 0 1 0.3\n";

}  // namespace kith::test
