// SPDX-License-Identifier: Apache-2.0
#include "data/table/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/table/test_tables.h"

namespace kith {
namespace {

Table read(const std::string& csv, const std::string& schema, std::optional<double> holdout = 0,
           const Encoding* base = nullptr, const TableOptions& options = {}) {
  SampledTable reader(table_of(csv, options));
  const Schema inferred = infer_schema(reader).schema;
  return Table::read(reader, merged(inferred, schema_from_json(schema, "s"), "s"), holdout, base);
}

std::vector<Feature> bag_of(const Table& t, size_t group, uint32_t entity) {
  const Entities& e = t.entities(group);
  if (e.offsets.empty()) return {{e.first + entity, 1.0f}};
  return {e.features.begin() + static_cast<int64_t>(e.offsets[entity]),
          e.features.begin() + static_cast<int64_t>(e.offsets[entity + 1])};
}

constexpr const char* kPeople =
    "name,likes,age\n"
    "bob,tea|milk,30\n"
    "ann,milk,20\n"
    "bob,milk|tea,\n"
    "cy,,abc\n"
    "bob,rum,40\n";
constexpr const char* kPeopleSchema = R"({"columns": [{"name": "name", "type": "category"},
  {"name": "likes", "type": "set", "separator": "|"}, {"name": "age", "type": "number", "knots": 3}]})";

TEST(Table, EntitiesAreDistinctCellsAndValuesComeByCount) {
  const Table t = read(kPeople, kPeopleSchema);
  ASSERT_EQ(t.rows(), 5u);
  const Names& names = t.encoding().spaces[0].names;
  EXPECT_EQ(names[0], "bob");  // three times
  EXPECT_EQ(t.encoding().spaces[0].counts, (std::vector<uint64_t>{3, 1, 1}));
  // A plain category is its row.
  EXPECT_TRUE(t.entities(0).offsets.empty());
  EXPECT_EQ(t.row(0)[0], *names.find("bob"));
  EXPECT_EQ(t.row(1)[0], *names.find("ann"));
  // A set is the same in any order; its members weigh 1 / sqrt(n).
  EXPECT_EQ(t.row(0)[1], t.row(2)[1]);
  EXPECT_EQ(t.entities(1).size, 3u);
  EXPECT_EQ(t.entities(1).counts[t.row(0)[1]], 2u);
  const auto bag = bag_of(t, 1, t.row(0)[1]);
  ASSERT_EQ(bag.size(), 2u);
  for (const Feature& f : bag) {
    EXPECT_FLOAT_EQ(f.weight, 1 / std::sqrt(2.0f));
    EXPECT_GE(f.row, t.encoding().base(1));
    EXPECT_LT(f.row, t.encoding().base(2));
  }
  // Missing cells are no entity, and what is no number counts as missing with its place.
  EXPECT_EQ(t.row(3)[1], kNoEntity);
  EXPECT_EQ(t.row(2)[2], kNoEntity);
  EXPECT_EQ(t.row(3)[2], kNoEntity);
  EXPECT_EQ(t.counts().groups[2].missing, 1u);
  EXPECT_EQ(t.counts().groups[2].unreadable, 1u);
  expect_part("t:5", t.counts().groups[2].first);
  expect_part("abc", t.counts().groups[2].first);
}

TEST(Table, OneValueWrittenInTwoWaysIsOneEntity) {
  const Table t = read("n,s,k\n0,tea|tea,a\n-0,tea,b\n1,milk|tea|milk,a\n2,tea|milk,b\n",
                       R"({"columns": [{"name": "n", "type": "number"},
                         {"name": "s", "type": "set", "separator": "|"},
                         {"name": "k", "type": "category"}]})");
  EXPECT_EQ(t.row(0)[0], t.row(1)[0]) << "-0 is 0";
  EXPECT_EQ(t.row(0)[1], t.row(1)[1]) << "a member counts once";
  EXPECT_EQ(t.row(2)[1], t.row(3)[1]);
  EXPECT_EQ(bag_of(t, 1, t.row(0)[1]).size(), 1u);
  EXPECT_EQ(bag_of(t, 1, t.row(2)[1]).size(), 2u);
}

