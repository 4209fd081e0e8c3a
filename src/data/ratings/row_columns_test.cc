// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/row_columns.h"

#include <gtest/gtest.h>

#include "data/ratings/rating_columns.h"
#include "data/ratings/ratings.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

class RowColumnsFile : public testing::Test {
 protected:
  // Users 1 to 6 rate films 1 to 6; what follows each rating is the caller's.
  template <class More>
  Ratings read(const std::string& header, const More& more, bool features = true) {
    std::string text = "user,film,rating" + header + "\n";
    for (int u = 1; u <= 6; ++u) {
      for (int f = 1; f <= 6; ++f) {
        text += fmt::format("u{},f{},{}{}\n", u, f, 1 + (u * f) % 5, more(u, f));
      }
    }
    const auto reader = open_ratings({folder_.write("r.csv", text)}, {}, {});
    return Ratings::read(*reader, {}, 0, false, nullptr, {}, features);
  }
  static std::string notes_of(const Ratings& r) {
    std::string out;
    for (const Note& n : r.counts().notes) out += n.text + "\n";
    return out;
  }
  RowFeatures about(const Ratings& r, const std::string& text, std::vector<Note>& notes) {
    const TableOfRows table{folder_.write("films.csv", text), "item", r.items(), "film"};
    return read_features(table, {}, notes);
  }
  TestFolder folder_;
};

// The genre is the film's, the town the user's; the mood changes.
std::string genre_town_mood(int u, int f) {
  return fmt::format(",{},{},{}", f % 2 ? "drama" : "comedy", u % 3 ? "Rome" : "Oslo",
                     (u + f) % 2 ? "good" : "bad");
}

TEST_F(RowColumnsFile, AColumnIsOfThoseForWhomItIsAlwaysTheSame) {
  const Ratings r = read(",genre,town,mood", genre_town_mood);
  EXPECT_EQ(r.item_features().names, std::vector<std::string>{"genre"});
  EXPECT_EQ(r.user_features().names, std::vector<std::string>{"town"});
  EXPECT_EQ(notes_of(r),
            "also learned from, about users: town (category)\nalso learned from, about items: "
            "genre (category)\nnot used: mood, which is not the same in all ratings of a user or "
            "of an item; feat2vec learns from all columns, with --target rating\n");
  const Sparse& f = r.item_features().features;
  ASSERT_EQ(f.rows(), 6u);
  for (uint32_t i = 0; i < 6; ++i) {
    ASSERT_EQ(f.row(i).size(), 1u);
    EXPECT_EQ(f.row(i).columns[0] == f.row(0).columns[0], i % 2 == 0) << i;
  }
  const Ratings plain = read(",genre,town,mood", genre_town_mood, false);
  EXPECT_EQ(plain.item_features().columns() + plain.user_features().columns(), 0u);
  EXPECT_NE(plain.fingerprint(), r.fingerprint()) << "a run goes on with the same columns";
}

// In a file in which nobody stands twice every column is the same for everyone.
TEST_F(RowColumnsFile, AColumnMustHaveHadTheChanceToDiffer) {
  std::string text = "user,film,rating,genre\n";
  for (int u = 1; u <= 40; ++u) text += fmt::format("u{},f{},3,g{}\n", u, u % 4, u % 4);
  const auto reader = open_ratings({folder_.write("r.csv", text)}, {}, {});
  const Ratings r = Ratings::read(*reader, {}, 0, false, nullptr, {}, true);
  EXPECT_EQ(r.user_features().columns(), 0u);
  EXPECT_EQ(r.item_features().names, std::vector<std::string>{"genre"});
}

TEST_F(RowColumnsFile, CellsThatAreMissingDoNotCount) {
  const Ratings r = read(",genre", [](int u, int f) {
    return u == 1 || f == 6 ? std::string(",") : fmt::format(",g{}", f % 2);
  });
  const Sparse& f = r.item_features().features;
  ASSERT_EQ(f.rows(), 6u);
  EXPECT_EQ(f.row(0).size(), 1u);
  EXPECT_EQ(f.row(5).size(), 0u);
}

TEST_F(RowColumnsFile, WholeAndSplitRatingsKeepTheirFeatures) {
  const Ratings r = read(",genre,town,mood", genre_town_mood);
  const Ratings part = r.with(r.train(), {});
  EXPECT_EQ(part.item_features().names, r.item_features().names);
  EXPECT_EQ(part.user_features().names, r.user_features().names);
}

const auto kNothingMore = [](int, int) { return std::string(); };

TEST_F(RowColumnsFile, ATableOfTheirOwn) {
  const Ratings r = read("", kNothingMore);
  for (const char* text : {"genres|film|year\na, b|f1|1999\na|f2|2001\nb|f3|2001\nb|f9|2001\n",
                           "film|genres|year\nf1|a, b|1999\nf2|a|2001\nf3|b|2001\n"}) {
    std::vector<Note> notes;
    const RowFeatures f = about(r, text, notes);
    const bool unrated = std::string_view(text).find("f9") != std::string_view::npos;
    ASSERT_EQ(notes.size(), unrated ? 2u : 1u);
    expect_part("films.csv has 3 of 6 items: genres (set), year", notes[0].text);
    if (unrated) expect_part("1 row of items without ratings left out", notes[1].text);
    EXPECT_EQ(f.features.rows(), 6u);
    EXPECT_GE(f.features.row(0).size(), 2u);
    EXPECT_EQ(f.features.row(5).size(), 0u);
  }
}

// MovieLens' movies.dat and u.item have none.
TEST_F(RowColumnsFile, ATableWithoutAHeader) {
  const Ratings r = read("", kNothingMore);
  std::vector<Note> notes;
  const RowFeatures f = about(r, "f1,drama\nf2,comedy\nf3,drama\nf4,comedy\n", notes);
  EXPECT_EQ(f.features.row(0).size(), 1u) << "the first row counts";
}

TEST_F(RowColumnsFile, ATableOfOthersIsRefused) {
  const Ratings r = read("", kNothingMore);
  std::vector<Note> notes;
  const std::string message =
      message_of(ErrorKind::kInput, [&] { about(r, "id,genre\nx1,drama\nx2,comedy\n", notes); });
  expect_part("films.csv: its column id has no item of the ratings, such as f1", message);
}

TEST_F(RowColumnsFile, FeaturesOfTwoTablesStandSideBySide) {
  const Ratings r = read(",genre", [](int, int f) { return fmt::format(",g{}", f % 2); });
  std::vector<Note> notes;
  const RowFeatures more = about(r, "film,shelf\nf1,top\nf2,low\nf3,top\nf4,low\n", notes);
  const RowFeatures both = joined(r.item_features(), more);
  EXPECT_EQ(both.names, (std::vector<std::string>{"genre", "shelf"}));
  EXPECT_EQ(both.ends, (std::vector<uint32_t>{2, 4}));
  EXPECT_EQ(both.features.columns, 4u);
  const Sparse::Row row = both.features.row(0);
  ASSERT_EQ(row.size(), 2u);
  EXPECT_LT(row.columns[0], 2u);
  EXPECT_GE(row.columns[1], 2u);
}

}  // namespace
}  // namespace kith
