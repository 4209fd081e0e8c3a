// SPDX-License-Identifier: Apache-2.0
#include "core/names.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/once.h"

namespace kith {
namespace {

// A slot holds a number + 1 in 32 bits.
constexpr size_t kMostNames = std::numeric_limits<uint32_t>::max() - 1;
// Borrowed names are looked through so often before a table is made: a table of a million names
// costs as much as some dozen looks, and megabytes.
constexpr uint32_t kLooks = 24;

void check_layout(std::string_view bytes, std::span<const uint64_t> offsets,
                  std::string_view where) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != bytes.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw fault(ErrorKind::kInput,
                "{}: the offsets of the names do not fit their bytes; the file is damaged", where);
  }
  if (offsets.size() - 1 > kMostNames) {
    throw fault(ErrorKind::kLimit, "{}: {} names, and more than {} cannot be told apart", where,
                offsets.size() - 1, kMostNames);
  }
}

size_t slots_for(size_t names) { return std::bit_ceil(names + names / 2 + 8); }

}  // namespace

struct Names::LazySlots {
  std::atomic<uint32_t> asked{0};
  Once once;
  Slots slots;
};

Names Names::from_parts(std::string bytes, std::vector<uint64_t> offsets, std::string_view where) {
  check_layout(bytes, offsets, where);
  Names names;
  names.bytes_ = std::move(bytes);
  names.offsets_ = std::move(offsets);
  names.slots_.assign(slots_for(names.size()), 0);
  for (size_t i = 0; i < names.size(); ++i) {
    uint32_t& slot = names.slots_[names.slot_of(names[i], names.slots_)];
    if (slot != 0) {
      throw fault(ErrorKind::kInput, "{}: the name {} occurs twice", where, names[i]);
    }
    slot = static_cast<uint32_t>(i + 1);
  }
  return names;
}

Names Names::borrowed(std::string_view bytes, std::span<const uint64_t> offsets,
                      std::shared_ptr<const void> keep, std::string_view where) {
  check_layout(bytes, offsets, where);
  Names names;
  names.lent_ = std::make_shared<const Lent>(
      Lent{bytes, offsets, std::move(keep), std::make_shared<LazySlots>()});
  return names;
}

size_t Names::slot_of(std::string_view name, const Slots& slots) const {
  const size_t mask = slots.size() - 1;
  for (size_t s = stable_hash(name) & mask;; s = (s + 1) & mask) {
    if (slots[s] == 0 || (*this)[slots[s] - 1] == name) return s;
  }
}

std::optional<uint32_t> Names::find(std::string_view name) const {
  if (lent_) return find_lent(name);
  if (slots_.empty()) return std::nullopt;
  const uint32_t slot = slots_[slot_of(name, slots_)];
  if (slot == 0) return std::nullopt;
  return slot - 1;
}

std::optional<uint32_t> Names::find_lent(std::string_view name) const {
  LazySlots& lazy = *lent_->slots;
  if (lazy.asked.fetch_add(1, std::memory_order_relaxed) < kLooks) {
    for (size_t i = 0; i < size(); ++i) {
      if ((*this)[i] == name) return static_cast<uint32_t>(i);
    }
    return std::nullopt;
  }
  lazy.once([&] {
    Slots slots(slots_for(size()), 0);
    for (size_t i = 0; i < size(); ++i) {
      uint32_t& slot = slots[slot_of((*this)[i], slots)];
      if (slot == 0) slot = static_cast<uint32_t>(i + 1);
    }
    lazy.slots = std::move(slots);
  });
  const uint32_t slot = lazy.slots[slot_of(name, lazy.slots)];
  if (slot == 0) return std::nullopt;
  return slot - 1;
}

void Names::make_own() {
  if (!lent_) return;
  bytes_ = std::string(lent_->bytes);
  offsets_.assign(lent_->offsets.begin(), lent_->offsets.end());
  lent_.reset();
  slots_.assign(slots_for(size()), 0);
  for (size_t i = 0; i < size(); ++i) {
    uint32_t& slot = slots_[slot_of((*this)[i], slots_)];
    if (slot == 0) slot = static_cast<uint32_t>(i + 1);
  }
}

uint32_t Names::add(std::string_view name) {
  make_own();
  if (3 * (size() + 1) > 2 * slots_.size()) grow();
  uint32_t& slot = slots_[slot_of(name, slots_)];
  if (slot == 0) {
    if (size() >= kMostNames) {
      throw fault(ErrorKind::kLimit, "more than {} distinct names", size());
    }
    bytes_ += name;
    offsets_.push_back(bytes_.size());
    slot = static_cast<uint32_t>(size());
  }
  return slot - 1;
}

void Names::reserve(size_t names) {
  make_own();
  offsets_.reserve(names + 1);
  while (3 * names > 2 * slots_.size()) grow();
}

void Names::grow() {
  slots_.assign(std::max<size_t>(16, slots_.size() * 2), 0);
  for (size_t i = 0; i < size(); ++i) {
    slots_[slot_of((*this)[i], slots_)] = static_cast<uint32_t>(i + 1);
  }
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the usual table for the first i - 2, i - 1 and i letters of a.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

std::vector<std::string> similar_spellings(std::string_view wrong, const Names& names,
                                           size_t most) {
  const size_t limit = std::max<size_t>(1, wrong.size() / 3);
  std::vector<std::pair<size_t, size_t>> found;  // distance, number
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t a = names[i].size(), b = wrong.size();
    if ((a > b ? a - b : b - a) > limit) continue;
    const size_t distance = edit_distance(wrong, names[i]);
    if (distance <= limit) found.emplace_back(distance, i);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < found.size() && i < most; ++i) out.emplace_back(names[found[i].second]);
  return out;
}

}  // namespace kith
