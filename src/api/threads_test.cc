// SPDX-License-Identifier: Apache-2.0
// One model, asked everything from many threads at once: the answers are those of one thread. Each
// model is opened anew, so that the threads meet where it reads its parts for the first time.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "api/test_models.h"

namespace kith::test {
namespace {

constexpr size_t kThreads = 8;

// All answers as text, every digit of them.
class Answers {
 public:
  void add(double x) { text_ += fmt::format("{} ", x); }
  void add(const std::string& s) { text_ += s + " "; }
  void add(const std::vector<Near>& answers) {
    for (const Near& a : answers) {
      add(a.query + a.column + a.error);
      add(a.neighbours);
    }
  }
  void add(const std::vector<Neighbour>& list) {
    for (const Neighbour& n : list) text_ += fmt::format("{} {} {}, ", n.id, n.title, n.score);
  }
  void add(std::span<const Recommendation> list) {
    for (const Recommendation& r : list) {
      text_ += fmt::format("{} {} {}, ", r.id, r.prediction, r.deviation.value_or(0));
    }
  }
  void add(const Prediction& p) {
    for (const Candidate& c : p.candidates) {
      text_ += fmt::format("{} {} {}, ", c.id, c.score, c.probability.value_or(0));
    }
    if (p.number) text_ += fmt::format("{} {} ", p.number->mean, p.number->text);
  }
  void add(const std::vector<float>& v) {
    for (const float x : v) add(x);
  }
  void add(const std::vector<Report>& reports) {
    for (const Report& r : reports) {
      add(r.title + r.subtitle);
      for (const Comparison& c : r.comparisons) {
        for (const Way& way : c.ways) {
          for (const Measure& m : way.measures) text_ += fmt::format("{} {}, ", m.name, m.value);
        }
      }
    }
  }
  // What every model can be asked. `file` is the thread's own.
  void add_common(const Model& model, const std::string& file) {
    for (const Fact& f : model.facts()) add(f.name + "=" + f.value);
    add(model.run_settings());
    export_vectors(model, file, VectorFormat::kCsv, two_threads());
    add(bytes_of(file));
    model.save(file + ".kith");
    add(bytes_of(file + ".kith"));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using Ask = std::function<void(const Model&, const std::string& file, Answers&)>;

// Threads of one context, and of one model that has not been asked anything before.
void expect_same_answers(const std::function<Model()>& opened, const Ask& ask) {
  const TestFolder folder;
  Answers alone;
  {
    const Model model = opened();
    ask(model, folder.path() + "/alone", alone);
    ASSERT_GT(alone.text().size(), 1000u);
  }
  for (int round = 0; round < 3; ++round) {
    const Model model = opened();
    std::vector<Answers> found(kThreads);
    {
      std::vector<std::jthread> threads;
      for (size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back(
            [&, t] { ask(model, fmt::format("{}/{}", folder.path(), t), found[t]); });
      }
    }
    for (size_t t = 0; t < kThreads; ++t)
      EXPECT_EQ(found[t].text(), alone.text()) << "thread " << t;
  }
}
void expect_same_answers(const Model& model, const Ask& ask) {
  expect_same_answers([path = model.path()] { return open(path); }, ask);
}

TEST(Threads, WordsAreAskedAtOnce) {
  const TestFolder folder;
  const std::string pairs = folder.write("pairs.txt", "ship sail 9\nship oven 2\nsnow rope 5\n");
  const Context& context = two_threads();
  expect_same_answers(words(), [&](const Model& model, const std::string& file, Answers& out) {
    out.add(near(model, {"ship", "oven - bread + snow", "nothing"}, {}, context));
    out.add(near(model, {"ship"}, {.vectors = Side::kSum, .search = Search::kHnsw}, context));
    out.add(analogy(model, "ship", "sail", "oven", {}, context));
    out.add(similarity(model, "ship", "oven", Side::kOutput));
    for (const double fit : fit_with_others(model, {"ship", "sail", "oven"})) out.add(fit);
    out.add(evaluate(model, {pairs}, {}, {}, context));
    out.add_common(model, file);
  });
}

void ask_places(const Model& model, const std::string& file, Answers& out) {
  const Context& context = two_threads();
  out.add(near(model, {"city=Rome", "tags=opera|fashion", "Italy", "Rome"}, {}, context));
  out.add(near(model, {"city=Rome"}, {.to = "country"}, context));
  out.add(analogy(model, "city=Rome", "city=Milan", "city=Tokyo", {}, context));
  out.add(similarity(model, "city=Rome", "city=Lima"));
  out.add(predict(model, {"city=Rome"}, {.target = "country"}));
  out.add(predict(model, {"city=Rome"}, {.target = "year"}));
  predict_rows(model, {file + ".rows.csv"}, {.target = "city"}, {}, two_threads(),
               [&](const PredictedRow& row) { out.add(row.prediction); });
  out.add(embed(model, {"city=Rome", "year=1920"}));
  embed_rows(model, {file + ".rows.csv"}, file + ".vectors.csv", {.to = VectorFormat::kCsv}, {},
             two_threads());
  out.add(bytes_of(file + ".vectors.csv"));
  for (const ScoredRow& row :
       score_rows(model, {file + ".rows.csv"}, {.name = "id"}, {}, two_threads())) {
    out.add(row.name);
    out.add(row.odd);
  }
  auto reports = evaluate(model, {file + ".rows.csv"}, {.target = "country"}, {}, context);
  out.add(reports);
  out.add_common(model, file);
}

// A thread's own copy of some rows.
Ask with_rows(const Ask& ask) {
  return [ask](const Model& model, const std::string& file, Answers& out) {
    std::ofstream(file + ".rows.csv") << places_table(20, 3);
    ask(model, file, out);
  };
}

TEST(Threads, ATableIsAskedAtOnce) { expect_same_answers(places(), with_rows(ask_places)); }

// One that is in memory only.
TEST(Threads, AnUpdatedTableIsAskedAtOnce) {
  const TestFolder folder;
  const std::string more =
      folder.write("more.csv", std::string(kPlacesHeader) +
                                   "n1,Bergamo,Rome,Italy,opera|marble,1922,1922-06-02,a place\n");
  expect_same_answers(
      [&, path = places().path()] {
        Model model = open(path);
        update(model, {more}, {}, two_threads());
        return model;
      },
      with_rows(ask_places));
}

TEST(Threads, RatingsAreAskedAtOnce) {
  const std::string unseen = unseen_ratings_file();
  const Titles titles(titles_file(), "", ratings());
  const Context& context = two_threads();
  for (const Model* model : {&ratings(), &sure()}) {
    expect_same_answers(*model, [&](const Model& m, const std::string& file, Answers& out) {
      near(
          m, {"user=u1", "Film No. 3"}, {}, context, [&](const Near& a) { out.add({a}); }, nullptr,
          &titles);
      out.add(analogy(m, "item=i1", "item=i2", "item=i3", {}, context));
      out.add(similarity(m, "user=u1", "user=u2"));
      out.add(predict(m, {"user=u1", "item=i1"}));
      predict_rows(m, {unseen}, {}, {}, two_threads(),
                   [&](const PredictedRow& row) { out.add(row.prediction); });
      const Recommender recommender(m, {}, {}, &titles);
      out.add(recommender.list("u7", {}, context));
      const std::vector<GivenRating> given{{"Film No. 2", 4}};
      out.add(recommender.list("", given, context));
      recommender.for_all(context,
                          [&](const std::string& user, std::span<const Recommendation> list) {
                            out.add(user);
                            out.add(list);
                          });
      out.add(evaluate(m, {unseen}, {}, {}, context));
      out.add_common(m, file);
    });
  }
}

TEST(Threads, OneRecommenderIsAskedAtOnce) {
  const Recommender recommender(ratings(), {});
  const auto ask = [&](const Model&, const std::string&, Answers& out) {
    for (int u = 0; u < 50; ++u) {
      out.add(recommender.list(fmt::format("u{}", u), {}, two_threads()));
    }
  };
  expect_same_answers(ratings(), ask);
}

TEST(Threads, ImportedVectorsAreAskedAtOnce) {
  const Context& context = two_threads();
  expect_same_answers(royals(), [&](const Model& model, const std::string& file, Answers& out) {
    out.add(near(model, {"king - man + woman", "New York"}, {}, context));
    out.add(near(model, {"king"}, {.search = Search::kHnsw}, context));
    out.add(analogy(model, "man", "king", "woman", {.rule = AnalogyRule::kMul}, context));
    out.add(similarity(model, "king", "queen"));
    out.add_common(model, file);
  });
}

// Questions that fail do so for those who asked them.
TEST(Threads, ErrorsStayWithTheirThread) {
  const Model model = open(places().path());
  std::vector<std::string> said(kThreads);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        try {
          predict(model, {t % 2 ? "city=Rome" : "city=Rone"}, {.target = "country"});
          said[t] = "an answer";
        } catch (const Error& e) {
          said[t] = e.what();
        }
      });
    }
  }
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(said[t], t % 2 ? "an answer" : "city has no value Rone; similar: Rome");
  }
}

}  // namespace
}  // namespace kith::test
