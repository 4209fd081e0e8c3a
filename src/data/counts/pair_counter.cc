// SPDX-License-Identifier: Apache-2.0
#include "data/counts/pair_counter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/huge_pages.h"
#include "io/file.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kUnit = uint64_t{1} << 20;   // of weights: 1
constexpr uint64_t kBlock = uint64_t{1} << 20;  // stream positions of a shard
constexpr int kDistanceBits = 10;               // of an event
constexpr int kWordBits = 27;                   // at most, twice
constexpr uint32_t kRanges = 1024;              // of rows, when sums are brought together
constexpr uint64_t kLeastEvents = uint64_t{1} << 14;
// More would not be faster: the table and the events should stay near the processor.
constexpr uint64_t kMostEvents = uint64_t{1} << 22, kMostCells = uint64_t{1} << 22;

// By distance, from 1 on; 0 is never used.
std::vector<uint32_t> weights_of(const CountOptions& options) {
  const bool line = options.within == CountWithin::kLine;
  const auto n = line ? kLongestLine - 1 : static_cast<uint64_t>(options.window);
  std::vector<uint32_t> out(n + 1, 0);
  for (uint64_t d = 1; d <= n; ++d) {
    double weight = 1;
    if (!line && options.weight == CountWeight::kHarmonic) weight = 1.0 / static_cast<double>(d);
    if (!line && options.weight == CountWeight::kLinear) {
      weight = static_cast<double>(n - d + 1) / static_cast<double>(n);
    }
    out[d] = static_cast<uint32_t>(std::lround(weight * static_cast<double>(kUnit)));
  }
  return out;
}

// Where shards begin: anywhere in a window, which looks beyond the end; with lines at the start of
// one, or of a piece of one.
std::vector<uint64_t> shards_of(const Corpus& corpus, const CountOptions& options) {
  std::vector<uint64_t> out;
  if (options.within == CountWithin::kWindow) {
    for (uint64_t at = 0; at < corpus.length(); at += kBlock) out.push_back(at);
    out.push_back(corpus.length());
    return out;
  }
  std::vector<WordId> words(std::min(kBlock, corpus.length()));
  uint64_t in_line = 0;
  out.push_back(0);
  for (uint64_t at = 0; at < corpus.length(); at += words.size()) {
    words.resize(std::min(kBlock, corpus.length() - at));
    corpus.read(at, words);
    for (uint64_t i = 0; i < words.size(); ++i) {
      if (in_line == kLongestLine) in_line = 0;
      if (in_line == 0 && at + i >= out.back() + kBlock) out.push_back(at + i);
      in_line = words[i] == kSentenceEnd ? 0 : in_line + 1;
    }
  }
  out.push_back(corpus.length());
  return out;
}

// Cells of which both ranks are low: column < limit(row), rising offsets. Rows and columns may be
// swapped (`symmetric`), then only the upper half has any.
class LowRanks {
 public:
  LowRanks(uint32_t words, bool symmetric, uint64_t most_cells) : symmetric_(symmetric) {
    uint64_t low = 0, high = uint64_t{words} * words + 1;  // ranks' product below `low` fits
    while (low + 1 < high) {
      const uint64_t middle = low + (high - low) / 2;
      (cells(words, middle) <= most_cells ? low : high) = middle;
    }
    uint64_t size = 0;
    for (uint32_t r = 0; r < words; ++r) {
      const uint64_t limit = limit_of(words, low, r), first = symmetric ? r : 0;
      if (limit <= first) break;
      rows_.push_back({size - first, limit});
      size += limit - first;
    }
    rows_.resize(words, {0, 0});
    size_ = size;
  }
  uint64_t size() const { return size_; }
  uint32_t limit(uint32_t row) const { return static_cast<uint32_t>(rows_[row].limit); }
  uint32_t first(uint32_t row) const { return symmetric_ ? row : 0; }
  uint64_t at(uint32_t row, uint32_t column) const { return rows_[row].base + column; }

