// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>

#include "kith/titles.h"

namespace kith::cli {

// What the items of a model of ratings are called.
struct TitleOptions {
  std::string names{}, names_column{};

  static constexpr std::tuple fields{
      field("names", &TitleOptions::names, "ratings: show titles from this table, by item id"),
      field("names-column", &TitleOptions::names_column, "its column of titles; else found"),
  };
};

inline Titles titles_for(const TitleOptions& options, const Model& model) {
  return options.names.empty() ? Titles() : Titles(options.names, options.names_column, model);
}

}  // namespace kith::cli
