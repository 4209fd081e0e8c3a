// SPDX-License-Identifier: Apache-2.0
// The visitors of a model's parts, on a model written for it and on real ones.

#include "models/parts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "models/als/model.h"
#include "models/ratings/test_ratings.h"
#include "models/test_model.h"
#include "models/visitors.h"
#include "models/word2vec/model.h"
#include "train/test_corpus.h"

namespace kith {
namespace {

using test::file_of;
using test::same_bits;
using test::ScratchFile;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A part of every type and use.
class Small final : public ModelBase {
 public:
  struct Config {
    int dim = 3;
    std::optional<double> lr{};
    static constexpr std::tuple fields{field("dim", &Config::dim, ""),
                                       field("lr", &Config::lr, "")};
  };

  Small() = default;
  explicit Small(size_t size) : rows(size), table(size, 3), speed(size, 3) {
    for (size_t r = 0; r < size; ++r) {
      names.add(fmt::format("name {}", r));
      for (size_t k = 0; k < 3; ++k) table.row(r)[k] = static_cast<float>(r) + 0.1f * float(k);
      speed.row(r)[1] = -1;
    }
    weights.assign(size, 0.3f);
    counts.assign(size, std::numeric_limits<uint64_t>::max());
  }

  Section settings() override { return {"small", config}; }
  void visit(Parts& parts) override {
    parts.names("names", names);
    if (parts.loading()) rows = names.size();
    parts.matrix("table", table, rows, 3, Use::kLearned);
    parts.values("weights", weights, rows, Use::kLearned);
    parts.number("level", level, Use::kLearned);
    parts.values("counts", counts, rows, Use::kFixed);
    parts.number("scale", scale);
    parts.text("title", title);
    parts.flag("even", even);
    parts.matrix("extra", extra, Parts::kAny, 2, Use::kOptional);
    parts.matrix("speed", speed, rows, 3, Use::kRun);
    parts.number("steps", steps, Use::kRun);
    parts.check(scale >= 0, "the scale is below 0");
    parts.check(level < 1e6, "the level is too high");
  }
  void loaded() override { ++times_loaded; }
  std::vector<Fact> info() const override { return run_facts(); }
  const DataKind* data() const override { return data_kinds().front(); }
  uint64_t memory_needed(const Dataset&, const Job&) const override { return 0; }
  bool fit(Dataset&, Job&, bool) override { return true; }
  RunState& run() { return state_; }

