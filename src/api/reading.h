// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data for a model: read with what it knows, told to whoever watches.

#include <any>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "kith/context.h"
#include "kith/events.h"
#include "kith/settings.h"

namespace kith {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Memory that may be taken: as asked for, or what there is; nothing if that is not known.
struct MemoryLimit {
  std::optional<uint64_t> bytes{};
  bool asked = false;
  // Error(kLimit) if `needed` is more: "training needs about 3 GB of memory but ...".
  void check(uint64_t needed, std::string_view what, const DataKind& kind) const;
};

// Tells the observer how far it is, and stops with Error(kCancelled), or Error(kLimit) as soon as
// what was read takes more than there is.
std::unique_ptr<Dataset> read_watched(DataReader& reader, ReadRequest request,
                                      const Context& context, Observer* observer,
                                      const DataKind& kind, MemoryLimit limit = {});

// Data to be asked about or to be added, on top of what a model knows: nothing is held out.
// `reading`: settings of how such data are read.
std::unique_ptr<Dataset> read_for(const DataKind& kind, const std::vector<std::string>& sources,
                                  std::span<const Setting> reading, std::any known,
                                  const Context& context, Observer* observer);

}  // namespace kith
