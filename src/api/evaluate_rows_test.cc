// SPDX-License-Identifier: Apache-2.0
// A column of a table from the others, on rows that training never saw.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "api/skip_gram.h"
#include "api/test_models.h"
#include "kith/evaluate.h"

namespace kith::test {
namespace {

const std::string& new_places() {
  return shared_file("new-places.csv", [] { return places_table(80, 9); });
}

Report report_of(const EvaluateOptions& options, const std::string& file = new_places(),
                 const Settings& reading = {}) {
  const auto reports = evaluate(places(), {file}, options, reading, two_threads());
  EXPECT_EQ(reports.size(), 1u);
  return reports.front();
}

bool has_note(const Report& report, Note::Level level, std::string_view part) {
  return std::ranges::any_of(report.notes, [&](const Note& n) {
    return n.level == level && n.text.find(part) != std::string::npos;
  });
}

TEST(EvaluateRows, TheRuleBeatsPopularityAndChance) {
  const Report r = report_of({.target = "country"});
  EXPECT_EQ(*r.at("mrr"), 1);
  EXPECT_EQ(*r.at("hit1"), 1);
  EXPECT_EQ(*r.at("median_rank"), 1);
  EXPECT_LT(*r.at("popularity", "mrr"), 0.7);
  // 1/1 + 1/2 + 1/3 + 1/4 over four.
  EXPECT_DOUBLE_EQ(*r.at("random", "mrr"), (1 + 0.5 + 1.0 / 3 + 0.25) / 4);
  EXPECT_DOUBLE_EQ(*r.at("random", "hit1"), 0.25);
  EXPECT_DOUBLE_EQ(*r.at("random", "hit10"), 1);
  EXPECT_EQ(r.count("rows"), 80u);
  EXPECT_EQ(r.count("unseen"), 0u);
  EXPECT_EQ(r.title, "country from the other columns, 80 rows");
  EXPECT_EQ(r.comparisons.front().ways.front().name, "model");
}

// Each member of a set is an answer, and the others that are right are not in its way.
TEST(EvaluateRows, EveryMemberOfASetIsRanked) {
  const Report r = report_of({.target = "tags"});
  EXPECT_GT(*r.at("mrr"), 0.7);
  EXPECT_GT(*r.at("mrr"), 2 * *r.at("popularity", "mrr"));
}

TEST(EvaluateRows, NumbersAreNearerThanTheirMeanAndMedian) {
  for (const char* target : {"year", "opened"}) {
    const Report r = report_of({.target = target});
    EXPECT_LT(*r.at("rmse"), *r.at("mean", "rmse")) << target;
    EXPECT_LT(*r.at("mae"), *r.at("median", "mae")) << target;
    EXPECT_LT(*r.at("median_error"), *r.at("median", "median_error")) << target;
    EXPECT_FALSE(r.count("unseen"));
    EXPECT_FALSE(r.at("mrr"));
  }
  // The years of four countries, twenty apart: their mean is off by about 20.
  EXPECT_NEAR(*report_of({.target = "year"}).at("mean", "rmse"), 22, 4);
}

// As if the sources had no other columns.
TEST(EvaluateRows, GivenSaysFromWhat) {
  std::string fewer = "city,country\n";
  const std::string all = bytes_of(new_places());
  for (size_t line = all.find('\n') + 1; line < all.size(); line = all.find('\n', line) + 1) {
    Strings cells;
    for (size_t at = line; cells.size() < 4;) {
      const size_t end = all.find(',', at);
      cells.push_back(all.substr(at, end - at));
      at = end + 1;
    }
    fewer += cells[1] + "," + cells[3] + "\n";
  }
  const TestFolder folder;
  const Report given = report_of({.target = "city", .given = "country"});
  const Report alone = report_of({.target = "city"}, folder.write("fewer.csv", fewer));
  EXPECT_EQ(given.at("mrr"), alone.at("mrr"));
  EXPECT_EQ(given.at("median_rank"), alone.at("median_rank"));
  EXPECT_NE(given.at("mrr"), report_of({.target = "city"}).at("mrr"));
  EXPECT_EQ(given.title, "city from country, 80 rows");
  EXPECT_EQ(report_of({.target = "city", .given = "country,twin"}).at("mrr"),
            report_of({.target = "city", .given = "twin,country,city"}).at("mrr"));
  expect_part("countri", usage_error([] { report_of({.target = "city", .given = "countri"}); }));
}

TEST(EvaluateRows, WithTheTableOfTrainingSkipGramIsMeasuredToo) {
  const Report plain = report_of({.target = "country"});
  EXPECT_FALSE(plain.at("skip-gram", "mrr"));
  EXPECT_TRUE(has_note(plain, Note::Level::kHint,
                       "with --train and the table that the model was trained on"));
  const Report beside = report_of({.target = "country", .train = places_file()});
  ASSERT_TRUE(beside.at("skip-gram", "mrr"));
  EXPECT_GT(*beside.at("skip-gram", "mrr"), *beside.at("popularity", "mrr"));
  EXPECT_EQ(beside.at("mrr"), plain.at("mrr"));
  EXPECT_FALSE(has_note(beside, Note::Level::kHint, "with --train"));
  io_error([] { report_of({.target = "country", .train = "/nonexistent.csv"}); });
}

// What takes long is told, share by share, and comparing takes no longer than a pass or so many
// pairs.
TEST(EvaluateRows, TheTrainingOfAComparisonIsToldAndBounded) {
  Events events;
  evaluate(places(), {new_places()}, {.target = "country", .train = places_file()}, {},
           two_threads(), &events);
  ASSERT_FALSE(events.attempts.empty());
  EXPECT_EQ(events.attempts.front().text, "training skip-gram, for comparison");
  EXPECT_LT(events.attempts.front().share, 1);
  EXPECT_EQ(events.attempts.back().share, 1);
  EXPECT_EQ(SkipGram::epochs(0), 30);
  EXPECT_EQ(SkipGram::epochs(4'000'000), 30);
  EXPECT_EQ(SkipGram::epochs(60'000'000), 2);
  EXPECT_EQ(SkipGram::epochs(5'000'000'000), 1);
}

TEST(EvaluateRows, TextsThatHoldTheAnswerAreTold) {
  const Report clean = report_of({.target = "country"});
  EXPECT_TRUE(clean.shares.empty());
  const TestFolder folder;
  const std::string leaky = folder.write("leaky.csv",
                                         "city,country,notes\n"
                                         "Rome,Italy,somewhere in italy\n"
                                         "Lima,Peru,somewhere else\n"
                                         "Nice,France,nowhere\n"
                                         "Osaka,Japan,a place of Japan\n");
  const Report r = report_of({.target = "country"}, leaky);
  ASSERT_EQ(r.shares.size(), 1u);
  EXPECT_EQ(r.shares[0].first, "notes");
  EXPECT_DOUBLE_EQ(r.shares[0].second, 0.5);
  EXPECT_TRUE(has_note(r, Note::Level::kWarning,
                       "in 50 % of the rows the text in column notes holds the country, word for "
                       "word"));
  // Not if the text is not given.
  EXPECT_TRUE(report_of({.target = "country", .given = "city"}, leaky).shares.empty());
}

// Names that are common words stand in the texts of other rows as often.
TEST(EvaluateRows, CommonWordsAreNoLeak) {
  const TestFolder folder;
  const auto shares = [&](bool common) {
    std::string csv = "city,country,notes\n";
    for (int i = 0; i < 60; ++i) {
      const bool italy = i % 3 > 0;  // so that one class is the usual one
      const char* const said = common  ? "italy beats peru"
                               : italy ? "a town in italy"
                                       : "a town in peru";
      csv += fmt::format("Rome,{},{}\n", italy ? "Italy" : "Peru", said);
    }
    return report_of({.target = "country"}, folder.write("notes.csv", csv)).shares;
  };
  EXPECT_TRUE(shares(true).empty());
  ASSERT_EQ(shares(false).size(), 1u);
  EXPECT_DOUBLE_EQ(shares(false)[0].second, 1);
}

// Nor as part of another word; and numbers too.
TEST(EvaluateRows, ANumberInATextIsTold) {
  const TestFolder folder;
  const std::string leaky = folder.write("leaky.csv",
                                         "city,year,notes\n"
                                         "Rome,1930,built in 1930 or so\n"
                                         "Lima,1940,number 19401 of them\n");
  const Report r = report_of({.target = "year"}, leaky);
  ASSERT_EQ(r.shares.size(), 1u);
  EXPECT_DOUBLE_EQ(r.shares[0].second, 0.5);
}

// What follows from one column alone, and from two only together: a linear model cannot know that.
std::string pairs_table(int rows, unsigned seed) {
  std::mt19937 rng(seed);
  std::string csv = "a,b,c,same,sum\n";
  for (int i = 0; i < rows; ++i) {
    const unsigned a = rng() % 2, b = rng() % 2, c = rng() % 5;
    csv += fmt::format("a{},b{},c{},{},{}\n", a, b, c, a == b ? "yes" : "no", 3 * a * b + c);
  }
  return csv;
}

const std::string& pairs_file() {
  return shared_file("pairs.csv", [] { return pairs_table(2000, 1); });
}
const std::string& new_pairs() {
  return shared_file("new-pairs.csv", [] { return pairs_table(300, 2); });
}
Report report_of_pairs(const std::string& target, const std::string& ignored,
                       const EvaluateOptions& options) {
  const Model& model = shared_model(
      target, request("feat2vec", pairs_file(), "",
                      {whole("dim", 8), text("target", target),
                       text("types", fmt::format("{}=ignore,sum={}", ignored,
                                                 ignored == "sum" ? "ignore" : "number"))}));
  return evaluate(model, {new_pairs()}, options, {}, two_threads()).front();
}

// A set that it learned to fill: how sure it is is compared with what comes true, as of classes.
TEST(EvaluateTarget, OfASetSaysHowSureItMayBe) {
  const Model& model = shared_model(
      "tags",
      request("feat2vec", places_file(), "", quick_places() + Settings{text("target", "tags")}));
  const Report r = evaluate(model, {new_places()}, {}, {}, two_threads()).front();
  ASSERT_TRUE(r.at("calibration_error"));
  EXPECT_LT(*r.at("calibration_error"), 0.25);
  EXPECT_FALSE(r.at("popularity", "calibration_error"));
  EXPECT_FALSE(report_of({.target = "tags"}).at("calibration_error"));  // not its target
}

TEST(EvaluateTarget, OfTwoValuesByItsProbabilitiesBesideALinearModel) {
  const Report r = report_of_pairs("same", "sum", {.train = pairs_file()});
  EXPECT_EQ(r.title, "same from the other columns, 300 rows");  // the target is remembered
  EXPECT_GT(*r.at("accuracy"), 0.99);
  EXPECT_GT(*r.at("macro_f1"), 0.99);
  EXPECT_GT(*r.at("auc"), 0.99);
  EXPECT_LT(*r.at("log_loss"), 0.1);
  EXPECT_LT(*r.at("calibration_error"), 0.1);
  EXPECT_LT(*r.at("linear", "accuracy"), 0.65);
  EXPECT_GT(*r.at("linear", "log_loss"), 0.6);
  EXPECT_NEAR(*r.at("popularity", "auc"), 0.5, 1e-9);
  ASSERT_TRUE(r.confusion);
  uint64_t right = 0, all = 0;
  for (size_t v = 0; v < 2; ++v) {
    for (size_t w = 0; w < 2; ++w) {
      all += r.confusion->counts[v][w];
      right += v == w ? r.confusion->counts[v][w] : 0;
    }
  }
  EXPECT_EQ(all, 300u);
  EXPECT_DOUBLE_EQ(static_cast<double>(right) / 300, *r.at("accuracy"));
}

// Of few values neither the place of the right one nor skip-gram is shown, and none is trained.
TEST(EvaluateTarget, OfFewValuesIsNotRanked) {
  const Model& model = shared_model(
      "c", request("feat2vec", pairs_file(), "",
                   {whole("dim", 8), text("target", "c"), text("types", "sum=number")}));
  const Report r = evaluate(model, {new_pairs()}, {}, {}, two_threads()).front();
  EXPECT_GT(*r.at("accuracy"), 0.9);
  ASSERT_TRUE(r.confusion);
  EXPECT_EQ(r.confusion->values.size(), 5u);
  EXPECT_FALSE(r.at("mrr"));
  EXPECT_FALSE(has_note(r, Note::Level::kHint, "skip-gram"));
}

// Each class follows from one column: that a sum of numbers can say, if there is one for each
// class.
TEST(EvaluateTarget, OfSeveralValuesBesideALinearModelForEach) {
  const TestFolder folder;
  const auto table = [&](const std::string& name, int rows) {
    std::string csv = "a,b,c,kind\n";
    for (int i = 0; i < rows; ++i) {
      csv += fmt::format("a{},b{},c{},k{}\n", i % 4, i % 7, i % 3, i % 4);
    }
    return folder.write(name, csv);
  };
  const std::string train = table("train.csv", 800), test = table("test.csv", 90);
  const Model& model = shared_model(
      "kinds", request("feat2vec", train, "", {whole("dim", 8), text("target", "kind")}));
  const Report r = evaluate(model, {test}, {.train = train}, {}, two_threads()).front();
  EXPECT_GT(*r.at("linear", "accuracy"), 0.99);
  EXPECT_LT(*r.at("linear", "log_loss"), 0.5 * *r.at("popularity", "log_loss"));
  const Report without = evaluate(model, {test}, {}, {}, two_threads()).front();
  EXPECT_TRUE(has_note(without, Note::Level::kHint, "a linear model is measured"));
}

// A number that is a bias of the one and of the other, and nothing else.
TEST(EvaluateTarget, ThatIsARatingBesideTheBiasesOfWhoAndWhat) {
  const TestFolder folder;
  std::mt19937 rng(3);
  const auto table = [&](const std::string& name, int rows) {
    std::string csv = "who,what,mood,stars\n";
    for (int i = 0; i < rows; ++i) {
      const unsigned u = rng() % 30, f = rng() % 25;
      csv += fmt::format("u{},f{},m{},{}\n", u, f, rng() % 3, 3 + 0.1 * u - 0.08 * f);
    }
    return folder.write(name, csv);
  };
  const std::string train = table("train.csv", 3000), test = table("test.csv", 200);
  const Model& model = shared_model(
      "stars", request("feat2vec", train, "",
                       {whole("dim", 4), text("target", "stars"), whole("epochs", 2)}));
  const Report r = evaluate(model, {test}, {.train = train}, {}, two_threads()).front();
  EXPECT_LT(*r.at("biases", "rmse"), 0.1 * *r.at("mean", "rmse"));
  const Report one =
      evaluate(model, {test}, {.given = "who,mood", .train = train}, {}, two_threads()).front();
  EXPECT_FALSE(one.at("biases", "rmse")) << "one column of many values is given";
}

TEST(EvaluateTarget, ThatIsANumberByItsErrorsBesideALinearModel) {
  const Report r = report_of_pairs("sum", "same", {.train = pairs_file()});
  EXPECT_GT(*r.at("r2"), 0.95);
  EXPECT_LT(*r.at("rmse"), *r.at("linear", "rmse") / 2);
  EXPECT_LT(*r.at("linear", "rmse"), *r.at("mean", "rmse"));
  const Report without = report_of_pairs("sum", "same", {});
  EXPECT_FALSE(without.at("linear", "rmse"));
  EXPECT_TRUE(has_note(without, Note::Level::kHint, "a linear model is measured"));
}

TEST(EvaluateRows, ValuesThatTrainingNeverSawAreCounted) {
  const TestFolder folder;
  const Report r =
      report_of({.target = "country"},
                folder.write("a.csv", "city,country\nRome,Italy\nBern,Switzerland\nLima,\n"));
  EXPECT_EQ(r.count("rows"), 2u);
  EXPECT_EQ(r.count("unseen"), 1u);
  EXPECT_EQ(r.title,
            "country from the other columns, 2 rows; 1 have a value that training never saw");
  expect_part("no row has a value of country that the model knows", input_error([&] {
                report_of({.target = "country"},
                          folder.write("b.csv", "city,country\nBern,Switzerland\n"));
              }));
}

TEST(EvaluateRows, SaysWhatItNeeds) {
  const TestFolder folder;
  EXPECT_EQ(usage_error([] { report_of({}); }),
            "say which column to predict with --target, such as --target notes");
  expect_part("country", usage_error([] { report_of({.target = "contry"}); }));
  expect_part("it has no column country to compare with", input_error([&] {
                report_of({.target = "country"}, folder.write("a.csv", "city\nRome\n"));
              }));
}

TEST(EvaluateRows, SettingsOfReadingCount) {
  const TestFolder folder;
  const std::string file = folder.write("a.csv", "city#country\nRome#Italy\nLima#Peru\n");
  EXPECT_EQ(report_of({.target = "country"}, file, {text("delimiter", "#")}).count("rows"), 2u);
  usage_error([&] { report_of({.target = "country"}, file, {text("colour", "#")}); });
}

TEST(EvaluateRows, TellsWhatItCouldNotRead) {
  const TestFolder folder;
  Events events;
  const std::string file = folder.write("a.csv", "city,country,year\nRome,Italy,soon\n");
  evaluate(places(), {file}, {.target = "country"}, {}, two_threads(), &events);
  EXPECT_TRUE(events.noted("\"soon\" is not a number and counts as missing"));
}

TEST(EvaluateRows, StopsWhenAsked) {
  Context context(1);
  context.cancel();
  message_of(ErrorKind::kCancelled,
             [&] { evaluate(places(), {new_places()}, {.target = "country"}, {}, context); });
}

}  // namespace
}  // namespace kith::test
