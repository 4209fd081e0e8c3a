// SPDX-License-Identifier: Apache-2.0
// Model files of every kind: whatever stands in one, it is read or refused by a kith::Error, whole
// and in place.

#include <cstddef>
#include <cstdint>

#include "core/error.h"
#include "models/capabilities.h"
#include "models/model.h"

namespace {

void look_at(const kith::ModelBase& model) {
  model.info();
  const auto* const vectors = dynamic_cast<const kith::HasVectors*>(&model);
  if (!vectors) return;
  for (const auto& group : vectors->vectors(kith::Side::kInput)) {
    kith::for_each_row(*group.vectors, [](size_t, std::span<const float>) {});
    group.names->find("a name");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  for (const auto mode : {kith::Loader::Mode::kMapped, kith::Loader::Mode::kOwn}) {
    try {
      // Without the checksum: it would turn nearly every input away at once.
      const auto archive = kith::Archive::from_bytes(bytes, "fuzz", false);
      look_at(*kith::load_model(archive, mode));
    } catch (const kith::Error&) {
    }
  }
  return 0;
}
