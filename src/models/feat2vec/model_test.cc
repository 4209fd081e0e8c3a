// SPDX-License-Identifier: Apache-2.0
// Tables whose truth is known and must be learned; the same bits however it is run; files.

#include <unistd.h>

#include <filesystem>
#include <map>

#include "core/error.h"
#include "models/feat2vec/test_tables.h"
#include "models/test_model.h"

namespace kith::feat2vec {
namespace {

constexpr const char* kTwo =
    R"({"columns": [{"name": "a", "type": "category"}, {"name": "b", "type": "category"}]})";

// Counts of 3 x 4 values, far from independent.
constexpr int kCounts[3][4] = {{60, 5, 5, 30}, {10, 50, 20, 20}, {5, 10, 80, 5}};

std::string counted_table() {
  std::string csv = "a,b\n";
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int n = 0; n < kCounts[i][j]; ++n) csv += fmt::format("a{},b{}\n", i, j);
    }
  }
  return csv;
}

void expect_conditionals(const Feat2Vec& model, double tolerance) {
  const Names& values = model.encoding().spaces[1].names;
  for (int i = 0; i < 3; ++i) {
    const std::string a = fmt::format("a{}", i);
    const auto p = chances(model, see(model, {Cell(a), std::nullopt}), 1);
    double total = 0;
    for (const int n : kCounts[i]) total += n;
    for (int j = 0; j < 4; ++j) {
      EXPECT_NEAR(p[*values.find(fmt::format("b{}", j))], kCounts[i][j] / total, tolerance)
          << i << " " << j;
    }
  }
}

// The optimum of NCE is s = log p(b | a), and that of the corrected softmax the same up to a
// constant; enough dimensions hold any table of 3 x 4. What is left is the noise of the last steps.
TEST(Feat2Vec, NceAndSoftmaxRecoverTheConditionals) {
  const Table table = reference::table_of(counted_table(), kTwo);
  for (const Loss loss : {Loss::kNce, Loss::kSoftmax}) {
    Feat2Vec model;
    model.config().dim = 8;
    model.config().loss = loss;
    model.config().epochs = 400;
    model.config().negatives = 10;
    model.config().dropout = 0;
    model.config().biases = true;
    model.config().init = 0.3;
    train(model, table);
    SCOPED_TRACE(detail::show(loss));
    expect_conditionals(model, 0.04);
  }
}

// Two columns, plain sigmoids, noise only in the second: skip-gram. Its optimum is PMI - log k up
// to the noise that equals the truth and is left out (as in models/word2vec/README.md).
TEST(Feat2Vec, SkipGramIsASpecialCase) {
  const Table table = reference::table_of(counted_table(), R"({"columns": [
    {"name": "a", "type": "category", "sampled": false}, {"name": "b", "type": "category"}]})");
  Feat2Vec model;
  model.config().dim = 8;
  model.config().loss = Loss::kNs;
  model.config().epochs = 1500;
  model.config().negatives = 5;
  model.config().alpha2 = 1;
  model.config().intercepts = Intercepts::kNone;
  model.config().biases = false;
  model.config().init = 0.3;
  train(model, table);
  double all = 0, row[3] = {}, column[4] = {};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      all += kCounts[i][j];
      row[i] += kCounts[i][j];
      column[j] += kCounts[i][j];
    }
  }
  const Names& values = model.encoding().spaces[1].names;
  for (int i = 0; i < 3; ++i) {
    const std::string a = fmt::format("a{}", i);
    const auto c = model.context(see(model, {Cell(a), std::nullopt}), 1);
    const Matrix vectors = model.values(1);
    for (int j = 0; j < 4; ++j) {
      const uint32_t v = *values.find(fmt::format("b{}", j));
      double s = 0;
      for (size_t k = 0; k < c.size(); ++k) s += double{c[k]} * vectors.row(v)[k];
      // Noise b stands against every row of a whose b is another one.
      const double exact =
          std::log(kCounts[i][j]) - std::log(5 * column[j] / all * (row[i] - kCounts[i][j]));
      EXPECT_NEAR(s, exact, 0.3) << i << " " << j;
    }
  }
}

