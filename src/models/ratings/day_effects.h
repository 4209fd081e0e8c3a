// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the ratings that a user gave on one day have in common: a mood, a scale of that day, who sat
// beside. The largest of the effects of time in film ratings (Koren 2009), and one that a closed
// form tells:
//
//   r_ui(t) ~ mean + b_u + c_i + d_u,day(t)
//
// each of b, c and d drawn towards 0 by noise / (its variance), which is found from the data. What
// d says is taken out of the ratings before anything else is learned, and put back where a rating
// is asked of a day that is known. Of a user with one day it says nothing: that is his b.

#include <cstdint>
#include <optional>

#include "data/ratings/ratings.h"
#include "data/sparse.h"
#include "models/parts.h"

namespace kith {

class DayEffects {
 public:
  // From the ratings to train on, of which some have a day.
  static DayEffects of(const Ratings& ratings);
  bool empty() const { return effects_.size() == 0; }
  uint64_t size() const { return effects_.size(); }  // days of users
  // d of a user's day; 0 if it is not known.
  float of(uint32_t user, float day) const;
  // The same ratings (users x items) without it.
  Sparse taken_from(Sparse ratings, const Sparse& days) const;
  Ratings taken_from(const Ratings& ratings) const;
  void grow(size_t users);  // more of them, without days
  void visit(Parts& parts, size_t users);

 private:
  Sparse effects_;  // users x days, from first_ on
  double first_ = 0;
};

// Whether what is held out does not say no: that biases with days are further from it than biases
// alone, by more than one standard error of the difference. Effects are drawn to 0 by their own
// variance, so where days say little they do little harm, and the few ratings that are held out may
// miss a small gain.
bool days_help(const Ratings& ratings, const DayEffects& effects);

}  // namespace kith
