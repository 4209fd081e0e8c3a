// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "data/dataset.h"
#include "kith/text.h"

#define DATASET(name)     \
  namespace kith::name {  \
  const DataKind& kind(); \
  }
#include "data/datasets.def"
#undef DATASET

namespace kith {

std::span<const DataKind* const> data_kinds() {
  static const std::array all{
#define DATASET(name) &kith::name::kind(),
#include "data/datasets.def"
#undef DATASET
  };
  return all;
}

SeenAs seen_as(const std::string& source, const std::string& query) {
  SeenAs out{nullptr, {}};
  for (const DataKind* const kind : data_kinds()) {
    Look look = kind->look_at(source, query);
    if (!out.kind || look.sure > out.look.sure) out = {kind, std::move(look)};
  }
  return out;
}

bool is_database(std::string_view source) {
  const auto scheme = [&](std::string_view wanted) {
    return std::ranges::equal(source.substr(0, wanted.size()), wanted, {},
                              [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  };
  return scheme("postgresql://") || scheme("postgres://");
}

std::string shown_source(std::string_view source) {
  std::string out(source);
  if (!is_database(source)) return out;
  // A password may hold what should have been escaped, / and @ too: it ends at the last @.
  const size_t user = out.find("://") + 3;
  const size_t at = out.rfind('@', std::min(out.find('?'), out.size()));
  const size_t colon = out.find(':', user);
  if (at != std::string::npos && at > user && colon < at) {
    out.replace(colon, at - colon, ":PASSWORD");
  }
  const size_t secret = out.find("password=");
  if (secret != std::string::npos) {
    out.replace(secret + 9, std::min(out.find('&', secret), out.size()) - secret - 9, "PASSWORD");
  }
  return out;
}

}  // namespace kith
