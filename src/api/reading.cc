// SPDX-License-Identifier: Apache-2.0
#include "api/reading.h"

#include <malloc.h>

#include <utility>

#include "api/model_rows.h"
#include "api/plan.h"
#include "core/error.h"
#include "core/waiting.h"
#include "kith/text.h"

namespace kith {

// Of reading itself, gone when training begins.
constexpr uint64_t kBuffers = uint64_t{8} << 20;

void MemoryLimit::check(uint64_t needed, std::string_view what, const DataKind& kind) const {
  if (!bytes || needed <= *bytes) return;
  throw fault(ErrorKind::kLimit, "{} needs about {} of memory but {} {}; {}", what,
              in_bytes(static_cast<double>(needed)), in_bytes(static_cast<double>(*bytes)),
              asked ? "is the limit (--max-memory)" : "is available", kind.to_save_memory);
}

std::unique_ptr<Dataset> read_watched(DataReader& reader, ReadRequest request,
                                      const Context& context, Observer* observer,
                                      const DataKind& kind, MemoryLimit limit) {
  const Waiting waiting(context);
  const uint64_t before = memory_now();
  request.context = &context;
  request.model_rows = model_rows;
  request.on_read = [&, watch = Stopwatch()](uint64_t bytes, double share) {
    context.check();
    const uint64_t now = memory_now();
    limit.check(now > before + kBuffers ? now - before - kBuffers : 0, "reading", kind);
    if (observer) observer->on(Reading{bytes, watch.seconds(), share});
  };
  std::unique_ptr<Dataset> out = reader.read(request);
#ifdef __GLIBC__
  // What reading took and gave up goes back to the system now: training estimates without it.
  malloc_trim(0);
#endif
  return out;
}

std::unique_ptr<Dataset> read_for(const DataKind& kind, const std::vector<std::string>& sources,
                                  std::span<const Setting> reading, std::any known,
                                  const Context& context, Observer* observer) {
  const auto reader = kind.reader();
  apply_settings(reading, reader->reading());
  ReadRequest request;
  request.sources = sources;
  request.keep_all = true;
  request.base = std::move(known);
  auto out = read_watched(*reader, std::move(request), context, observer, kind);
  const Profile profile = out->profile();
  for (const Note& n : profile.notes) {
    if (observer) observer->on(n);
  }
  return out;
}

}  // namespace kith
