// SPDX-License-Identifier: Apache-2.0
#include "kith/near.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api/test_models.h"
#include "core/rng.h"
#include "io/vector_files.h"

namespace kith::test {
namespace {

Strings ids(const Near& answer) {
  Strings out;
  for (const Neighbour& n : answer.neighbours) out.push_back(n.id);
  return out;
}
Near ask(const Model& model, const std::string& query, const NearOptions& options = {}) {
  const auto answers = near(model, {query}, options, two_threads());
  EXPECT_EQ(answers.size(), 1u);
  return answers.empty() ? Near{} : answers.front();
}
Strings near_to(const Model& model, const std::string& query, const NearOptions& options = {}) {
  return ids(ask(model, query, options));
}
std::set<std::string> as_set(const Strings& list) { return {list.begin(), list.end()}; }

void expect_same(const Near& a, const Near& b) {
  EXPECT_EQ(a.column, b.column);
  EXPECT_EQ(ids(a), ids(b));
  for (size_t i = 0; i < std::min(a.neighbours.size(), b.neighbours.size()); ++i) {
    EXPECT_EQ(a.neighbours[i].score, b.neighbours[i].score) << i;
  }
}

// --- Words ---

TEST(Near, WordsOfOneTopicAreTogether) {
  for (const auto& topic : kTopics) {
    std::set<std::string> others(topic.begin(), topic.end());
    others.erase(std::string(topic[0]));
    const Near answer = ask(words(), std::string(topic[0]), {.top = kTopicWords - 1});
    EXPECT_EQ(as_set(ids(answer)), others);
    EXPECT_EQ(answer.column, "");
    EXPECT_EQ(answer.query, topic[0]);
    EXPECT_EQ(answer.error, "");
  }
}

TEST(Near, AWordIsFoundHoweverItsAccentsAreStored) {
  const TestFolder folder;
  const std::string composed = "caf\xC3\xA9", apart = "cafe\xCC\x81";
  import_vectors(folder.write("v.txt", composed + " 1 0\ntea 1 1\n"), folder.path() + "/v.kith",
                 two_threads());
  const Model model = open(folder.path() + "/v.kith");
  EXPECT_EQ(near_to(model, apart), Strings{"tea"});
  EXPECT_EQ(similarity(model, apart, "tea"), similarity(model, composed, "tea"));
}

TEST(Near, ScoresAreCosinesAndFall) {
  const Near answer = ask(words(), "ship");
  EXPECT_EQ(answer.neighbours.size(), 10u);
  double before = 1;
  for (const Neighbour& n : answer.neighbours) {
    EXPECT_NEAR(n.score, similarity(words(), "ship", n.id), 1e-5) << n.id;
    EXPECT_LE(n.score, before);
    EXPECT_EQ(n.title, "");
    before = n.score;
  }
}

// Of unit vectors: (1, 1) / sqrt 2 - (0, 1) + (0, -1).
TEST(Near, ATextIsNearToWhatItsVectorIsNearTo) {
  const Strings text{"ship", "the", "wave"};
  const Near found = ask(words(), "ship the wave", {.top = 3, .text = true});
  const std::vector<float> own = embed(words(), text);
  const TestFolder folder;
  export_vectors(words(), folder.path() + "/v.txt", VectorFormat::kGlove, two_threads());
  const auto all = read_vectors(folder.path() + "/v.txt");
  double best = -1;
  std::string wanted;
  for (size_t r = 0; r < all.names.size(); ++r) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t k = 0; k < own.size(); ++k) {
      ab += double{own[k]} * all.matrix.row(r)[k];
      aa += double{own[k]} * own[k];
      bb += double{all.matrix.row(r)[k]} * all.matrix.row(r)[k];
    }
    if (ab / std::sqrt(aa * bb) <= best) continue;
    best = ab / std::sqrt(aa * bb);
    wanted = all.names[r];
  }
  ASSERT_EQ(found.neighbours.size(), 3u);
  EXPECT_EQ(found.neighbours[0].id, wanted);
  EXPECT_NEAR(found.neighbours[0].score, best, 1e-4);
  EXPECT_EQ(input_error([&] { ask(words(), "qqq", {.text = true}); }),
            "qqq: the text has no word that the model knows");
  expect_part("leave --to and --vectors out",
              usage_error([&] { ask(words(), "ship", {.vectors = Side::kOutput, .text = true}); }));
  expect_part("near --text is for models that have vectors of words",
              usage_error([&] { ask(ratings(), "ship", {.text = true}); }));
}