TEST(Table, ANumberIsTwoKnotsAndABias) {
  const Table t = read(kPeople, kPeopleSchema);
  const Group& age = t.encoding().groups[2];
  EXPECT_EQ(age.knots, (std::vector<double>{20, 30, 40}));
  const auto base = static_cast<uint32_t>(t.encoding().base(2));
  std::vector<Feature> bag;
  append_numeric(age, 22.5, base, bag);
  EXPECT_EQ(bag, (std::vector<Feature>{{base, 0.75f}, {base + 1, 0.25f}, {base + 3, 1.0f}}));
  for (const double outside : {-1e9, 20.0}) {
    bag.clear();
    append_numeric(age, outside, base, bag);
    EXPECT_EQ(bag[0].row, base);
    EXPECT_FLOAT_EQ(bag[0].weight, 1);
  }
  bag.clear();
  append_numeric(age, 1e9, base, bag);
  EXPECT_EQ(bag, (std::vector<Feature>{{base + 2, 1.0f}, {base + 3, 1.0f}}));
}

TEST(Table, ADateTurnsWithYearAndWeek) {
  const Table t = read("d,k\n2020-01-01,a\n2020-07-01,b\n2021-01-01,a\n2022-06-30,b\n",
                       R"({"columns": [{"name": "d", "type": "date", "knots": 2},
                           {"name": "k", "type": "category"}]})");
  const auto at = [&](double days) {
    std::vector<Feature> bag;
    append_numeric(t.encoding().groups[0], days, 0, bag);
    return bag;
  };
  // The last six features are sin and cos of the year, the week and the day.
  const auto now = at(18262), week = at(18269), year = at(18262 + 365.2425);
  const size_t n = now.size();
  EXPECT_NEAR(now[n - 4].weight, week[n - 4].weight, 1e-4);
  EXPECT_NEAR(now[n - 3].weight, week[n - 3].weight, 1e-4);
  EXPECT_NEAR(now[n - 6].weight, year[n - 6].weight, 1e-4);
  EXPECT_NEAR(now[n - 5].weight, year[n - 5].weight, 1e-4);
  EXPECT_GT(std::abs(now[n - 6].weight - at(18262 + 120)[n - 6].weight), 0.1);
}

TEST(Table, VectorsAreStandardised) {
  const Table t = read("v,k\n1;10;3,a\n3;30;3,b\n5;50;3,a\n", R"({"columns": [
    {"name": "v", "type": "vector", "separator": ";"}, {"name": "k", "type": "category"}]})");
  const auto bag = bag_of(t, 0, t.row(0)[0]);
  ASSERT_EQ(bag.size(), 4u);
  EXPECT_NEAR(bag[0].weight, bag[1].weight, 1e-6);  // the scale is gone
  EXPECT_NEAR(bag[2].weight, 0, 1e-6);              // constant
  EXPECT_FLOAT_EQ(bag[3].weight, 1);                // bias
  const auto mean = bag_of(t, 0, t.row(1)[0]), last = bag_of(t, 0, t.row(2)[0]);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_GT(last[i].weight, 0.1);
    EXPECT_NEAR(mean[i].weight, 0, 1e-6) << "the mean is gone";
    EXPECT_NEAR(bag[i].weight, -last[i].weight, 1e-6);
  }
}

TEST(Table, RareValuesKeepTheirNgrams) {
  const Table t = read("who,k\nanna,a\nanna,b\nhanna,a\nbob,b\n", R"({"columns": [
    {"name": "who", "type": "category", "min_count": 2, "buckets": 50},
    {"name": "k", "type": "category"}]})");
  EXPECT_EQ(t.encoding().spaces[0].names.size(), 1u);
  CellEncoder encoder(t.encoding());
  std::vector<Feature> known, rare, unseen;
  EXPECT_TRUE(encoder.encode(0, "anna", known));
  EXPECT_TRUE(encoder.encode(0, "hanna", rare));
  EXPECT_TRUE(encoder.encode(0, "joanna", unseen));
  EXPECT_EQ(known[0].row, 0u);
  for (const auto* bag : {&rare, &unseen}) {
    double squares = 0;
    for (const Feature& f : *bag) {
      EXPECT_GE(f.row, 1u);
      EXPECT_LT(f.row, 51u);
      squares += f.weight * f.weight;
    }
    EXPECT_NEAR(squares, 1, 1e-5);  // as long as one row, on average
  }
  EXPECT_EQ(bag_of(t, 0, t.row(2)[0]), rare);  // training and asking agree
}

