// SPDX-License-Identifier: Apache-2.0
// Model files: whatever the bytes, reading them ends in an Error or in tensors that can be copied.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "io/archive.h"

namespace {

void read_everything(const kith::Archive& archive) {
  for (const auto& [name, tensor] : archive.tensors()) {
    try {
      archive.matrix(name);
    } catch (const kith::Error&) {
    }
    try {
      archive.values<char>(name);
    } catch (const kith::Error&) {
    }
    try {
      archive.names(name.substr(0, name.rfind('.')));
    } catch (const kith::Error&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  // Without the checksum too: it would turn nearly every input away at once.
  for (const bool checksum : {false, true}) {
    try {
      read_everything(kith::Archive::from_bytes(bytes, "fuzz", checksum));
    } catch (const kith::Error&) {
    }
  }
  return 0;
}
