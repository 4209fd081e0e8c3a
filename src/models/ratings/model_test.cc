// SPDX-License-Identifier: Apache-2.0
// What all models of ratings share, tried on each of them.

#include "models/ratings/model.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "models/als/model.h"
#include "models/bmf/model.h"
#include "models/mf/model.h"
#include "models/nmf/model.h"
#include "models/ratings/test_completion.h"
#include "models/softimpute/model.h"
#include "models/svp/model.h"

namespace kith {
namespace {

using test::Planted;

constexpr Normalise kWays[] = {Normalise::kNone, Normalise::kUsers, Normalise::kItems,
                               Normalise::kBoth};

// Small and quick.
std::unique_ptr<ModelBase> made(const ModelInfo& info) {
  auto out = info.make();
  const Section section = out->settings();
  section.set("dim", Value(int64_t{3}));
  section.set("epochs", Value(int64_t{12}));
  return out;
}

// A model of each kind.
template <class Call>
void for_each_model(const Call& call) {
  for (const ModelInfo& info : models()) {
    if (info.data != &Ratings::data_kind()) continue;
    const auto model = made(info);
    call(info, dynamic_cast<RatingsModel&>(*model), model->settings());
  }
}

// Whatever the held-out ratings are, the model is the same; unless it learns from them in the end.
TEST(RatingsModel, WhatIsHeldOutIsNotLearnedFrom) {
  Planted planted{.noise = 0.2};
  const Ratings ratings = planted.ratings(0.2);
  Sparse other = ratings.held_out();
  for (float& v : other.value) v = 6 - v;
  const Ratings changed = ratings.with(Sparse(ratings.train()), std::move(other));
  for (const bool refit : {false, true}) {
    for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section& settings) {
      const auto again = made(info);
      for (const Section& s : {settings, again->settings()}) {
        s.set("refit", refit);
        if (s.find("early-stop")) s.set("early-stop", Value(int64_t{0}));
      }
      test::train(model, ratings);
      auto& same = dynamic_cast<RatingsModel&>(*again);
      test::train(same, changed);
      EXPECT_EQ(test::same_bits(model.factors().item, same.factors().item), !refit) << info.name;
    });
  }
}

// Among what a user has not seen: the discount of the first place lacks nothing of 1.
TEST(RatingsModel, TheHeldOutRankIsCountedFromTheFirstPlace) {
  constexpr uint32_t kUsers = 20, kItems = 5;
  std::vector<Rating> seen, held;  // all but one; that one
  for (uint32_t u = 0; u < kUsers; ++u) {
    for (uint32_t i = 0; i < kItems; ++i) {
      (u % kItems == i ? held : seen).push_back({u, i, 1});
    }
  }
  als::Als model;
  model.config().dim = 2;
  test::train(model, Ratings::of(test::numbered(kUsers, "u"), test::numbered(kItems, "i"), seen,
                                 held, true));
  ASSERT_FALSE(model.state().held_out.empty());
  for (const double error : model.state().held_out) EXPECT_EQ(error, 0);
}

TEST(RatingsModel, WhatWasHeldOutIsSeenInTheEnd) {
  Planted planted{.noise = 0.2};
  const Ratings ratings = planted.ratings(0.2);
  const Sparse all = merged(ratings.train(), ratings.held_out());
  for (const bool refit : {true, false}) {
    for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section& section) {
      section.set("refit", Value(refit));
      test::train(model, ratings);
      EXPECT_EQ(model.seen().offsets, all.offsets) << info.name;
      EXPECT_EQ(model.seen().column, all.column) << info.name;
      EXPECT_EQ(model.seen().value, all.value) << info.name;
      ASSERT_EQ(model.names_of(Axis::kUser).size(), all.rows()) << info.name;
      ASSERT_EQ(model.names_of(Axis::kItem).size(), all.columns) << info.name;
      for (uint32_t u = 0; u < all.rows(); ++u) {
        EXPECT_EQ(model.seen().row(u).size(), all.row(u).size()) << info.name;
      }
    });
  }
}