TEST(Table, MoreRowsThanCanBeToldApartAreRefused) {
  const auto schema = [](const std::vector<const char*>& names) {
    std::string columns;
    for (const char* name : names) {
      columns += fmt::format(R"({}{{"name": "{}", "type": "category", "buckets": 1000000000}})",
                             columns.empty() ? "" : ", ", name);
    }
    return fmt::format(R"({{"columns": [{}]}})", columns);
  };
  const std::string csv = "a,b,c,d,e\nu,v,w,x,y\nv,w,x,y,u\n";
  EXPECT_EQ(read(csv, schema({"a", "b", "c", "d"})).rows(), 2u);  // 4e9 is less than 2^32
  expect_part("the columns have 5000000010 values and features, and more than 4294967294 cannot",
              message_of(ErrorKind::kLimit, [&] {
                read(csv, schema({"a", "b", "c", "d", "e"}));
              }));
}

TEST(Table, SharedVocabulariesShareRows) {
  const Table t = read("author,friends\nann,bob|cy\nbob,ann\ncy,ann|bob\n", R"({"columns": [
    {"name": "author", "type": "category", "vocabulary": "people"},
    {"name": "friends", "type": "set", "separator": "|", "vocabulary": "people"}]})");
  ASSERT_EQ(t.encoding().spaces.size(), 1u);
  EXPECT_EQ(t.encoding().spaces[0].names.size(), 3u);
  const auto ann = bag_of(t, 0, t.row(0)[0]), in_set = bag_of(t, 1, t.row(1)[1]);
  EXPECT_EQ(ann[0].row, in_set[0].row);
}

TEST(Table, TextIsABagOfWords) {
  const Table t = read("note,k\nThe cat sat.,a\n\"the DOG, the cat\",b\n",
                       R"({"columns": [{"name": "note", "type": "text"},
                           {"name": "k", "type": "category"}]})");
  const Names& words = t.encoding().spaces[0].names;
  EXPECT_EQ(words[0], "the");
  EXPECT_TRUE(words.find("dog"));
  EXPECT_EQ(bag_of(t, 0, t.row(1)[0]).size(), 4u);
}

// An accent may be a character of its own; an emoji may be followed by how it is drawn.
constexpr const char* kAccents =
    "place,what,note\ncaf\u00E9,th\u00E9|rum,se\u00F1or \u2615 hot\n"
    "cafe\u0301,rum|the\u0301,sen\u0303or \u2615\uFE0F hot\n";
constexpr const char* kAccentsSchema = R"({"columns": [{"name": "place", "type": "category"},
  {"name": "what", "type": "set", "separator": "|"}, {"name": "note", "type": "text"}]})";

TEST(Table, TwoSpellingsOfAnAccentAreOneValue) {
  const Table t = read(kAccents, kAccentsSchema);
  for (size_t g = 0; g < 3; ++g) EXPECT_EQ(t.row(0)[g], t.row(1)[g]) << "column " << g;
  EXPECT_TRUE(t.encoding().spaces[0].names.find("caf\u00E9"));
  EXPECT_TRUE(t.encoding().spaces[2].names.find("\u2615"));
  CellEncoder encoder(t.encoding());
  std::vector<Feature> one, other;
  EXPECT_TRUE(encoder.encode(0, "caf\u00E9", one) && encoder.encode(0, "cafe\u0301", other));
  EXPECT_EQ(one, other);
}