// y = 2 x + 1 with two knots, no vectors, only biases: least squares.
TEST(Feat2Vec, LinearRegressionIsASpecialCase) {
  std::string csv = "x,kind,y\n";
  for (int i = 0; i <= 100; ++i) {
    csv +=
        fmt::format("{},{},{}\n", i / 10.0, i % 2 ? "odd" : "even", 2 * i / 10.0 + (i % 2) + 0.01);
  }
  const Table table = reference::table_of(csv, R"({"columns": [
    {"name": "x", "type": "number", "knots": 2}, {"name": "kind", "type": "category"},
    {"name": "y", "type": "number"}]})");
  for (const Loss loss : {Loss::kSquared, Loss::kHuber, Loss::kTukey}) {
    Feat2Vec model;
    model.config().dim = 0;
    model.config().target = "y";
    model.config().loss = loss;
    model.config().epochs = 300;
    model.config().l2 = 0;
    train(model, table);
    for (const double x : {0.5, 3.3, 9.0}) {
      const std::string cell = fmt::format("{}", x);
      EXPECT_NEAR(model.target_value(see(model, {Cell(cell), Cell("even"), std::nullopt})),
                  2 * x + 0.01, 0.05)
          << detail::show(loss) << " " << x;
      EXPECT_NEAR(model.target_value(see(model, {Cell(cell), Cell("odd"), std::nullopt})),
                  2 * x + 1.01, 0.05);
    }
  }
}

// A rank-2 matrix with means, half of it seen: users, items and a rating are matrix factorisation.
TEST(Feat2Vec, MatrixFactorisationIsASpecialCase) {
  std::mt19937 rng(4);
  std::normal_distribution<double> normal;
  std::vector<std::array<double, 3>> users(40), items(30);
  for (auto* side : {&users, &items}) {
    for (auto& u : *side) u = {normal(rng), normal(rng), 0.5 * normal(rng)};
  }
  const auto rating = [&](size_t u, size_t i) {
    return 3 + users[u][2] + items[i][2] + users[u][0] * items[i][0] + users[u][1] * items[i][1];
  };
  std::string csv = "user,item,rating\n";
  for (size_t u = 0; u < users.size(); ++u) {
    for (size_t i = 0; i < items.size(); ++i) {
      if ((u * 7 + i * 3) % 5 != 0) csv += fmt::format("u{},i{},{:.6f}\n", u, i, rating(u, i));
    }
  }
  const Table table = reference::table_of(csv, R"({"columns": [
    {"name": "user", "type": "category"}, {"name": "item", "type": "category"},
    {"name": "rating", "type": "number"}]})");
  Feat2Vec model;
  model.config().dim = 4;
  model.config().target = "rating";
  model.config().epochs = 300;
  model.config().l2 = 0;
  train(model, table);
  double squares = 0, n = 0, spread = 0;
  for (size_t u = 0; u < users.size(); ++u) {
    for (size_t i = 0; i < items.size(); ++i) {
      if ((u * 7 + i * 3) % 5 != 0) continue;  // the fifth it never saw
      const std::string user = fmt::format("u{}", u), item = fmt::format("i{}", i);
      const double e =
          model.target_value(see(model, {Cell(user), Cell(item), std::nullopt})) - rating(u, i);
      squares += e * e;
      spread += (rating(u, i) - 3) * (rating(u, i) - 3);
      ++n;
    }
  }
  EXPECT_LT(std::sqrt(squares / n), 0.1 * std::sqrt(spread / n));
}

TEST(Feat2Vec, LearnsPlantedTopicsAndPredictsNumbers) {
  const Table table = reference::table_of(planted(1500), kPlanted, 15);
  Feat2Vec model;
  model.config().dim = 16;
  train(model, table);
  EXPECT_LT(model.state().held_out.back(), 0.8 * model.state().held_out.front());
  for (int topic = 0; topic < 4; ++topic) {
    const std::string cast = fmt::format("c{}_1|c{}_2", topic, topic);
    const SeenRow row = see(model, {std::nullopt, Cell(cast), std::nullopt, std::nullopt});
    const auto directors = chances(model, row, 0);
    double right = 0;
    for (size_t v = 0; v < directors.size(); ++v) {
      if (model.encoding().spaces[0].names[v].starts_with(fmt::format("d{}_", topic))) {
        right += directors[v];
      }
    }
    EXPECT_GT(right, 0.8) << topic;
    const auto years = chances(model, row, 2);
    double year = 0;
    for (size_t v = 0; v < years.size(); ++v)
      year += years[v] * model.encoding().groups[2].values[v];
    EXPECT_NEAR(year, 1900 + 25 * topic + 9.5, 8) << topic;
  }
}

