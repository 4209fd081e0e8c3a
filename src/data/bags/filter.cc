// SPDX-License-Identifier: Apache-2.0
// Which words are kept. Each filter says what it took, so that nobody wonders where a word is.

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "data/bags/line_reader.h"
#include "data/bags/raw_bags.h"
#include "data/bags/stop_words.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr int64_t kLeastOfTexts = 5;
constexpr double kMostOfTexts = 0.5;
constexpr double kManyStopWords = 0.2;  // of a text: more is worth a hint

Names stop_list(const std::string& setting) {
  Names out;
  if (setting == "none") return out;
  if (setting == "english") {
    for (const std::string_view word : english_stop_words()) out.add(word);
    return out;
  }
  LineReader in(setting);
  for (std::string_view line; in.next(line);) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    out.add(line.substr(first, line.find_last_not_of(" \t") - first + 1));
  }
  return out;
}

class Filter {
 public:
  explicit Filter(RawBags& bags)
      : bags_(bags),
        keep_(bags.words.size(), true),
        documents_(bags.words.size(), 0),
        tokens_(bags.words.size(), 0) {
    for (size_t i = 0; i < bags.counts.column.size(); ++i) {
      ++documents_[bags.counts.column[i]];
      tokens_[bags.counts.column[i]] += static_cast<uint64_t>(bags.counts.value[i]);
    }
  }

  uint64_t documents_with(size_t word) const { return documents_[word]; }
  uint64_t tokens_of(size_t word) const { return tokens_[word]; }
  uint64_t left() const { return static_cast<uint64_t>(std::ranges::count(keep_, true)); }

  template <class Drops>
  void drop(std::string by, const Drops& drops) {
    BagsProfile::Filtered out{std::move(by), 0, 0};
    for (size_t w = 0; w < keep_.size(); ++w) {
      if (!keep_[w] || !drops(w)) continue;
      keep_[w] = false;
      ++out.types;
      out.tokens += tokens_[w];
    }
    bags_.profile.filtered.push_back(std::move(out));
  }

  void keep_most_frequent(uint64_t most) {
    std::vector<uint32_t> order;
    for (uint32_t w = 0; w < keep_.size(); ++w) {
      if (keep_[w]) order.push_back(w);
    }
    std::ranges::stable_sort(order, std::greater<>(), [&](uint32_t w) { return tokens_[w]; });
    std::vector<bool> few(keep_.size(), false);
    for (size_t i = most; i < order.size(); ++i) few[order[i]] = true;
    drop(fmt::format("--max-vocab {}", most), [&](size_t w) { return few[w]; });
  }

  // The vocabulary without them, its order as it was.
  void apply() {
    Names words;
    std::vector<uint32_t> numbers(keep_.size(), 0);
    for (size_t w = 0; w < keep_.size(); ++w) {
      if (!keep_[w]) continue;
      numbers[w] = words.add(bags_.words[w]);
      bags_.profile.kept += tokens_[w];
    }
    Sparse out;
    out.columns = static_cast<uint32_t>(words.size());
    for (uint32_t d = 0; d < bags_.counts.rows(); ++d) {
      const Sparse::Row row = bags_.counts.row(d);
      for (size_t i = 0; i < row.size(); ++i) {
        if (!keep_[row.columns[i]]) continue;
        out.column.push_back(numbers[row.columns[i]]);
        out.value.push_back(row.values[i]);
      }
      out.offsets.push_back(out.column.size());
    }
    bags_.words = std::move(words);
    bags_.counts = std::move(out);
  }

 private:
  RawBags& bags_;
  std::vector<bool> keep_;
  std::vector<uint64_t> documents_, tokens_;
};

// The filter that took most words says why nothing is left.
[[noreturn]] void refuse(const RawBags& bags, uint64_t left, std::string_view where) {
  const std::vector<BagsProfile::Filtered>& all = bags.profile.filtered;
  const auto most = std::ranges::max_element(all, {}, &BagsProfile::Filtered::types);
  if (most == all.end() || most->types == 0) {
    throw fault(ErrorKind::kInput,
                "{}: {} in {}, and training needs 2 different ones; give more text", where,
                count_of(left, "distinct word"), count_of(bags.names.size(), "document"));
  }
  throw fault(ErrorKind::kInput,
              "{}: {} of {} distinct words remain, and training needs 2; {} took {}, so change it "
              "or give more text",
              where, left, bags.profile.types, most->by, most->types);
}

void hint_at_stop_words(const Filter& filter, RawBags& bags) {
  uint64_t found = 0;
  for (const std::string_view word : english_stop_words()) {
    if (const auto at = bags.words.find(word)) found += filter.tokens_of(*at);
  }
  const double share =
      static_cast<double>(found) / static_cast<double>(std::max<uint64_t>(1, bags.profile.tokens));
  if (share < kManyStopWords) return;
  bags.notes.push_back(
      {Note::Level::kHint, fmt::format("{} of the text are words like the, of and is; --stop-words "
                                       "english leaves them out",
                                       in_percent(share))});
}

}  // namespace

void filter(RawBags& bags, const BagOptions& options, bool from_files, std::string_view where) {
  Filter words(bags);
  if (const Names stop = stop_list(options.stop_words); stop.size() > 0) {
    words.drop(fmt::format("--stop-words {}", options.stop_words),
               [&](size_t w) { return stop.find(bags.words[w]).has_value(); });
  } else if (!from_files && options.stop_words == "none") {
    hint_at_stop_words(words, bags);
  }
  const double share = options.max_df.value_or(from_files ? 1 : kMostOfTexts);
  const double most = share * static_cast<double>(bags.names.size());
  if (share < 1) {
    words.drop(fmt::format("--max-df {:g}", share),
               [&](size_t w) { return static_cast<double>(words.documents_with(w)) > most; });
  }
  const auto least = static_cast<uint64_t>(options.min_df.value_or(from_files ? 1 : kLeastOfTexts));
  if (least > 1) {
    words.drop(fmt::format("--min-df {}", least),
               [&](size_t w) { return words.documents_with(w) < least; });
  }
  if (options.max_vocab) words.keep_most_frequent(static_cast<uint64_t>(*options.max_vocab));
  if (words.left() < 2) refuse(bags, words.left(), where);
  words.apply();
}

}  // namespace kith
