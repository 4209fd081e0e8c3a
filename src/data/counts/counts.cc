// SPDX-License-Identifier: Apache-2.0
#include "data/counts/counts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "data/holdout.h"
#include "io/archive.h"
#include "io/vector_formats.h"
#include "kith/text.h"
#include "kith/version.h"

namespace kith {
namespace {

constexpr std::string_view kData = "counts", kFormat = "1";
constexpr uint64_t kUsualHoldout = 50000;  // cells, at most a hundredth
// What is told of the text in a file of counts, and in a model of them.
constexpr std::array<std::string_view, 5> kAbout{"corpus.bytes", "corpus.lines", "corpus.words",
                                                 "corpus.distinct", "corpus.kept"};

void require(bool good, const std::string& where, std::string_view what) {
  if (!good) throw fault(ErrorKind::kInput, "{}: damaged: {}", where, what);
}

// Everything that those who learn from the cells rely on.
void check(const Sparse& cells, const std::string& where) {
  const auto& at = cells.offsets;
  require(!at.empty() && at.front() == 0 && at.back() == cells.column.size() &&
              std::ranges::is_sorted(at) && cells.value.size() == cells.column.size(),
          where, "the rows do not fill the cells");
  for (uint32_t r = 0; r < cells.rows(); ++r) {
    const Sparse::Row row = cells.row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      require(row.columns[k] < cells.columns && (k == 0 || row.columns[k - 1] < row.columns[k]),
              where, "the columns of a row do not rise, or are too many");
      require(std::isfinite(row.values[k]) && row.values[k] > 0, where,
              "a count is not a number above 0");
    }
  }
}

}  // namespace

Counts::Counts(Vocabulary vocabulary, Sparse cells, std::string made,
               std::map<std::string, std::string> about)
    : vocabulary_(std::move(vocabulary)),
      cells_(std::move(cells)),
      made_(std::move(made)),
      about_(std::move(about)) {
  for (const float v : cells_.value) total_ += double{v};
}

bool Counts::is_file(const std::string& path) {
  std::error_code none;
  if (path == "-" || !std::filesystem::is_regular_file(path, none)) return false;
  try {
    const MappedFile file(path);  // as it stands: counts that are packed are no counts
    constexpr size_t kStart = size_t{1} << 20;
    const std::string_view text(file.bytes().data(), std::min(kStart, file.bytes().size()));
    return is_safetensors(text) && text.find("\"data\":\"counts\"") != std::string_view::npos;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    return false;  // whoever reads it says what is wrong
  }
}

Counts Counts::open(const std::string& path) {
  const Archive in = Archive::open(path);
  const std::string& where = in.where();
  require(in.metadata_at("data") == kData, where, "these are not counts");
  if (in.metadata_at("format") != kFormat) {
    throw fault(ErrorKind::kInput,
                "{}: counts in format {:.20}; this program reads format {}: use a newer one", where,
                in.metadata_at("format"), kFormat);
  }
  Vocabulary vocabulary{in.names("words"), in.values<uint64_t>("counts")};
  const size_t words = vocabulary.words.size();
  require(words >= 2 && words < UINT32_MAX && vocabulary.counts.size() == words, where,
          "there are not as many counts as words");
  Sparse cells;
  cells.columns = static_cast<uint32_t>(words);
  cells.offsets = in.values<uint64_t>("cells.offsets");
  cells.column = in.values<uint32_t>("cells.columns");
  cells.value = in.values<float>("cells.values");
  require(cells.offsets.size() == words + 1, where, "there are not as many rows as words");
  check(cells, where);
  std::map<std::string, std::string> about;
  for (const std::string_view key : kAbout) {
    const auto found = in.metadata().find(std::string(key));
    if (found != in.metadata().end()) about.insert(*found);
  }
  return {std::move(vocabulary), std::move(cells), in.metadata_at("run"), std::move(about)};
}

