// SPDX-License-Identifier: Apache-2.0
#include "api/reading.h"

#include <utility>

#include "core/waiting.h"

namespace kith {

std::unique_ptr<Dataset> read_watched(DataReader& reader, ReadRequest request,
                                      const Context& context, Observer* observer) {
  const Waiting waiting(context);
  request.on_read = [&context, observer, watch = Stopwatch()](uint64_t bytes, double share) {
    context.check();
    if (observer) observer->on(Reading{bytes, watch.seconds(), share});
  };
  return reader.read(request);
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
  auto out = read_watched(*reader, std::move(request), context, observer);
  const Profile profile = out->profile();
  for (const Note& n : profile.notes) {
    if (observer) observer->on(n);
  }
  return out;
}

}  // namespace kith