TEST(Near, AnExpressionIsASumWithSigns) {
  const Near answer = ask(royals(), "king - man + woman", {.top = 100});
  EXPECT_EQ(answer.neighbours.front().id, "queen");
  const double r = std::sqrt(0.5), y = r - 2;
  EXPECT_NEAR(answer.neighbours.front().score, (r * r - y * r) / std::hypot(r, y), 1e-5);
  // What was asked with is no answer.
  const auto found = as_set(ids(answer));
  for (const char* given : {"king", "man", "woman"}) EXPECT_FALSE(found.contains(given)) << given;
  EXPECT_EQ(found.size(), 7u);
  EXPECT_EQ(near_to(royals(), "king  -  man +  woman"), near_to(royals(), "king - man + woman"));
  EXPECT_EQ(near_to(royals(), "- man + king + woman").front(), "queen");
  EXPECT_EQ(near_to(royals(), "woman + king - man").front(), "queen");
}

TEST(Near, NamesMayHoldSpacesAndSigns) {
  EXPECT_EQ(near_to(royals(), "New York").front(), "rock - roll");
  EXPECT_EQ(near_to(royals(), "rock - roll").front(), "New York");
  const auto found = as_set(near_to(royals(), "New York + king", {.top = 100}));
  EXPECT_FALSE(found.contains("New York") || found.contains("king"));
}

TEST(Near, BadExpressionsAreRefused) {
  for (const char* bad : {"king - ", "king + + man", "king - - man", " - ", "king -  - man"}) {
    expect_part("names and signs must alternate, as in 'king - man + woman'",
                usage_error([&] { ask(royals(), bad); }));
  }
  expect_part("kin is not in the vocabulary; nearest spellings: king",
              input_error([&] { ask(royals(), "kin - man"); }));
}

TEST(Near, UnknownWordsGetTheNearestSpellings) {
  EXPECT_EQ(input_error([] { ask(words(), "shipp"); }),
            "shipp is not in the vocabulary; nearest spellings: ship");
}

TEST(Near, OneQueryThatFailsOfManySaysSo) {
  const auto answers = near(royals(), {"king", "kingg", "apple"}, {}, two_threads());
  ASSERT_EQ(answers.size(), 3u);
  expect_same(answers[0], ask(royals(), "king"));
  EXPECT_EQ(answers[1].query, "kingg");
  expect_part("kingg is not in the vocabulary", answers[1].error);
  EXPECT_TRUE(answers[1].neighbours.empty());
  expect_same(answers[2], ask(royals(), "apple"));
  EXPECT_EQ(answers[2].error, "");
  EXPECT_TRUE(near(royals(), {}, {}, two_threads()).empty());
}

// More than are answered at a time, of two kinds: each is answered as it is alone.
TEST(Near, ManyQueriesAreAnsweredInTheirOrder) {
  const Strings some{"user=u1", "item=i2", "user=u3", "nobody", "item=i4"};
  Strings queries;
  for (int i = 0; i < 1500; ++i) queries.push_back(some[static_cast<size_t>(i * 7) % some.size()]);
  size_t next = 0;
  near(ratings(), queries, {.top = 3}, two_threads(), [&](const Near& answer) {
    ASSERT_LT(next, queries.size());
    EXPECT_EQ(answer.query, queries[next++]);
    EXPECT_EQ(answer.error.empty(), answer.query != "nobody");
    if (next < some.size() && answer.error.empty()) {
      expect_same(answer, ask(ratings(), answer.query, {.top = 3}));
    }
  });
  EXPECT_EQ(next, queries.size());
}

TEST(Near, TopIsHowMany) {
  EXPECT_EQ(near_to(royals(), "king", {.top = 1}).size(), 1u);
  EXPECT_EQ(near_to(royals(), "king", {.top = 4}).size(), 4u);
  EXPECT_EQ(near_to(royals(), "king", {.top = 1000}).size(), 9u);
}

