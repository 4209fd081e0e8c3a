// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which column of a table is the user, the item, the rating and the time: told, found by name, or
// taken by place. And with that, whether a file has a header, and whether it holds ratings at all.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/ratings/ratings.h"
#include "data/table/table_reader.h"

namespace kith {

struct RatingColumns {
  size_t user, item;
  std::optional<size_t> rating, time;
};

// By the names in `options`, else by names that people use, else by place: user, item, rating,
// time. Error(kUsage) with a suggestion for a name that is not there, Error(kInput) for a table
// without two columns; `where` begins its message.
RatingColumns find_rating_columns(const std::vector<std::string>& columns,
                                  const RatingsOptions& options, const std::string& where);

// True for the names c1, c2, ... of a table without a header.
bool are_numbered(const std::vector<std::string>& columns);

// How a table of ratings is opened: blanks may stand between its cells, and that the first row is a
// header is seen from its cells, unless `table` says that there is none.
TableOptions for_ratings(TableOptions table, const RatingsOptions& options);

// A table of ratings: MovieLens' u.data, ratings.dat and ratings.csv, or anything like them.
std::unique_ptr<TableReader> open_ratings(const std::vector<std::string>& sources,
                                          const TableOptions& table, const RatingsOptions& options);

// The same for a model that was trained on columns of these names: they are taken if they are
// there, and `options` says so afterwards.
std::unique_ptr<TableReader> open_ratings_for(const std::string& user_column,
                                              const std::string& item_column,
                                              const std::vector<std::string>& sources,
                                              const TableOptions& table, RatingsOptions& options);

// Whether a file, or a table or query of a database, looks like ratings and nothing else, and by
// what: columns with names for user, item and rating, "::" with a number in third place, or nothing
// but two ids, a number and perhaps a time. A pipe is not looked at. Error for a database whose
// columns cannot be told.
std::optional<std::string> looks_like_ratings(const std::string& source,
                                              const std::string& query = "");

}  // namespace kith
