// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kith/events.h"
#include "kith/model.h"
#include "kith/text_encoding.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// What the items of a model of ratings are called, by their ids: read from a table of both.
class Titles {
 public:
  Titles() = default;
  // `column`: of the titles, or "" to find it. `observer`: is told what was odd about the table.
  Titles(const std::string& path, const std::string& column, const Model& model,
         TextEncoding encoding = TextEncoding::kUtf8, Observer* observer = nullptr);
  bool empty() const { return titles_.empty(); }
  std::string_view of(std::string_view id) const;  // "" if it has none
  std::optional<std::string> id_of(std::string_view title) const;
  // At most so many titles that begin with a text, or else hold it, in any case of its letters: the
  // shortest first.
  std::vector<std::string> like(std::string_view text, size_t most) const;

 private:
  std::unordered_map<std::string, std::string> titles_, ids_;
};

}  // namespace KITH_VISIBLE
