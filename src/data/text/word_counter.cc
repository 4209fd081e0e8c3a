// SPDX-License-Identifier: Apache-2.0
#include "data/text/word_counter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/error.h"
#include "core/hash.h"

namespace kith {
namespace {

constexpr int kFirstBits = 12;
constexpr int kMostBits = 32;  // a print has no more
constexpr size_t kBlockBytes = 1 << 18;
// So many lookups are started before the first is finished: their cache misses overlap.
constexpr size_t kGroup = 16;

const char* address(uint64_t second) { return std::bit_cast<const char*>(second); }

}  // namespace

WordCounter::WordCounter() : slots_(size_t{1} << kFirstBits), shift_(32 - kFirstBits) {}

std::string_view WordCounter::word(size_t number) const {
  const Entry& entry = entries_[number];
  return {
      entry.length > kInside ? address(entry.second) : reinterpret_cast<const char*>(&entry.first),
      entry.length};
}

inline WordCounter::Key WordCounter::key_of(std::string_view word) {
  const size_t size = word.size();
  Key key;
  key.first = load_bytes(word.data(), std::min<size_t>(size, 8));
  key.second = size <= 8 ? 0 : load_bytes(word.data() + 8, std::min<size_t>(size - 8, 8));
  uint64_t hash =
      fold_multiply(key.first ^ (size + 0x9e3779b97f4a7c15), key.second ^ 0xe7037ed1a0b428db);
  if (size > kInside) hash ^= stable_hash(word.substr(kInside));
  key.print = static_cast<uint32_t>(hash >> 32);
  return key;
}

inline bool WordCounter::is_word(const Entry& entry, std::string_view word, const Key& key) {
  if (entry.first != key.first || entry.length != word.size()) return false;
  if (entry.length <= kInside) return entry.second == key.second;
  return std::memcmp(address(entry.second), word.data(), word.size()) == 0;
}

inline uint32_t WordCounter::find_or_add(std::string_view word, const Key& key) {
  const size_t mask = slots_.size() - 1;
  for (size_t s = key.print >> shift_;; s = (s + 1) & mask) {
    const Slot& slot = slots_[s];
    if (slot.number == 0) return insert(word, key, s);
    if (slot.print == key.print && is_word(entries_[slot.number - 1], word, key)) {
      return slot.number - 1;
    }
  }
}

void WordCounter::count(std::span<const std::string_view> words, std::span<uint32_t> numbers) {
  for (size_t begin = 0; begin < words.size(); begin += kGroup) {
    const auto group = words.subspan(begin, std::min(kGroup, words.size() - begin));
    std::array<Key, kGroup> keys;
    for (size_t i = 0; i < group.size(); ++i) {
      keys[i] = key_of(group[i]);
      __builtin_prefetch(&slots_[keys[i].print >> shift_]);
    }
    for (size_t i = 0; i < group.size(); ++i) {
      if (group[i].empty()) {
        numbers[begin + i] = kEnd;
        continue;
      }
      const uint32_t number = find_or_add(group[i], keys[i]);
      ++entries_[number].count;
      numbers[begin + i] = number;
    }
  }
}

uint32_t WordCounter::add(std::string_view word) { return find_or_add(word, key_of(word)); }

uint32_t WordCounter::insert(std::string_view word, const Key& key, size_t slot) {
  const auto number = static_cast<uint32_t>(entries_.size());
  Entry entry{key.first, key.second, 0, static_cast<uint32_t>(word.size())};
  if (word.size() > kInside) entry.second = std::bit_cast<uint64_t>(store(word));
  entries_.push_back(entry);
  slots_[slot] = {key.print, number + 1};
  if (3 * entries_.size() > 2 * slots_.size()) grow();
  return number;
}

void WordCounter::grow() {
  if (shift_ == 32 - kMostBits) {
    throw fault(ErrorKind::kLimit, "more than {} distinct words; split the text or clean it",
                entries_.size());
  }
  std::vector<Slot> larger(2 * slots_.size());
  --shift_;
  const size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.number == 0) continue;
    size_t s = slot.print >> shift_;
    while (larger[s].number != 0) s = (s + 1) & mask;
    larger[s] = slot;
  }
  slots_ = std::move(larger);
}

const char* WordCounter::store(std::string_view word) {
  if (word.size() > free_bytes_) {
    free_bytes_ = std::max(kBlockBytes, word.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(free_bytes_));
    free_ = blocks_.back().get();
  }
  char* const out = free_;
  std::memcpy(out, word.data(), word.size());
  free_ += word.size();
  free_bytes_ -= word.size();
  return out;
}

}  // namespace kith
