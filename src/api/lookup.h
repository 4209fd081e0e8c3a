// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which vector is meant by what somebody typed: "king", "director=Ridley Scott", "user=42".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/titles.h"
#include "models/capabilities.h"
#include "query/index.h"

namespace kith {

class Lookup {
 public:
  // `titles` may be null. Error(kUsage) if the vectors have no length.
  Lookup(std::vector<VectorGroup> groups, const Titles* titles);

  const std::vector<VectorGroup>& groups() const { return groups_; }
  const Index& index(size_t group) const { return indexes_[group]; }

  // What a term says: a group and a name, or, without a group that it names, a name alone.
  struct Term {
    std::optional<size_t> group;
    std::string name;
  };
  Term parse(const std::string& term) const;

  struct Found {
    size_t group;
    uint32_t row;
  };
  // Nothing if no name is meant by it. Error(kUsage) if several are.
  std::optional<Found> find(const std::string& term) const;
  Found at(const std::string& term) const;  // or Error(kInput) with the nearest spellings
  [[noreturn]] void fail(const std::string& term) const;

  // Terms of which all are of one group. Error(kUsage) if they are not.
  std::vector<Found> of_one_group(const std::vector<std::string>& terms) const;

  std::string title(size_t group, uint32_t row) const;  // "" if it has none

 private:
  std::optional<uint32_t> row_of(size_t group, const std::string& name) const;
  bool titled(size_t group) const { return titles_ && groups_[group].role == "item"; }
  std::vector<VectorGroup> groups_;
  std::vector<Index> indexes_;
  const Titles* titles_;
};

}  // namespace kith
