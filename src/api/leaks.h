// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts that give the answer away: it stands in them word for word.

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/table/encoding.h"
#include "kith/report.h"

namespace kith {

// A common word stands in texts whose answer is another one as well, and says nothing. So a column
// is told of only if answers stand in the texts of their own rows far more often than in others.
class Leaks {
 public:
  explicit Leaks(const Encoding& encoding) : encoding_(encoding), found_(encoding.groups.size()) {}
  // A row, by group, and what is to be found out about it.
  void look(std::span<const Cell> given, std::string_view truth);
  // Shares and warnings, of `all` rows.
  void tell(uint64_t all, const std::string& target, Report& out) const;

 private:
  struct Found {
    uint64_t own_rows = 0, own = 0;      // rows with this answer; those of them whose text holds it
    uint64_t other_rows = 0, other = 0;  // the same of rows with another one
  };
  const Encoding& encoding_;
  std::vector<std::map<std::string, Found>> found_;  // by group and answer
  std::deque<std::string> others_;                   // the last few answers, all different
};

}  // namespace kith