TEST(Near, RestrictTakesTheMostFrequentNamesOnly) {
  EXPECT_EQ(as_set(near_to(royals(), "king", {.restrict_to = 4})),
            (std::set<std::string>{"man", "woman", "queen"}));
  EXPECT_EQ(near_to(royals(), "apple", {.restrict_to = 7}).size(), 6u);
  EXPECT_EQ(near_to(words(), "ship", {.restrict_to = 1}), Strings{"the"});
  const std::string nothing_to_go_by =
      "the names of {} are not in order of frequency, so --restrict cannot tell which are frequent";
  EXPECT_EQ(usage_error([&] { ask(places(), "city=Rome", {.restrict_to = 5}); }),
            fmt::format(fmt::runtime(nothing_to_go_by), "city"));
  EXPECT_EQ(usage_error([&] { ask(ratings(), "item=i3", {.restrict_to = 5}); }),
            fmt::format(fmt::runtime(nothing_to_go_by), "item"));
}

TEST(Near, AWordHasAVectorAsNeighbourToo) {
  const double input = similarity(words(), "ship", "oven", Side::kInput);
  const double output = similarity(words(), "ship", "oven", Side::kOutput);
  const double sum = similarity(words(), "ship", "oven", Side::kSum);
  EXPECT_TRUE(input != output && output != sum && sum != input);
  for (const Side side : {Side::kInput, Side::kOutput, Side::kSum}) {
    const Near answer = ask(words(), "ship", {.top = 3, .vectors = side});
    for (const Neighbour& n : answer.neighbours) {
      EXPECT_NEAR(n.score, similarity(words(), "ship", n.id, side), 1e-5) << detail::show(side);
    }
  }
  for (const Model* model : {&royals(), &places(), &ratings()}) {
    for (const Side side : {Side::kOutput, Side::kSum}) {
      expect_part("--vectors input", usage_error([&] { ask(*model, "king", {.vectors = side}); }));
    }
  }
}

TEST(Near, ThroughAGraphTheAnswersAreTheSameOnSmallData) {
  for (const auto& [model, query] : std::vector<std::pair<const Model*, std::string>>{
           {&words(), "ship"}, {&places(), "city=Rome"}, {&ratings(), "user=u3"}}) {
    Events events;
    Near found;
    near(
        *model, {query}, {.search = Search::kHnsw}, two_threads(),
        [&](const Near& answer) { found = answer; }, &events);
    EXPECT_TRUE(events.noted("hnsw graph over ")) << query;
    const Near exact = ask(*model, query, {.search = Search::kExact});
    EXPECT_EQ(ids(found), ids(exact)) << query;
    for (size_t i = 0; i < exact.neighbours.size(); ++i) {
      EXPECT_NEAR(found.neighbours[i].score, exact.neighbours[i].score, 1e-5);
    }
  }
  Events none;
  near(
      words(), {"ship"}, {.search = Search::kExact}, two_threads(), [](const Near&) {}, &none);
  EXPECT_TRUE(none.notes.empty());
}

TEST(Near, StopsWhenAsked) {
  Context context(1);
  context.cancel();
  message_of(ErrorKind::kCancelled, [&] { near(words(), {"ship"}, {}, context); });
}

// --- Tables ---

std::set<std::string> cities_of(size_t country) {
  return {kCountries[country].cities.begin(), kCountries[country].cities.end()};
}

TEST(Near, CitiesOfACountryAreTogether) {
  for (size_t c = 0; c < kCountries.size(); ++c) {
    const std::string city(kCountries[c].cities[0]);
    const Near answer = ask(places(), "city=" + city, {.top = kCities - 1});
    std::set<std::string> others = cities_of(c);
    others.erase(city);
    EXPECT_EQ(as_set(ids(answer)), others);
    EXPECT_EQ(answer.column, "city");
  }
}

TEST(Near, AValueOfOneColumnNeedsNoColumn) {
  expect_same(ask(places(), "Italy"), ask(places(), "country=Italy"));
  EXPECT_EQ(usage_error([] { ask(places(), "Rome"); }),
            "Rome is a value of city and of twin; say which: city=Rome or twin=Rome");
}

TEST(Near, UnknownValuesGetTheNearestSpellings) {
  EXPECT_EQ(input_error([] { ask(places(), "city=Rone"); }),
            "city has no value Rone; similar: Rome");
  EXPECT_EQ(input_error([] { ask(places(), "Itali"); }),
            "no column has the value Itali; similar: country=Italy");
  expect_part("town", usage_error([] { ask(places(), "town=Rome"); }));
  EXPECT_EQ(input_error([] { ask(ratings(), "user=u500"); }).find("the model knows no user u500"),
            0u);
  expect_part("similar: i1", input_error([] { ask(ratings(), "item=i1x"); }));
  EXPECT_EQ(input_error([] { ask(ratings(), "somebody entirely else"); }),
            "the model knows nothing called somebody entirely else; ask as column=value, with a "
            "column of item, user");
}

