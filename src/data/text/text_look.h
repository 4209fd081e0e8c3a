// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a text looks like, from its first bytes and from samples of the rest: hints for people who
// would read it otherwise if they knew. Nothing of it changes what is learned.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kith {

class TextLook {
 public:
  // A piece of the text, in order. Looks at the first 64 KiB, and at 4 KiB of each MiB.
  void see(std::span<const char> piece);

  // Each is a hint, or nothing.
  // The text is a table by its name or content: which column may be the text?
  std::string table_hint(const std::string& source) const;
  // Many words carry capitals or punctuation.
  std::string untidy_hint() const;
  // Much of it is in a script without spaces between words, and none stand there.
  std::string unspaced_hint() const;

  static constexpr size_t kScripts = 6;

 private:
  void sample(std::string_view text);

  std::string start_;
  uint64_t bytes_ = 0, next_sample_ = 0;
  uint64_t characters_ = 0;  // in samples, without ASCII signs and white space
  struct Script {
    uint64_t characters = 0, runs = 0;
  };
  std::array<Script, kScripts> scripts_{};
};

}  // namespace kith