// Whatever the rows are while a model trains, what it says of the held-out ratings is what it then
// predicts.
TEST(RatingsModel, TheHeldOutErrorIsThatOfThePredictions) {
  Planted planted{.noise = 0.2};
  Ratings ratings = planted.ratings(0.2);
  const auto expect_same = [&](const ModelInfo& info, RatingsModel& model, const Section& section) {
    section.set("refit", Value(false));
    section.set("early-stop", Value(int64_t{0}));
    Job job;
    std::optional<double> told;
    job.on_progress = [&](const Progress& p) {
      EXPECT_FALSE(p.kept) << info.name;
      if (p.held_out) told = p.held_out;
    };
    model.train(ratings, job);
    ASSERT_TRUE(told && model.finished()) << info.name;
    EXPECT_EQ(*told, model.state().held_out.back()) << info.name;
    // The values that a model of normalised ratings is told have been there and back, as floats.
    EXPECT_NEAR(test::rmse(model, test::triples(ratings.held_out())), *told, 1e-6) << info.name;
  };
  for (const Normalise by : kWays) {
    ratings.normalise_by(by);
    for_each_model(expect_same);
  }
}

// Users who all mean the same by their ratings, z of low rank, but say it on scales of their own:
// m_u + s_u z.
struct Scales {
  Planted planted{.users = 150, .items = 60, .share = 0.4, .noise = 0.3, .mean = 0, .size = 0.8};
  std::vector<double> mean, scale;
  std::vector<Rating> rest;  // what was not seen, without noise

  Ratings ratings(double holdout = 0) {
    const Ratings z = planted.ratings(holdout);
    for (uint32_t u = 0; u < planted.users; ++u) {
      mean.push_back(-50 + 10.0 * (u % 11));
      scale.push_back(std::pow(10, -1 + 0.25 * (u % 9)));  // 0.1 to 10
    }
    const auto said = [&](std::vector<Rating> all) {
      for (Rating& r : all) {
        r.value = static_cast<float>(mean[r.user] + scale[r.user] * r.value);
      }
      return all;
    };
    rest = said(planted.rest);
    return Ratings::of(z.users(), z.items(), said(test::triples(z.train())),
                       said(test::triples(z.held_out())));
  }
  // Of what was not seen, each user's errors in units of their scale.
  double error(const RatingsModel& model) const {
    double sum = 0;
    for (const Rating& r : rest) {
      sum += std::pow((model.predict(r.user, r.item) - r.value) / scale[r.user], 2);
    }
    return std::sqrt(sum / static_cast<double>(rest.size()));
  }
};

TEST(RatingsModel, NormalisedUsersAreHeardAlike) {
  Scales scales;
  Ratings ratings = scales.ratings(0.1);
  for_each_model([&](const ModelInfo& info, RatingsModel& as_given, const Section&) {
    ratings.normalise_by(Normalise::kNone);
    test::train(as_given, ratings);
    EXPECT_EQ(as_given.scoring_rows(Axis::kUser), &as_given.factors().user);
    EXPECT_EQ(as_given.scoring_rows(Axis::kItem), &as_given.factors().item);
    for (const Normalise by : {Normalise::kUsers, Normalise::kBoth}) {
      const auto other = made(info);
      auto& normalised = dynamic_cast<RatingsModel&>(*other);
      ratings.normalise_by(by);
      test::train(normalised, ratings);
      EXPECT_EQ(normalised.scoring_rows(Axis::kUser), nullptr);
      // z has a deviation of 1.1 and is seen with noise of 0.3. bmf learns by itself whose ratings
      // say little; to the others the loudest are all that counts.
      EXPECT_LT(scales.error(normalised), 0.8) << info.name;
      EXPECT_LT(scales.error(normalised), scales.error(as_given) / 1.3) << info.name;
    }
  });
}

TEST(RatingsModel, NormalisedRatingsKeepThePromises) {
  Scales scales;
  Ratings ratings = scales.ratings(0.1);
  ratings.normalise_by(Normalise::kBoth);
  test::expect_promises<als::Als>("als", ratings, [](auto& m) { m.config().dim = 3; });
  test::expect_promises<mf::Mf>("mf", ratings, [](auto& m) { m.config().dim = 3; });
  test::expect_promises<bmf::Bmf>("bmf", ratings, [](auto& m) {
    m.config().dim = 3;
    m.config().epochs = 12;
  });
  test::expect_promises<svp::Svp>("svp", ratings, [](auto& m) { m.config().dim = 3; });
  test::expect_promises<nmf::Nmf>("nmf", ratings, [](auto& m) { m.config().dim = 3; });
  test::expect_promises<softimpute::SoftImpute>("softimpute", ratings,
                                                [](auto& m) { m.config().dim = 3; });
}