 private:
  // Columns c of a row with (row + 1) (c + 1) <= product.
  static uint64_t limit_of(uint32_t words, uint64_t product, uint32_t row) {
    return std::min<uint64_t>(words, product / (uint64_t{row} + 1));
  }
  uint64_t cells(uint32_t words, uint64_t product) const {
    uint64_t out = 0;
    for (uint32_t r = 0; r < words; ++r) {
      const uint64_t limit = limit_of(words, product, r), first = symmetric_ ? r : 0;
      if (limit <= first) break;
      out += limit - first;
    }
    return out;
  }
  bool symmetric_;
  struct Row {
    uint64_t base, limit;
  };
  std::vector<Row> rows_;
  uint64_t size_ = 0;
};

struct Sum {
  uint64_t cell, weight;  // row * 2^bits + column
};

// How rows are cut so that each range has about as many words of the text; range r is rows
// [out[r], out[r + 1]).
std::vector<uint32_t> ranges_of(const Vocabulary& vocabulary) {
  const auto words = static_cast<uint32_t>(vocabulary.words.size());
  uint64_t all = 0, sum = 0;
  for (const uint64_t c : vocabulary.counts) all += c;
  std::vector<uint32_t> out{0};
  for (uint32_t w = 0; w < words; ++w) {
    sum += vocabulary.counts[w];
    if (sum >= all / kRanges * out.size() + 1 && w + 1 < words) out.push_back(w + 1);
  }
  out.push_back(words);
  return out;
}

// What one thread has counted.
class Tally {
 public:
  struct Plan {
    const LowRanks& low;
    const std::vector<uint32_t>& weights;
    const std::vector<uint32_t>& ranges;
    const std::string& scratch;
    CountDirection direction;
    int bits;         // of a word
    uint64_t events;  // between two sorts
    uint64_t sums;    // that may stay in memory
  };
  explicit Tally(const Plan& plan) : plan_(plan) {
    resize_huge(table_, plan.low.size() + plan.weights.size());
    resize_huge(events_, plan.events);
    next_.resize(plan.weights.size());
    fetched_.resize(plan.weights.size());
  }

  // Pairs whose first word is among the first `end`; `pieces`: a line begins with the first of
  // them.
  void count(std::span<const WordId> words, size_t end, bool pieces) {
    const size_t reach = plan_.weights.size() - 1;
    size_t in_line = 0;
    for (size_t i = 0; i < end; ++i) {
      if (words[i] == kSentenceEnd || in_line == kLongestLine) in_line = 0;
      if (words[i] == kSentenceEnd) continue;
      size_t last = std::min(words.size() - 1, i + reach);
      if (pieces) last = std::min(last, i + kLongestLine - 1 - in_line);
      ++in_line;
      if (event_count_ + reach > plan_.events) sort();
      if (plan_.direction == CountDirection::kBoth) {
        count_around<CountDirection::kBoth>(words, i, last);
      } else if (plan_.direction == CountDirection::kLeft) {
        count_around<CountDirection::kLeft>(words, i, last);
      } else {
        count_around<CountDirection::kRight>(words, i, last);
      }
    }
  }

  void finish() {
    add_fetched();
    sort();
    if (scratch_) scratch_->flush();
    events_ = {};
    spare_ = {};
    sums_ = {};
  }

