// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

// The names of the rows of a table, such as the words of a vocabulary: all bytes in one buffer
// plus offsets (the very layout of the model file), found by an open-addressing hash table of
// 32-bit slots. Costs the bytes of the names + 8 bytes a name + 4 to 8 bytes a name for lookup.
// Names are distinct; their order is their row number. Names may also be borrowed, as they stand in
// a mapped file: then the first few are found by looking through all of them, and only who asks for
// many pays for a table.
class Names {
 public:
  Names() : offsets_{0} {}
  // Takes the layout of a file. Throws Error(kInput) if the offsets do not rise from 0 to
  // bytes.size(), or if a name stands twice; `where` names the file in the message.
  static Names from_parts(std::string bytes, std::vector<uint64_t> offsets, std::string_view where);
  // The same in place; `keep` owns it. A name that stands twice is found at its first place.
  static Names borrowed(std::string_view bytes, std::span<const uint64_t> offsets,
                        std::shared_ptr<const void> keep, std::string_view where);

  size_t size() const { return offsets().size() - 1; }
  std::string_view operator[](size_t i) const {
    const std::span<const uint64_t> at = offsets();
    return bytes().substr(at[i], at[i + 1] - at[i]);
  }
  std::optional<uint32_t> find(std::string_view name) const;
  // Appends a name and returns its number, or the number it already has.
  uint32_t add(std::string_view name);
  void reserve(size_t names);

  std::string_view bytes() const { return lent_ ? lent_->bytes : std::string_view(bytes_); }
  std::span<const uint64_t> offsets() const {
    return lent_ ? lent_->offsets : std::span<const uint64_t>(offsets_);
  }

 private:
  // Name number + 1, or 0 when empty; a power of two, at most 2/3 full.
  using Slots = std::vector<uint32_t>;
  struct LazySlots;
  struct Lent {
    std::string_view bytes;
    std::span<const uint64_t> offsets;
    std::shared_ptr<const void> keep;
    std::shared_ptr<LazySlots> slots;
  };
  // Where it is, or the empty slot for it.
  size_t slot_of(std::string_view name, const Slots& slots) const;
  std::optional<uint32_t> find_lent(std::string_view name) const;
  void grow();
  void make_own();

  std::string bytes_;
  std::vector<uint64_t> offsets_;
  Slots slots_;
  std::shared_ptr<const Lent> lent_;  // instead of the others
};

// The names nearest in spelling to one that is not there, best first: at most `most`, edit
// distance at most a third of the length. Earlier (more frequent) names win ties.
std::vector<std::string> similar_spellings(std::string_view wrong, const Names& names,
                                           size_t most = 3);
// Letters to insert, delete or replace, or neighbours to swap, to make one of the other.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace kith