// What a model of 0.1 knows are names as they stood.
TEST(Table, AnEncodingThatTookNamesAsTheyStoodGoesOnSo) {
  Encoding old;
  old.normal_form = false;
  for (const Column& c : schema_from_json(kAccentsSchema, "s").columns) add_group(old, c);
  const Table t = read(kAccents, "{\"columns\": []}", 0, &old);
  for (size_t g = 0; g < 3; ++g) EXPECT_NE(t.row(0)[g], t.row(1)[g]) << "column " << g;
  EXPECT_FALSE(t.encoding().normal_form);
  EXPECT_FALSE(t.encoding().spaces[2].names.find("\u2615"));
}

std::string many_rows(int n) {
  std::string csv = "a,b\n";
  for (int i = 0; i < n; ++i) csv += fmt::format("x{},y{}\n", i % 7, i % 11);
  return csv;
}
constexpr const char* kTwo =
    R"({"columns": [{"name": "a", "type": "category"}, {"name": "b", "type": "category"}]})";

TEST(Table, HoldsOutAtMostOnePercentAndNothingElseChanges) {
  const Table whole = read(many_rows(5000), kTwo);
  const Table part = read(many_rows(5000), kTwo, std::nullopt);
  EXPECT_GT(part.held_out(), 25u);
  EXPECT_LE(part.held_out(), 50u);
  EXPECT_EQ(part.rows() + part.held_out(), 5000u);
  EXPECT_NE(whole.fingerprint(), part.fingerprint());
  uint64_t counted = 0;
  for (const uint64_t c : part.entities(0).counts) counted += c;
  EXPECT_EQ(counted, part.rows());
  EXPECT_EQ(read(many_rows(5000), kTwo, std::nullopt).fingerprint(), part.fingerprint());
  EXPECT_NEAR(static_cast<double>(read(many_rows(5000), kTwo, 0.1).held_out()), 500, 90);
  EXPECT_EQ(read(many_rows(5000), kTwo, 20).held_out(), 20u);
}

TEST(Table, GoesOnWithAnEncoding) {
  const Table first = read(kPeople, kPeopleSchema);
  const Table more =
      read("likes,name,extra\nsoup,dee,1\ntea,bob,2\n", "{\"columns\": []}", 0, &first.encoding());
  const Names &old = first.encoding().spaces[0].names, &names = more.encoding().spaces[0].names;
  for (size_t i = 0; i < old.size(); ++i) EXPECT_EQ(names[i], old[i]);
  EXPECT_TRUE(names.find("dee"));
  EXPECT_EQ(more.encoding().groups[2].knots, first.encoding().groups[2].knots);
  EXPECT_EQ(more.row(0)[2], kNoEntity);  // the new rows have no age
  EXPECT_EQ(more.encoding().spaces[0].counts[0], 4u);
}

// As those that an update brought are: what has a row keeps it.
TEST(Table, ValuesOfAnEncodingStayHoweverRareTheyAre) {
  Encoding rare = read(kPeople, kPeopleSchema).encoding();
  rare.groups[0].column.min_count = 2;
  const Names old = rare.spaces[0].names;
  rare.spaces[0].counts.assign(old.size(), 1);
  const Table more = read("likes,name\ntea,dee\nrum,dee\ntea,eve\n", "{\"columns\": []}", 0, &rare);
  const Names& names = more.encoding().spaces[0].names;
  ASSERT_EQ(names.size(), old.size() + 1);
  for (size_t i = 0; i < old.size(); ++i) EXPECT_EQ(names[i], old[i]);
  EXPECT_TRUE(names.find("dee"));
  EXPECT_FALSE(names.find("eve")) << "a new value must be seen twice";
}

TEST(Table, RefusesWhatCannotBeLearnedFrom) {
  const auto message = [](const std::string& csv, const std::string& schema) {
    return message_of(ErrorKind::kInput, [&] { read(csv, schema); });
  };
  expect_part("has no rows", message("a,b\n", kTwo));
  expect_part("of the 2 columns here only b can be used",
              message("a,b\n1,x\n2,y\n", R"({"columns": [{"name": "a", "type": "ignore"},
                                             {"name": "b", "type": "category"}]})"));
  expect_part("column a: not one of 2 cells",
              message("a,b\nu,x\nv,y\n", R"({"columns": [{"name": "a", "type": "number"},
                                             {"name": "b", "type": "category"}]})"));
  expect_part("has no values to share",
              message("a,b\n1,x\n2,y\n",
                      R"({"columns": [{"name": "a", "type": "number", "vocabulary": "v"},
                          {"name": "b", "type": "category", "vocabulary": "v"}]})"));
}

