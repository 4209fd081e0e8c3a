// SPDX-License-Identifier: Apache-2.0
// Words that are used alike: learns from a text, then answers what is like what.
//   text FILE WORD...
#include <kith/kith.h>

#include <cstdio>
#include <exception>

namespace {

// Shows each epoch. What it does not ask for is not told.
struct Epochs : kith::Observer {
  using kith::Observer::on;
  void on(const kith::Training& now) override {
    if (!now.epoch_done) return;
    std::printf("epoch %d of %d, loss %.3f\n", now.epoch, now.epochs, now.loss);
  }
};

int run(const std::string& file, const std::vector<std::string>& words) {
  kith::Context context;  // the threads that all calls share
  Epochs epochs;
  kith::train(kith::plan({.model = "word2vec",
                          .sources = {file},
                          .settings = {{"tokens", "words"}, {"dim", 50}, {"epochs", 3}},
                          .options = {.output = "words.kith"}}),
              context, &epochs);

  const kith::Model model = kith::open("words.kith");
  for (const kith::Near& answer : kith::near(model, words, {.top = 3}, context)) {
    std::printf("%s:", answer.query.c_str());
    for (const kith::Neighbour& n : answer.neighbours) {
      std::printf("  %s %.2f", n.id.c_str(), n.score);
    }
    std::printf("%s\n", answer.error.c_str());  // an unknown word among many says so here
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s FILE WORD...\n", argv[0]);
    return 2;
  }
  try {
    return run(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