TEST(Near, ToSaysWhatGoesWithARow) {
  for (const Country& country : kCountries) {
    const Near answer =
        ask(places(), fmt::format("city={}", country.cities[1]), {.top = 2, .to = "country"});
    EXPECT_EQ(answer.column, "country");
    ASSERT_EQ(answer.neighbours.size(), 2u);
    EXPECT_EQ(answer.neighbours[0].id, country.name);
  }
  // Two values of one row: neither of them an answer of its own column.
  const auto answers =
      near(places(), {"tags=opera", "country=Italy"}, {.top = 2, .to = "tags"}, two_threads());
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].query, "tags=opera country=Italy");
  EXPECT_EQ(as_set(ids(answers[0])), (std::set<std::string>{"fashion", "marble"}));
}

TEST(Near, ToItsOwnColumnIsWhatIsLikeIt) {
  expect_same(ask(places(), "city=Rome", {.to = "city"}), ask(places(), "city=Rome"));
}

TEST(Near, ToIsForNamesOfTables) {
  EXPECT_EQ(usage_error([] { ask(places(), "city=Rome", {.to = "year"}); }),
            "year holds numbers; to predict one, use kith predict");
  expect_part("country", usage_error([] { ask(places(), "city=Rome", {.to = "countri"}); }));
  EXPECT_EQ(usage_error([] { ask(royals(), "king", {.to = "country"}); }),
            "near --to is for models that complete rows of a table; " + royals().path() +
                " holds vectors, which does not");
  EXPECT_EQ(usage_error([] { ask(places(), "year=1920"); }),
            "year holds numbers; to predict one, use kith predict");
}

TEST(Near, MembersOfASetAreAskedTogether) {
  const Near answer = ask(places(), "tags=opera|fashion", {.top = 1});
  EXPECT_EQ(answer.column, "tags");
  EXPECT_EQ(ids(answer), Strings{"marble"});
  const auto all = as_set(near_to(places(), "tags=opera|fashion", {.top = 100}));
  EXPECT_FALSE(all.contains("opera") || all.contains("fashion"));
}

// Hashed n-grams give a value that nobody has seen a vector near those that are spelled like it.
const Model& bucketed() {
  const std::string schema = shared_folder().path() + "/buckets.json";
  shared_folder().write("buckets.json",
                        R"({"columns": [{"name": "city", "type": "category", "buckets": 500}]})");
  return shared_model("bucketed", request("feat2vec", places_file(), "",
                                          quick_places() + Settings{text("schema", schema)}));
}

TEST(Near, WithBucketsUnseenValuesHaveAVector) {
  EXPECT_EQ(near_to(bucketed(), "city=Tokyoo").front(), "Tokyo");
  EXPECT_EQ(near_to(bucketed(), "city=Kyotoo").front(), "Kyoto");
  EXPECT_EQ(ask(bucketed(), "city=Tokyoo", {.to = "country"}).neighbours.front().id, "Japan");
  input_error([] { ask(bucketed(), "country=Japann"); });
}

TEST(Near, WhatIsAddedIsOfOneKind) {
  EXPECT_EQ(usage_error([] { ask(places(), "city=Rome - country=Italy"); }),
            "city=Rome - country=Italy: names of one kind can be added, not city and country");
  usage_error([] { ask(ratings(), "user=u1 + item=i1"); });
  EXPECT_FALSE(near_to(places(), "city=Rome + city=Milan").empty());
}

// --- Users and items ---

TEST(Near, ItemsAreNearItemsAndUsersNearUsers) {
  const Near items = ask(ratings(), "item=i3"), users = ask(ratings(), "user=u3");
  EXPECT_EQ(items.column, "item");
  EXPECT_EQ(users.column, "user");
  for (const std::string& id : ids(items)) EXPECT_EQ(id[0], 'i');
  for (const std::string& id : ids(users)) EXPECT_EQ(id[0], 'u');
  expect_same(ask(ratings(), "i3"), items);
}

