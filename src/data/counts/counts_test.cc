// SPDX-License-Identifier: Apache-2.0
#include "data/counts/counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/rng.h"
#include "data/counts/pair_counter.h"
#include "data/test_files.h"
#include "io/archive.h"

namespace kith {
namespace {

Vocabulary words(uint32_t size) {
  Vocabulary out;
  for (uint32_t w = 0; w < size; ++w) {
    out.words.add("w" + std::to_string(w));
    out.counts.push_back(1000 - w);
  }
  return out;
}

// A third of all cells; symmetric.
Sparse some_cells(uint32_t size) {
  Sparse out;
  out.columns = size;
  for (uint32_t r = 0; r < size; ++r) {
    for (uint32_t c = 0; c < size; ++c) {
      if ((r * c + r + c) % 3 != 0) continue;
      out.column.push_back(c);
      out.value.push_back(static_cast<float>(1 + r + c));
    }
    out.offsets.push_back(out.column.size());
  }
  return out;
}

Counts some_counts(uint32_t size = 60) {
  return {words(size), some_cells(size), "window = 3\n", {{"corpus.words", "123"}}};
}

TEST(Counts, GoThroughAFile) {
  const TestFolder folder;
  const std::string path = folder.path() + "/a.counts";
  const Counts before = some_counts();
  before.save(path);
  EXPECT_TRUE(Counts::is_file(path));
  const Counts after = Counts::open(path);
  EXPECT_EQ(after.cells().offsets, before.cells().offsets);
  EXPECT_EQ(after.cells().column, before.cells().column);
  EXPECT_EQ(after.cells().value, before.cells().value);
  EXPECT_EQ(after.vocabulary().counts, before.vocabulary().counts);
  EXPECT_EQ(after.vocabulary().words[7], "w7");
  EXPECT_EQ(after.made(), "window = 3\n");
  EXPECT_EQ(after.total(), before.total());
  EXPECT_EQ(after.fingerprint(), before.fingerprint());
  EXPECT_EQ(after.metadata(), before.metadata());
}

TEST(Counts, OtherFilesAreNone) {
  const TestFolder folder;
  EXPECT_FALSE(Counts::is_file(folder.write("a.txt", "\"data\":\"counts\"\n")));
  EXPECT_FALSE(Counts::is_file(folder.path() + "/missing"));
  EXPECT_FALSE(Counts::is_file("-"));
  ArchiveWriter model;
  model.metadata["model"] = "word2vec";
  model.save(folder.path() + "/a.kith");
  EXPECT_FALSE(Counts::is_file(folder.path() + "/a.kith"));
}

// What a damaged file says, after one change to what is written.
template <class Change>
std::string refused(const Change& change) {
  const TestFolder folder;
  const std::string path = folder.path() + "/a.counts";
  Vocabulary vocabulary = words(4);
  Sparse cells = some_cells(4);
  ArchiveWriter out;
  out.metadata = {{"data", "counts"}, {"format", "1"}, {"run", ""}};
  change(vocabulary, cells, out);
  out.add_names("words", vocabulary.words);
  out.tensors["counts"] = tensor_of(std::span<const uint64_t>(vocabulary.counts));
  out.tensors["cells.offsets"] = tensor_of(std::span<const uint64_t>(cells.offsets));
  out.tensors["cells.columns"] = tensor_of(std::span<const uint32_t>(cells.column));
  out.tensors["cells.values"] = tensor_of(std::span<const float>(cells.value));
  out.save(path);
  const std::string what = message_of(ErrorKind::kInput, [&] { Counts::open(path); });
  return what.substr(path.size());
}

TEST(Counts, ADamagedFileIsRefused) {
  EXPECT_EQ(refused([](auto&, Sparse& c, auto&) { c.offsets[2] = 99; }),
            ": damaged: the rows do not fill the cells");
  EXPECT_EQ(refused([](auto&, Sparse& c, auto&) { c.value.pop_back(); }),
            ": damaged: the rows do not fill the cells");
  EXPECT_EQ(refused([](auto&, Sparse& c, auto&) { c.offsets.push_back(c.offsets.back()); }),
            ": damaged: there are not as many rows as words");
  EXPECT_EQ(refused([](auto&, Sparse& c, auto&) { c.column.back() = 4; }),
            ": damaged: the columns of a row do not rise, or are too many");
  EXPECT_EQ(refused([](auto&, Sparse& c, auto&) { std::swap(c.column[0], c.column[1]); }),
            ": damaged: the columns of a row do not rise, or are too many");
  for (const float bad : {0.0f, -1.0f, HUGE_VALF, std::nanf("")}) {
    EXPECT_EQ(refused([&](auto&, Sparse& c, auto&) { c.value[0] = bad; }),
              ": damaged: a count is not a number above 0");
  }
  EXPECT_EQ(refused([](Vocabulary& v, Sparse&, auto&) { v.counts.pop_back(); }),
            ": damaged: there are not as many counts as words");
  EXPECT_EQ(refused([](auto&, Sparse&, ArchiveWriter& out) { out.metadata["format"] = "9"; }),
            ": counts in format 9; this program reads format 1: use a newer one");
}

TEST(Counts, HoldOutCellsOfBothSidesTogether) {
  Counts counts = some_counts(300);
  const uint64_t all = counts.cells().size();
  counts.hold_out(0.2);
  EXPECT_EQ(counts.cells().size() + counts.held_out().size(), all);
  const auto share = static_cast<double>(counts.held_out().size()) / static_cast<double>(all);
  EXPECT_NEAR(share, 0.2, 0.02);
  std::set<std::pair<uint32_t, uint32_t>> taken;
  for (uint32_t r = 0; r < 300; ++r) {
    for (const uint32_t c : counts.held_out().row(r).columns) taken.insert({r, c});
    EXPECT_TRUE(std::ranges::is_sorted(counts.cells().row(r).columns));
  }
  for (const auto& [r, c] : taken) EXPECT_TRUE(taken.contains({c, r})) << r << " " << c;
  for (uint32_t r = 0; r < 300; ++r) {
    for (const uint32_t c : counts.cells().row(r).columns) EXPECT_FALSE(taken.contains({r, c}));
  }
  EXPECT_NE(counts.fingerprint(), some_counts(300).fingerprint());
}

TEST(Counts, HoldOutNothingOrAHundredth) {
  Counts none = some_counts(), usual = some_counts(300);
  none.hold_out(0);
  EXPECT_EQ(none.held_out().size(), 0u);
  usual.hold_out({});
  const auto all = static_cast<double>(usual.cells().size() + usual.held_out().size());
  EXPECT_NEAR(static_cast<double>(usual.held_out().size()) / all, 0.01, 0.003);
}

std::unique_ptr<Dataset> read(const std::vector<std::string>& sources, const std::string& scratch,
                              const std::vector<Setting>& settings = {}) {
  const auto reader = Counts::data_kind().reader();
  apply_settings(settings, reader->settings());
  ReadRequest request;
  request.sources = sources;
  request.scratch = scratch;
  request.keep_all = true;
  return reader->read(request);
}

TEST(Counts, TellHowManyPairsThereAre) {
  Sparse all;
  all.columns = 3;
  for (uint32_t r = 0; r < 3; ++r) {
    for (uint32_t c = 0; c < 3; ++c) {
      all.column.push_back(c);
      all.value.push_back(1);
    }
    all.offsets.push_back(all.column.size());
  }
  EXPECT_EQ(Counts(words(3), all, "", {}).profile().summary,
            "9 cells, 100 % of all pairs of 3 words");
}

TEST(CountsKind, ATextAndItsCountsAreTheSameData) {
  const TestFolder folder;
  const std::string text = folder.write("a.txt", "a b c a b\nb c a d a b c\n");
  const std::vector<Setting> settings{{"min-count", int64_t{1}}, {"window", int64_t{2}}};
  const auto counted = read({text}, folder.path(), settings);
  const auto& counts = dynamic_cast<const Counts&>(*counted);
  const std::string path = folder.path() + "/a.counts";
  counts.save(path);
  const auto opened = read({path}, folder.path());
  EXPECT_EQ(opened->fingerprint(), counted->fingerprint());
  EXPECT_EQ(opened->metadata(), counted->metadata());
  EXPECT_NE(counts.made().find("window = 2\n"), std::string::npos);
  EXPECT_EQ(counted->metadata().at("corpus.words"), "12");
}

// A setting that is given must be that of the file, also if it is the usual one; others are taken
// from the file.
TEST(CountsKind, SettingsAreThoseOfTheFile) {
  const TestFolder folder;
  const std::string path = folder.path() + "/a.counts";
  const std::string text = folder.write("a.txt", "a b c a b\nb c a d a b c\n");
  const auto counted =
      read({text}, folder.path(), {{"min-count", int64_t{1}}, {"window", int64_t{3}}});
  dynamic_cast<const Counts&>(*counted).save(path);
  const auto refused = [&](const std::string& name, Value value) {
    return message_of(ErrorKind::kUsage, [&] {
      read({path}, folder.path(), {{name, std::move(value)}});
    });
  };
  EXPECT_EQ(refused("window", int64_t{10}),
            path + ": these are counts made with --window 3, not 10; leave it out, or count anew");
  EXPECT_EQ(refused("weight", std::string("flat")),
            path +
                ": these are counts made with --weight harmonic, not flat; leave it out, or "
                "count anew");
  const auto reader = Counts::data_kind().reader();
  apply_settings(std::vector<Setting>{{"window", int64_t{3}}}, reader->settings());
  ReadRequest request;
  request.sources = {path};
  EXPECT_EQ(reader->read(request)->fingerprint(), counted->fingerprint());
  EXPECT_NE(to_toml(reader->settings()).find("min-count = 1\n"), std::string::npos);
}

// Before it is counted.
TEST(CountsKind, NothingIsHeldOutOfWhatIsNeededWhole) {
  const TestFolder folder;
  const auto reader = Counts::data_kind().reader();
  apply_settings(std::vector<Setting>{{"holdout", 10.0}}, reader->settings());
  ReadRequest request;
  request.sources = {folder.path() + "/nowhere.txt"};
  request.wishes.needs_all = "all cells are needed";
  EXPECT_EQ(message_of(ErrorKind::kUsage, [&] { reader->read(request); }),
            "all cells are needed; leave --holdout out");
}

TEST(CountsKind, SaysThatLongLinesAreCountedInPieces) {
  const TestFolder folder;
  std::string line;
  for (uint64_t k = 0; k < kLongestLine + 2; ++k) line += k % 2 == 0 ? "a " : "b ";
  const auto notes = [&](const std::string& text, const std::string& within) {
    return read({folder.write("a.txt", text)}, folder.path(),
                {{"min-count", int64_t{1}}, {"within", within}})
        ->profile()
        .notes;
  };
  EXPECT_TRUE(notes(line, "window").empty());
  EXPECT_TRUE(notes("a b a\n", "line").empty());
  ASSERT_EQ(notes(line, "line").size(), 1u);
  EXPECT_EQ(notes(line, "line").front().text,
            "what is longer than 1,000 words is counted in pieces of that length; the longest has "
            "1,002 words");
}

TEST(CountsKind, WhatDoesNotFitIsRefused) {
  const TestFolder folder;
  const std::string path = folder.path() + "/a.counts";
  some_counts().save(path);
  EXPECT_EQ(message_of(ErrorKind::kUsage,
                       [&] {
                         read({path, path}, folder.path());
                       }),
            "one file of counts at a time; count all texts together");
  const std::string lonely = folder.write("b.txt", "a\nb\na\nb\n");
  EXPECT_EQ(message_of(ErrorKind::kInput,
                       [&] {
                         read({lonely}, folder.path(), {{"min-count", int64_t{1}}});
                       }),
            lonely + ": no two words stand together: every line has one word that is kept");
  EXPECT_EQ(seen_as(path).kind->name, "counts");
  EXPECT_EQ(seen_as(lonely).kind->name, "text");
}

}  // namespace
}  // namespace kith
