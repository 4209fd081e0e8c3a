// SPDX-License-Identifier: Apache-2.0
#include "kith/update.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "api/test_models.h"

namespace kith::test {
namespace {

std::string saved(const Model& model) {
  const std::string path = shared_folder().path() + "/updated.kith";
  model.save(path);
  const std::string out = bytes_of(path);
  std::filesystem::remove(path);
  return out;
}

UpdateReport take_in(Model& model, const std::string& file, const Settings& reading = {}) {
  const Context context(1);
  return update(model, {file}, reading, context);
}

double rating_of(const Model& model, const std::string& user, const std::string& item) {
  return predict(model, {"user=" + user, "item=" + item}).number->mean;
}
Strings recommended(const Model& model, const std::string& user) {
  Strings out;
  for (const auto& r : Recommender(model, {.top = 5}).list(user, {}, two_threads())) {
    out.push_back(r.id);
  }
  return out;
}

// Ann rates as u3 does, and four people one new film.
std::string new_ratings() {
  const PlantedRatings r;
  std::string out(kRatingsHeader);
  for (size_t i = 0; i < r.items; ++i) {
    if (r.is_there(3, i)) out += fmt::format("Ann,i{},{:.3f},1\n", i, r.rated(3, i));
  }
  for (const int u : {1, 2, 3, 4}) out += fmt::format("u{},new film,4.5,1\n", u);
  return out;
}

TEST(Update, NewUsersAndItemsCanBeAsked) {
  const TestFolder folder;
  Model model = open(ratings().path());
  const UpdateReport report = take_in(model, folder.write("new.csv", new_ratings()));
  EXPECT_EQ(report.unit, "rating");
  std::map<std::string, std::string> added;
  uint64_t rows = 0;
  for (const UpdateReport::Added& a : report.added) {
    added[a.id] = a.column;
    rows += a.rows;
  }
  EXPECT_EQ(added, (std::map<std::string, std::string>{{"Ann", "user"}, {"new film", "item"}}));
  EXPECT_EQ(rows, report.units);
  EXPECT_GE(report.solved, 6u);  // Ann, the film, and those who rated it

  double difference = 0;
  const PlantedRatings r;
  for (size_t i = 0; i < r.items; ++i) {
    const std::string item = fmt::format("i{}", i);
    difference += std::abs(rating_of(model, "Ann", item) - rating_of(ratings(), "u3", item));
  }
  EXPECT_LT(difference / static_cast<double>(r.items), 0.2);
  EXPECT_NEAR(rating_of(model, "u1", "new film"), 4.5, 1);
  EXPECT_FALSE(recommended(model, "Ann").empty());
  EXPECT_EQ(near(model, {"user=Ann"}, {}, two_threads())[0].neighbours.size(), 10u);
  // What was rated now is seen.
  const auto list = Recommender(model, {.top = 1000}).list("u1", {}, two_threads());
  for (const auto& item : list) EXPECT_NE(item.id, "new film");
}

TEST(Update, TheModelKeepsItsFileAndItsSettings) {
  const TestFolder folder;
  Model model = open(ratings().path());
  take_in(model, folder.write("new.csv", new_ratings()));
  EXPECT_EQ(model.path(), ratings().path());
  EXPECT_EQ(model.kind(), "als");
  EXPECT_EQ(model.run_settings(), ratings().run_settings());
  EXPECT_TRUE(model.can(Can::kUpdate));
  // Saved and opened it is the same; the file that it came from has not changed.
  const std::string copy = folder.path() + "/copy.kith";
  model.save(copy);
  EXPECT_EQ(recommended(open(copy), "Ann"), recommended(model, "Ann"));
  EXPECT_EQ(saved(open(copy)), saved(model));
  input_error([] { Recommender(open(ratings().path()), {}).list("Ann", {}, two_threads()); });
}

TEST(Update, OneAfterTheOther) {
  const TestFolder folder;
  const std::string header(kRatingsHeader);
  Model model = open(ratings().path());
  take_in(model, folder.write("a.csv", header + "Ann,i1,4,1\nAnn,i2,2,1\n"));
  const UpdateReport second = take_in(model, folder.write("b.csv", header + "Ann,i3,4,1\n"));
  EXPECT_TRUE(second.added.empty());
  Model at_once = open(ratings().path());
  take_in(at_once, folder.write("c.csv", header + "Ann,i1,4,1\nAnn,i2,2,1\nAnn,i3,4,1\n"));
  EXPECT_EQ(rating_of(model, "Ann", "i9"), rating_of(at_once, "Ann", "i9"));
}

TEST(Update, NewValuesOfATableCanBeAsked) {
  const TestFolder folder;
  std::string rows(kPlacesHeader);
  for (int i = 0; i < 8; ++i) {
    rows += fmt::format("n{},Bergamo,Rome,Italy,opera|marble,1922,1922-06-02,a place\n", i);
  }
  Model model = open(places().path());
  input_error([&] { near(model, {"city=Bergamo"}, {}, two_threads()); });
  const UpdateReport report = take_in(model, folder.write("new.csv", rows));
  EXPECT_EQ(report.units, 8u);
  EXPECT_EQ(report.unit, "row");
  ASSERT_EQ(report.added.size(), 1u);
  EXPECT_EQ(report.added[0].column, "city");
  EXPECT_EQ(report.added[0].id, "Bergamo");
  EXPECT_EQ(report.added[0].rows, 8u);
  EXPECT_EQ(report.solved, 1u);
  EXPECT_EQ(predict(model, {"city=Bergamo"}, {.target = "country"}).candidates[0].id, "Italy");
  // Whatever was known is as it was.
  const auto vector = [](const Model& m) { return embed(m, {"city=Rome", "year=1930"}); };
  EXPECT_EQ(vector(model), vector(places()));
}

TEST(Update, SettingsOfReadingCount) {
  const TestFolder folder;
  Model model = open(ratings().path());
  const std::string file = folder.write("new.csv", "who#what#how\nAnn#i1#4\n");
  take_in(
      model, file,
      {text("delimiter", "#"), text("user", "who"), text("item", "what"), text("rating", "how")});
  EXPECT_FALSE(recommended(model, "Ann").empty());
  usage_error([&] { take_in(model, file, {text("colour", "red")}); });
  usage_error([&] { take_in(model, file, {number("holdout", 0.1)}); });
}

// Whatever goes wrong, and however late: the same answers, and the same bytes when saved.
TEST(Update, AllOrNothing) {
  const TestFolder folder;
  Model model = open(ratings().path());
  take_in(model, folder.write("first.csv", new_ratings()));
  const std::string before = saved(model);
  const Strings list = recommended(model, "Ann");
  const std::string header(kRatingsHeader);

  const std::string bad = folder.write("bad.csv", header + "Bob,i1,4,1\nBob,i2,good,1\n");
  expect_part("bad.csv:3: column rating: \"good\" is not a number",
              input_error([&] { take_in(model, bad); }));
  expect_part("interactions", input_error([&] {
                take_in(model, folder.write("none.csv", "user,item\nBob,i1\nBob,i2\n"));
              }));
  io_error([&] { take_in(model, folder.path() + "/nowhere.csv"); });
  // Read whole, and then it takes the model out of the finite numbers.
  const std::string huge = folder.write("huge.csv", header + "Bob,i1,3e38,1\nBob,i2,-3e38,1\n");
  message_of(ErrorKind::kDiverged, [&] { take_in(model, huge); });

  EXPECT_EQ(saved(model), before);
  EXPECT_EQ(recommended(model, "Ann"), list);
  input_error([&] { recommended(model, "Bob"); });
}

TEST(Update, AllOrNothingOfTablesToo) {
  const TestFolder folder;
  Model model = open(places().path());
  const std::string before = saved(model);
  input_error([&] { take_in(model, folder.write("a.csv", "x,y\n1,2\n")); });
  input_error(
      [&] { take_in(model, folder.write("b.csv", "city,country\nBergamo,Italy\nRome\n")); });
  EXPECT_EQ(saved(model), before);
  EXPECT_EQ(saved(model), bytes_of(places().path()));
}

// The clock of a reader strikes after some thousand rows.
TEST(Update, StopsWhenAskedAndChangesNothing) {
  const TestFolder folder;
  std::string rows(kRatingsHeader);
  for (int i = 0; i < 20000; ++i) rows += fmt::format("Ann,x{},3,1\n", i);
  const std::string file = folder.write("long.csv", rows);
  Model model = open(ratings().path());
  const std::string before = saved(model);
  Context context(1);
  context.cancel();
  message_of(ErrorKind::kCancelled, [&] { update(model, {file}, {}, context); });
  EXPECT_EQ(saved(model), before);
}

TEST(Update, TellsWhatIsOddAboutTheData) {
  const TestFolder folder;
  Model model = open(ratings().path());
  Events events;
  const Context context(1);
  update(model, {folder.write("a.csv", std::string(kRatingsHeader) + "Ann,i1,4,1\nAnn,,4,1\n")}, {},
         context, &events);
  EXPECT_TRUE(events.noted("1 row without user, item or rating left out"));
}

TEST(Update, IsForModelsThatTakeInNewData) {
  Model model = open(words().path());
  EXPECT_EQ(usage_error([&] { take_in(model, text_file()); }),
            "update is for models that take in new data without training; " + words().path() +
                " holds word2vec, which does not");
}

}  // namespace
}  // namespace kith::test
