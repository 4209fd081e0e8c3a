// SPDX-License-Identifier: Apache-2.0
// Which values stand together says something of them, whatever the target.

#include "models/feat2vec/choices.h"

#include <cmath>
#include <random>

#include "models/feat2vec/problem.h"
#include "models/feat2vec/test_tables.h"
#include "models/test_model.h"

namespace kith::feat2vec {
namespace {

constexpr const char* kSchema = R"({"columns": [{"name": "user", "type": "category"},
  {"name": "film", "type": "category"}, {"name": "kind", "type": "category"},
  {"name": "y", "type": "number"}]})";
constexpr int kUsers = 150, kFilms = 700;

// Good films and bad ones, by the last bit. Half of the users mostly see good ones, half bad ones.
// A film has three ratings, which say little of it by themselves.
double quality(int film) { return film % 2 ? 1 : -1; }
std::string seen(bool by_choice = true) {
  std::mt19937 rng(7);
  std::normal_distribution<double> noise(0, 1.5);
  std::string csv = "user,film,kind,y\n";
  for (int u = 0; u < kUsers; ++u) {
    for (int n = 0; n < 14; ++n) {
      auto film = static_cast<int>(rng() % kFilms);
      if (by_choice && u % 2 != film % 2 && rng() % 10 > 0) film ^= 1;
      csv += fmt::format("u{},f{},k{},{:.3f}\n", u, film, rng() % 3, quality(film) + noise(rng));
    }
  }
  return csv;
}

Feat2Vec untrained(std::optional<bool> choices) {
  Feat2Vec out;
  out.config().target = "y";
  out.config().dim = 8;
  out.config().loss = Loss::kSquared;
  out.config().choices = choices;
  return out;
}
Feat2Vec learned(const Table& table, std::optional<bool> choices, int threads = 1) {
  Feat2Vec out = untrained(choices);
  train(out, table, threads, true);
  return out;
}

// The root of the mean square of what is wrong about films.
double error(const Feat2Vec& model) {
  double sum = 0;
  for (int f = 0; f < kFilms; ++f) {
    const std::string film = fmt::format("f{}", f);
    const double away = model.target_value(see(model, {{}, Cell(film), {}, {}})) - quality(f);
    sum += away * away;
  }
  return std::sqrt(sum / kFilms);
}

TEST(Choices, WhoSeesAFilmTellsOfIt) {
  const Table table = reference::table_of(seen(), kSchema, 200);
  const double without = error(learned(table, false)), with = error(learned(table, true));
  EXPECT_LT(with, 0.9 * without) << without;
}

TEST(Choices, AreTakenWhereTheyAreBetterForWhatIsHeldOut) {
  const auto open = [](const Table& table) {
    Feat2Vec out = untrained(std::nullopt);
    out.config().loss = std::nullopt;
    out.config().l2 = 30;
    train(out, table, 1, true);
    return out;
  };
  const Table table = reference::table_of(seen(), kSchema, 400);
  const Feat2Vec chosen = open(table);
  EXPECT_EQ(chosen.used().choices, true);
  EXPECT_TRUE(test::same_bits(chosen.values(0), learned(table, true).values(0)));
  EXPECT_EQ(open(reference::table_of(seen(false), kSchema, 400)).used().choices, false);
}

