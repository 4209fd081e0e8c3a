// SPDX-License-Identifier: Apache-2.0
#include "kith/predict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "api/test_models.h"

namespace kith::test {
namespace {

Strings ids(const Prediction& prediction) {
  Strings out;
  for (const Candidate& c : prediction.candidates) out.push_back(c.id);
  return out;
}
std::string best(const Prediction& prediction) {
  return prediction.candidates.empty() ? "nothing" : prediction.candidates.front().id;
}
void expect_same(const Prediction& a, const Prediction& b) {
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(ids(a), ids(b));
  ASSERT_EQ(a.number.has_value(), b.number.has_value());
  if (!a.number) return;
  EXPECT_EQ(a.number->mean, b.number->mean);
  EXPECT_EQ(a.number->text, b.number->text);
}

// --- Tables ---

TEST(Predict, TheRuleOfTheTableIsLearned) {
  for (const Country& country : kCountries) {
    for (const std::string_view city : country.cities) {
      const Prediction found =
          predict(places(), {fmt::format("city={}", city)}, {.target = "country"});
      EXPECT_EQ(best(found), country.name) << city;
      EXPECT_EQ(found.target, "country");
      EXPECT_FALSE(found.number);
    }
    EXPECT_EQ(
        best(predict(places(), {fmt::format("tags={}", country.tags[0])}, {.target = "country"})),
        country.name);
  }
}

TEST(Predict, ProbabilitiesAreOfAllValues) {
  const Prediction found = predict(places(), {"city=Rome"}, {.target = "country"});
  ASSERT_EQ(found.candidates.size(), kCountries.size());
  double sum = 0, before = 1;
  for (const Candidate& c : found.candidates) {
    ASSERT_TRUE(c.probability);
    EXPECT_LE(*c.probability, before);
    before = *c.probability;
    sum += before;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  // e^score / sum
  EXPECT_NEAR(std::log(*found.candidates[0].probability / *found.candidates[1].probability),
              found.candidates[0].score - found.candidates[1].score, 1e-4);
}

TEST(Predict, TopIsHowMany) {
  const auto all = ids(predict(places(), {"country=Peru"}, {.target = "city"}));
  EXPECT_EQ(all.size(), 10u);
  EXPECT_EQ(ids(predict(places(), {"country=Peru"}, {.target = "city", .top = 3})),
            Strings(all.begin(), all.begin() + 3));
}

TEST(Predict, NumbersAreGuessedByMeanAndMedian) {
  for (const Country& country : kCountries) {
    const std::string given = fmt::format("country={}", country.name);
    const Prediction year = predict(places(), {given}, {.target = "year"});
    ASSERT_TRUE(year.number) << country.name;
    EXPECT_TRUE(year.candidates.empty());
    EXPECT_NEAR(*year.number->median, country.year + 2, 6) << country.name;
    EXPECT_EQ(year.number->text, fmt::format("{:.6g}", year.number->mean));
    EXPECT_EQ(year.number->median_text, fmt::format("{:g}", *year.number->median));
    EXPECT_FALSE(year.number->deviation);
  }
  EXPECT_LT(predict(places(), {"country=France"}, {.target = "year"}).number->mean,
            predict(places(), {"country=Peru"}, {.target = "year"}).number->mean);
}

TEST(Predict, DatesAreShownAsDates) {
  const Prediction day = predict(places(), {"country=Peru"}, {.target = "opened"});
  ASSERT_TRUE(day.number);
  EXPECT_EQ(day.number->median_text.size(), std::string("1962-06-03").size());
  EXPECT_TRUE(day.number->median_text.starts_with("19")) << day.number->median_text;
  // Days since 1970.
  const double year = 1970 + *day.number->median / 365.25;
  EXPECT_NEAR(std::stod(day.number->median_text.substr(0, 4)), year, 1);
}

TEST(Predict, WhatIsGivenOfTheTargetDoesNotCount) {
  expect_same(predict(places(), {"city=Rome", "country=Peru"}, {.target = "country"}),
              predict(places(), {"city=Rome"}, {.target = "country"}));
}

TEST(Predict, SeveralMembersOfASetAreJoined) {
  expect_same(predict(places(), {"tags=opera", "tags=fashion"}, {.target = "country"}),
              predict(places(), {"tags=opera|fashion"}, {.target = "country"}));
  EXPECT_EQ(usage_error([] {
              predict(places(), {"city=Rome", "city=Lima"}, {.target = "country"});
            }),
            "city is given twice, and holds one value");
}

TEST(Predict, SaysWhatItDoesNotKnow) {
  const auto fails = [](const std::string& term) {
    return [term] { predict(places(), {term}, {.target = "country"}); };
  };
  EXPECT_EQ(input_error(fails("city=Rone")), "city has no value Rone; similar: Rome");  // only that
  EXPECT_EQ(usage_error(fails("city=")), "city=: the value is empty");
  expect_part("city", usage_error(fails("citi=Rome")));
  EXPECT_EQ(usage_error(fails("Rome")),
            "Rome is a value of city and of twin; say which: city=Rome");
  expect_part("soon", input_error(fails("year=soon")));
  EXPECT_EQ(usage_error([] { predict(places(), {"city=Rome"}); }),
            "say which column to fill with --target");
  expect_part("country",
              usage_error([] { predict(places(), {"city=Rome"}, {.target = "contry"}); }));
}

// As in a file, where a value that nobody knows is a missing one.
TEST(Predict, AnUnknownValueBesideKnownOnesIsMissing) {
  Events events;
  const PredictOptions options{.target = "country"};
  expect_same(predict(places(), {"city=Rome", "tags=nonsense"}, options, &events),
              predict(places(), {"city=Rome"}, options));
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_EQ(events.notes[0].level, Note::Level::kWarning);
  expect_part("tags has no value nonsense", events.notes[0].text);
  expect_part("it counts as missing", events.notes[0].text);
  expect_same(predict(places(), {"tags=opera", "tags=nonsense"}, options, &events),
              predict(places(), {"tags=opera"}, options));
  EXPECT_EQ(events.notes.size(), 2u);
}

// --- Tables with a target ---

const Model& with_target(const std::string& target, const std::string& loss) {
  return shared_model(
      "target-" + target + loss,
      request("feat2vec", places_file(), "",
              quick_places() + Settings{text("target", target), text("loss", loss)}));
}

TEST(Predict, TheTargetOfTrainingIsFilledIfNoneIsNamed) {
  const Model& model = with_target("country", "softmax");
  expect_same(predict(model, {"city=Rome"}), predict(model, {"city=Rome"}, {.target = "country"}));
  EXPECT_EQ(best(predict(model, {"city=Rome"})), "Italy");
  EXPECT_EQ(predict(model, {"city=Rome"}, {.target = "city"}).target, "city");
}

// The score of a row is the number; nothing is known of how it is spread.
TEST(Predict, ANumberThatWasLearnedByItsErrorHasNoMedian) {
  const Prediction found = predict(with_target("year", "squared"), {"country=Italy"});
  ASSERT_TRUE(found.number);
  EXPECT_NEAR(found.number->mean, 1922, 15);
  EXPECT_FALSE(found.number->median);
  EXPECT_EQ(found.number->median_text, "");
}

TEST(Predict, OneOfTwoValuesHasAProbabilityIfTheLossKnowsOne) {
  static const std::string table = [] {
    std::string rows = "city,country,warm\n";
    for (int i = 0; i < 200; ++i) {
      const Country& c = kCountries[static_cast<size_t>(i) % kCountries.size()];
      rows += fmt::format("{},{},{}\n", c.cities[static_cast<size_t>(i / 4) % kCities], c.name,
                          c.name == "Peru" ? "yes" : "no");
    }
    return shared_folder().write("warm.csv", rows);
  }();
  for (const bool logistic : {true, false}) {
    const std::string loss = logistic ? "logistic" : "hinge";
    const Model& model = shared_model(
        "warm-" + loss, request("feat2vec", table, "",
                                {whole("dim", 4), whole("epochs", 30), text("target", "warm"),
                                 text("loss", loss), text("types", "warm=category")}));
    const Prediction peru = predict(model, {"country=Peru"});
    EXPECT_EQ(best(peru), "yes") << loss;
    EXPECT_EQ(best(predict(model, {"country=Japan"})), "no") << loss;
    EXPECT_EQ(peru.candidates.front().probability.has_value(), logistic) << loss;
  }
}

TEST(Predict, AColumnOfVectorsIsNotPredicted) {
  std::string rows = "city,at\n";
  for (size_t i = 0; i < 40; ++i) rows += fmt::format("c{},{};{}\n", i % 4, i % 4, i % 2);
  static const std::string table = shared_folder().write("vectors.csv", rows);
  shared_folder().write("vectors.json",
                        R"({"columns": [{"name": "at", "type": "vector", "separator": ";"}]})");
  const Model& model =
      shared_model("at", request("feat2vec", table, "",
                                 {whole("dim", 2), whole("epochs", 1),
                                  text("schema", shared_folder().path() + "/vectors.json")}));
  EXPECT_EQ(usage_error([&] { predict(model, {"city=c1"}, {.target = "at"}); }),
            "at is a column of vectors, which cannot be predicted");
}

// --- Rows of a file ---

TEST(PredictRows, EachRowIsPredictedAsItsValuesAre) {
  const TestFolder folder;
  const std::string file = folder.write("ask.csv",
                                        "name,city,country,year\n"
                                        "a,Rome,Peru,1920\n"
                                        "b,Lima,,1963\n"
                                        "c,,,1901\n");
  const std::vector<Strings> terms{
      {"city=Rome", "year=1920"}, {"city=Lima", "year=1963"}, {"year=1901"}};
  size_t n = 0;
  const auto done = predict_rows(
      places(), {file}, {.target = "country"}, {}, two_threads(), [&](const PredictedRow& row) {
        ASSERT_LT(n, terms.size());
        EXPECT_EQ(Strings(row.columns.begin(), row.columns.end()),
                  (Strings{"name", "city", "country", "year"}));
        EXPECT_EQ(row.cells[0], std::string(1, static_cast<char>('a' + n)));
        expect_same(row.prediction, predict(places(), terms[n], {.target = "country", .top = 1}));
        ++n;
      });
  EXPECT_EQ(n, 3u);
  EXPECT_EQ(done.rows, 3u);
  EXPECT_EQ(done.unknown_users + done.unknown_items, 0u);
  EXPECT_FALSE(done.deviations);
}

TEST(PredictRows, OptionsAndSettingsOfReadingCount) {
  const TestFolder folder;
  const std::string file = folder.write("ask.csv", "city#year\nRome#1920\nLima#1960\n");
  size_t n = 0;
  const Settings reading{text("delimiter", "#")};
  predict_rows(places(), {file, file}, {.target = "country", .top = 2}, reading, two_threads(),
               [&](const PredictedRow& row) {
                 EXPECT_EQ(row.prediction.candidates.size(), 2u);
                 EXPECT_EQ(best(row.prediction), n % 2 ? "Peru" : "Italy");
                 ++n;
               });
  EXPECT_EQ(n, 4u);
  const auto ignore = [](const PredictedRow&) {};
  usage_error([&] {
    predict_rows(places(), {file}, {.target = "country"}, Settings{text("colour", "#")},
                 two_threads(), ignore);
  });
  expect_part("none of its columns (a, b) is one of the model's", input_error([&] {
                predict_rows(places(), {folder.write("b.csv", "a,b\n1,2\n")}, {.target = "country"},
                             {}, two_threads(), ignore);
              }));
}

TEST(PredictRows, WhatCannotBeReadIsMissingAndToldOnce) {
  const TestFolder folder;
  const std::string file = folder.write("ask.csv", "city,year\nRome,soon\nRome,later\n");
  Events events;
  predict_rows(
      places(), {file}, {.target = "country", .top = 10}, {}, two_threads(),
      [](const PredictedRow& row) {
        expect_same(row.prediction, predict(places(), {"city=Rome"}, {.target = "country"}));
      },
      &events);
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_EQ(events.notes[0].level, Note::Level::kWarning);
  expect_part("ask.csv:2: column year: \"soon\" is not a number and counts as missing",
              events.notes[0].text);
}

// --- Ratings ---

TEST(PredictRating, IsNearTheTruth) {
  const PlantedRatings truth;
  double square = 0, size = 0;
  for (size_t u = 0; u < truth.users; ++u) {
    for (size_t i = 0; i < truth.items; ++i) {
      const Prediction found =
          predict(ratings(), {fmt::format("user=u{}", u), fmt::format("item=i{}", i)});
      ASSERT_TRUE(found.number);
      square += std::pow(found.number->mean - truth.truth(u, i), 2);
      ++size;
    }
  }
  EXPECT_LT(std::sqrt(square / size), 0.5);  // they are spread by more than 1
}

TEST(PredictRating, SaysForWhomItIs) {
  const Prediction found = predict(ratings(), {"item=i3", "user=u7"});
  EXPECT_EQ(found.target, "rating");
  EXPECT_EQ(found.user, "u7");
  EXPECT_EQ(found.item, "i3");
  EXPECT_TRUE(found.known_user && found.known_item);
  EXPECT_EQ(found.number->text, fmt::format("{:.6g}", found.number->mean));
  EXPECT_FALSE(found.number->median);
}

// Of nobody in particular: the same whoever it is, and nearer to the item's bias.
TEST(PredictRating, WhomItDoesNotKnowItTakesForAnybody) {
  const auto rated = [](const std::string& user, const std::string& item) {
    return predict(ratings(), {"user=" + user, "item=" + item});
  };
  const Prediction stranger = rated("stranger", "i3");
  EXPECT_FALSE(stranger.known_user);
  EXPECT_TRUE(stranger.known_item);
  EXPECT_EQ(stranger.number->mean, rated("another", "i3").number->mean);
  EXPECT_NE(stranger.number->mean, rated("stranger", "i4").number->mean);
  const Prediction both = rated("stranger", "unheard of");
  EXPECT_FALSE(both.known_user || both.known_item);
  EXPECT_FALSE(rated("u1", "unheard of").known_item);
}

TEST(PredictRating, OnlyOneThatSamplesKnowsHowSureItIs) {
  EXPECT_FALSE(tells_deviation(ratings()));
  EXPECT_FALSE(tells_deviation(places()));
  EXPECT_TRUE(tells_deviation(sure()));
  const auto deviation = [](const Model& model, const char* user) {
    return predict(model, {std::string("user=") + user, "item=i3"}).number->deviation;
  };
  EXPECT_FALSE(deviation(ratings(), "u1"));
  ASSERT_TRUE(deviation(sure(), "u1"));
  EXPECT_GT(*deviation(sure(), "u1"), 0);
  EXPECT_GT(*deviation(sure(), "a stranger"), *deviation(sure(), "u1"));
}

TEST(PredictRating, TakesOneUserAndOneItem) {
  const auto fails = [](const Strings& terms) {
    return usage_error([&] { predict(ratings(), terms); });
  };
  EXPECT_EQ(fails({"user=u1"}), "name a user and an item, such as user=42 item=Alien");
  EXPECT_EQ(fails({}), "name a user and an item, such as user=42 item=Alien");
  EXPECT_EQ(fails({"user=u1", "user=u2"}),
            "user=u2: one user and one item at a time; for more pairs, give a file");
  EXPECT_EQ(fails({"u1", "i1"}), "u1: a pair is given as user=... item=...");
}

TEST(PredictRows, PairsAreCountedAndRatedAsAlone) {
  const TestFolder folder;
  // Neither the order of the columns nor a rating that is missing matters.
  const std::string file = folder.write(
      "pairs.csv", "item,why,user\ni3,a,u1\ni4,b,stranger\nnew,c,u2\nnew,d,stranger\n");
  Strings seen;
  const auto done =
      predict_rows(sure(), {file}, {}, {}, two_threads(), [&](const PredictedRow& row) {
        const Prediction alone =
            predict(sure(), {"user=" + row.prediction.user, "item=" + row.prediction.item});
        expect_same(row.prediction, alone);
        EXPECT_EQ(row.prediction.number->deviation, alone.number->deviation);
        seen.push_back(row.prediction.user + " " + row.prediction.item);
        EXPECT_EQ(row.columns[1], "why");
      });
  EXPECT_EQ(seen, (Strings{"u1 i3", "stranger i4", "u2 new", "stranger new"}));
  EXPECT_EQ(done.rows, 4u);
  EXPECT_EQ(done.unknown_users, 2u);
  EXPECT_EQ(done.unknown_items, 2u);
  EXPECT_TRUE(done.deviations);
}

TEST(PredictRows, PairsStandWhereTheSettingsSay) {
  const TestFolder folder;
  const std::string file = folder.write("pairs.csv", "user,item,who\nx,i3,u1\n");
  const Settings reading{text("user", "who")};
  predict_rows(ratings(), {file}, {}, reading, two_threads(),
               [](const PredictedRow& row) { EXPECT_EQ(row.prediction.user, "u1"); });
}

// --- Who can be asked ---

TEST(Predict, IsForModelsThatCompleteRowsOrRateItems) {
  const std::string sentence =
      "predict is for models that classify texts, complete rows of a table or rate items for "
      "users; ";
  EXPECT_EQ(usage_error([] { predict(words(), {"ship"}); }),
            sentence + words().path() + " holds word2vec, which does not");
  EXPECT_EQ(usage_error([] { predict_rows(royals(), {places_file()}, {}, {}, two_threads(), {}); }),
            sentence + royals().path() + " holds vectors, which does not");
}

TEST(AreSources, FilesAreToldFromValues) {
  EXPECT_TRUE(are_sources(places(), {places_file()}));
  EXPECT_TRUE(are_sources(places(), {"-"}));
  EXPECT_TRUE(are_sources(places(), {"postgresql://host/places"}));
  EXPECT_FALSE(are_sources(places(), {"city=Rome"}));
  EXPECT_FALSE(are_sources(places(), {"Italy"}));
  EXPECT_FALSE(are_sources(places(), {}));
  EXPECT_FALSE(are_sources(ratings(), {"user=a.b", "item=i1"}));
  EXPECT_EQ(io_error([] { are_sources(places(), {"none.csv"}); }),
            "none.csv: there is no such file, and no column has this value");
}

TEST(PredictRows, StopWhenTheyAreCancelled) {
  for (const auto& [model, file, target] : {std::tuple(&places(), places_file(), "country"),
                                            std::tuple(&ratings(), ratings_file(), "")}) {
    Context context(1);
    uint64_t rows = 0;
    message_of(ErrorKind::kCancelled, [&] {
      predict_rows(*model, {file}, {.target = target}, {}, context, [&](const PredictedRow&) {
        if (++rows == 3) context.cancel();
      });
    });
    EXPECT_EQ(rows, 3u);
  }
}

}  // namespace
}  // namespace kith::test