TEST(RatingsModel, WhatWasTakenOutOfTheRatingsIsInTheFile) {
  Scales scales;
  Ratings ratings = scales.ratings(0.1);
  for (const Normalise by : kWays) {
    ratings.normalise_by(by);
    for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section&) {
      test::train(model, ratings);
      test::expect_same_file(model, info.name);
      const test::ScratchFile file;
      save_model(model, info.name, file.path, false, {});
      const auto loaded = load_model(Archive::open(file.path));
      const auto& again = dynamic_cast<RatingsModel&>(*loaded);
      for (const Rating& r : scales.rest) {
        ASSERT_EQ(again.predict(r.user, r.item), model.predict(r.user, r.item)) << info.name;
      }
      const auto facts = again.info();
      const auto told = std::ranges::find(facts, "normalise", &Fact::name);
      EXPECT_EQ(told == facts.end(), by == Normalise::kNone);
      if (told != facts.end()) {
        EXPECT_EQ(told->value, detail::show(by));
      }
    });
  }
}

// With the ratings of somebody who is known comes somebody of the same scale, who is predicted
// nearly the same.
TEST(RatingsModel, FoldingInTakesTheScaleOfTheRatings) {
  Scales scales;
  Ratings ratings = scales.ratings();
  for (const Normalise by : {Normalise::kUsers, Normalise::kBoth}) {
    ratings.normalise_by(by);
    for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section& section) {
      section.set("epochs", Value(int64_t{60}));
      test::train(model, ratings);
      std::vector<float> room;
      double folded = 0, trained = 0, apart = 0, n = 0;
      for (const Rating& r : scales.rest) {
        const double unit = scales.scale[r.user], known = model.predict(r.user, r.item);
        const auto row = model.fold_in(Axis::kUser, ratings.train().row(r.user));
        const double told = model.rating(row, model.scoring_row(Axis::kItem, r.item, room));
        folded += std::pow((told - r.value) / unit, 2);
        trained += std::pow((known - r.value) / unit, 2);
        apart += std::pow((told - known) / unit, 2);
        ++n;
      }
      EXPECT_LT(std::sqrt(folded / n), 1.2 * std::sqrt(trained / n)) << info.name;
      EXPECT_LT(std::sqrt(apart / n), 0.1) << info.name;  // z has a deviation of 1.1
    });
  }
}

TEST(RatingsModel, NobodyIsAsUsersAreOnTheWhole) {
  Scales scales;
  Ratings ratings = scales.ratings();
  ratings.normalise_by(Normalise::kUsers);
  for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section&) {
    test::train(model, ratings);
    double mean = 0;
    for (uint32_t u = 0; u < 150; ++u) {
      mean += moments_of(std::vector<double>(ratings.train().row(u).values.begin(),
                                             ratings.train().row(u).values.end()))
                  .mean /
              150;
    }
    const auto nobody = model.fold_in(Axis::kUser, {}), nothing = model.fold_in(Axis::kItem, {});
    // Scales are 2.7 on average, and z of nothing is about 0.
    EXPECT_NEAR(model.rating(nobody, nothing), mean, 0.5) << info.name;
  });
}