std::string path_of(const std::string& name) {
  return (std::filesystem::temp_directory_path() / fmt::format("kith_f2v_{}_{}", ::getpid(), name))
      .string();
}
std::string bytes_of(const Feat2Vec& model, bool checkpoint = false) {
  const std::string path = path_of("bytes");
  save_model(model, "feat2vec", path, checkpoint, {});
  const MappedFile file(path);
  std::string out(file.bytes().begin(), file.bytes().end());
  std::filesystem::remove(path);
  return out;
}

TEST(Feat2Vec, DeterministicModeGivesTheSameBitsForAnyNumberOfThreads) {
  const Table table = reference::table_of(planted(400), kPlanted, 4);
  std::map<int, std::string> files;
  for (const int threads : {1, 2, 8}) {
    Feat2Vec model;
    model.config().epochs = 3;
    model.config().pair_weights = true;
    train(model, table, threads, true);
    files[threads] = bytes_of(model);
  }
  EXPECT_EQ(files[1], files[2]);
  EXPECT_EQ(files[1], files[8]);
  Feat2Vec first, second;
  train(first, table);
  train(second, table);
  EXPECT_EQ(bytes_of(first), bytes_of(second));  // one thread, twice
}

TEST(Feat2Vec, DeterministicModeLearnsAsWell) {
  const Table table = reference::table_of(planted(1500), kPlanted, 15);
  double held_out[2];
  for (const bool deterministic : {false, true}) {
    Feat2Vec model;
    model.config().dim = 16;
    train(model, table, 2, deterministic);
    held_out[deterministic] = model.state().held_out.back();
  }
  EXPECT_LT(held_out[1], 1.05 * held_out[0]);
}

TEST(Feat2Vec, AResumedRunEqualsAnUninterruptedOne) {
  const Table table = reference::table_of(planted(600), kPlanted, 6);
  Feat2Vec whole;
  whole.config().epochs = 4;
  train(whole, table, 2, true);
  Feat2Vec part;
  part.config().epochs = 4;
  Job job;
  job.deterministic = true;
  int reports = 0;
  job.on_progress = [&](const Progress&) {
    if (++reports == 5) job.cancel();
  };
  part.train(table, job);
  ASSERT_FALSE(part.finished());
  const std::string path = path_of("checkpoint");
  save_model(part, "feat2vec", path, true, {});
  Feat2Vec resumed;
  restore_checkpoint(resumed, "feat2vec", Archive::open(path));
  std::filesystem::remove(path);
  train(resumed, table, 1, true);
  EXPECT_EQ(bytes_of(resumed), bytes_of(whole));
}

TEST(Feat2Vec, ACheckpointOfOtherSettingsDoesNotGoOn) {
  const Table table = reference::table_of(planted(300), kPlanted, 6);
  Feat2Vec part;
  part.config().epochs = 4;
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  part.train(table, job);
  ASSERT_FALSE(part.finished());
  for (const auto& [key, from, to] : {std::tuple{"used", "negatives = 20", "negatives = \"auto\""},
                                      std::tuple{"settings", "epochs = 4", "epochs = 5"}}) {
    ArchiveWriter out = test::file_of(part, "feat2vec", true);
    std::string& text = out.metadata[key];
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, std::string_view(from).size(), to);
    const test::ScratchFile file;
    out.save(file.path);
    Feat2Vec resumed;
    restore_checkpoint(resumed, "feat2vec", Archive::open(file.path));
    const auto message = message_of(ErrorKind::kInput, [&] { train(resumed, table); });
    EXPECT_NE(message.find("start over without --resume"), std::string::npos) << message;
  }
}

TEST(Feat2Vec, SavedAndLoadedItAnswersTheSame) {
  const Table table = reference::table_of(planted(400), kPlanted);
  Feat2Vec model;
  model.config().biases = true;
  train(model, table);
  const std::string path = path_of("model");
  save_model(model, "feat2vec", path, false, {});
  const auto loaded = load_model(Archive::open(path));
  save_model(*loaded, "feat2vec", path + "2", false, {});
  const MappedFile a(path), b(path + "2");
  EXPECT_TRUE(std::ranges::equal(a.bytes(), b.bytes()));
  std::filesystem::remove(path);
  std::filesystem::remove(path + "2");
}