// Of four rows: u0 has f0 and f1, u1 has f1 twice, and nobody else meets anyone.
TEST(Choices, TheCompanyOfAValueIsWhatItStandsWithOnce) {
  std::string csv = "user,film,kind,y\n";
  for (int i = 0; i < 120; ++i) csv += fmt::format("u{},f{},k,1\n", i, i);
  csv += "u0,f1,k,2\nu1,f1,k,3\n,f5,k,3\n";
  const Table table = reference::table_of(csv, kSchema);
  const std::vector<uint32_t> columns = columns_of_choices(table, untrained(true).config());
  EXPECT_EQ(columns, (std::vector<uint32_t>{0, 1}));
  const Choices all(table, columns, table.rows());
  EXPECT_EQ(all.features(), 241);
  const auto row = [&](size_t group, std::string_view name) {
    return table.entities(group).first + *table.encoding().spaces[group].names.find(name);
  };
  Matrix effects(241, 2);  // of what stands with u0; the first is of how many that are
  effects.row(1 + row(0, "u0"))[0] = 1;
  const Matrix means = all.means(effects, table.encoding().rows(), 1, Context{});
  EXPECT_FLOAT_EQ(means.row(row(1, "f0"))[0], 1);                    // u0 alone
  EXPECT_FLOAT_EQ(means.row(row(1, "f1"))[0], 1 / std::sqrt(2.0F));  // u0 and, twice, u1
  EXPECT_EQ(means.row(row(1, "f5"))[0], 0);
  EXPECT_EQ(means.row(row(0, "u0"))[0], 0);
  EXPECT_EQ(means.row(row(2, "k"))[0], 0);  // a column of one value
}

TEST(Choices, AreTheSameBitsForAnyNumberOfThreadsAndInAFile) {
  const Table table = reference::table_of(seen(), kSchema, 100);
  const Feat2Vec one = learned(table, true);
  for (const int threads : {2, 8}) {
    EXPECT_TRUE(test::same_bits(one.theta(), learned(table, true, threads).theta())) << threads;
  }
  test::expect_same_file(one, "feat2vec");
}

TEST(Choices, AResumedRunEqualsAnUninterruptedOne) {
  const Table table = reference::table_of(seen(), kSchema, 100);
  const auto run = [&](Feat2Vec& model, int stop) {
    Job job;
    job.deterministic = true;
    int reports = 0;
    job.on_progress = [&](const Progress&) {
      if (++reports == stop) job.cancel();
    };
    model.train(table, job);
    return reports;
  };
  Feat2Vec whole = untrained(true);
  const int reports = run(whole, 0);
  for (const int stop : {1, 2, 7, reports / 2, reports - 1}) {
    Feat2Vec part = untrained(true);
    run(part, stop);
    ASSERT_FALSE(part.finished()) << stop;
    Feat2Vec resumed = test::through_file(part, "feat2vec", true);
    run(resumed, 0);
    EXPECT_TRUE(test::same_bits(resumed.theta(), whole.theta())) << stop;
  }
}

TEST(Choices, AreRefusedWhereTheySayNothing) {
  Feat2Vec few = untrained(true);
  const Table planted_table = reference::table_of(planted(300), kPlanted, 6);
  few.config().target = "year";
  const auto message = message_of(ErrorKind::kInput, [&] { train(few, planted_table); });
  EXPECT_NE(message.find("two columns"), std::string::npos) << message;
  const Table table = reference::table_of(seen(), kSchema, 100);
  Config config = untrained(true).config();
  config.l2 = 0;
  EXPECT_THROW(resolved(config, table.encoding()), Error);
  config.l2 = {};
  config.loss = Loss::kSoftmax;
  EXPECT_THROW(resolved(config, table.encoding()), Error);
}

TEST(Choices, ADamagedCheckpointIsRefused) {
  const Table table = reference::table_of(seen(), kSchema, 100);
  Feat2Vec part = untrained(true);
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  part.train(table, job);
  ArchiveWriter out = test::file_of(part, "feat2vec", true);
  ASSERT_EQ(out.tensors.erase("choices.effects"), 1);
  const test::ScratchFile file;
  out.save(file.path);
  Feat2Vec resumed;
  restore_checkpoint(resumed, "feat2vec", Archive::open(file.path));
  const auto message = message_of(ErrorKind::kInput, [&] { train(resumed, table); });
  EXPECT_NE(message.find("other values"), std::string::npos) << message;
}

}  // namespace
}  // namespace kith::feat2vec
