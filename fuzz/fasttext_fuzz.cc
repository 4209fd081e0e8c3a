// SPDX-License-Identifier: Apache-2.0
// Models of fastText: whatever the bytes, reading them ends in an Error or in tables that fit the
// names and the buckets.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "io/fasttext_bin.h"

namespace {

void check(const kith::FastTextFile& f) {
  const auto dim = static_cast<size_t>(f.dim);
  if (f.words.size() == 0 || f.counts.size() != f.words.size()) std::abort();
  if (f.label_counts.size() != f.labels.size()) std::abort();
  if (f.input.rows() != f.input_rows() || f.input.cols() != dim) std::abort();
  if (f.output.rows() != f.output_rows() || f.output.cols() != dim) std::abort();
  if (!all_finite(f.input) || !all_finite(f.output)) std::abort();
  if (!f.pruned) return;
  for (const auto& [bucket, row] : *f.pruned) {
    if (bucket < 0 || bucket >= f.buckets || row < 0) std::abort();
    if (f.words.size() + static_cast<size_t>(row) >= f.input.rows()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A file in memory with a path, so that the very entry the users take is tried.
  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    check(kith::read_fasttext_bin("/proc/self/fd/" + std::to_string(fd)));
  } catch (const kith::Error&) {
  }
  ::close(fd);
  return 0;
}