TEST(Near, ItemsAreShownAndCalledByTheirTitles) {
  const Titles titles(titles_file(), "", ratings());
  const auto with_titles = [&](const std::string& query) {
    Near out;
    near(
        ratings(), {query}, {}, two_threads(), [&](const Near& a) { out = a; }, nullptr, &titles);
    return out;
  };
  const Near plain = ask(ratings(), "item=i3");
  for (const std::string query : {"item=i3", "item=Film No. 3", "Film No. 3"}) {
    const Near answer = with_titles(query);
    expect_same(answer, plain);
    for (const Neighbour& n : answer.neighbours) {
      EXPECT_EQ(n.title, title_of(std::stoul(n.id.substr(1)))) << query;
    }
  }
  EXPECT_EQ(with_titles("user=u3").neighbours.front().title, "");
  input_error([&] { with_titles("user=Film No. 3"); });
  // A part of a title is answered with titles that hold it.
  expect_part("; similar: ", input_error([&] { with_titles("item=film no"); }));
  expect_part("Film No. 3", input_error([&] { with_titles("item=no. 3"); }));
}

// 20 series of 5 films. A user likes two of them and chose most of their films; everybody chose
// most of five films that are popular; and there are films that one or two users chose. What is
// like a film of a series are the others of it, and neither what is popular nor what hardly anybody
// knows.
TEST(Near, FilmsOfASeriesAreNearEachOther) {
  constexpr int kSeries = 20, kFilms = 5, kUsers = 400, kObscure = 300;
  std::string data = "user,film\n";
  Rng rng(7, 0);
  const auto chose = [&](int user, const std::string& film) {
    data += fmt::format("u{},{}\n", user, film);
  };
  for (int u = 0; u < kUsers; ++u) {
    for (const int series : {u % kSeries, (u / kSeries + 3 * u) % kSeries}) {
      for (int f = 0; f < kFilms; ++f) {
        if (rng.uniform() < 0.6f) chose(u, fmt::format("s{}.{}", series, f));
      }
    }
    for (int f = 0; f < kFilms; ++f) {
      if (rng.uniform() < 0.8f) chose(u, fmt::format("popular.{}", f));
    }
  }
  for (int f = 0; f < kObscure; ++f) {
    for (int k = 0; k <= f % 2; ++k) {
      chose(static_cast<int>(rng.below(kUsers)), fmt::format("obscure.{}", f));
    }
  }
  const TestFolder folder;
  const std::string table = folder.write("series.csv", data);
  for (const std::string kind : {"als", "mf"}) {
    const std::string path = folder.path() + "/" + kind + ".kith";
    train_now(request(kind, table, path, {whole("dim", 32)}));
    const Model model = open(path);
    int right = 0;
    for (int s = 0; s < kSeries; ++s) {
      for (int f = 0; f < kFilms; ++f) {
        const std::string film = fmt::format("film=s{}.{}", s, f);
        for (const std::string& id : near_to(model, film, {.top = kFilms - 1})) {
          right += id.starts_with(fmt::format("s{}.", s));
          EXPECT_FALSE(id.starts_with("popular")) << kind << " " << film;
          EXPECT_FALSE(id.starts_with("obscure")) << kind << " " << film << " " << id;
        }
      }
    }
    EXPECT_GT(right, 0.9 * kSeries * kFilms * (kFilms - 1)) << kind;
  }
}

TEST(Near, BiasesAloneAreNearNothing) {
  const std::string refused =
      "the model has biases but no vectors (dim = 0), so nothing can be compared";
  EXPECT_EQ(usage_error([] { ask(no_vectors(), "item=i3"); }), refused);
  EXPECT_EQ(usage_error([] { similarity(no_vectors(), "i3", "i4"); }), refused);
}

// --- Analogies, similarity, the odd one ---

Strings answers_of(const std::vector<Neighbour>& list) {
  Strings out;
  for (const Neighbour& n : list) out.push_back(n.id);
  return out;
}

TEST(Analogy, ManIsToKingAsWomanIsToQueen) {
  for (const AnalogyRule rule : {AnalogyRule::kAdd, AnalogyRule::kMul}) {
    const auto found = analogy(royals(), "man", "king", "woman", {.rule = rule}, two_threads());
    EXPECT_EQ(found.front().id, "queen") << detail::show(rule);
    const auto all = as_set(answers_of(found));
    EXPECT_FALSE(all.contains("man") || all.contains("king") || all.contains("woman"));
  }
}

