// SPDX-License-Identifier: Apache-2.0
// The models of fastText, little endian, without padding:
//
//   i32 magic, version | 12 x i32, f64 settings | dictionary | u8 quantised? | input |
//   u8 output quantised? | output
//
// dictionary: i32 entries, words, labels; i64 tokens, pruned (-1: none); per entry its bytes, a
// zero, i64 count, u8 type (0 word, 1 label), words first; per pruned bucket i32 bucket, i32 row.
// table: i64 rows, cols; floats. A quantised one: u8 norms?; i64 rows, cols; i32 bytes of the
// codes; codes; codebook; with norms: u8 a row, codebook of dim 1.
// codebook: i32 dim, parts, width, width of the last part; 256 centroids of each part.

#include "io/fasttext_bin.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "core/error.h"
#include "io/fasttext_input.h"
#include "io/file.h"
#include "io/utf8.h"
#include "io/vector_input.h"

namespace kith {
namespace {

using Kind = FastTextHeader::Kind;
using Loss = FastTextHeader::Loss;

constexpr int32_t kMagic = 793712314;
constexpr int32_t kVersion = 12, kOldest = 11;
constexpr uint64_t kLeastEntry = 1 + sizeof(int64_t) + 1;  // the end of a word, its count, its type

// Every number in its order, for reading and writing alike.
template <class Header, class F>
void visit_settings(Header& h, F&& f) {
  f("the dimension", h.dim);
  f("the window", h.window);
  f("the number of epochs", h.epochs);
  f("the least count", h.min_count);
  f("the number of negatives", h.negatives);
  f("the length of word n-grams", h.word_ngrams);
  f("the loss", h.loss);
  f("the kind of model", h.kind);
  f("the number of buckets", h.buckets);
  f("the least length of n-grams", h.min_n);
  f("the greatest length of n-grams", h.max_n);
  f("the rate of updates", h.lr_update_rate);
  f("the sampling threshold", h.sample);
}

void check_settings(const FastTextHeader& h, const std::string& where) {
  const auto check = [&](std::string_view what, double found, double least, double most) {
    if (found >= least && found <= most) return;  // NaN is not
    throw fault(ErrorKind::kInput, "{}: {} must be from {} to {}; found {}", where, what, least,
                most, found);
  };
  visit_settings(h, [&](std::string_view what, auto value) {
    using T = decltype(value);
    const bool dim = what == "the dimension";
    if constexpr (std::is_same_v<T, Loss>) {
      check(what, static_cast<double>(value), 1, 4);
    } else if constexpr (std::is_same_v<T, Kind>) {
      check(what, static_cast<double>(value), 1, 3);
    } else {
      check(what, value, dim, dim ? kMaxDim : std::numeric_limits<T>::max());
    }
  });
  check("the number of tokens", static_cast<double>(h.tokens), 0,
        static_cast<double>(std::numeric_limits<int64_t>::max()));
  // Whoever looks for an n-gram divides by the number of buckets.
  const bool ngrams = h.max_n > 0 || (h.kind == Kind::kSupervised && h.word_ngrams > 1);
  if (ngrams && h.buckets == 0) {
    throw fault(ErrorKind::kInput,
                "{}: n-grams of {} letters and {} words, but no buckets for them", where, h.max_n,
                h.word_ngrams);
  }
}

void take_settings(FastTextInput& in, FastTextHeader& h) {
  in.take(sizeof(kMagic), "the magic number");
  const auto version = in.number<int32_t>("the version");
  if (version < kOldest || version > kVersion) {
    throw fault(ErrorKind::kInput,
                "{}: a fastText model of version {}; versions {} and {} can be read", in.where(),
                version, kOldest, kVersion);
  }
  visit_settings(h, [&](std::string_view what, auto& value) {
    value = in.number<std::remove_reference_t<decltype(value)>>(what);
  });
  // Classifiers of that version had no n-grams of letters, whatever the number says.
  if (version == 11 && h.kind == Kind::kSupervised) h.max_n = 0;
}

// Rows of names that were there already, rising.
struct Dropped {
  std::vector<uint64_t> words, labels;
};

struct Sizes {
  int32_t words, labels;
  int64_t pruned;
};

Sizes take_sizes(FastTextInput& in, FastTextHeader& h) {
  const std::string_view what = "the sizes of the dictionary";
  const auto entries = in.number<int32_t>(what);
  Sizes n{in.number<int32_t>(what), in.number<int32_t>(what), 0};
  h.tokens = in.number<int64_t>(what);
  n.pruned = in.number<int64_t>(what);
  if (n.words < 1 || n.labels < 0 || int64_t{n.words} + n.labels != entries) {
    throw fault(ErrorKind::kInput,
                "{}: a dictionary of {} entries with {} words and {} labels; the file is damaged",
                in.where(), entries, n.words, n.labels);
  }
  if (n.pruned < -1) {
    throw fault(ErrorKind::kInput, "{}: {} buckets are said to be left; the file is damaged",
                in.where(), n.pruned);
  }
  in.expect(static_cast<uint64_t>(entries), kLeastEntry, "the dictionary");
  return n;
}

struct NameList {
  bool labels;
  int32_t first, size;  // entries of the dictionary
  Names& names;
  std::vector<uint64_t>& counts;
  std::vector<uint64_t>& dropped;
};

void take_entries(FastTextInput& in, const NameList& list, ReadReport& report) {
  std::string repaired;
  for (int32_t i = 0; i < list.size; ++i) {
    const int32_t entry = list.first + i + 1;
    std::string name = in.word(entry);
    const auto count = in.number<int64_t>("the dictionary");
    const auto type = in.number<uint8_t>("the dictionary");
    if (count < 0 || type != list.labels) {
      throw fault(ErrorKind::kInput,
                  "{}: entry {} of the dictionary, \"{}\", must be a {} with a count; found type "
                  "{} and count {}; the file is damaged",
                  in.where(), entry, shown(name), list.labels ? "label" : "word", type, count);
    }
    if (repair_utf8(name, repaired)) {
      ++report.invalid_utf8;
      name.swap(repaired);
    }
    const size_t row = list.names.size();
    if (list.names.add(name) < row) {
      ++report.duplicates;
      list.dropped.push_back(static_cast<uint64_t>(i));
    } else {
      list.counts.push_back(static_cast<uint64_t>(count));
    }
  }
}

// Each bucket at most once, each row exactly once: else a reader would look outside the table.
void check_pruned(const std::vector<std::pair<int32_t, int32_t>>& pruned, int32_t buckets,
                  const std::string& where) {
  std::vector<int32_t> kept;
  kept.reserve(pruned.size());
  std::vector<bool> seen(pruned.size());
  for (const auto& [bucket, row] : pruned) {
    if (bucket < 0 || bucket >= buckets || row < 0 || static_cast<size_t>(row) >= seen.size() ||
        seen[static_cast<size_t>(row)]) {
      throw fault(ErrorKind::kInput,
                  "{}: bucket {} of {} is said to stand in row {} of {}; the file is damaged",
                  where, bucket, buckets, row, pruned.size());
    }
    seen[static_cast<size_t>(row)] = true;
    kept.push_back(bucket);
  }
  std::ranges::sort(kept);
  if (const auto twice = std::ranges::adjacent_find(kept); twice != kept.end()) {
    throw fault(ErrorKind::kInput, "{}: bucket {} has two rows; the file is damaged", where,
                *twice);
  }
}

Dropped take_dictionary(FastTextInput& in, FastTextHeader& h, ReadReport& report) {
  const Sizes n = take_sizes(in, h);
  Dropped dropped;
  take_entries(in, {false, 0, n.words, h.words, h.counts, dropped.words}, report);
  take_entries(in, {true, n.words, n.labels, h.labels, h.label_counts, dropped.labels}, report);
  if (n.pruned < 0) return dropped;
  h.pruned.emplace();
  in.expect(static_cast<uint64_t>(n.pruned), 2 * sizeof(int32_t), "the list of buckets");
  for (int64_t i = 0; i < n.pruned; ++i) {
    const auto bucket = in.number<int32_t>("the list of buckets");
    h.pruned->emplace_back(bucket, in.number<int32_t>("the list of buckets"));
  }
  check_pruned(*h.pruned, h.buckets, in.where());
  return dropped;
}

FastTextTable input_table(const FastTextHeader& h, const Dropped& dropped) {
  return {"the input table", h.input_rows() + dropped.words.size(), static_cast<uint64_t>(h.dim),
          dropped.words};
}

FastTextTable output_table(const FastTextHeader& h, const Dropped& dropped,
                           const std::string& where) {
  const auto& out = h.kind == Kind::kSupervised ? dropped.labels : dropped.words;
  // There the rows are nodes of a tree that is made of all counts, so none can be left out.
  if (h.loss == Loss::kHs && !out.empty()) {
    throw fault(ErrorKind::kInput,
                "{}: {} of its names stand there twice, which a model with hierarchical softmax "
                "cannot have",
                where, out.size());
  }
  return {"the output table", h.output_rows() + out.size(), static_cast<uint64_t>(h.dim), out};
}

// --- Writing ---

template <class T>
void put_number(AtomicFile& file, T value) {
  file.write(std::span(reinterpret_cast<const char*>(&value), sizeof(T)));
}

void check_parts(const FastTextHeader& h, const Vectors& input, const Vectors& output) {
  const auto dim = static_cast<size_t>(h.dim);
  if (h.counts.size() != h.words.size() || h.label_counts.size() != h.labels.size() ||
      input.rows() != h.input_rows() || output.rows() != h.output_rows() || input.cols() != dim ||
      (output.rows() > 0 && output.cols() != dim)) {
    throw fault(ErrorKind::kUsage,
                "{} words with {} counts, {} labels with {} counts, {} buckets, an input of {} x "
                "{} and an output of {} x {} do not make a model of {} dimensions",
                h.words.size(), h.counts.size(), h.labels.size(), h.label_counts.size(), h.buckets,
                input.rows(), input.cols(), output.rows(), output.cols(), dim);
  }
}

void check_writable(const FastTextHeader& h) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
  if (h.words.size() < 1 || h.words.size() > kMost || h.labels.size() > kMost - h.words.size()) {
    throw fault(ErrorKind::kInput,
                "{} words and {} labels; fastText takes at least one word and {} of both",
                h.words.size(), h.labels.size(), kMost);
  }
  if (h.pruned) {
    throw fault(ErrorKind::kInput,
                "a model of which only some buckets were kept; fastText reads those in quantised "
                "files alone");
  }
  for (const Names* names : {&h.words, &h.labels}) {
    for (size_t i = 0; i < names->size(); ++i) {
      if ((*names)[i].find('\0') != std::string_view::npos ||
          (*names)[i].size() > kMaxFastTextName) {
        throw fault(
            ErrorKind::kInput,
            "the name \"{}\" has a zero byte or more than {} bytes, which fastText's format "
            "cannot hold",
            shown((*names)[i]), kMaxFastTextName);
      }
    }
  }
}

void put_entries(AtomicFile& file, const Names& names, const std::vector<uint64_t>& counts,
                 bool labels) {
  for (size_t i = 0; i < names.size(); ++i) {
    file.write(names[i]);
    put_number(file, '\0');
    put_number(file, static_cast<int64_t>(
                         std::min<uint64_t>(counts[i], std::numeric_limits<int64_t>::max())));
    put_number(file, static_cast<uint8_t>(labels));
  }
}

void put_table(AtomicFile& file, const Vectors& table, int32_t dim, std::string_view title) {
  put_number(file, uint8_t{0});  // not quantised
  put_number(file, static_cast<int64_t>(table.rows()));
  put_number(file, int64_t{dim});
  for_each_row(table, [&](size_t r, std::span<const float> row) {
    if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) {
      throw fault(ErrorKind::kInput,
                  "row {} of {} has values that are not finite, so the model is not written", r + 1,
                  title);
    }
    file.write(std::span(reinterpret_cast<const char*>(row.data()), row.size_bytes()));
  });
}

}  // namespace