  Config config;
  size_t rows = 0;
  Names names;
  Matrix table, extra, speed;
  std::vector<float> weights;
  std::vector<uint64_t> counts;
  double level = 0.1 + 0.2;
  float scale = 0.1f;
  std::string title = "a \"b\"\nc";
  bool even = true;
  uint64_t steps = 7;
  int times_loaded = 0;
};

Small read(const ArchiveWriter& out, Loader::Mode mode = Loader::Mode::kOwn) {
  const ScratchFile file;
  out.save(file.path);
  Small fresh;
  const Archive in = Archive::open(file.path);
  Loader loader(in, mode);
  visit_all(fresh, loader);
  return fresh;
}

TEST(Parts, WhatIsSavedComesBack) {
  Small model(5);
  model.config = {.dim = 8, .lr = 0.25};
  model.extra = Matrix(4, 2);
  model.extra.row(3)[1] = 2.5f;
  model.run().held_out = {0.1, 1e-300, 3};
  model.run().kept = 1;
  const Small back = read(file_of(model, "small"));
  EXPECT_EQ(back.config.dim, 8);
  EXPECT_EQ(back.config.lr, 0.25);
  EXPECT_EQ(back.names.bytes(), model.names.bytes());
  EXPECT_TRUE(same_bits(back.table, model.table));
  EXPECT_TRUE(same_bits(back.extra, model.extra));
  EXPECT_EQ(back.weights, model.weights);
  EXPECT_EQ(back.counts, model.counts);
  EXPECT_EQ(back.level, 0.1 + 0.2) << "to the last bit";
  EXPECT_EQ(back.scale, 0.1f);
  EXPECT_EQ(back.title, model.title);
  EXPECT_TRUE(back.even);
  EXPECT_EQ(back.state().held_out, model.state().held_out);
  EXPECT_EQ(back.state().kept, 1u);
  EXPECT_FALSE(back.state().refit);
  EXPECT_FALSE(back.table.is_borrowed());
}

// Together with the parameters and the seed it decides all that follows.
TEST(Parts, ACheckpointHasTheWholeStateOfARun) {
  Small model(2);
  RunState& before = model.run();
  before.started = true;
  before.block = (uint64_t{1} << 60) + 1;
  before.lr_scale = 0.125;
  before.loss = 0.1 + 0.2;
  before.epoch_loss = 1.0 / 3;
  before.epoch_steps = 17;
  before.first_loss = 0.7;
  before.held_out = {0.5, 0.1, 0.3};
  before.unscored = true;
  before.converged = true;
  before.kept = 1;
  before.refit = 2;
  Small back = read(file_of(model, "small", true));
  const RunState& after = back.run();
  EXPECT_EQ(after.started, before.started);
  EXPECT_EQ(after.block, before.block);
  EXPECT_EQ(after.lr_scale, before.lr_scale);
  EXPECT_EQ(after.loss, before.loss);
  EXPECT_EQ(after.epoch_loss, before.epoch_loss);
  EXPECT_EQ(after.epoch_steps, before.epoch_steps);
  EXPECT_EQ(after.first_loss, before.first_loss);
  EXPECT_EQ(after.held_out, before.held_out);
  EXPECT_EQ(after.unscored, before.unscored);
  EXPECT_EQ(after.converged, before.converged);
  EXPECT_EQ(after.kept, before.kept);
  EXPECT_EQ(after.refit, before.refit);
  EXPECT_FALSE(after.finished);
}

TEST(Parts, OnlyCheckpointsHaveWhatARunNeeds) {
  Small model(5);
  model.run().started = true;
  const ArchiveWriter finished = file_of(model, "small"), running = file_of(model, "small", true);
  for (const char* name : {"speed", "extra"}) EXPECT_FALSE(finished.tensors.contains(name)) << name;
  for (const char* key : {"steps", "progress.started"}) {
    EXPECT_FALSE(finished.metadata.contains(key)) << key;
    EXPECT_TRUE(running.metadata.contains(key)) << key;
  }
  EXPECT_TRUE(running.tensors.contains("speed"));
  EXPECT_FALSE(running.tensors.contains("extra")) << "it has none";
  Small model_back = read(finished), run_back = read(running);
  EXPECT_EQ(model_back.speed.rows(), 0u);
  EXPECT_FALSE(model_back.state().started);
  EXPECT_TRUE(same_bits(run_back.speed, model.speed));
  EXPECT_TRUE(run_back.state().started);
  EXPECT_EQ(run_back.steps, 7u);
}

TEST(Parts, ADamagedPartIsNamed) {
  Small model(5);
  const Matrix short_table(4, 3), narrow(5, 2), wide_extra(1, 3), short_speed(4, 3);
  const std::vector<float> few(4, 1.0f);
  const std::vector<uint64_t> many(6, 1);
  const auto told = [&](const auto& damage) {
    ArchiveWriter out = file_of(model, "small", true);
    damage(out);
    const std::string message = message_of(ErrorKind::kInput, [&] { read(out); });
    EXPECT_TRUE(has(message, "kith_model_")) << "the file: " << message;
    return message;
  };
  const auto with = [&](const char* name, const Tensor& tensor) {
    return told([&](ArchiveWriter& out) { out.tensors[name] = tensor; });
  };
  const auto without = [&](const char* name) {
    return told([&](ArchiveWriter& out) {
      out.tensors.erase(name);
      out.metadata.erase(name);
    });
  };
  const auto reading = [&](const char* key, const char* text) {
    return told([&](ArchiveWriter& out) { out.metadata[key] = text; });
  };
  EXPECT_TRUE(has(with("table", tensor_of(short_table)), "table has 4 x 3 numbers and not 5 x 3"));
  EXPECT_TRUE(has(with("table", tensor_of(narrow)), "table has 5 x 2 numbers and not 5 x 3"));
  EXPECT_TRUE(has(with("extra", tensor_of(wide_extra)), "extra has 1 x 3 numbers and not any x 2"));
  EXPECT_TRUE(has(with("speed", tensor_of(short_speed)), "speed has 4 x 3"));
  EXPECT_TRUE(has(with("weights", tensor_of(std::span(few))), "weights has 4 numbers and not 5"));
  EXPECT_TRUE(has(with("counts", tensor_of(std::span(many))), "counts has 6 numbers and not 5"));
  EXPECT_TRUE(has(with("counts", tensor_of(std::span(few))), "counts")) << "of another type";
  EXPECT_TRUE(has(without("table"), "table"));
  EXPECT_TRUE(has(without("counts"), "counts"));
  EXPECT_TRUE(has(without("title"), "title"));
  EXPECT_TRUE(has(without("settings"), "settings"));
  EXPECT_TRUE(has(reading("level", "three"), "level is three, not a number"));
  EXPECT_TRUE(has(reading("steps", "-1"), "steps is -1, not a number"));
  EXPECT_TRUE(has(reading("progress.held_out", "0.5 x"), "progress.held_out is x"));
  EXPECT_TRUE(has(reading("scale", "-2"), "the scale is below 0; the file is damaged"));
  for (const char* scale : {"0", "-1", "2", "nan", "inf"}) {
    EXPECT_TRUE(has(reading("progress.lr_scale", scale), "not between 0 and 1")) << scale;
  }
  EXPECT_TRUE(has(reading("progress.refit", "3"), "more epochs than the first"));
}

TEST(Parts, WhatIsNotFiniteIsNeitherSavedNorRead) {
  const ScratchFile file;
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (const char* part : {"table", "weights"}) {
      Small model(5);
      (part[0] == 't' ? model.table.row(3)[2] : model.weights[4]) = bad;
      const std::string message =
          message_of(ErrorKind::kInput, [&] { read(file_of(model, "small")); });
      EXPECT_TRUE(has(message, fmt::format("a number in {} is not finite", part))) << message;
      for (const bool checkpoint : {false, true}) {
        const std::string refused = message_of(
            ErrorKind::kDiverged, [&] { save_model(model, "small", file.path, checkpoint, {}); });
        EXPECT_TRUE(refused.starts_with(part)) << refused;
        EXPECT_FALSE(std::filesystem::exists(file.path));
      }
      FiniteCheck check;
      model.visit(check);
      EXPECT_EQ(check.bad(), part);
    }
  }
  const Small good(5);
  good.check_loadable();
  save_model(good, "small", file.path, false, {});
  EXPECT_TRUE(std::filesystem::exists(file.path));
}

// All that a training may have learned by an epoch.
void learn(Small& model, float by) {
  model.table.row(2)[1] += by;
  model.weights[0] -= by;
  model.level += by;
}

TEST(Best, PutsBackWhatWasLearnedAndNothingElse) {
  Small model(5);
  Best best;
  EXPECT_FALSE(best.take(model)) << "nothing was kept";
  learn(model, 1);
  best.keep(model);
  learn(model, 10);
  best.keep(model);  // the second time in the same room
  const Matrix kept = model.table.copy();
  learn(model, 100);
  model.scale = 4;
  model.counts[1] = 1;
  model.speed.row(0)[0] = 5;
  model.steps = 9;
  EXPECT_TRUE(best.take(model));
  EXPECT_TRUE(same_bits(model.table, kept));
  EXPECT_EQ(model.weights[0], 0.3f - 1 - 10);
  EXPECT_EQ(model.level, 0.1 + 0.2 + 1 + 10);
  EXPECT_EQ(model.scale, 4);
  EXPECT_EQ(model.counts[1], 1u);
  EXPECT_EQ(model.speed.row(0)[0], 5);
  EXPECT_EQ(model.steps, 9u);
  learn(model, 1000);
  EXPECT_FALSE(best.take(model)) << "it was given back";
  EXPECT_GT(model.level, 1000);
}

// What a model brings, as far as it is needed here.
class SmallCourse final : public ModelCourse {
 public:
  using ModelCourse::ModelCourse;
  RunPlan plan() const override { return {}; }
  void start(Start) override {}
  std::unique_ptr<Trainer> trainer() override { return nullptr; }
};

TEST(Best, TravelsInACheckpoint) {
  Small model(5);
  SmallCourse course(model);
  course.keep_best();
  const Matrix kept = model.table.copy();
  learn(model, 10);
  ArchiveWriter out = file_of(model, "small", true);
  for (const char* name : {"best.table", "best.weights"}) EXPECT_TRUE(out.tensors.contains(name));
  EXPECT_TRUE(out.metadata.contains("best.level"));
  for (const char* name : {"best.counts", "best.speed"}) EXPECT_FALSE(out.tensors.contains(name));
  EXPECT_FALSE(file_of(model, "small").tensors.contains("best.table")) << "of a finished model";

  Small back = read(out);
  EXPECT_TRUE(same_bits(back.table, model.table));
  SmallCourse(back).take_best();
  EXPECT_TRUE(same_bits(back.table, kept));
  EXPECT_EQ(back.weights[0], 0.3f);
  EXPECT_EQ(back.level, 0.1 + 0.2);

  // One that had none kept none.
  Small plain = read(file_of(back, "small", true));
  learn(plain, 10);
  SmallCourse(plain).take_best();
  EXPECT_EQ(plain.level, 0.1 + 0.2 + 10);

  // Shapes are those of the model; a run that ends lets go of it.
  const Matrix other(4, 3);
  out.tensors["best.table"] = tensor_of(other);
  EXPECT_TRUE(has(message_of(ErrorKind::kInput, [&] { read(out); }), "best.table has 4 x 3"));
  course.finish();
  EXPECT_FALSE(file_of(model, "small", true).tensors.contains("best.table"));
}

TEST(Best, OneThatDoesNotFitIsRefused) {
  Small model(5);
  SmallCourse(model).keep_best();
  for (const char* part : {"best.table", "best.weights", "best.level"}) {
    ArchiveWriter out = file_of(model, "small", true);
    out.tensors.erase(part);
    out.metadata.erase(part);
    message_of(ErrorKind::kInput, [&] { read(out); });
  }
  ArchiveWriter out = file_of(model, "small", true);
  out.metadata["best.level"] = "1e7";
  EXPECT_TRUE(has(message_of(ErrorKind::kInput, [&] { read(out); }), "the level is too high"));
}

TEST(TakeParts, CopiesOrMovesEverything) {
  Small model(5);
  model.config.lr = 0.5;
  model.run().block = 12;
  for (const bool move : {false, true}) {
    Small to(2);
    to.config.dim = 99;
    to.extra = Matrix(1, 2);  // which the other does not have
    take_parts(model, to, move);
    EXPECT_EQ(to.times_loaded, 1);
    EXPECT_EQ(to.config.lr, 0.5);
    EXPECT_EQ(to.config.dim, 3);
    EXPECT_EQ(to.names.size(), 5u);
    EXPECT_EQ(to.table.row(4)[2], 4 + 0.1f * 2);
    EXPECT_EQ(to.extra.rows(), 0u);
    EXPECT_EQ(to.speed.row(4)[1], -1);
    EXPECT_EQ(to.counts.size(), 5u);
    EXPECT_EQ(to.title, "a \"b\"\nc");
    EXPECT_EQ(to.steps, 7u);
    EXPECT_EQ(to.state().block, 12u);
    EXPECT_EQ(model.table.rows(), move ? 0u : 5u);
    to.table.row(4)[2] = -1;
    if (!move) {
      EXPECT_EQ(model.table.row(4)[2], 4 + 0.1f * 2);
    }
  }
}

std::string bytes_of(const ModelBase& model, std::string_view kind) {
  const ScratchFile file;
  save_model(model, kind, file.path, false, {});
  const MappedFile mapped(file.path);
  return {mapped.bytes().begin(), mapped.bytes().end()};
}

TEST(Clone, IsAnEqualCopyOfItsOwn) {
  test::Planted planted{.noise = 0.1};
  const Ratings ratings = planted.ratings(0.1);
  auto model = std::make_unique<als::Als>();
  model->config().dim = 3;
  test::train(*model, ratings);
  const std::string before = bytes_of(*model, "als");
  const auto copy = clone(*model, "als");
  EXPECT_EQ(bytes_of(*copy, "als"), before);
  EXPECT_TRUE(copy->finished());

  // What the copy learns the other does not, and the other may go.
  Names users = ratings.users();
  const uint32_t someone = users.add("someone");
  dynamic_cast<Updates&>(*copy).update(
      Ratings::of(users, ratings.items(), {{someone, 1, 4}, {3, 2, 1}}), Context(1));
  EXPECT_NE(bytes_of(*copy, "als"), before);
  EXPECT_EQ(bytes_of(*model, "als"), before);
  const auto& ranks = dynamic_cast<const als::Als&>(*copy);
  const double told = ranks.predict(someone, 1);
  model.reset();
  EXPECT_EQ(ranks.predict(someone, 1), told);
  EXPECT_EQ(ranks.seen().rows(), 61u);

  word2vec::Word2Vec words;
  words.config() = {.dim = 5, .epochs = 1, .early_stop = 2};
  Job job;
  words.train(corpus_of("a b c a b c a\n"), job);
  const auto other = clone(words, "word2vec");
  EXPECT_EQ(bytes_of(*other, "word2vec"), bytes_of(words, "word2vec"));
  const Matrix& input = dynamic_cast<const word2vec::Word2Vec&>(*other).input();
  const_cast<Matrix&>(input).row(0)[0] += 1;
  EXPECT_NE(bytes_of(*other, "word2vec"), bytes_of(words, "word2vec"));
}

TEST(Checkpoint, BringsItsSettingsAndLeavesAModelAsItWasIfItIsDamaged) {
  test::Planted planted{.noise = 0.1};
  const Ratings ratings = planted.ratings(0.1);
  als::Als stopped;
  stopped.config().dim = 3;
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  stopped.train(ratings, job);
  ASSERT_FALSE(stopped.finished());
  als::Als other;
  other.config().penalty = 5;  // which was not given there
  other.config().dim = 7;
  ArchiveWriter damaged = file_of(stopped, "als", true);
  damaged.tensors.erase("seen.ratings");
  const ScratchFile file;
  damaged.save(file.path);
  message_of(ErrorKind::kInput,
             [&] { restore_checkpoint(other, "als", Archive::open(file.path)); });
  EXPECT_EQ(other.config().dim, 7);
  EXPECT_EQ(other.factors().users.size(), 0u);
  save_model(stopped, "als", file.path, true, {});
  restore_checkpoint(other, "als", Archive::open(file.path));
  EXPECT_EQ(other.config().dim, 3);
  EXPECT_FALSE(other.config().penalty);
  EXPECT_TRUE(same_bits(other.factors().user, stopped.factors().user));
}

TEST(Mapped, VectorsAndNamesStayInTheFile) {
  constexpr size_t kMany = 140000;  // so many counts are more than a megabyte
  Small few(5), many(kMany);
  few.table.row(1)[1] = std::nanf("");
  const Small small = read(file_of(few, "small"), Loader::Mode::kMapped);
  EXPECT_TRUE(small.table.is_borrowed());
  EXPECT_EQ(small.table.row(4)[2], few.table.row(4)[2]);
  EXPECT_TRUE(std::isnan(small.table.row(1)[1])) << "it is not looked through";
  EXPECT_EQ(small.names.find("name 3"), 3u);
  EXPECT_EQ(small.counts, few.counts);
  EXPECT_EQ(small.level, few.level);
  const Small large = read(file_of(many, "small"), Loader::Mode::kMapped);
  EXPECT_TRUE(large.table.is_borrowed());
  EXPECT_EQ(large.names.find("name 139999"), kMany - 1);
  EXPECT_EQ(large.table.row(kMany - 1)[1], many.table.row(kMany - 1)[1]);
  EXPECT_TRUE(large.counts.empty());
  EXPECT_EQ(large.weights, many.weights) << "just small enough";
  EXPECT_EQ(read(file_of(many, "small")).counts, many.counts);
  // Shapes are checked all the same.
  ArchiveWriter damaged = file_of(few, "small");
  damaged.tensors["table"] = tensor_of(many.table);
  EXPECT_TRUE(has(message_of(ErrorKind::kInput, [&] { read(damaged, Loader::Mode::kMapped); }),
                  "table has 140000 x 3 numbers and not 5 x 3"));
}

TEST(Mapped, AModelAnswersAsOneInMemory) {
  word2vec::Word2Vec model;
  model.config() = {.dim = 5, .epochs = 1};
  Job job;
  model.train(corpus_of("a b c a b c a\n"), job);
  std::unique_ptr<ModelBase> mapped;
  {
    const ScratchFile file;
    save_model(model, "word2vec", file.path, false, {});
    mapped = load_model(Archive::open(file.path), Loader::Mode::kMapped);
  }  // the file is gone, and what is mapped of it stays
  for (const Side side : {Side::kInput, Side::kOutput, Side::kSum}) {
    const auto from = dynamic_cast<const HasVectors&>(*mapped).vectors(side);
    ASSERT_EQ(from.size(), 1u);
    EXPECT_TRUE(same_bits(read_all(*from[0].vectors), read_all(*model.vectors(side)[0].vectors)));
    EXPECT_EQ(from[0].names->bytes(), model.names().bytes());
  }
  EXPECT_TRUE(dynamic_cast<const word2vec::Word2Vec&>(*mapped).input().is_borrowed());

  // Ratings are not among what vectors are made of.
  test::Planted planted;
  als::Als ranks;
  ranks.config().dim = 3;
  test::train(ranks, planted.ratings());
  const ScratchFile file;
  save_model(ranks, "als", file.path, false, {});
  const auto half = load_model(Archive::open(file.path), Loader::Mode::kMapped);
  const auto& items = dynamic_cast<const als::Als&>(*half);
  EXPECT_EQ(items.seen().size(), 0u);
  EXPECT_TRUE(same_bits(read_all(*items.vectors(Side::kInput)[0].vectors),
                        read_all(*ranks.vectors(Side::kInput)[0].vectors)));
}

// Shapes as they will be, of a model that has nothing yet.
TEST(MemorySum, CountsPlannedShapes) {
  Small planned;
  planned.rows = 1000;
  const uint64_t table = 1000 * padded(3) * 4;  // rows are padded; runs and options do not count
  for (const bool keeps_best : {false, true}) {
    MemorySum sum(keeps_best);
    planned.visit(sum);
    EXPECT_EQ(sum.bytes(), table * (keeps_best ? 2 : 1) + 1000 * (4 + 8));
  }
  EXPECT_EQ(planned.table.rows(), 0u) << "nothing was made";
}

TEST(SparseParts, DamagedRatingsAreRefused) {
  als::Als model;
  model.config().dim = 2;
  test::train(model, Ratings::of(test::numbered(3, "u"), test::numbered(4, "i"),
                                 {{0, 1, 4}, {0, 3, 2}, {2, 0, 1}}));
  using Offsets = std::vector<uint64_t>;
  using Items = std::vector<uint32_t>;
  const auto read_with = [&](const Offsets& offsets, const Items& items) {
    ArchiveWriter out = file_of(model, "als");
    out.tensors["seen.offsets"] = tensor_of(std::span(offsets));
    out.tensors["seen.items"] = tensor_of(std::span(items));
    test::loaded(out);
  };
  const auto told = [&](const Offsets& offsets, const Items& items) {
    return message_of(ErrorKind::kInput, [&] { read_with(offsets, items); });
  };
  read_with({0, 2, 2, 3}, {1, 3, 0});  // as it is
  EXPECT_TRUE(has(told({0, 2, 2, 3}, {1, 4, 0}), "do not fit the names"));
  EXPECT_TRUE(has(told({1, 2, 2, 3}, {1, 3, 0}), "do not fit the names"));
  EXPECT_TRUE(has(told({0, 3, 2, 3}, {1, 3, 0}), "do not fit the names"));
  EXPECT_TRUE(has(told({0, 2, 2, 3}, {3, 1, 0}), "not in order"));
  EXPECT_TRUE(has(told({0, 2, 2, 3}, {1, 1, 0}), "not in order"));
  EXPECT_TRUE(has(told({0, 2, 2, 2}, {1, 3, 0}), "seen.items has 3 numbers and not 2"));
  EXPECT_TRUE(has(told({0, 2, 3}, {1, 3, 0}), "seen.offsets has 3 numbers and not 4"));
}

}  // namespace
}  // namespace kith