  std::vector<uint64_t>& table() { return table_; }
  // Appends the sums of a range of rows.
  void collect(size_t range, std::vector<Sum>& out) const {
    for (const Run& run : runs_) {
      const uint64_t begin = run.starts[range], count = run.starts[range + 1] - begin;
      const size_t before = out.size();
      if (run.on_disk) {
        out.resize(before + count);
        scratch_->read((run.at + begin) * sizeof(Sum),
                       {reinterpret_cast<char*>(out.data() + before), count * sizeof(Sum)});
      } else {
        const auto first = run.sums.begin() + static_cast<std::ptrdiff_t>(begin);
        out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(count));
      }
    }
  }

 private:
  struct Run {
    std::vector<Sum> sums;
    std::vector<uint64_t> starts;  // by range
    bool on_disk = false;
    uint64_t at = 0;  // in the scratch file
  };

  // Without a branch that depends on the words, of which many would be guessed wrong: every pair is
  // written down, and forgotten if it is in the table; one that is not is added up in a cell behind
  // the table that nobody reads.
  template <CountDirection kDirection>
  void count_around(std::span<const WordId> words, size_t i, size_t last) {
    const uint32_t a = row_of(words[i]);
    const uint64_t nobodys = plan_.low.size();
    uint64_t* event = events_.data() + event_count_;
    uint64_t** cell = next_.data();
    for (size_t j = i + 1; j <= last && words[j] != kSentenceEnd; ++j) {
      const uint32_t b = row_of(words[j]);
      const uint32_t row = kDirection == CountDirection::kBoth   ? std::min(a, b)
                           : kDirection == CountDirection::kLeft ? b
                                                                 : a;
      const uint32_t column = a ^ b ^ row;
      const size_t d = j - i;
      const bool low = column < plan_.low.limit(row);
      *cell = table_.data() + (low ? plan_.low.at(row, column) : nobodys + d);
      __builtin_prefetch(*cell++, 1);
      *event = (uint64_t{row} << plan_.bits | column) << kDistanceBits | d;
      event += !low;
    }
    event_count_ = static_cast<size_t>(event - events_.data());
    add_fetched();
    std::swap(fetched_, next_);
    fetched_count_ = static_cast<size_t>(cell - fetched_.data());
  }

  // The cells of the word before are in the cache by now.
  void add_fetched() {
    for (size_t k = 0; k < fetched_count_; ++k) *fetched_[k] += plan_.weights[k + 1];
    fetched_count_ = 0;
  }

  // By cell; the order of distances within a cell does not matter, as they are added up.
  void sort_events() {
    constexpr int kDigit = 11;
    resize_huge(spare_, events_.size());
    const size_t count = event_count_;
    for (int shift = kDistanceBits; shift < kDistanceBits + 2 * plan_.bits; shift += kDigit) {
      constexpr uint64_t kMask = (uint64_t{1} << kDigit) - 1;
      std::vector<uint64_t> next(kMask + 2, 0);
      for (const uint64_t e : std::span(events_).first(count)) ++next[(e >> shift & kMask) + 1];
      for (size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
      for (const uint64_t e : std::span(events_).first(count)) {
        spare_[next[e >> shift & kMask]++] = e;
      }
      std::swap(events_, spare_);
    }
  }

  size_t distinct_cells() const {
    size_t out = 0;
    uint64_t before = ~uint64_t{0};
    for (const uint64_t e : std::span(events_).first(event_count_)) {
      out += e >> kDistanceBits != before;
      before = e >> kDistanceBits;
    }
    return out;
  }

  void sort() {
    if (event_count_ == 0) return;
    sort_events();
    sums_.clear();
    sums_.reserve(distinct_cells());  // no copies on the way
    for (const uint64_t e : std::span(events_).first(event_count_)) {
      const uint64_t cell = e >> kDistanceBits;
      const uint64_t weight = plan_.weights[e & ((1 << kDistanceBits) - 1)];
      if (!sums_.empty() && sums_.back().cell == cell) {
        sums_.back().weight += weight;
      } else {
        sums_.push_back({cell, weight});
      }
    }
    event_count_ = 0;
    Run run;
    for (const uint32_t first : plan_.ranges) {
      const auto at =
          std::ranges::lower_bound(sums_, uint64_t{first} << plan_.bits, {}, &Sum::cell);
      run.starts.push_back(static_cast<uint64_t>(at - sums_.begin()));
    }
    if (kept_ + sums_.size() > plan_.sums) {
      write_down(run);
    } else {
      kept_ += sums_.size();
      run.sums = sums_;
    }
    runs_.push_back(std::move(run));
  }

  void write_down(Run& run) {
    if (!scratch_) scratch_ = std::make_unique<ScratchFile>(plan_.scratch);
    run.on_disk = true;
    run.at = scratch_->size() / sizeof(Sum);
    scratch_->append({reinterpret_cast<const char*>(sums_.data()), sums_.size() * sizeof(Sum)});
  }

  const Plan plan_;
  std::vector<uint64_t> table_, events_, spare_;
  std::vector<uint64_t*> next_, fetched_;  // cells of a word and its neighbours, by distance
  size_t fetched_count_ = 0;
  std::vector<Sum> sums_;  // of the events that were sorted last
  std::vector<Run> runs_;
  std::unique_ptr<ScratchFile> scratch_;
  size_t event_count_ = 0;
  uint64_t kept_ = 0;  // sums in memory
};

