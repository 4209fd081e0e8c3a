// SPDX-License-Identifier: Apache-2.0
// Vector files of every format: whatever the bytes, reading them ends in an Error or in finite
// vectors, one per name.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "io/vector_files.h"

namespace {

void check(const kith::NamedVectors& v) {
  if (v.names.size() == 0 || v.names.size() != v.matrix.rows()) std::abort();
  for (size_t r = 0; r < v.matrix.rows(); ++r) {
    for (const float x : v.matrix.row(r)) {
      if (!std::isfinite(x)) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A file in memory with a path, so that the very entry the users take is tried.
  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    check(kith::read_vectors("/proc/self/fd/" + std::to_string(fd)));
  } catch (const kith::Error&) {
  }
  ::close(fd);
  return 0;
}
