// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is expected of every model that learns from what is known besides ratings (row_means.h).

#include <memory>
#include <optional>

#include "models/ratings/test_ratings.h"

namespace kith::test {

// A model with a setting `columns`: what they say of a row helps where it has few ratings, or none.
// `share`: of the error without them, that is left at most.
template <class M, class Configure>
void expect_columns_tell(const Configure& configure, double share) {
  Grouped planted;
  const auto trained = [&](bool columns) {
    auto model = std::make_unique<M>();
    configure(*model);
    model->config().columns = columns;
    train(*model, planted.ratings(true));
    return model;
  };
  const auto with = trained(true), without = trained(false);
  EXPECT_LT(rmse(*with, planted.rest), share * rmse(*without, planted.rest));
  std::vector<Rating> unrated;
  for (const Rating& r : planted.rest) {
    if (r.item + planted.groups >= planted.items) unrated.push_back(r);
  }
  EXPECT_LT(rmse(*with, unrated), share * rmse(*without, unrated));
}

// One with a setting `choices`: so does who rated what, and of ratings it is on by itself.
template <class M, class Configure>
void expect_choices_tell(const Configure& configure) {
  Choosy choosy;
  const Ratings ratings = choosy.ratings();
  const auto error = [&](std::optional<bool> choices) {
    M model;
    configure(model);
    model.config().choices = choices;
    train(model, ratings);
    return rmse(model, choosy.rest);
  };
  EXPECT_LT(error(true), 0.98 * error(false));
  EXPECT_EQ(error(std::nullopt), error(true));
}

// A checkpoint knows what it has learned from.
template <class M>
void expect_the_same_columns(const char* kind) {
  Grouped planted{.users = 60, .items = 40};
  M model;
  model.config().dim = 2;
  model.config().epochs = 12;
  Job job;
  job.on_progress = [&](const Progress&) { job.cancel(); };
  model.train(planted.ratings(true), job);
  M more = through_file(model, kind, true);
  message_of(ErrorKind::kInput, [&] { train(more, planted.ratings(false)); });
}

}  // namespace kith::test