TEST(RatingsModel, UpdatesTakeTheScaleOfTheNewRatings) {
  Scales scales;
  Ratings ratings = scales.ratings();
  ratings.normalise_by(Normalise::kBoth);
  for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section& section) {
    section.set("epochs", Value(int64_t{60}));
    test::train(model, ratings);
    // Somebody says 1000 and 20 times what user 7 says, and has seen a new film.
    Names users = ratings.users(), items = ratings.items();
    const uint32_t someone = users.add("someone"), film = items.add("film");
    const auto louder = [&](double rating) {
      return static_cast<float>(1000 + 20 * (rating - scales.mean[7]) / scales.scale[7]);
    };
    std::vector<Rating> more;
    const Sparse::Row row = ratings.train().row(7);
    for (size_t k = 0; k < row.size(); ++k) {
      more.push_back({someone, row.columns[k], louder(row.values[k])});
    }
    more.push_back({someone, film, 1000});
    const auto updated =
        model.update(Ratings::of(std::move(users), std::move(items), more), Context(2));
    EXPECT_EQ(updated.solved, 3u);
    // Beyond the range of the ratings that it was trained on, which predictions keep to.
    std::vector<float> p, q, own;
    const auto score = [&](uint32_t user, uint32_t item) {
      const auto a = model.scoring_row(Axis::kUser, user, p);
      const auto b = model.scoring_row(Axis::kItem, item, q);
      double sum = model.factors().mean;
      for (size_t k = 0; k < a.size(); ++k) sum += double{a[k]} * b[k];
      return sum;
    };
    for (uint32_t i = 0; i < 60; ++i) {
      EXPECT_NEAR(score(someone, i), louder(score(7, i)), 10) << info.name << " " << i;
    }
    EXPECT_NEAR(score(someone, film), 1000, 25) << info.name;  // of a scale of 20
    test::expect_same_file(model, info.name);
  });
}

// Deviations are in the unit of the ratings: about one of them is how far the truth is, for those
// who rate in tenths and for those who rate in tens.
TEST(RatingsModel, DeviationsHaveTheScaleOfTheUser) {
  Scales scales;
  Ratings ratings = scales.ratings();
  ratings.normalise_by(Normalise::kBoth);
  bmf::Bmf model;
  model.config().dim = 3;
  test::train(model, ratings);
  std::mt19937 rng(1);
  std::normal_distribution<double> noise(0, 0.3);
  std::vector<float> p, q;
  for (const bool loud : {false, true}) {
    double sum = 0, n = 0;
    for (const Rating& r : scales.rest) {
      if ((scales.scale[r.user] > 1) != loud) continue;
      const auto user = model.scoring_row(Axis::kUser, r.user, p);
      const auto item = model.scoring_row(Axis::kItem, r.item, q);
      const double seen = r.value + scales.scale[r.user] * noise(rng);
      sum += std::pow((model.rating(user, item) - seen) / *model.deviation(user, item), 2);
      ++n;
    }
    EXPECT_NEAR(std::sqrt(sum / n), 1, 0.25) << loud;
  }
}

TEST(RatingsModel, WhatCannotBeNormalisedIsRefused) {
  Scales scales;
  Ratings ratings = scales.ratings();
  ratings.normalise_by(Normalise::kUsers);
  const auto refused = [&](RatingsModel& model, const Ratings& given) {
    return message_of(ErrorKind::kUsage, [&] { test::train(model, given); });
  };
  Ratings clicks =
      Ratings::of(test::numbered(2, "u"), test::numbered(2, "i"), {{0, 1, 1}, {1, 0, 1}}, {}, true);
  clicks.normalise_by(Normalise::kItems);
  for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section&) {
    EXPECT_NE(refused(model, clicks).find("--normalise"), std::string::npos) << info.name;
  });
  for (const Loss loss : {Loss::kLogistic, Loss::kHinge, Loss::kKl, Loss::kBpr}) {
    mf::Mf model;
    model.config().loss = loss;
    EXPECT_NE(refused(model, ratings).find("--loss"), std::string::npos);
  }
  for (const int way : {0, 1, 2}) {
    nmf::Nmf model;
    if (way == 0) model.config().biases = false;
    if (way == 1) model.config().loss = Loss::kKl;
    if (way == 2) model.config().unrated = nmf::Unrated::kZero;
    EXPECT_NE(refused(model, ratings).find("--biases"), std::string::npos) << way;
  }
}

