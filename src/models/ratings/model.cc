// SPDX-License-Identifier: Apache-2.0
#include "models/ratings/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace kith {

void RatingsModel::visit(Parts& parts) {
  f_.visit(parts, parts.loading() ? Parts::kAny : f_.user.rows() > 0 ? f_.user.cols() : f_.dim + 2);
}

double RatingsModel::predict(uint32_t user, uint32_t item) const {
  std::vector<float> p, q;
  return rating(scoring_row(Axis::kUser, user, p), scoring_row(Axis::kItem, item, q));
}

std::span<const float> RatingsModel::scoring_row(Axis axis, uint32_t number,
                                                 std::vector<float>& scratch) const {
  return f_.scoring_row(axis, number, f_.rows(axis).row(number), scratch);
}

const Matrix* RatingsModel::scoring_rows(Axis axis) const {
  return f_.shifts.empty() ? &f_.rows(axis) : nullptr;
}

double RatingsModel::rating(std::span<const float> user, std::span<const float> item,
                            float on_day) const {
  return link(f_.score(user, item) + on_day);
}

double RatingsModel::link(double score) const {
  return f_.implicit ? score : std::clamp<double>(score, f_.low, f_.high);
}

// A scoring row is s times the learned one, with s where that has its 1; but for the place of its
// own bias, which no deviation looks at.
std::optional<double> RatingsModel::deviation(std::span<const float> user,
                                              std::span<const float> item) const {
  if (f_.shifts.empty()) return learned_deviation(user, item);
  std::vector<float> p(user.begin(), user.end()), q(item.begin(), item.end());
  const float user_scale = user[f_.one(Axis::kUser)], item_scale = item[f_.one(Axis::kItem)];
  for (float& x : p) x /= user_scale;
  for (float& x : q) x /= item_scale;
  auto out = learned_deviation(p, q);
  if (out) *out *= double{user_scale} * item_scale;
  return out;
}

std::optional<double> RatingsModel::learned_deviation(std::span<const float>,
                                                      std::span<const float>) const {
  return std::nullopt;
}

// --- Folding in ---

std::vector<float> RatingsModel::fold_in(Axis axis, Sparse::Row ratings) const {
  return scoring(axis, fold_normalised(axis, {ratings, gram_for(axis), {}}));
}

std::vector<std::vector<float>> RatingsModel::fold_in_each(Axis axis, Sparse::Row ratings) const {
  const std::vector<double> gram = gram_for(axis);
  std::vector<std::vector<float>> out;
  for (size_t k = 0; k < ratings.size(); ++k) {
    const Sparse::Row one{ratings.columns.subspan(k, 1), ratings.values.subspan(k, 1)};
    out.push_back(scoring(axis, fold_normalised(axis, {one, gram, {}})));
  }
  return out;
}

// Of the other axis, if what was not observed counts.
std::vector<double> RatingsModel::gram_for(Axis axis) const {
  return row_problem(axis, {}).unobserved > 0 ? f_.gram(other(axis)) : std::vector<double>();
}

std::vector<float> RatingsModel::scoring(Axis axis, Folded folded) const {
  if (f_.shifts.empty()) return std::move(folded.row);
  std::vector<float> out;
  f_.put_scoring_row(axis, folded.row, folded.shift, out);
  return out;
}

// The moments are those of the row's own ratings: of users as they were given, of items of what the
// users' shifts leave of them.
RatingsModel::Folded RatingsModel::fold_normalised(Axis axis, const Folding& row) const {
  if (f_.shifts.empty()) return {fold(axis, row), {}};
  const Sparse::Row& ratings = row.ratings;
  std::vector<double> values(ratings.values.begin(), ratings.values.end());
  const Shifts& own = f_.shifts_of(axis);
  const Shifts& others = f_.shifts_of(other(axis));
  Shift shift;
  for (const bool users : {true, false}) {
    if (users != (axis == Axis::kUser)) {
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = others.of(ratings.columns[k]).normalised(values[k]);
      }
    } else if (!own.empty()) {
      shift = shift_of(moments_of(values), own.typical);
      for (double& v : values) v = shift.normalised(v);
    }
  }
  const std::vector<float> left(values.begin(), values.end());
  return {fold(axis, {{ratings.columns, left}, row.gram, row.number}), shift};
}

std::vector<float> RatingsModel::fold(Axis axis, const Folding& row) const {
  RowProblem problem = row_problem(axis, row);
  problem.dim = f_.dim;
  problem.own = f_.own(axis);
  problem.gram = row.gram;
  return solve_row(problem, f_.rows(other(axis)), f_.mean, row.ratings);
}

// --- Updating ---

std::any RatingsModel::known() const {
  return KnownRatings{f_.users,       f_.items,    f_.user_column,
                      f_.item_column, f_.implicit, knows_days()};
}

