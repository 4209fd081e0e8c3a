// SPDX-License-Identifier: Apache-2.0
// A table with mixed columns: fills an empty cell, and finds the rows that do not fit.
//   table FILE TARGET COLUMN=VALUE...
#include <kith/kith.h>

#include <cstdio>
#include <exception>

namespace {

int run(const std::string& file, const std::string& target,
        const std::vector<std::string>& values) {
  kith::Context context;
  // No model is named: plan() looks at the file, and takes the one for tables.
  kith::Plan plan = kith::plan({.sources = {file}, .options = {.output = "table.kith"}});
  std::printf("%s learns from a %s\n", std::string(plan.model()).c_str(),
              std::string(plan.data()).c_str());
  kith::train(std::move(plan), context);

  const kith::Model model = kith::open("table.kith");
  const kith::Prediction filled = kith::predict(model, values, {.target = target, .top = 3});
  if (filled.number) std::printf("%s: %s\n", target.c_str(), filled.number->text.c_str());
  for (const kith::Candidate& c : filled.candidates) {
    std::printf("%s: %s, with probability %.2f\n", target.c_str(), c.id.c_str(),
                c.probability.value_or(0));
  }

  std::printf("the oddest rows:\n");
  for (const kith::ScoredRow& row : kith::score_rows(model, {file}, {.top = 3}, {}, context)) {
    std::printf("  %s, %.1f deviations from what is usual\n", row.name.c_str(), row.odd);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s FILE TARGET COLUMN=VALUE...\n", argv[0]);
    return 2;
  }
  try {
    return run(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
