// SPDX-License-Identifier: Apache-2.0
// Any bytes are ratings or an Error. The first byte chooses options.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "data/ratings/rating_columns.h"
#include "data/ratings/ratings.h"
#include "data/table/table_readers.h"

namespace {

using namespace kith;

// What every reader of a Sparse relies on.
void check(const Sparse& a, size_t users, size_t items) {
  if (a.rows() != users || a.columns != items || a.offsets.back() != a.size()) std::abort();
  for (uint32_t u = 0; u < a.rows(); ++u) {
    const auto columns = a.row(u).columns;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] >= items || (i > 0 && columns[i - 1] >= columns[i])) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  RatingsOptions options;
  options.implicit = data[0] & 1;
  options.duplicates = static_cast<Duplicates>(data[0] / 2 % 5);
  const bool times = data[0] & 64;
  std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    const auto reader = read_text_table(memory_source(std::move(text), data[0] & 128 ? 3 : 1 << 20),
                                        "fuzz", for_ratings({}, options));
    const Ratings r = Ratings::read(*reader, options, 0.2, times);
    check(r.train(), r.users().size(), r.items().size());
    check(r.held_out(), r.users().size(), r.items().size());
    if (r.train().size() + r.held_out().size() == 0) std::abort();
  } catch (const Error&) {
    // refused with a message
  }
  return 0;
}