TEST(RatingsModel, ACheckpointGoesOnWithItsOwnUnit) {
  Scales scales;
  Ratings ratings = scales.ratings(0.1);
  ratings.normalise_by(Normalise::kUsers);
  als::Als model;
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  model.train(ratings, job);
  const test::ScratchFile file;
  save_model(model, "als", file.path, true, {});
  als::Als other;
  restore_checkpoint(other, "als", Archive::open(file.path));
  ratings.normalise_by(Normalise::kNone);
  const auto message = message_of(ErrorKind::kInput, [&] { test::train(other, ratings); });
  EXPECT_NE(message.find("--normalise"), std::string::npos);
}

TEST(RatingsModel, DamagedShiftsAreRefused) {
  Scales scales;
  Ratings ratings = scales.ratings();
  ratings.normalise_by(Normalise::kBoth);
  als::Als model;
  test::train(model, ratings);
  const std::vector<double> ones(150, 1.0);
  const auto with = [&](size_t size, double last) {
    std::vector<double> out(size, 1.0);
    out.back() = last;
    return out;
  };
  const auto read = [&](const char* name, const std::vector<double>& values) {
    ArchiveWriter out = test::file_of(model, "als");
    out.tensors[name] = tensor_of(std::span<const double>(values));
    test::loaded(out);
  };
  read("shift.user.scale", ones);
  for (const double bad :
       {0.0, -1.0, 1e-300, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const auto& [name, rows] :
         {std::pair{"shift.user.scale", 150}, std::pair{"shift.item.scale", 60}}) {
      const auto message =
          message_of(ErrorKind::kInput, [&] { read(name, with(static_cast<size_t>(rows), bad)); });
      EXPECT_NE(message.find("damaged"), std::string::npos) << name << bad;
    }
  }
  message_of(ErrorKind::kInput, [&] { read("shift.item.mean", with(60, std::nan(""))); });
  message_of(ErrorKind::kInput, [&] { read("shift.user.mean", with(149, 1)); });
  message_of(ErrorKind::kInput, [&] { read("shift.item.scale", with(61, 1)); });
  // Both too short: they fit each other and not the names.
  const std::vector<double> few(149, 1.0);
  ArchiveWriter out = test::file_of(model, "als");
  for (const char* name : {"shift.user.mean", "shift.user.scale"}) {
    out.tensors[name] = tensor_of(std::span<const double>(few));
  }
  message_of(ErrorKind::kInput, [&] { test::loaded(out); });
}

// Rows that give ratings give what the learned rows give, with what was taken out put back.
TEST(RatingsModel, ScoringRowsPutBackWhatWasTakenOut) {
  Scales scales;
  Ratings ratings = scales.ratings();
  for (const Normalise by : kWays) {
    ratings.normalise_by(by);
    for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section&) {
      test::train(model, ratings);
      const RatingFactors& f = model.factors();
      for (uint32_t u = 0; u < 150; u += 7) {
        for (uint32_t i = 0; i < 60; i += 7) {
          const double learned = f.score(f.user.row(u), f.item.row(i));
          const double whole = f.shifts.empty() ? learned : f.shifts.original(u, i, learned);
          // Floats of the largest rating, and sums of a dozen of them.
          EXPECT_NEAR(model.predict(u, i), std::clamp<double>(whole, f.low, f.high),
                      1e-5 * std::abs(f.high))
              << info.name;
        }
      }
    });
  }
}

// Nobody gives more than 5 or less than 1, though a few would, if they could.
TEST(RatingsModel, PredictionsStayWithinTheRatings) {
  std::vector<Rating> seen;
  for (uint32_t u = 0; u < 12; ++u) {
    for (uint32_t i = 0; i < 12; ++i) {
      const float rating = static_cast<float>(u + i) / 2 - 2.5f;
      if (rating >= 1 && rating <= 5) seen.push_back({u, i, rating});
    }
  }
  const Ratings ratings =
      Ratings::of(test::numbered(12, "u"), test::numbered(12, "i"), std::move(seen));
  size_t beyond = 0;
  for_each_model([&](const ModelInfo& info, RatingsModel& model, const Section&) {
    test::train(model, ratings);
    const RatingFactors& f = model.factors();
    for (uint32_t u = 0; u < 12; ++u) {
      for (uint32_t i = 0; i < 12; ++i) {
        const double score = f.score(f.user.row(u), f.item.row(i));
        beyond += score > 5.01 || score < 0.99;
        EXPECT_LE(model.predict(u, i), 5) << info.name;
        EXPECT_GE(model.predict(u, i), 1) << info.name;
      }
    }
  });
  EXPECT_GT(beyond, 0u);
}