float as_count(uint64_t weight) {
  return static_cast<float>(static_cast<double>(weight) / static_cast<double>(kUnit));
}

// The cells of a range of rows.
struct Piece {
  std::vector<uint64_t> sizes;  // by row
  std::vector<uint32_t> column;
  std::vector<float> value;
};

Piece piece_of(size_t range, const Tally::Plan& plan, std::span<const std::unique_ptr<Tally>> all) {
  std::vector<Sum> sums;
  for (const auto& tally : all) tally->collect(range, sums);
  if (all.size() > 1 || !std::ranges::is_sorted(sums, {}, &Sum::cell)) {
    std::ranges::sort(sums, {}, &Sum::cell);
  }
  Piece out;
  const std::vector<uint64_t>& table = all.front()->table();
  const uint64_t mask = (uint64_t{1} << plan.bits) - 1;
  size_t k = 0;
  for (uint32_t row = plan.ranges[range]; row < plan.ranges[range + 1]; ++row) {
    const size_t before = out.column.size();
    for (uint32_t c = plan.low.first(row); c < plan.low.limit(row); ++c) {
      const uint64_t weight = table[plan.low.at(row, c)];
      if (weight == 0) continue;
      out.column.push_back(c);
      out.value.push_back(as_count(weight));
    }
    while (k < sums.size() && sums[k].cell >> plan.bits == row) {
      const uint64_t cell = sums[k].cell;
      uint64_t weight = 0;
      for (; k < sums.size() && sums[k].cell == cell; ++k) weight += sums[k].weight;
      out.column.push_back(static_cast<uint32_t>(cell & mask));
      out.value.push_back(as_count(weight));
    }
    out.sizes.push_back(out.column.size() - before);
  }
  return out;
}

Sparse joined(std::vector<Piece> pieces, uint32_t words, const Context& context) {
  Sparse out;
  out.columns = words;
  std::vector<uint64_t> starts;
  for (const Piece& p : pieces) {
    starts.push_back(out.offsets.back());
    for (const uint64_t size : p.sizes) out.offsets.push_back(out.offsets.back() + size);
  }
  resize_huge(out.column, out.offsets.back());
  resize_huge(out.value, out.offsets.back());
  for_each_shard(context, pieces.size(), [&](size_t p) {
    const auto at = static_cast<std::ptrdiff_t>(starts[p]);
    std::ranges::copy(pieces[p].column, out.column.begin() + at);
    std::ranges::copy(pieces[p].value, out.value.begin() + at);
    pieces[p] = {};
  });
  return out;
}

