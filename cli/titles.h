// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>

#include "kith/titles.h"
#include "narrator.h"

namespace kith::cli {

// What the items of a model of ratings are called.
struct TitleOptions {
  std::string names{}, names_column{};
  TextEncoding encoding = TextEncoding::kUtf8;

  static constexpr std::tuple fields{
      field("names", &TitleOptions::names, "ratings: show titles from this table, by item id"),
      field("names-column", &TitleOptions::names_column,
            "its column of titles; detected by default"),
      field("encoding", &TitleOptions::encoding,
            "encoding of that table, unless it has a byte-order mark"),
  };
};

inline Titles titles_for(const TitleOptions& options, const Model& model) {
  if (options.names.empty()) return {};
  Narrator narrator(false);
  return {options.names, options.names_column, model, options.encoding, &narrator};
}

}  // namespace kith::cli
