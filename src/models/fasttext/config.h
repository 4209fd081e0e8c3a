// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "kith/fields.h"
#include "models/words/config.h"

namespace kith::fasttext {

enum class Ngrams { kHashed, kExplicit };

// Those of all models of words, as they are here.
constexpr auto words_fields() {
  auto out =
      with_changed(words::Config::shared_fields, "lr", [](auto f) { return f.automatic("0.05"); });
  out = with_changed(out, "noise", [](auto f) {
    return f.among(words::Noise::kPool, words::Noise::kWindow, words::Noise::kPair);
  });
  return with_changed(out, "gradient", [](auto f) {
    f.help = "exact gradient of the mean of a word's parts, or undivided as in fastText";
    return f;
  });
}

struct Config : words::Config {
  Config() { adapt_rate = 0.001; }

  int min_n = 3;
  int max_n = 6;
  Ngrams ngrams = Ngrams::kHashed;
  int64_t buckets = 2000000;

  static constexpr auto fields = std::tuple_cat(
      words_fields(),
      std::tuple{
          field("min-n", &Config::min_n, "characters of the shortest part of a word, at least")
              .between(1, 100),
          field("max-n", &Config::max_n, "characters of the longest part; 0 for no parts")
              .between(0, 100),
          field("ngrams", &Config::ngrams,
                "parts share rows by their hash, as in fastText, or each has its own"),
          field("buckets", &Config::buckets, "hashes that there are; only those in use have a row")
              .between(1, 2147483647),
      });
};

}  // namespace kith::fasttext

template <>
struct kith::EnumNames<kith::fasttext::Ngrams> {
  static constexpr std::array<std::string_view, 2> names{"hashed", "explicit"};
};