TEST(Encoding, SaysWhatACellIsNot) {
  const Table t = read(kPeople, kPeopleSchema);
  CellEncoder encoder(t.encoding());
  std::vector<Feature> bag;
  EXPECT_FALSE(encoder.encode(0, std::nullopt, bag));
  EXPECT_FALSE(encoder.encode(0, "nobody", bag));
  EXPECT_FALSE(encoder.encode(2, "n/a", bag));
  expect_part("column age: \"old\" is not a number",
              message_of(ErrorKind::kInput, [&] { encoder.encode(2, "old", bag); }));
  expect_part("did you mean likes",
              message_of(ErrorKind::kUsage, [&] { t.encoding().group("like"); }));
}

TEST(Table, RowsThatWereSkippedAreNoPartOfIt) {
  const TableOptions skip{.bad_rows = BadRows::kSkip};
  const Table clean = read(kPeople, kPeopleSchema);
  const std::string people = kPeople;
  const Table found = read(people.substr(0, people.find("ann")) + "dan,beer\neve,\"tea\"s,5\n" +
                               people.substr(people.find("ann")),
                           kPeopleSchema, 0, nullptr, skip);
  EXPECT_EQ(found.fingerprint(), clean.fingerprint());
  EXPECT_EQ(found.rows(), clean.rows());
  EXPECT_EQ(found.bytes(), clean.bytes());
  EXPECT_EQ(found.metadata(), clean.metadata());
  const auto notes = found.profile().notes;
  ASSERT_EQ(notes.size(), 2u);  // and the age that is no number
  expect_part("2 rows could not be read and were skipped; the first: t:3: ", notes[0].text);
  expect_part("3 of 4 rows could not be read", message_of(ErrorKind::kInput, [&] {
                read("name,likes,age\nbob,tea,3\nx\ny\nz\n", kPeopleSchema, 0, nullptr,
                     {.delimiter = ",", .bad_rows = BadRows::kSkip});
              }));
}

// A target that is a number or has few values is watched by more rows, and asked of finer curves.
TEST(Table, WishesForATargetOfFewValuesAreHeeded) {
  std::string csv = "kind,id,size\n";
  for (int i = 0; i < 3000; ++i) csv += fmt::format("k{},i{},{}\n", i % 4, i % 50, i * 37 % 3000);
  const std::string schema = R"({"columns": [{"name": "kind", "type": "category"},
    {"name": "id", "type": "category"}, {"name": "size", "type": "number"}]})";
  const auto read = [&](const std::string& target, std::optional<double> holdout,
                        const std::string& columns) {
    SampledTable reader(read_text_table(memory_source(csv, 1 << 20), "t", {}));
    const Wishes wishes{.target = target, .few = 4, .knots = 128, .holdout = 0.1};
    return Table::read(reader, schema_from_json(columns, "schema"), holdout, nullptr, {}, wishes);
  };
  for (const char* target : {"kind", "size"}) {
    const Table few = read(target, std::nullopt, schema);
    EXPECT_NEAR(static_cast<double>(few.held_out()), 300, 60) << target;
    EXPECT_EQ(few.encoding().groups[2].knots.size(), 30u) << target;  // one for 100 rows
  }
  for (const char* target : {"id", ""}) {
    const Table many = read(target, std::nullopt, schema);
    EXPECT_LE(many.held_out(), 30u) << target;
    EXPECT_EQ(many.encoding().groups[2].knots.size(), 16u) << target;
  }
  EXPECT_EQ(read("kind", 0, schema).held_out(), 0u);  // the user's word comes first
  std::string own = schema;
  own.insert(own.rfind('}', own.size() - 3), R"(, "knots": 5)");
  EXPECT_EQ(read("kind", 0, own).encoding().groups[2].knots.size(), 5u);
}

}  // namespace
}  // namespace kith