bool is_fasttext_bin(std::string_view first_bytes) {
  return first_bytes.starts_with("\xba\x16\x4f\x2f");
}

FastTextFile read_fasttext_bin(const std::string& path, ReadReport* report) {
  VectorInput input(path);
  ReadReport own{};
  return read_fasttext_bin(input, report ? *report : own);
}

FastTextFile read_fasttext_bin(VectorInput& input, ReadReport& report) {
  if (!is_fasttext_bin(input.peek(sizeof(kMagic)))) {
    throw fault(ErrorKind::kInput,
                "{}: not a fastText model: those begin with the number {}, but this with \"{}\"",
                input.where(), kMagic, shown(input.peek(sizeof(kMagic)).substr(0, 4)));
  }
  FastTextInput in(input);
  FastTextFile file;
  report.duplicates = report.invalid_utf8 = 0;
  take_settings(in, file);
  const Dropped dropped = take_dictionary(in, file, report);
  check_settings(file, in.where());
  file.quantised = in.flag("whether the input is quantised");
  // Old versions wrote such files, with rows that did not fit; fastText refuses them as well.
  if (file.pruned && !file.quantised) {
    throw fault(ErrorKind::kInput,
                "{}: only some buckets were kept, which is not so in files that are not quantised; "
                "the file is damaged",
                in.where());
  }
  const auto take_table = [&](bool quantised, const FastTextTable& table) {
    return quantised ? take_quantised(in, table) : take_dense(in, table);
  };
  file.input = take_table(file.quantised, input_table(file, dropped));
  const bool quantised_output = in.flag("whether the output is quantised") && file.quantised;
  file.output = take_table(quantised_output, output_table(file, dropped, in.where()));
  in.expect_end();
  return file;
}

void write_fasttext_bin(const std::string& path, const FastTextHeader& header, const Vectors& input,
                        const Vectors& output) {
  check_settings(header, path);
  check_writable(header);
  check_parts(header, input, output);
  AtomicFile file(path);
  put_number(file, kMagic);
  put_number(file, kVersion);
  visit_settings(header, [&](std::string_view, auto value) { put_number(file, value); });
  put_number(file, static_cast<int32_t>(header.words.size() + header.labels.size()));
  put_number(file, static_cast<int32_t>(header.words.size()));
  put_number(file, static_cast<int32_t>(header.labels.size()));
  put_number(file, header.tokens);
  put_number(file, int64_t{-1});  // no bucket was pruned
  put_entries(file, header.words, header.counts, false);
  put_entries(file, header.labels, header.label_counts, true);
  put_table(file, input, header.dim, "the input table");
  put_table(file, output, header.dim, "the output table");
  file.commit();
}

}  // namespace kith