// Ratings of four times the size are the same once items are normalised; so is what is not known.
TEST(RatingsModel, DeviationsHaveTheScaleOfTheItem) {
  Planted planted{.noise = 0.3};
  Ratings ratings = planted.ratings();
  Sparse large = ratings.train();
  for (float& v : large.value) v *= 4;  // exact
  Ratings larger = ratings.with(std::move(large), {});
  bmf::Bmf small, big;
  for (auto* model : {&small, &big}) {
    Ratings& from = model == &small ? ratings : larger;
    from.normalise_by(Normalise::kItems);
    model->config().dim = 3;
    model->config().epochs = 12;
    test::train(*model, from);
  }
  std::vector<float> p, q;
  const auto deviation = [&](const bmf::Bmf& model, uint32_t u, uint32_t i) {
    return *model.deviation(model.scoring_row(Axis::kUser, u, p),
                            model.scoring_row(Axis::kItem, i, q));
  };
  for (uint32_t u = 0; u < 60; u += 9) {
    for (uint32_t i = 0; i < 40; i += 9) {
      EXPECT_NEAR(deviation(big, u, i) / deviation(small, u, i), 4, 1e-3) << u << " " << i;
    }
  }
}

TEST(RatingsModel, UpdatesMustFitTheNamesAndTheKindOfRatings) {
  Planted planted{.noise = 0.2};
  const Ratings ratings = planted.ratings();
  als::Als model;
  model.config().dim = 3;
  test::train(model, ratings);
  const auto refused = [&](Names users, Names items, bool implicit) {
    const Ratings more = Ratings::of(std::move(users), std::move(items), {{0, 0, 3}}, {}, implicit);
    return message_of(ErrorKind::kInput, [&] { model.update(more, Context(1)); });
  };
  Names users = test::numbered(60, "u"), items = test::numbered(40, "i");
  Names others = test::numbered(59, "u"), few = test::numbered(39, "i");
  EXPECT_NE(refused(others, items, false).find("on top"), std::string::npos);
  EXPECT_NE(refused(users, few, false).find("on top"), std::string::npos);
  others.add("somebody else");
  few.add("something else");
  EXPECT_NE(refused(others, items, false).find("on top"), std::string::npos);
  EXPECT_NE(refused(users, few, false).find("on top"), std::string::npos);
  EXPECT_NE(refused(users, items, true).find("without ratings"), std::string::npos);
}

// The mean of what the discount of the rank lacks of 1, among what the user has not seen.
TEST(RatingsModel, TheHeldOutLossOfInteractionsIsThatOfTheRanks) {
  std::vector<Rating> train, held;
  Rng rng(3, 0);
  for (uint32_t u = 0; u < 50; ++u) {
    for (uint32_t i = 0; i < 30; ++i) {
      if (rng.uniform() < (u % 2 == i % 2 ? 0.6f : 0.1f)) {
        (rng.uniform() < 0.2f ? held : train).push_back({u, i, 1});
      }
    }
  }
  const Ratings clicks =
      Ratings::of(test::numbered(50, "u"), test::numbered(30, "i"), train, held, true);
  als::Als model;
  model.config().dim = 3;
  model.config().epochs = 3;
  model.config().early_stop = 0;
  model.config().refit = false;
  std::optional<double> told;
  Job job;
  job.on_progress = [&](const Progress& p) { told = p.held_out ? p.held_out : told; };
  model.train(clicks, job);
  double sum = 0;
  for (const Rating& h : held) {
    const auto known = clicks.train().row(h.user).columns;
    double above = 0;
    for (uint32_t i = 0; i < 30; ++i) {
      if (i == h.item || std::ranges::binary_search(known, i)) continue;
      above += model.predict(h.user, i) > model.predict(h.user, h.item);
    }
    sum += 1 - 1 / std::log2(above + 2);
  }
  ASSERT_TRUE(told);
  EXPECT_NEAR(*told, sum / static_cast<double>(held.size()), 1e-9);
}

}  // namespace
}  // namespace kith
