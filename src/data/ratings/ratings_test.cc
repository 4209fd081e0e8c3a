// SPDX-License-Identifier: Apache-2.0
#include "data/ratings/ratings.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/error.h"
#include "data/ratings/rating_columns.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

using Pairs = std::map<std::pair<std::string, std::string>, float>;

Pairs pairs_of(const Ratings& r, const Sparse& part) {
  Pairs out;
  for (uint32_t u = 0; u < part.rows(); ++u) {
    const Sparse::Row row = part.row(u);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_TRUE(i == 0 || row.columns[i - 1] < row.columns[i]) << "the items of a row rise";
      out[{std::string(r.users()[u]), std::string(r.items()[row.columns[i]])}] = row.values[i];
    }
  }
  EXPECT_EQ(out.size(), part.size());
  return out;
}
Pairs pairs_of(const Ratings& r) { return pairs_of(r, r.train()); }

class RatingsFile : public testing::Test {
 protected:
  Ratings read(const std::string& text, const RatingsOptions& options = {}, double holdout = 0,
               bool times = false, const TableOptions& table = {}) {
    const auto reader = open_ratings({folder_.write("r.txt", text)}, table, options);
    return Ratings::read(*reader, options, holdout, times);
  }
  std::string refused(const std::string& text, const RatingsOptions& options = {},
                      ErrorKind kind = ErrorKind::kInput, bool times = false) {
    const std::string message = message_of(kind, [&] { read(text, options, 0, times); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  TestFolder folder_;
};

const Pairs kTwo{{{"1", "10"}, 4.0f}, {{"2", "10"}, 3.5f}, {{"2", "20"}, 5.0f}};

TEST_F(RatingsFile, EveryLayout) {
  for (const char* text :
       {"1\t10\t4\t881250949\n2\t10\t3.5\t881250950\n2\t20\t5\t881250951\n",      // u.data
        "1::10::4::978300760\n2::10::3.5::978300761\n2::20::5::978300762\n",      // ratings.dat
        "userId,movieId,rating,timestamp\n1,10,4.0,1\n2,10,3.5,2\n2,20,5.0,3\n",  // ratings.csv
        "1 10 4\n2 10 3.5\n2 20 5\n", "1,10,4\n2,10,3.5\n2,20,5\n",               //
        "timestamp;score;ITEM_ID;User Id\n9;4;10;1\n9;3.5;10;2\n9;5;20;2\n",      //
        "who,what,how\n1,10,4\n2,10,3.5\n2,20,5\n",                               //
        "\xEF\xBB\xBFuser,item,rating\r\n 1 ,10,4\r\n2,\"10\",+3.5\r\n2,20 ,5e0\r\n",  //
        "{\"rating\":4,\"user\":1,\"item\":10}\n{\"user\":2,\"item\":\"10\",\"rating\":3.5}\n"
        "{\"user\":2,\"item\":20,\"rating\":5}\n"}) {
    const Ratings r = read(text);
    EXPECT_EQ(pairs_of(r), kTwo) << text;
    EXPECT_FALSE(r.implicit());
    EXPECT_EQ(r.counts().rows, 3u);
    EXPECT_EQ(r.counts().missing, 0u);
    EXPECT_NEAR(r.mean(), 12.5 / 3, 1e-6);
    EXPECT_EQ(r.low(), 3.5f);
    EXPECT_EQ(r.high(), 5);
  }
}

TEST_F(RatingsFile, TheNamesOfColumns) {
  const Ratings named = read("userId,movieId,rating,timestamp\n1,10,4,7\n");
  EXPECT_EQ(named.counts().user_column, "userId");
  EXPECT_EQ(named.counts().item_column, "movieId");
  EXPECT_EQ(named.counts().rating_column, "rating");
  EXPECT_EQ(named.counts().time_column, "timestamp");
  const Ratings bare = read("1,10,4,7\n");
  EXPECT_EQ(bare.counts().user_column, "user");
  EXPECT_EQ(bare.counts().item_column, "item");
  // Told, whatever stands where.
  RatingsOptions told;
  told.user = "a";
  told.item = "user";
  told.rating = "3";
  EXPECT_EQ(pairs_of(read("user,3,a\nx,4,y\n", told)), (Pairs{{{"y", "x"}, 4.0f}}));
  told = {};
  told.rating = "c4";
  EXPECT_EQ(pairs_of(read("1,2,9,4\n", told)), (Pairs{{{"1", "2"}, 4.0f}}));
}

TEST_F(RatingsFile, AColumnThatIsNotThere) {
  RatingsOptions options;
  options.rating = "ratign";
  const std::string message = refused("user,item,rating\n1,2,3\n", options, ErrorKind::kUsage);
  expect_part("r.txt: there is no column", message);
  expect_part("for --rating; did you mean rating?", message);
  expect_part("a column of users and one of items", refused("word\nx\n"));
}

TEST_F(RatingsFile, AHeaderIsFoundByLooking) {
  EXPECT_EQ(read("u1,i1,5\nu2,i2,4\n").counts().rows, 2u);
  EXPECT_EQ(read("a,b,c\nu2,i2,4\n").counts().rows, 1u);
  EXPECT_EQ(read("user,film\nu2,i2\n").counts().rows, 1u);
  EXPECT_EQ(read("bob,Time\nann,Game\n").counts().rows, 2u) << "two columns of data";
  EXPECT_EQ(read("user,item,5\nu2,i2,4\n").counts().rows, 2u) << "odd names, but a rating";
  expect_part("\"rating\" is not a number", message_of(ErrorKind::kInput, [&] {
                read("user,item,rating\nu2,i2,4\n", {}, 0, false, {.header = false});
              }));
}

TEST_F(RatingsFile, TwoColumnsAreInteractions) {
  const Ratings r = read("ann,x\nbob,y\nann,y\nann,x\n");
  EXPECT_TRUE(r.implicit());
  EXPECT_EQ(pairs_of(r), (Pairs{{{"ann", "x"}, 1.0f}, {{"ann", "y"}, 1.0f}, {{"bob", "y"}, 1.0f}}));
  EXPECT_EQ(r.counts().duplicates, 1u);
  RatingsOptions implicit;
  implicit.implicit = true;
  const Ratings plays = read("user,artist,plays\na,x,3\na,y,0.5\n", implicit);
  EXPECT_TRUE(plays.implicit());
  EXPECT_EQ(pairs_of(plays), (Pairs{{{"a", "x"}, 3.0f}, {{"a", "y"}, 0.5f}}));
  // A named column that is no strength is not taken for one.
  EXPECT_EQ(pairs_of(read("user,artist,comment\na,x,nice\n", implicit)),
            (Pairs{{{"a", "x"}, 1.0f}}));
  RatingsOptions without;
  without.rating = "none";
  const Ratings chosen = read("u1::i1::0::88\nu2::i1::5::89\n", without);
  EXPECT_TRUE(chosen.implicit());
  EXPECT_EQ(pairs_of(chosen), (Pairs{{{"u1", "i1"}, 1.0f}, {{"u2", "i1"}, 1.0f}}));
  EXPECT_TRUE(read("user,item,stars\na,x,3\n", without).implicit());
  // A column that is really called so is meant.
  EXPECT_EQ(pairs_of(read("user,item,none\na,x,3\n", without)), (Pairs{{{"a", "x"}, 3.0f}}));
  expect_part("r.txt:3: column plays: \"0\" is not above 0",
              refused("user,artist,plays\na,x,3\na,y,0\n", implicit));
  expect_part("r.txt:2: ", refused("user,artist,plays\na,x,-1\n", implicit));
}

TEST_F(RatingsFile, IdsAreNames) {
  const Ratings r = read("3000000000,007,1\n7,7,2\n99999999999999999999,x y,3\n-1,\xC3\xA9,4\n");
  EXPECT_EQ(pairs_of(r), (Pairs{{{"3000000000", "007"}, 1.0f},
                                {{"7", "7"}, 2.0f},
                                {{"99999999999999999999", "x y"}, 3.0f},
                                {{"-1", "\xC3\xA9"}, 4.0f}}));
  const Ratings spaced = read("user,item,rating\n a,x,1\na , x,2\na,x\t,3\nb,y,1\n");
  EXPECT_EQ(spaced.users().size(), 2u);
  EXPECT_EQ(spaced.items().size(), 2u);
  EXPECT_EQ(spaced.counts().trimmed, 3u);
  EXPECT_EQ(spaced.counts().duplicates, 2u);
}

TEST_F(RatingsFile, WhatIsNoRating) {
  for (const char* bad : {"nan", "inf", "-inf", "NaN", "five", "1,5", "0x10", "1e39", "4 stars"}) {
    const std::string message = refused(fmt::format("user,item,rating\na,x,4\nb,y,\"{}\"\n", bad));
    expect_part("r.txt:3: column rating: ", message);
    expect_part(bad, message);
    expect_part("is not a number", message);
  }
  expect_part("r.txt:1: column c3: \"nan\"", refused("1,2,nan\n3,4,5\n"));
}

TEST_F(RatingsFile, MissingCellsAreCounted) {
  const Ratings r = read("user,item,rating\na,x,4\n,x,4\na,,3\na,y,\n \t,x,1\nb,y,2\n");
  EXPECT_EQ(pairs_of(r), (Pairs{{{"a", "x"}, 4.0f}, {{"b", "y"}, 2.0f}}));
  EXPECT_EQ(r.counts().missing, 4u);
  EXPECT_EQ(r.counts().rows, 6u);
  expect_part("there are no ratings", refused("user,item,rating\n"));
  expect_part("every row lacks", refused("user,item,rating\n,x,3\n"));
}

TEST_F(RatingsFile, OneRatingAndConstantRatings) {
  const Ratings one = read("1 2 3\n");
  EXPECT_EQ(one.train().size(), 1u);
  EXPECT_EQ(one.deviation(), 0);
  const Ratings same = read("1,2,3\n1,3,3\n2,2,3\n");
  EXPECT_EQ(same.low(), same.high());
  EXPECT_EQ(same.mean(), 3);
}

TEST_F(RatingsFile, Duplicates) {
  const std::string text = "1,2,5\n1,3,1\n1,2,2\n2,2,4\n1,2,2\n";
  const std::map<Duplicates, float> expected{{Duplicates::kLast, 2.0f},
                                             {Duplicates::kFirst, 5.0f},
                                             {Duplicates::kMean, 3.0f},
                                             {Duplicates::kSum, 9.0f}};
  for (const auto& [how, value] : expected) {
    RatingsOptions options;
    options.duplicates = how;
    const Ratings r = read(text, options);
    EXPECT_EQ(pairs_of(r), (Pairs{{{"1", "2"}, value}, {{"1", "3"}, 1.0f}, {{"2", "2"}, 4.0f}}));
    EXPECT_EQ(r.counts().duplicates, 2u);
  }
  RatingsOptions refuse;
  refuse.duplicates = Duplicates::kRefuse;
  const std::string message = refused(text, refuse);
  expect_part("r.txt:3: user 1 rated item 2 before", message);
  EXPECT_EQ(read("1,2,5\n2,1,5\n", refuse).train().size(), 2u);
}

// Against a map, with more ratings than a chunk holds.
TEST_F(RatingsFile, ManyRatingsInAnyOrder) {
  std::mt19937 random(7);
  std::string text;
  Pairs expected;
  for (int i = 0; i < 200000; ++i) {
    const std::string user = std::to_string(random() % 300), item = std::to_string(random() % 999);
    const auto value = static_cast<float>(random() % 10);
    text += fmt::format("{},{},{}\n", user, item, value);
    expected[{user, item}] = value;
  }
  const Ratings r = read(text);
  EXPECT_EQ(pairs_of(r), expected);
  EXPECT_EQ(r.counts().duplicates, 200000 - expected.size());
}

TEST_F(RatingsFile, HeldOutDependsOnTheNamesAlone) {
  std::vector<std::string> lines;
  for (int u = 0; u < 100; ++u) {
    for (int i = 0; i < 50; ++i) lines.push_back(fmt::format("u{},i{},{}\n", u, i, (u + i) % 5));
  }
  const auto joined = [&] {
    std::string out;
    for (const auto& line : lines) out += line;
    return out;
  };
  const Ratings a = read(joined(), {}, 0.1);
  std::shuffle(lines.begin(), lines.end(), std::mt19937(3));
  const Ratings b = read(joined(), {}, 0.1);
  EXPECT_EQ(pairs_of(a, a.held_out()), pairs_of(b, b.held_out()));
  EXPECT_EQ(a.train().size() + a.held_out().size(), 5000u);
  EXPECT_NEAR(static_cast<double>(a.held_out().size()), 500, 4 * std::sqrt(450));  // 4 sigma
  EXPECT_EQ(a.counts().held_out, a.held_out().size());
  lines.resize(2500);  // what is left falls where it fell
  const Ratings half = read(joined(), {}, 0.1);
  for (const auto& [pair, value] : pairs_of(half, half.held_out())) {
    EXPECT_TRUE(pairs_of(a, a.held_out()).contains(pair));
  }
  EXPECT_NE(a.fingerprint(), half.fingerprint());
  Sparse held = a.held_out();  // other ratings to score with are other data
  held.value.front() += 1;
  EXPECT_NE(a.with(Sparse(a.train()), std::move(held)).fingerprint(), a.fingerprint());
}

TEST_F(RatingsFile, Times) {
  const Ratings r =
      read("user,item,rating,date\na,x,1,1970-01-02\na,y,2,86401\nb,x,3,2.5\n", {}, 0, true);
  EXPECT_EQ(std::vector<int64_t>(r.times().begin(), r.times().end()),
            (std::vector<int64_t>{86400, 86401, 2}));
  EXPECT_TRUE(read("a,x,1,5\n").times().empty()) << "only if they are asked for";
  RatingsOptions first;
  first.duplicates = Duplicates::kFirst;
  EXPECT_EQ(read("a,x,1,5\na,x,2,9\n", first, 0, true).times()[0], 5);
  EXPECT_EQ(read("a,x,1,5\na,x,2,9\n", {}, 0, true).times()[0], 9);
  expect_part("no column of times was found",
              refused("user,item,rating\na,x,1\n", {}, ErrorKind::kInput, true));
  expect_part("r.txt:1: column c4: \"noon\" is not a time",
              refused("a,x,1,noon\n", {}, ErrorKind::kInput, true));
}

TEST_F(RatingsFile, TheDayOfEachRating) {
  const auto days = [&](const std::string& text, const RatingsOptions& options = {},
                        double holdout = 0) {
    const std::string path = folder_.write("d.csv", text);
    const auto reader = open_ratings({path}, {}, options);
    return Ratings::read(*reader, options, holdout, false, nullptr, {}, false, true);
  };
  const std::string text =
      "user,item,rating,date\na,x,1,1970-01-02\na,y,2,86399\nb,x,3,-1\nb,y,4,soon\nb,z,5,\n";
  const Ratings r = days(text);
  ASSERT_TRUE(r.days());
  EXPECT_EQ(r.train().size(), 5u) << "a time that cannot be read is none";
  EXPECT_EQ(r.days()->offsets, (std::vector<uint64_t>{0, 2, 3}));
  EXPECT_EQ(r.days()->value, (std::vector<float>{1, 0, -1}));
  EXPECT_EQ(days(text, {}, 0.9).days()->value, r.days()->value) << "held out or not";
  EXPECT_NE(r.fingerprint(), read(text).fingerprint());
  EXPECT_EQ(r.with(Sparse(r.train()), {}).days(), r.days());
  EXPECT_FALSE(read(text).days()) << "only if they are asked for";
  EXPECT_FALSE(days("user,item,rating\na,x,1\n").days());
  const std::string twice = "user,item,rating,time\na,x,1,5\na,x,2,90000\n";
  EXPECT_EQ(days(twice).days()->value[0], 1);
  RatingsOptions first;
  first.duplicates = Duplicates::kFirst;
  EXPECT_EQ(days(twice, first).days()->value[0], 0);
  EXPECT_EQ(day_of(1'700'000'000), 19675.0f);
  EXPECT_FALSE(day_of(INT64_MAX)) << "a float would not hold it";
}

TEST_F(RatingsFile, RowsThatCannotBeReadAreSkippedIfThatIsAsked) {
  const TableOptions skip{.bad_rows = BadRows::kSkip};
  const Ratings clean = read("user,item,rating\na,x,1\nb,y,2\na,y,3\n");
  const Ratings found =
      read("user,item,rating\na,x,1\nb,x,good\nb,y,2\n b,x\n,x,1\na,y,3\n", {}, 0, false, skip);
  EXPECT_EQ(pairs_of(found), pairs_of(clean));
  EXPECT_EQ(found.fingerprint(), clean.fingerprint()) << "what was left out is no part of it";
  EXPECT_EQ(found.counts().rows, 4u) << "nor of the rows; one has no user";
  const auto notes = found.profile().notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].level, Note::Level::kWarning);
  EXPECT_EQ(notes[0].text.substr(0, notes[0].text.find("; correct")),
            "2 rows could not be read and were skipped; the first: " + folder_.path() +
                "/r.txt:3: column rating: \"good\" is not a number");
  EXPECT_EQ(pairs_of(read("a,x,1,9\na,y,2,noon\n", {}, 0, true, skip)).size(), 1u);
  EXPECT_EQ(pairs_of(read("a,x,1\na,y,0\n", {.implicit = true}, 0, false, skip)).size(), 1u);
  expect_part("2 of 3 rows could not be read, and more than half are too many to skip",
              message_of(ErrorKind::kInput, [&] {
                read("a,x,1\nb,y,two\nb,x,three\n", {.rating = "c3"}, 0, false, skip);
              }));
}

TEST_F(RatingsFile, EncodingsAreReadAndWhatIsNotUtf8IsTold) {
  const std::string text = "user,item,rating\nAndr\xE9,x,1\n";
  const Ratings latin = read(text, {}, 0, false, {.encoding = TextEncoding::kLatin1});
  EXPECT_EQ(latin.users()[0], "Andr\u00E9");
  const Ratings bad = read(text);
  EXPECT_EQ(bad.users()[0], "Andr\uFFFD");
  const auto notes = bad.profile().notes;
  ASSERT_EQ(notes.size(), 1u);
  expect_part("1 row with bytes that are not UTF-8", notes[0].text);
}

TEST_F(RatingsFile, OnTopOfNames) {
  const Ratings before = read("a,x,1\nb,y,2\n");
  const KnownRatings base{before.users(), before.items(), "user", "item"};
  const auto reader = open_ratings({folder_.write("more", "c,y,3\na,z,4\n")}, {}, {});
  const Ratings more = Ratings::read(*reader, {}, 0, false, &base);
  EXPECT_EQ(*more.users().find("a"), 0u);
  EXPECT_EQ(*more.users().find("c"), 2u);
  EXPECT_EQ(more.items().size(), 3u);
  EXPECT_EQ(pairs_of(more), (Pairs{{{"c", "y"}, 3.0f}, {{"a", "z"}, 4.0f}}));
  EXPECT_EQ(more.train().rows(), 3u);
}

TEST_F(RatingsFile, SeveralFilesWithoutHeaders) {
  const auto reader =
      open_ratings({folder_.write("1", "a\tx\t1\n"), folder_.write("2", "b\ty\t2\n")}, {}, {});
  EXPECT_EQ(pairs_of(Ratings::read(*reader, {}, 0)),
            (Pairs{{{"a", "x"}, 1.0f}, {{"b", "y"}, 2.0f}}));
}

TEST_F(RatingsFile, WhatLooksLikeRatings) {
  const auto looks = [&](const std::string& text) {
    return looks_like_ratings(folder_.write("x.txt", text));
  };
  EXPECT_TRUE(looks("1::2::3::4\n2::3::4::5\n"));
  EXPECT_TRUE(looks("userId,movieId,rating\n1,2,3\n"));
  EXPECT_TRUE(looks("{\"user\":1,\"item\":2,\"rating\":3}\n"));
  EXPECT_TRUE(looks("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")) << "u.data";
  EXPECT_TRUE(looks("1\t1\t-1.6\n1\t2\t-3.54\n"));
  std::string utf16 = "\xFF\xFE";
  for (const char c : std::string("userId,movieId,rating\n1,2,3\n")) utf16 += {c, '\0'};
  EXPECT_TRUE(looks(utf16));
  EXPECT_FALSE(looks("1 2 3\n4 5 6\n")) << "may be a walk over a graph";
  EXPECT_FALSE(looks("1,2,3,4,5\n6,7,8,9,10\n"));
  EXPECT_FALSE(looks("1\t2\tx\n1\t3\ty\n"));
  EXPECT_FALSE(looks("x,y,z\n1,2,3\n"));
  EXPECT_FALSE(looks("1::Toy Story (1995)::Comedy\n2::Jumanji (1995)::Drama\n"));
  EXPECT_FALSE(looks("title,year,director\nAlien,1979,Scott\n"));
  EXPECT_FALSE(looks("user,item\n1,2\n"));
  EXPECT_FALSE(looks("user item rating are words of this text\nand this is another line\n"));
  EXPECT_FALSE(looks(""));
  EXPECT_FALSE(looks_like_ratings("-"));
  EXPECT_FALSE(looks_like_ratings(folder_.path()));
}

TEST_F(RatingsFile, ColumnsThatAreNotUsedAreTold) {
  const auto notes = [&](const std::string& text) {
    std::string out;
    for (const Note& n : read(text).profile().notes) out += n.text;
    return out;
  };
  EXPECT_EQ(notes("user,item,rating\na,x,1\nb,y,2\n"), "");
  EXPECT_EQ(notes("user,year,item,rating,genres\na,1,x,1,g\nb,2,y,2,h\n"),
            "not used: year, genres; feat2vec learns from all columns, with --target rating");
}

// Not where they are used, and not where a model is asked about them.
TEST_F(RatingsFile, TimesThatAreNotLearnedFromAreTold) {
  const std::string path = folder_.write("t.csv", "user,item,rating,date\na,x,1,9\n");
  const auto told = [&](bool keep, const KnownRatings* base) {
    const auto reader = open_ratings({path}, {}, {});
    std::string out;
    for (const Note& n : Ratings::read(*reader, {}, 0, keep, base).profile().notes) out += n.text;
    return out;
  };
  expect_part("the times (column date) are not learned from; eval --split time tests on the latest",
              told(false, nullptr));
  EXPECT_EQ(told(true, nullptr), "");
  const KnownRatings known;
  EXPECT_EQ(told(false, &known), "");
}

TEST(Ratings, OfTriples) {
  Names users, items;
  for (const char* u : {"a", "b"}) users.add(u);
  for (const char* i : {"x", "y", "z"}) items.add(i);
  const Ratings r = Ratings::of(users, items, {{1, 2, 5}, {0, 1, 1}, {1, 0, 2}, {1, 2, 4}},
                                {{0, 0, 3}, {0, 0, 2}});
  EXPECT_EQ(pairs_of(r), (Pairs{{{"a", "y"}, 1.0f}, {{"b", "x"}, 2.0f}, {{"b", "z"}, 4.0f}}));
  EXPECT_EQ(pairs_of(r, r.held_out()), (Pairs{{{"a", "x"}, 2.0f}}));
  EXPECT_EQ(r.counts().duplicates, 2u);
  EXPECT_EQ(r.counts().rows, 6u);
}

TEST(Ratings, TheWholeIsTheSameWhetherOrNotThePartsAreGivenUp) {
  Names users, items;
  for (const char* name : {"a", "b"}) users.add(name);
  for (const char* name : {"x", "y", "z"}) items.add(name);
  Ratings parts =
      Ratings::of(users, items, {{0, 0, 1}, {0, 2, 3}, {1, 1, 2}}, {{0, 1, 5}, {1, 0, 4}});
  const Ratings whole = parts.whole();
  EXPECT_EQ(whole.train().size(), 5u);
  EXPECT_EQ(whole.held_out().size(), 0u);
  EXPECT_EQ(whole.high(), 5);
  const std::shared_ptr<const Sparse> train = parts.share();
  const Ratings taken = std::move(parts).whole();
  EXPECT_EQ(pairs_of(taken), pairs_of(whole));
  EXPECT_EQ(taken.fingerprint(), whole.fingerprint());
  EXPECT_EQ(taken.counts().held_out, 0u);
  EXPECT_EQ(train.use_count(), 1) << "nobody else holds them any more";
}

}  // namespace
}  // namespace kith
