// SPDX-License-Identifier: Apache-2.0
// Writes a generated table as CSV: `columns` categories with values of falling frequency (Zipf),
// whose ranks follow a hidden topic of the row, so that there is something to learn. usage:
// bench_make_table ROWS COLUMNS VALUES > table.csv
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/rng.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: bench_make_table ROWS COLUMNS VALUES\n", stderr);
    return 2;
  }
  const auto rows = std::strtoull(argv[1], nullptr, 10);
  const auto columns = std::strtoull(argv[2], nullptr, 10);
  const auto values = std::strtoull(argv[3], nullptr, 10);
  constexpr uint64_t kTopics = 64;
  std::string out;
  for (uint64_t c = 0; c < columns; ++c) out += (c ? ",c" : "c") + std::to_string(c);
  out += '\n';
  for (uint64_t r = 0; r < rows; ++r) {
    kith::Rng rng(1, r);
    const uint64_t topic = rng.below(kTopics);
    for (uint64_t c = 0; c < columns; ++c) {
      // Of two values in three the rank is one of the topic's; ranks by 1 / x.
      const double u = rng.uniform();
      auto rank = static_cast<uint64_t>(std::pow(static_cast<double>(values), u)) - 1;
      if (rng.below(3) != 0) rank = rank / kTopics * kTopics + topic;
      out += (c ? ",v" : "v") + std::to_string(rank % values);
    }
    out += '\n';
    if (out.size() > (1u << 20)) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      out.clear();
    }
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
