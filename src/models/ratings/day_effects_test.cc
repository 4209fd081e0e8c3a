// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/day_effects.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "models/als/model.h"
#include "models/bmf/model.h"
#include "models/mf/model.h"
#include "models/ratings/test_ratings.h"

namespace kith {
namespace {

using test::Planted;

// Users rate on some days, and on each of them a little higher or lower.
struct Moody {
  Planted planted{.users = 80, .items = 60, .share = 0.5, .noise = 0.3};
  size_t days = 4;
  double size = 0.8;
  Sparse when{};               // all pairs, rated or not
  std::vector<double> mood{};  // users x days

  uint32_t day(uint32_t u, uint32_t i) const { return (u + 7 * i + i / 3) % days; }
  float date(uint32_t u, uint32_t i) const { return static_cast<float>(100 + 3 * day(u, i)); }
  // Moods are in ratings, and, if `held_out`, in those held out.
  Ratings ratings(double holdout = 0, bool held_out = true) {
    const Ratings plain = planted.ratings(holdout);
    Rng rng(5, 5);
    mood.resize(planted.users * days);
    for (double& m : mood) {
      double normal = -6;
      for (int k = 0; k < 12; ++k) normal += rng.uniform();
      m = size * normal;
    }
    when = Sparse();
    when.columns = static_cast<uint32_t>(planted.items);
    for (uint32_t u = 0; u < planted.users; ++u) {
      for (uint32_t i = 0; i < planted.items; ++i) {
        when.column.push_back(i);
        when.value.push_back(date(u, i));
      }
      when.offsets.push_back(when.column.size());
    }
    const auto moved = [&](Sparse a) {
      for (uint32_t u = 0; u < a.rows(); ++u) {
        for (uint64_t k = a.offsets[u]; k < a.offsets[u + 1]; ++k) {
          a.value[k] += static_cast<float>(mood[u * days + day(u, a.column[k])]);
        }
      }
      return a;
    };
    Ratings out = plain.with(moved(plain.train()),
                             held_out ? moved(plain.held_out()) : Sparse(plain.held_out()));
    out.set_days(when);
    return out;
  }
  // Of pairs that were not seen, by what is known of their days.
  double error(const RatingsModel& model) const {
    double sum = 0;
    std::vector<float> p, q;
    for (const Rating& r : planted.rest) {
      const double truth = r.value + mood[r.user * days + day(r.user, r.item)];
      const double told = model.rating(model.scoring_row(Axis::kUser, r.user, p),
                                       model.scoring_row(Axis::kItem, r.item, q),
                                       model.day_effect(r.user, date(r.user, r.item)));
      sum += (told - truth) * (told - truth);
    }
    return std::sqrt(sum / static_cast<double>(planted.rest.size()));
  }
};

// With 8 ratings a day and noise of 1 (what vectors add to biases is noise to it) a mean is known
// to 0.4; drawn to 0 it is a little nearer.
TEST(DayEffects, AreFoundInRatings) {
  Moody moody;
  const Ratings ratings = moody.ratings();
  const DayEffects found = DayEffects::of(ratings);
  EXPECT_EQ(found.size(), moody.planted.users * moody.days);
  double error = 0, all = 0;
  for (uint32_t u = 0; u < moody.planted.users; ++u) {
    double mean = 0;  // that of all days is the user's bias
    for (size_t d = 0; d < moody.days; ++d) mean += moody.mood[u * moody.days + d];
    for (size_t d = 0; d < moody.days; ++d) {
      const double truth = moody.mood[u * moody.days + d] - mean / static_cast<double>(moody.days);
      error += std::pow(found.of(u, static_cast<float>(100 + 3 * d)) - truth, 2);
      all += truth * truth;
    }
  }
  EXPECT_LT(error, 0.4 * all);
}

TEST(DayEffects, ANoticedDayIsOneOfTheUsersOwn) {
  Moody moody;
  const DayEffects found = DayEffects::of(moody.ratings());
  EXPECT_NE(found.of(3, 100), 0);
  for (const float day : {99.0f, 101.0f, 112.0f, -1e6f, 1e6f})
    EXPECT_EQ(found.of(3, day), 0) << day;
  EXPECT_EQ(found.of(80, 100), 0) << "nobody";
  EXPECT_TRUE(DayEffects::of(moody.planted.ratings()).empty()) << "no day is known";
}

// Whose ratings are all of one day has a bias, and no day.
TEST(DayEffects, OneDayIsNone) {
  Moody moody{.days = 1};
  EXPECT_TRUE(DayEffects::of(moody.ratings()).empty());
}

TEST(DayEffects, AreTakenFromTheRatingsOfTheirDays) {
  Moody moody;
  const Ratings ratings = moody.ratings(0.2);
  const DayEffects found = DayEffects::of(ratings);
  const Ratings left = found.taken_from(ratings);
  EXPECT_EQ(left.low(), ratings.low());
  EXPECT_EQ(left.high(), ratings.high());
  for (const auto& [before, after] : {std::pair(&ratings.train(), &left.train()),
                                      std::pair(&ratings.held_out(), &left.held_out())}) {
    for (uint32_t u = 0; u < before->rows(); ++u) {
      const Sparse::Row a = before->row(u), b = after->row(u);
      for (size_t k = 0; k < a.size(); ++k) {
        ASSERT_FLOAT_EQ(b.values[k], a.values[k] - found.of(u, moody.date(u, a.columns[k])));
      }
    }
  }
}

TEST(DayEffects, HelpIsJudgedByWhatIsHeldOut) {
  Moody moody;
  const Ratings in_both = moody.ratings(0.2);
  EXPECT_TRUE(days_help(in_both, DayEffects::of(in_both)));
  const Ratings in_one = moody.ratings(0.2, false);
  EXPECT_FALSE(days_help(in_one, DayEffects::of(in_one)));
  const Ratings alone = moody.ratings();
  EXPECT_TRUE(days_help(alone, DayEffects::of(alone))) << "nothing says no";
}

template <class M>
std::unique_ptr<M> made(std::optional<bool> days) {
  auto out = std::make_unique<M>();
  out->config().days = days;
  out->config().dim = 2;
  out->config().epochs = 40;
  return out;
}

template <class M>
void expect_days_tell(const char* kind) {
  Moody moody;
  const Ratings ratings = moody.ratings(0.1);
  const auto with = made<M>(std::nullopt), without = made<M>(false);
  test::train(*with, ratings);
  test::train(*without, ratings);
  EXPECT_TRUE(with->knows_days()) << kind;
  EXPECT_FALSE(without->knows_days()) << kind;
  // Moods are 0.8 large, and known to half of that; the rest of the error is of the vectors.
  EXPECT_LT(moody.error(*with), 0.85 * moody.error(*without)) << kind;
  // What is held out says no, and whoever says so knows better.
  const Ratings in_one = moody.ratings(0.2, false);
  const auto warned = made<M>(std::nullopt), told = made<M>(true);
  test::train(*warned, in_one);
  test::train(*told, in_one);
  EXPECT_FALSE(warned->knows_days()) << kind;
  EXPECT_TRUE(told->knows_days()) << kind;
  test::expect_same_file(*with, kind);
  const M read = test::through_file(*with, kind);
  EXPECT_EQ(moody.error(read), moody.error(*with)) << kind;
}

TEST(DayEffects, TellAlsMoreOfRatings) { expect_days_tell<als::Als>("als"); }
TEST(DayEffects, TellMfMoreOfRatings) { expect_days_tell<mf::Mf>("mf"); }
TEST(DayEffects, TellBmfMoreOfRatings) { expect_days_tell<bmf::Bmf>("bmf"); }

// The scores of classes are no ratings to take something from.
TEST(DayEffects, LossesOfClassesHaveNone) {
  Moody moody;
  Ratings ratings = moody.ratings();
  Sparse two = ratings.train();
  for (float& v : two.value) v = v > 3 ? 1.0f : 0.0f;
  const auto model = made<mf::Mf>(true);
  model->config().loss = Loss::kLogistic;
  test::train(*model, ratings.with(std::move(two), {}));
  EXPECT_FALSE(model->knows_days());
}

TEST(DayEffects, AResumedRunIsTheSame) {
  Moody moody;
  const Ratings ratings = moody.ratings(0.2);
  als::Config config;
  config.dim = 2;
  config.epochs = 6;
  config.early_stop = 0;
  als::Als whole;
  whole.config() = config;
  test::train(whole, ratings);
  for (const int stop : {2, 9}) {  // in the first run, and in the one on everything
    const als::Als again = test::interrupted<als::Als>(config, ratings, "als", stop, false);
    test::expect_same(whole, again, fmt::format("stopped at {}", stop));
    EXPECT_EQ(moody.error(whole), moody.error(again));
  }
}

// Who came later has no days; the others keep theirs.
TEST(DayEffects, AnUpdateKeepsThem) {
  Moody moody;
  const Ratings ratings = moody.ratings();
  const auto model = made<als::Als>(true);
  test::train(*model, ratings);
  const float before = model->day_effect(3, 100);
  Names users = ratings.users();
  users.add("late");
  model->update(Ratings::of(users, ratings.items(), {{80, 1, 4.0f}, {80, 2, 2.0f}}), Job());
  EXPECT_EQ(model->day_effect(3, 100), before);
  EXPECT_EQ(model->day_effect(80, 100), 0);
  test::expect_same_file(*model, "als");
}

}  // namespace
}  // namespace kith