// The upper half, and the same below the diagonal. A pair of a word with itself is two: each stands
// beside the other.
Sparse symmetric(const Sparse& upper) {
  const uint32_t rows = upper.rows();
  Sparse out;
  out.columns = rows;
  out.offsets.assign(size_t{rows} + 1, 0);
  for (uint32_t r = 0; r < rows; ++r) {
    out.offsets[r + 1] += upper.row(r).size();
    for (const uint32_t c : upper.row(r).columns) {
      if (c != r) ++out.offsets[c + 1];
    }
  }
  for (uint32_t r = 0; r < rows; ++r) out.offsets[r + 1] += out.offsets[r];
  resize_huge(out.column, out.offsets.back());
  resize_huge(out.value, out.offsets.back());
  std::vector<uint64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (uint32_t r = 0; r < rows; ++r) {  // rows rise, so columns below the diagonal do
    const Sparse::Row row = upper.row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      const uint32_t c = row.columns[k];
      const auto put = [&](uint32_t to, uint32_t column, float value) {
        out.column[next[to]] = column;
        out.value[next[to]++] = value;
      };
      if (c == r) {
        put(r, r, 2 * row.values[k]);
      } else {
        put(r, c, row.values[k]);
        put(c, r, row.values[k]);
      }
    }
  }
  return out;
}

}  // namespace

Sparse count_pairs(const Corpus& corpus, const CountOptions& options, const std::string& scratch,
                   const Context& context, const std::function<void(double)>& progress) {
  const auto words = static_cast<uint32_t>(corpus.vocabulary().words.size());
  const int bits = std::max(1, static_cast<int>(std::bit_width(words - 1)));
  if (bits > kWordBits) {
    throw fault(ErrorKind::kLimit,
                "pairs of {} distinct words cannot be counted, only of {}; keep fewer with "
                "--min-count or --max-vocab",
                grouped(words), grouped(uint64_t{1} << kWordBits));
  }
  const bool both = options.direction == CountDirection::kBoth;
  const std::vector<uint64_t> shards = shards_of(corpus, options);
  const size_t count = shards.size() - 1;
  const auto threads = std::min<size_t>(static_cast<size_t>(context.threads()), count);
  // A quarter for the table, a half for events and the room to sort them, a quarter for sums.
  const uint64_t memory = (static_cast<uint64_t>(options.count_memory) << 20) / threads;
  const std::vector<uint32_t> weights = weights_of(options);
  const uint64_t reach = weights.size() - 1;
  const uint64_t all_events = corpus.words() * reach / threads + reach;
  const LowRanks low(words, both, std::min(memory / 4 / sizeof(uint64_t), kMostCells));
  const std::vector<uint32_t> ranges = ranges_of(corpus.vocabulary());
  const Tally::Plan plan{
      low,
      weights,
      ranges,
      scratch,
      options.direction,
      bits,
      std::max(kLeastEvents, std::min({memory / 4 / sizeof(uint64_t), all_events, kMostEvents})),
      memory / 4 / sizeof(Sum)};
  std::vector<std::unique_ptr<Tally>> tallies(threads);
  std::vector<std::vector<WordId>> buffers(threads);
  for (auto& t : tallies) t = std::make_unique<Tally>(plan);
  const bool pieces = options.within == CountWithin::kLine;
  const size_t at_a_time = 4 * threads;
  for (size_t done = 0; done < count; done += at_a_time) {
    if (progress) progress(static_cast<double>(done) / static_cast<double>(count));
    for_each_shard(
        context, std::min(at_a_time, count - done),
        [&](size_t s, size_t worker) {
          const uint64_t begin = shards[done + s], end = shards[done + s + 1];
          std::vector<WordId>& stream = buffers[worker];
          stream.resize(std::min(corpus.length(), end + (pieces ? 0 : reach)) - begin);
          corpus.read(begin, stream);
          tallies[worker]->count(stream, end - begin, pieces);
        },
        threads);
  }
  buffers.clear();
  for_each_shard(context, threads, [&](size_t t) { tallies[t]->finish(); });
  for (size_t t = 1; t < threads; ++t) {
    for (size_t k = 0; k < low.size(); ++k) tallies[0]->table()[k] += tallies[t]->table()[k];
    tallies[t]->table() = {};
  }
  std::vector<Piece> cells(ranges.size() - 1);
  for_each_shard(context, cells.size(), [&](size_t r) { cells[r] = piece_of(r, plan, tallies); });
  tallies.clear();
  Sparse out = joined(std::move(cells), words, context);
  return both ? symmetric(out) : out;
}

}  // namespace kith
