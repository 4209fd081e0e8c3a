// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

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

const DataKind& kind_of(const std::string& source) {
  return **std::ranges::max_element(data_kinds(), {},
                                    [&](const DataKind* k) { return k->looks_like(source); });
}

bool is_database(std::string_view source) {
  return source.starts_with("postgresql://") || source.starts_with("postgres://");
}

std::string shown_source(std::string_view source) {
  std::string out(source);
  if (!is_database(source)) return out;
  const size_t user = out.find("://") + 3, end = std::min(out.find('/', user), out.size());
  const size_t at = out.rfind('@', end), colon = out.find(':', user);
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