TEST(Feat2Vec, GoesOnWithNewRowsAndKeepsWhatItKnows) {
  Feat2Vec model;
  model.config().dim = 8;
  train(model, reference::table_of(planted(300), kPlanted));
  const std::vector<float> before(model.theta().row(0).begin(), model.theta().row(0).end());
  const std::string name(model.encoding().spaces[0].names[0]);
  model.reopen();
  model.config().lr = 0;
  const Table more = reference::table_of("director,cast,year,genre\nd9,c9,1999,g9\nd9,c9,1998,g9\n",
                                         kPlanted, 0, &model.encoding());
  train(model, more);
  EXPECT_EQ(model.encoding().spaces[0].names[0], name);
  EXPECT_TRUE(model.encoding().spaces[0].names.find("d9"));
  EXPECT_TRUE(std::ranges::equal(model.theta().row(0), before));
}

// Rows without the target place what is new in them, but cannot be trained on.
TEST(Feat2Vec, ASupervisedModelTakesRowsWithoutItsTarget) {
  Feat2Vec model;
  model.config().dim = 8;
  model.config().target = "director";
  train(model, reference::table_of(planted(300), kPlanted));
  const Table more = reference::table_of("director,cast,year,genre\n,c9,1999,g1\n,c9,1998,g1\n",
                                         kPlanted, 0, &model.encoding());
  const Updated updated = model.update(more, Context(1));
  ASSERT_EQ(updated.added.size(), 1u);
  EXPECT_EQ(updated.added[0].id, "c9");
  EXPECT_EQ(updated.added[0].rows, 2u);
  model.reopen();
  EXPECT_THROW(train(model, more), Error);
}

TEST(Feat2Vec, DivergenceIsRolledBackAndThenAnError) {
  const Table table = reference::table_of(planted(300), kPlanted);
  Feat2Vec model;
  model.config().optimiser = Optimiser::kSgd;
  model.config().lr = 100;
  model.config().loss = Loss::kNce;
  Job job;
  try {
    model.train(table, job);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kDiverged);
    EXPECT_NE(std::string(e.what()).find("halved 3 times"), std::string::npos);
  }
}

// A loss that grows out of all proportion is no result, even if every number is finite.
TEST(Feat2Vec, ALossFarAboveItsStartIsADivergence) {
  const Table table = reference::table_of(planted(300), kPlanted, 0.1);
  Feat2Vec model;
  model.config().optimiser = Optimiser::kMomentum;
  model.config().lr = 2;
  model.config().epochs = 1;
  EXPECT_THROW(train(model, table), Error);
}

// Steps that cannot be added up are taken one after the other: the very run of one thread. Those of
// AdaGrad are added up, and come near it.
TEST(Feat2Vec, DeterministicRunsComeNearThoseOfOneThreadWithEveryOptimiser) {
  const Table table = reference::table_of(planted(400), kPlanted);
  for (const char* target : {"", "year"}) {
    for (const Optimiser optimiser :
         {Optimiser::kSgd, Optimiser::kMomentum, Optimiser::kNesterov, Optimiser::kAdaGrad,
          Optimiser::kAdam, Optimiser::kRowAdaGrad}) {
      SCOPED_TRACE(fmt::format("{} {}", target, detail::show(optimiser)));
      const auto trained = [&](bool deterministic) {
        Feat2Vec model;
        model.config().dim = 8;
        model.config().target = target;
        model.config().optimiser = optimiser;
        model.config().epochs = 10;
        model.config().pair_weights = true;
        train(model, table, deterministic ? 3 : 1, deterministic);
        return model;
      };
      const Feat2Vec one = trained(false), rounds = trained(true);
      const double a = one.state().loss, b = rounds.state().loss;
      if (adds_up(optimiser)) {
        EXPECT_LT(std::abs(a - b), 0.25 * std::max(a, b)) << a << " " << b;
      } else {
        for (size_t r = 0; r < one.theta().rows(); ++r) {
          ASSERT_TRUE(std::ranges::equal(one.theta().row(r), rounds.theta().row(r))) << r;
        }
        EXPECT_EQ(a, b);
      }
    }
  }
}

