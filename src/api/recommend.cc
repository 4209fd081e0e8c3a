// SPDX-License-Identifier: Apache-2.0
#include "kith/recommend.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "api/item_search.h"
#include "api/opened.h"
#include "api/rating_names.h"
#include "core/error.h"
#include "data/table/cells.h"
#include "io/utf8.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr std::string_view kQuestion = "recommend";
constexpr size_t kReasons = 3;

// Which items are in a list, by number.
struct Listed {
  std::vector<uint8_t> in;
  uint64_t unknown = 0;
};
Listed listed(const Ranks& model, const RatingNames& names, const std::vector<std::string>& ids) {
  Listed out{std::vector<uint8_t>(model.names_of(Axis::kItem).size(), 0)};
  for (const std::string& id : ids) {
    const auto item = names.find(Axis::kItem, std::string(trimmed(id)));
    if (item) out.in[*item] = 1;
    out.unknown += !item;
  }
  if (out.unknown == ids.size()) {
    throw fault(ErrorKind::kInput, "none of {} is an item of the model: the first is {}",
                count_of(ids.size(), "name"), shown(ids.front()));
  }
  return out;
}

}  // namespace

GivenRating parse_given(const Model& model, const std::string& text) {
  // An id may hold the sign; a rating does not.
  const size_t sign = text.rfind('=');
  const bool bare = sign == std::string::npos;
  if (bare && !model.impl().ask<Ranks>(kQuestion).implicit()) {
    throw fault(ErrorKind::kUsage, "{}: a rating is given as item=rating, such as Alien=4.5",
                shown(text));
  }
  const auto value = bare ? 1.0 : parse_number(std::string_view(text).substr(sign + 1));
  if (!value) {
    throw fault(ErrorKind::kUsage, "{}: {} is not a rating; give it as item=rating", shown(text),
                shown(std::string_view(text).substr(sign + 1)));
  }
  if (*value != 1 && !model.impl().ask<Ranks>(kQuestion).has_strengths()) {
    throw fault(ErrorKind::kUsage,
                "{}: the model was trained on who chose what, without ratings; give the item alone",
                shown(text));
  }
  return {std::string(trimmed(std::string_view(text).substr(0, sign))), *value};
}

struct Recommender::Impl {
  Impl(const Model& from, const RecommendOptions& opts, const Items& items, const Titles* titles)
      : model(from.impl().ask<Ranks>(kQuestion)),
        names(model, titles),
        options(opts),
        search(model, allowed(items), static_cast<size_t>(opts.top)) {}

  // The items that may be recommended, rising; empty for all of them.
  std::vector<uint32_t> allowed(const Items& items) {
    if (items.only.empty() && items.exclude.empty()) return {};
    std::vector<uint8_t> may(model.names_of(Axis::kItem).size(), 1);
    if (!items.only.empty()) {
      Listed only = listed(model, names, items.only);
      may = std::move(only.in);
      unknown += only.unknown;
    }
    if (!items.exclude.empty()) {
      const Listed without = listed(model, names, items.exclude);
      for (size_t i = 0; i < may.size(); ++i) may[i] = may[i] && !without.in[i];
      unknown += without.unknown;
    }
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < may.size(); ++i) {
      if (may[i]) out.push_back(i);
    }
    if (out.empty()) throw fault(ErrorKind::kUsage, "no item is left that may be recommended");
    return out;
  }

  std::vector<Recommendation> described(std::span<const float> user,
                                        std::span<const Hit> hits) const {
    std::vector<Recommendation> out;
    std::vector<float> room;
    for (const Hit& hit : hits) {
      const std::string_view id = model.names_of(Axis::kItem)[hit.row];
      const auto item = model.scoring_row(Axis::kItem, hit.row, room);
      out.push_back({std::string(id),
                     names.title(id),
                     model.rating(user, item),
                     model.deviation(user, item),
                     {}});
    }
    return out;
  }

  // What of `rated` speaks for each.
  void explain(Sparse::Row rated, std::vector<Recommendation>& list) const {
    const std::vector<float> nobody = model.fold_in(Axis::kUser, {});
    std::vector<std::vector<float>> alone = model.fold_in_each(Axis::kUser, rated);
    for (auto& row : alone) {
      for (size_t k = 0; k < row.size(); ++k) row[k] -= nobody[k];
    }
    std::vector<float> room;
    for (Recommendation& r : list) {
      const auto item = model.scoring_row(Axis::kItem, *names.find(Axis::kItem, r.id), room);
      for (size_t k = 0; k < alone.size(); ++k) {
        const double weight =
            std::inner_product(alone[k].begin(), alone[k].end(), item.begin(), 0.0);
        if (!(weight > 0)) continue;
        const std::string_view id = model.names_of(Axis::kItem)[rated.columns[k]];
        if (id != r.id) r.reasons.push_back({std::string(id), names.title(id), weight});
      }
      std::ranges::stable_sort(r.reasons, std::greater<>(), &Reason::weight);
      if (r.reasons.size() > kReasons) r.reasons.resize(kReasons);
    }
  }

  uint64_t unknown = 0;
  const Ranks& model;
  RatingNames names;
  RecommendOptions options;
  ItemSearch search;
};

