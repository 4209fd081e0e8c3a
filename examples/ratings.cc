// SPDX-License-Identifier: Apache-2.0
// Ratings: how good are predictions of them, and what should somebody see next?
//   ratings FILE USER ITEM=RATING...
#include <kith/kith.h>

#include <cstdio>
#include <exception>

namespace {

void show(const char* whom, const std::vector<kith::Recommendation>& list) {
  std::printf("%s:", whom);
  for (const kith::Recommendation& r : list) std::printf("  %s %.1f", r.id.c_str(), r.prediction);
  std::printf("\n");
}

int run(const std::string& file, const std::string& user, const std::vector<std::string>& liked) {
  kith::Context context;
  // Ratings that are hidden from the training say how good the model is, beside simple baselines.
  const kith::Report report = kith::cross_validate("als", {file}, {}, {}, {}, context);
  for (const kith::Way& way : report.comparisons.front().ways) {
    std::printf("%s: error %.3f\n", way.name.c_str(), way.at("rmse").value_or(0));
  }

  kith::train(kith::plan({.model = "als", .sources = {file}, .options = {.output = "als.kith"}}),
              context);
  const kith::Model model = kith::open("als.kith");
  const kith::Recommender recommender(model, {.top = 3});
  show(user.c_str(), recommender.list(user, {}, context));

  // Somebody new, of whom a few ratings are known: placed without training.
  std::vector<kith::GivenRating> given;
  for (const std::string& text : liked) given.push_back(kith::parse_given(model, text));
  show("somebody new", recommender.list("", given, context));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s FILE USER ITEM=RATING...\n", argv[0]);
    return 2;
  }
  try {
    return run(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