std::string refusal(const Config& config, const Table& table) {
  Feat2Vec model;
  model.config() = config;
  Job job;
  try {
    model.train(table, job);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Feat2Vec, SaysWhatCannotGoTogether) {
  const Table table = reference::table_of(planted(50), kPlanted);
  Config config;
  config.loss = Loss::kSquared;
  EXPECT_NE(refusal(config, table).find("--target"), std::string::npos);
  config.target = "directr";
  EXPECT_NE(refusal(config, table).find("did you mean director"), std::string::npos);
  config.target = "genre";
  config.loss = Loss::kLogistic;
  EXPECT_NE(refusal(config, table).find("two values; genre has 4"), std::string::npos);
  config = Config();
  config.dim = 0;
  config.biases = false;
  EXPECT_NE(refusal(config, table).find("--biases"), std::string::npos);
  config = Config();
  config.target = "year";
  config.biases = false;
  EXPECT_NE(refusal(config, table).find("leave out --no-biases"), std::string::npos);
}

TEST(Feat2Vec, ThePaperIsItsPublishedSettingWhereNothingElseIsSaid) {
  const Table table = reference::table_of(planted(50), kPlanted);
  Config config;
  config.paper = true;
  const Config paper = resolved(config, table.encoding());
  EXPECT_EQ(paper.loss, Loss::kNce);
  EXPECT_EQ(paper.dim, 50);
  EXPECT_EQ(paper.negatives, 5);
  EXPECT_EQ(paper.alpha1, 0.75);
  EXPECT_EQ(paper.alpha2, 0.75);
  EXPECT_EQ(paper.intercepts, Intercepts::kOne);
  EXPECT_EQ(paper.biases, false);
  EXPECT_EQ(paper.optimiser, Optimiser::kAdaGrad);
  EXPECT_EQ(paper.dropout, 0);
  config.alpha1 = 0.25;
  config.loss = Loss::kSoftmax;
  const Config said = resolved(config, table.encoding());
  EXPECT_EQ(said.alpha1, 0.25);
  EXPECT_EQ(said.loss, Loss::kSoftmax);
  EXPECT_EQ(said.dim, 50);
}

// Logistic regression on one column: the chance of yes is how often it was so.
TEST(Feat2Vec, LogisticGivesChancesThatAreFrequencies) {
  std::string csv = "a,b,y\n";
  for (int i = 0; i < 1000; ++i) {
    const int a = i % 2;
    csv += fmt::format("a{},b,{}\n", a, i / 2 % 10 < (a ? 8 : 3) ? "yes" : "no");
  }
  Feat2Vec model;
  model.config().target = "y";
  model.config().loss = Loss::kLogistic;
  model.config().dim = 0;
  train(model, reference::table_of(csv, R"({"columns": [{"name": "a", "type": "category"},
    {"name": "b", "type": "category"}, {"name": "y", "type": "boolean"}]})"));
  // What is left is the noise of the last steps.
  const Cell b("b");
  EXPECT_NEAR(model.target_value(see(model, {Cell("a1"), b, std::nullopt})), 0.8, 0.05);
  EXPECT_NEAR(model.target_value(see(model, {Cell("a0"), b, std::nullopt})), 0.3, 0.05);
}

TEST(Feat2Vec, LogisticLearnsAClassOfTwo) {
  std::string csv = "a,b,y\n";
  for (int i = 0; i < 400; ++i) {
    const int a = i % 2, b = i / 2 % 2;
    csv += fmt::format("a{},b{},{}\n", a, b, a != b ? "yes" : "no");  // exclusive or: needs vectors
  }
  const Table table = reference::table_of(csv, R"({"columns": [{"name": "a", "type": "category"},
    {"name": "b", "type": "category"}, {"name": "y", "type": "boolean"}]})");
  Feat2Vec model;
  model.config().target = "y";
  model.config().loss = Loss::kLogistic;
  model.config().dim = 4;
  model.config().init = 0.3;
  model.config().epochs = 60;
  train(model, table);
  for (int a : {0, 1}) {
    for (int b : {0, 1}) {
      const std::string ca = fmt::format("a{}", a), cb = fmt::format("b{}", b);
      const double p = model.target_value(see(model, {Cell(ca), Cell(cb), std::nullopt}));
      EXPECT_EQ(p > 0.9, a != b) << p;
      EXPECT_EQ(p < 0.1, a == b) << p;
    }
  }
}

}  // namespace
}  // namespace kith::feat2vec
