// SPDX-License-Identifier: Apache-2.0
// Measures reading and counting alone: text in, vocabulary and numbered stream out, nothing
// trained. Prints one JSON object. usage: bench_read_corpus SCRATCH_FOLDER FILE...

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/error.h"
#include "data/text/corpus.h"

namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

int measure(const std::string& scratch, const std::vector<std::string>& files) {
  const auto start = std::chrono::steady_clock::now();
  const auto corpus = kith::Corpus::read(files, kith::CorpusOptions{}, scratch);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  const double megabytes = static_cast<double>(corpus.counts().bytes) / 1e6;
  std::printf(
      "{\"bytes\": %llu, \"words\": %llu, \"vocabulary\": %zu, \"cpu\": %.3f, \"wall\": %.3f, "
      "\"mb_per_cpu_second\": %.1f, \"peak_mb\": %.1f}\n",
      static_cast<unsigned long long>(corpus.counts().bytes),
      static_cast<unsigned long long>(corpus.counts().tokens), corpus.vocabulary().words.size(),
      cpu, wall.count(), megabytes / cpu, static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_read_corpus SCRATCH_FOLDER FILE...\n");
    return 2;
  }
  try {
    return measure(argv[1], {argv + 2, argv + argc});
  } catch (const kith::Error& e) {
    std::fprintf(stderr, "bench_read_corpus: %s\n", e.what());
    return 1;
  }
}
