// SPDX-License-Identifier: Apache-2.0
// Plain and compressed streams: whatever the bytes, reading them ends in an Error or at the end.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "io/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kEnough = uint64_t{64} << 20;  // a small file may hold a large text
  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const auto source = kith::open_source("/proc/self/fd/" + std::to_string(fd));
    uint64_t total = 0;
    for (auto piece = source->next(); !piece.empty() && total < kEnough; piece = source->next()) {
      if (piece.size() > size_t{1} << 20 || source->share() < 0 || source->share() > 1) {
        std::abort();
      }
      total += piece.size();
    }
  } catch (const kith::Error&) {
  }
  ::close(fd);
  return 0;
}
