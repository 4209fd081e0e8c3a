// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers distinct words in the order they come and counts them: the hash table that every word
// of a text goes through. For a finished vocabulary see Names, which costs less memory.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace kith {

class WordCounter {
 public:
  // The number given for an empty word, which stands for the end of a line.
  static constexpr uint32_t kEnd = 0xffffffff;

  WordCounter();

  // Counts each word and puts its number into `numbers`, which has as many elements.
  void count(std::span<const std::string_view> words, std::span<uint32_t> numbers);
  // Gives a word its number without counting it.
  uint32_t add(std::string_view word);
  // What was counted of one word counts as the other.
  void move_count(size_t from, size_t to) {
    entries_[to].count += std::exchange(entries_[from].count, 0);
  }

  size_t size() const { return entries_.size(); }
  std::string_view word(size_t number) const;  // valid until the next new word
  uint64_t count_of(size_t number) const { return entries_[number].count; }

 private:
  static constexpr size_t kInside = 16;

  // A word as it is looked for.
  struct Key {
    uint64_t first, second;  // its first 16 bytes, filled up with zeros
    uint32_t print;
  };
  // The print is 32 bits of the hash: its top bits say where the search for the word begins, all
  // of them must agree before the letters are compared, and they suffice to place it anew when
  // the table grows.
  struct Slot {
    uint32_t print;
    uint32_t number;  // + 1; 0 when empty
  };
  // Most words are short and lie in the entry itself: one cache line has letters and count.
  struct Entry {
    uint64_t first, second;  // as in the key; of a word over 16 bytes, `second` is where it lies
    uint64_t count;
    uint32_t length;
  };

  static Key key_of(std::string_view word);
  static bool is_word(const Entry& entry, std::string_view word, const Key& key);
  uint32_t find_or_add(std::string_view word, const Key& key);
  uint32_t insert(std::string_view word, const Key& key, size_t slot);
  void grow();
  const char* store(std::string_view word);

  std::vector<Slot> slots_;  // a power of two, at most 2/3 full
  int shift_ = 0;            // 32 - log2 of their number
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace kith
