// SPDX-License-Identifier: Apache-2.0
// Evaluation files: any bytes are read or refused with Error, whatever the pieces they come in.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "eval/question_files.h"

namespace {

class MemorySource : public kith::ByteSource {
 public:
  MemorySource(std::span<const char> bytes, size_t piece) : left_(bytes), piece_(piece) {}
  std::span<const char> next() override {
    const auto given = left_.first(std::min(piece_, left_.size()));
    left_ = left_.subspan(given.size());
    return given;
  }
  double share() const override { return -1; }

 private:
  std::span<const char> left_;
  size_t piece_;
};

void require(bool truth) {
  if (!truth) __builtin_trap();
}

template <class Read>
void try_reading(std::span<const char> bytes, size_t piece, const Read& read) {
  MemorySource source(bytes, piece);
  kith::eval::Lines lines(source, "fuzz");
  try {
    read(lines);
  } catch (const kith::Error& e) {
    require(e.kind() == kith::ErrorKind::kInput);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kith::eval::Lines;
  const std::span bytes(reinterpret_cast<const char*>(data), size);
  for (const size_t piece : {size_t{7}, std::max<size_t>(1, size)}) {
    try_reading(bytes, piece, [](Lines& lines) { kith::eval::recognise(lines); });
    try_reading(bytes, piece, [](Lines& lines) {
      kith::eval::read_analogies(lines, {.section = [](std::string_view) {},
                                         .question =
                                             [](const std::array<std::string_view, 4>& words) {
                                               for (const std::string_view word : words) {
                                                 require(!word.empty());
                                                 kith::eval::lower_case(word);
                                               }
                                             }});
    });
    try_reading(bytes, piece, [](Lines& lines) {
      kith::eval::read_pairs(lines, [](std::string_view a, std::string_view b, double score) {
        require(!a.empty() && !b.empty() && std::isfinite(score));
      });
    });
  }
  return 0;
}