// cos' = (1 + cos) / 2; queen is at right angles to king, 45 degrees from woman, 135 from man.
TEST(Analogy, TheTwoRulesScoreDifferently) {
  const double c = std::sqrt(0.5), r = c - 2;
  const auto scores = [](AnalogyRule rule) {
    return analogy(royals(), "man", "king", "woman", {.rule = rule}, two_threads()).front().score;
  };
  EXPECT_NEAR(scores(AnalogyRule::kAdd), (c * c - r * c) / std::hypot(c, r), 1e-5);
  EXPECT_NEAR(scores(AnalogyRule::kMul), 0.5 * ((1 + c) / 2) / ((1 - c) / 2 + 1e-3), 1e-3);
}

TEST(Analogy, OptionsCount) {
  EXPECT_EQ(analogy(royals(), "man", "king", "woman", {.top = 2}, two_threads()).size(), 2u);
  EXPECT_EQ(
      answers_of(analogy(royals(), "woman", "queen", "man", {.restrict_to = 3}, two_threads())),
      Strings{"king"});
  const auto scores = [](Side side) {
    return analogy(words(), "ship", "sail", "oven", {.vectors = side}, two_threads()).front().score;
  };
  EXPECT_NE(scores(Side::kInput), scores(Side::kOutput));
  EXPECT_NE(scores(Side::kInput), scores(Side::kSum));
  expect_part("so --restrict cannot tell", usage_error([] {
                analogy(places(), "city=Rome", "city=Milan", "city=Lima", {.restrict_to = 5},
                        two_threads());
              }));
}

TEST(Analogy, WorksWithinAColumn) {
  const auto found =
      analogy(places(), "city=Rome", "city=Milan", "city=Tokyo", {.top = 2}, two_threads());
  EXPECT_EQ(as_set(answers_of(found)), (std::set<std::string>{"Kyoto", "Osaka"}));
}

TEST(Similarity, IsTheCosine) {
  EXPECT_NEAR(similarity(royals(), "king", "queen"), 0, 1e-6);
  EXPECT_NEAR(similarity(royals(), "king", "man"), std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(similarity(royals(), "man", "woman"), -1, 1e-6);
  EXPECT_NEAR(similarity(royals(), "king", "king"), 1, 1e-6);
  EXPECT_EQ(similarity(royals(), "king", "prince"), similarity(royals(), "prince", "king"));
  EXPECT_GT(similarity(places(), "city=Rome", "city=Milan"),
            similarity(places(), "city=Rome", "city=Lima"));
}

TEST(Similarity, OnlyWhatIsOfOneKindIsCompared) {
  EXPECT_EQ(usage_error([] { similarity(ratings(), "user=u1", "item=i1"); }),
            "user=u1 belongs to user and item=i1 to item; compare names of the same kind");
  usage_error(
      [] { analogy(places(), "city=Rome", "country=Italy", "city=Lima", {}, two_threads()); });
  usage_error([] { fit_with_others(places(), {"city=Rome", "country=Italy"}); });
  input_error([] { similarity(royals(), "king", "kingg"); });
}

TEST(FitWithOthers, TheOddOneFitsLeast) {
  const Strings names{"king", "apple", "queen", "prince"};
  const std::vector<double> fits = fit_with_others(royals(), names);
  ASSERT_EQ(fits.size(), 4u);
  EXPECT_EQ(std::ranges::min_element(fits) - fits.begin(), 1);
  EXPECT_EQ(usage_error([] { fit_with_others(royals(), {"king"}); }),
            "give two names or more to compare");
  usage_error([] { fit_with_others(royals(), {}); });
  const auto odd = fit_with_others(words(), {"ship", "sail", "oven"}, Side::kInput);
  EXPECT_EQ(std::ranges::min_element(odd) - odd.begin(), 2);
  EXPECT_NE(odd, fit_with_others(words(), {"ship", "sail", "oven"}, Side::kOutput));
}

// Of two names each fits with the other as they are like each other.
TEST(FitWithOthers, OfTwoItIsTheirCosine) {
  const std::vector<double> fits = fit_with_others(royals(), {"king", "man"});
  EXPECT_NEAR(fits[0], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(fits[1], std::sqrt(0.5), 1e-6);
}

}  // namespace
}  // namespace kith::test