void Counts::save(const std::string& path) const {
  ArchiveWriter out;
  out.metadata = about_;
  out.metadata["data"] = kData;
  out.metadata["format"] = kFormat;
  out.metadata["version"] = std::string(kVersion);
  out.metadata["run"] = made_;
  out.add_names("words", vocabulary_.words);
  out.tensors["counts"] = tensor_of(std::span<const uint64_t>(vocabulary_.counts));
  out.tensors["cells.offsets"] = tensor_of(std::span<const uint64_t>(cells_.offsets));
  out.tensors["cells.columns"] = tensor_of(std::span<const uint32_t>(cells_.column));
  out.tensors["cells.values"] = tensor_of(std::span<const float>(cells_.value));
  out.save(path);
}

void Counts::hold_out(std::optional<double> setting) {
  const uint64_t all = cells_.size();
  const uint64_t wanted = HoldOut::wanted(setting, all, std::min(kUsualHoldout, all / 100));
  if (wanted == 0) return;
  const HoldOut rule(static_cast<double>(wanted) / static_cast<double>(all));
  Sparse out;
  out.columns = cells_.columns;
  uint64_t kept = 0;
  uint64_t begin = 0;
  for (uint32_t r = 0; r < cells_.rows(); ++r) {
    const uint64_t end = cells_.offsets[r + 1];
    for (uint64_t k = begin; k < end; ++k) {
      const uint32_t c = cells_.column[k];
      const uint64_t key = uint64_t{std::min(r, c)} << 32 | std::max(r, c);
      if (rule.takes(key)) {
        out.column.push_back(c);
        out.value.push_back(cells_.value[k]);
      } else {
        cells_.column[kept] = c;
        cells_.value[kept++] = cells_.value[k];
      }
    }
    begin = end;
    cells_.offsets[r + 1] = kept;
    out.offsets.push_back(out.column.size());
  }
  cells_.column.resize(kept);
  cells_.value.resize(kept);
  held_out_ = std::move(out);
}

uint64_t Counts::bytes() const {
  const uint64_t words = vocabulary_.words.size();
  return 8 * (cells_.column.capacity() + held_out_.size()) + 40 * words +
         vocabulary_.words.bytes().size();
}

uint64_t Counts::fingerprint() const {
  uint64_t out = stable_hash(vocabulary_.words.bytes());
  const auto add = [&]<class T>(const std::vector<T>& values) {
    out = fold_multiply(out ^ stable_hash({reinterpret_cast<const char*>(values.data()),
                                           values.size() * sizeof(T)}),
                        0xa0761d6478bd642f);
  };
  for (const Sparse* part : {&cells_, &held_out_}) {
    add(part->offsets);
    add(part->column);
    add(part->value);
  }
  return out;
}

std::map<std::string, std::string> Counts::metadata() const {
  std::map<std::string, std::string> out = about_;
  out["counts.cells"] = fmt::format("{}", cells_.size() + held_out_.size());
  out["counts.total"] = fmt::format("{:.0f}", total_);
  out["counts.made"] = made_;
  return out;
}

std::string Counts::example() const {
  const Names& words = vocabulary_.words;  // beyond those that stand beside everything
  return std::string(words[std::min<size_t>(1000, words.size() / 4)]);
}

Profile Counts::profile() const {
  Profile out;
  out.data = kData;
  out.unit = kind().unit;
  out.size = cells_.size();
  out.held_out = held_out_.size();
  const uint64_t words = vocabulary_.words.size();
  const double all = static_cast<double>(words) * static_cast<double>(words);
  const uint64_t cells = cells_.size() + held_out_.size();
  out.summary = fmt::format("{}, {} of all pairs of {}", count_of(cells, "cell"),
                            in_percent(static_cast<double>(cells) / all), count_of(words, "word"));
  out.lines.emplace_back("train", fmt::format("on {} per epoch; {} held out to score the model",
                                              count_of(cells_.size(), "cell"),
                                              out.held_out ? grouped(out.held_out) : "none"));
  out.notes = notes_;
  return out;
}

}  // namespace kith
