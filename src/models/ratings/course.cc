// SPDX-License-Identifier: Apache-2.0
// How all models of ratings are trained: a run that what is held out watches, and one on
// everything. See train/schedule.h.
#include <optional>
#include <utility>

#include "core/error.h"
#include "models/ratings/model.h"

namespace kith {

class RatingsCourse final : public ModelCourse {
 public:
  RatingsCourse(RatingsModel& model, Ratings ratings, Job& job)
      : ModelCourse(model), m_(model), job_(job), ratings_(std::move(ratings)) {
    held_out_ = ratings_.held_out().size() > 0;
    if (!m_.state_.refit) take();
  }

  RunPlan plan() const override { return m_.plan(); }
  bool refits() const override { return m_.refits() && held_out_; }
  // The ratings are given up for their union, so that they do not stand in memory twice.
  void take_everything() override {
    forget_best();
    normalised_.reset();
    ratings_ = std::move(ratings_).whole();
    take(true);
  }
  void start(Start start) override { m_.start(learned(), start, job_); }
  std::unique_ptr<Trainer> trainer() override { return m_.trainer(learned(), job_); }
  void finish() override {
    ModelCourse::finish();
    m_.finish(learned(), job_);
    normalised_.reset();
    // What was held out counts as seen, too.
    if (ratings_.held_out().size() > 0) m_.f_.seen = std::move(ratings_).whole().share();
    if (m_.f_.implicit) m_.f_.find_trust();
  }

 private:
  // What a run on the ratings learns from, and what is seen and taken out of them meanwhile. From
  // what is held out that is taken which was found in what is not.
  void take(bool everything = false) {
    m_.f_.seen = ratings_.share();
    m_.f_.days = days(everything);
    if (!m_.f_.days.empty()) normalised_ = m_.f_.days.taken_from(ratings_);
    m_.f_.shifts = RatingShifts::of(learned().train(), ratings_.normalise());
    if (!m_.f_.shifts.empty()) normalised_ = learned().normalised(m_.f_.shifts);
  }
  // Where nobody says so, the first run asks what is held out, and the second does as the first.
  DayEffects days(bool everything) const {
    const std::optional<bool> wanted = m_.days();
    if (!wanted.value_or(true) || ratings_.implicit() || !ratings_.days()) return {};
    if (!wanted && everything && m_.f_.days.empty()) return {};
    DayEffects out = DayEffects::of(ratings_);
    return wanted || everything || days_help(ratings_, out) ? std::move(out) : DayEffects();
  }
  const Ratings& learned() const { return normalised_ ? *normalised_ : ratings_; }

  RatingsModel& m_;
  Job& job_;
  Ratings ratings_;
  std::optional<Ratings> normalised_;
  bool held_out_;
};

namespace {

void check_learnable(const Ratings& ratings) {
  if (ratings.train().size() == 0) {
    throw fault(ErrorKind::kInput, "there are no ratings to learn from");
  }
  if (ratings.normalise() == Normalise::kNone || !ratings.implicit()) return;
  throw fault(ErrorKind::kUsage,
              "--normalise is for ratings, and these are interactions; leave it out");
}

// A checkpoint of other data, or of the same taken otherwise, cannot go on with these.
void check_same(const RatingFactors& f, const Ratings& ratings) {
  if (f.shifts.by() != ratings.normalise()) {
    throw fault(ErrorKind::kInput,
                "the checkpoint is of a run with another --normalise; resume with the same");
  }
  if (f.implicit != ratings.implicit()) {
    throw fault(ErrorKind::kInput, "the checkpoint is of {}; resume with the same --implicit",
                f.implicit ? "interactions" : "ratings");
  }
  if (ratings.users().size() == f.users.size() && ratings.items().size() == f.items.size()) return;
  throw fault(ErrorKind::kInput,
              "the ratings have {} users and {} items, the checkpoint {} and {}; resume with the "
              "same ratings and settings",
              ratings.users().size(), ratings.items().size(), f.users.size(), f.items.size());
}

}  // namespace

bool RatingsModel::learn_last(Ratings&& ratings, Job& job) {
  check_learnable(ratings);
  check(ratings);
  unit_ = ratings.train().size();
  if (state_.refit || state_.started) {
    check_same(f_, ratings);
    if (!can_go_on()) {
      throw fault(ErrorKind::kInput,
                  "the checkpoint lacks what is needed to go on; start over without --resume");
    }
  }
  RatingsCourse course(*this, std::move(ratings), job);
  return kith::train(course, state_, job);
}

}  // namespace kith