Recommender::Recommender(const Model& model, const RecommendOptions& options, const Items& items,
                         const Titles* titles)
    : impl_(std::make_unique<Impl>(model, options, items, titles)) {}
Recommender::~Recommender() = default;

uint64_t Recommender::unknown_items() const { return impl_->unknown; }
uint64_t Recommender::users() const { return impl_->model.names_of(Axis::kUser).size(); }
const std::string& Recommender::user_column() const { return impl_->model.column_of(Axis::kUser); }
const std::string& Recommender::item_column() const { return impl_->model.column_of(Axis::kItem); }

std::vector<Recommendation> Recommender::list(const std::string& user,
                                              std::span<const GivenRating> given,
                                              const Context& context) const {
  const Ranks& model = impl_->model;
  // An id may look like "user=42".
  std::optional<uint32_t> number = impl_->names.find(Axis::kUser, user);
  const auto thing = number ? std::nullopt : impl_->names.named(user);
  if (thing && thing->axis == Axis::kItem) {
    throw fault(ErrorKind::kUsage, "{} is an item; name the user to recommend to", shown(user));
  }
  if (thing) number = impl_->names.find(Axis::kUser, thing->id);
  if (!number && given.empty()) {
    try {
      impl_->names.number(Axis::kUser, thing ? thing->id : user);
    } catch (const Error& e) {
      throw fault(ErrorKind::kInput, "{}; for someone new, say what they rated with --given",
                  e.what());
    }
  }
  std::map<uint32_t, float> rated;  // by item, rising, as a row of the ratings has them
  for (const GivenRating& g : given) {
    rated[impl_->names.number(Axis::kItem, g.item)] = static_cast<float>(g.rating);
  }
  if (number) {
    const Sparse::Row seen = model.seen().row(*number);
    for (size_t i = 0; i < seen.size(); ++i) rated.try_emplace(seen.columns[i], seen.values[i]);
  }
  std::vector<uint32_t> items;
  std::vector<float> values, room;
  for (const auto& [item, value] : rated) {
    items.push_back(item);
    values.push_back(value);
  }
  std::vector<float> row;
  if (given.empty()) {
    const auto own = model.scoring_row(Axis::kUser, *number, room);
    row.assign(own.begin(), own.end());
  } else {
    row = model.fold_in(Axis::kUser, {items, values});
  }
  Matrix one(1, row.size());
  std::ranges::copy(row, one.row(0).begin());
  std::vector<std::vector<uint32_t>> exclude(1);
  if (!impl_->options.include_seen) exclude.front() = items;
  auto out = impl_->described(row, impl_->search.ask(one, exclude, context).front());
  if (impl_->options.explain) impl_->explain({items, values}, out);
  return out;
}

void Recommender::for_all(
    const Context& context,
    const std::function<void(const std::string&, std::span<const Recommendation>)>& take,
    const std::function<void(double)>& progress) const {
  const Ranks& model = impl_->model;
  const size_t users = model.names_of(Axis::kUser).size(), batch = ItemSearch::batch(context);
  std::vector<float> room;
  for (size_t begin = 0; begin < users; begin += batch) {
    context.check();
    std::vector<uint32_t> block(std::min(batch, users - begin));
    std::iota(block.begin(), block.end(), static_cast<uint32_t>(begin));
    const auto found = impl_->search.ask(block, impl_->options.include_seen, context);
    for (size_t b = 0; b < block.size(); ++b) {
      const auto row = model.scoring_row(Axis::kUser, block[b], room);
      take(std::string(model.names_of(Axis::kUser)[block[b]]), impl_->described(row, found[b]));
    }
    if (progress) progress(static_cast<double>(begin + block.size()) / static_cast<double>(users));
  }
}

}  // namespace kith