Updated RatingsModel::update(const Dataset& data, const Context& context) {
  const Ratings& more = as(data);
  const size_t known_users = f_.users.size(), known_items = f_.items.size();
  bool fits = more.users().size() >= known_users && more.items().size() >= known_items;
  for (size_t u = 0; u < known_users && fits; ++u) fits = more.users()[u] == f_.users[u];
  for (size_t i = 0; i < known_items && fits; ++i) fits = more.items()[i] == f_.items[i];
  if (!fits) {
    throw fault(ErrorKind::kInput,
                "the ratings were not read on top of the model's users and items, so they cannot "
                "be added");
  }
  if (more.implicit() != f_.implicit) {
    throw fault(ErrorKind::kInput, "{}",
                f_.implicit
                    ? "these are ratings, and the model was trained on interactions"
                    : "these are interactions without ratings, and the model was trained on "
                      "ratings; name their column with --rating");
  }
  Updated out;
  out.units = more.train().size();
  const Sparse by_item = transposed(more.train());
  for (size_t u = known_users; u < more.users().size(); ++u) {
    out.added.push_back({f_.user_column, std::string(more.users()[u]),
                         more.train().row(static_cast<uint32_t>(u)).size()});
  }
  for (size_t i = known_items; i < more.items().size(); ++i) {
    out.added.push_back({f_.item_column, std::string(more.items()[i]),
                         by_item.row(static_cast<uint32_t>(i)).size()});
  }
  f_.seen = std::make_shared<Sparse>(merged(*f_.seen, more.train()));
  f_.users = more.users();
  f_.items = more.items();
  f_.grow_rows();
  grow();
  out.solved = solve_all(more, known_items, context);
  f_.shifts.users.find_typical();
  f_.shifts.items.find_typical();
  if (f_.item_trust.rows() > 0) f_.find_trust();  // a model of 0.1 goes on as it did
  return out;
}

// New users first, from the items that are known; then new items, from the users; then the users
// that rated new items once more. Returns how many rows that was.
uint64_t RatingsModel::solve_all(const Ratings& more, size_t known_items, const Context& context) {
  const Sparse &all = *f_.seen, fresh = transposed(more.train()), by_item = transposed(all);
  uint64_t solved = 0;
  std::vector<uint32_t> rows;
  const auto solve = [&](Axis axis, const Sparse& ratings) {
    solve_rows(axis, rows, ratings, context);
    solved += rows.size();
    rows.clear();
  };
  for (uint32_t u = 0; u < more.train().rows(); ++u) {
    if (more.train().row(u).size() > 0) rows.push_back(u);
  }
  solve(Axis::kUser, all);
  for (auto i = static_cast<uint32_t>(known_items); i < f_.items.size(); ++i) {
    if (fresh.row(i).size() > 0) rows.push_back(i);
  }
  solve(Axis::kItem, by_item);
  if (f_.items.size() > known_items) {
    for (uint32_t u = 0; u < more.train().rows(); ++u) {
      const Sparse::Row row = more.train().row(u);
      const auto is_new = [&](uint32_t i) { return i >= known_items; };
      if (std::ranges::any_of(row.columns, is_new)) rows.push_back(u);
    }
    solve(Axis::kUser, all);
  }
  return solved;
}

// Each from the rows of the other axis alone, so that they may be done in any order.
void RatingsModel::solve_rows(Axis axis, std::span<const uint32_t> numbers, const Sparse& ratings,
                              const Context& context) {
  constexpr size_t kShard = 16;
  const std::vector<double> gram = gram_for(axis);
  for_each_shard(context, (numbers.size() + kShard - 1) / kShard, [&](size_t s) {
    const size_t first = s * kShard;
    for (const uint32_t n : numbers.subspan(first, std::min(kShard, numbers.size() - first))) {
      const Folded folded = fold_normalised(axis, {ratings.row(n), gram, n});
      std::ranges::copy(folded.row, f_.rows(axis).row(n).begin());
      if (!f_.shifts_of(axis).empty()) f_.shifts_of(axis).set(n, folded.shift);
    }
  });
}

// --- What it says ---

std::vector<VectorGroup> RatingsModel::vectors(Side side) const {
  if (side != Side::kInput) {
    throw fault(
        ErrorKind::kUsage,
        "a model of ratings has only one vector for each user and item; use --vectors input");
  }
  std::vector<VectorGroup> out;
  for (const Axis axis : {Axis::kItem, Axis::kUser}) {
    const Matrix &rows = f_.rows(axis), &trust = f_.trust(axis);
    const auto trusted = trust.rows() > 0 ? trust.row(0) : std::span<const float>();
    out.push_back({f_.column(axis), f_.column(axis), &f_.names(axis),
                   std::make_shared<MatrixVectors>(rows, 0, rows.rows(), f_.dim, trusted),
                   axis == Axis::kUser ? "user" : "item"});
  }
  return out;
}

std::vector<Fact> RatingsModel::info() const {
  std::vector<Fact> out{
      {"users", fmt::format("{}", f_.users.size()), true},
      {"items", fmt::format("{}", f_.items.size()), true},
      {f_.implicit ? "interactions" : "ratings", fmt::format("{}", f_.seen->size()), true},
      {"feedback", f_.implicit ? "implicit" : "explicit"},
      {"range", fmt::format("{:g} to {:g}", f_.low, f_.high)},
      {"dim", fmt::format("{}", f_.dim), true}};
  if (!f_.shifts.empty()) out.push_back({"normalise", detail::show(f_.shifts.by())});
  if (knows_days()) out.push_back({"days of users", fmt::format("{}", f_.days.size()), true});
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

uint64_t RatingsModel::memory_of_all(const Ratings& ratings) {
  // Ratings without the effects of their days, and those; finding them takes less than the vectors.
  const uint64_t days = ratings.days() ? 16 * ratings.days()->size() : 0;
  return ratings.users().bytes().size() + ratings.items().bytes().size() + days + kMemoryOfAll;
}

}  // namespace kith
