// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include <cmath>
#include <deque>

#include "core/error.h"

namespace kith {
namespace {

// Collects where the parts of a model are, in their order.
class PartList : public TensorVisitor {
 public:
  void matrix(const std::string&, Matrix& m, size_t, size_t, Use) override {
    matrices.push_back(&m);
  }
  void values(const std::string&, std::vector<float>& v, size_t, Use) override {
    floats.push_back(&v);
  }
  void values(const std::string&, std::vector<double>& v, size_t, Use) override {
    doubles.push_back(&v);
  }
  void values(const std::string&, std::vector<uint32_t>& v, size_t, Use) override {
    words.push_back(&v);
  }
  void values(const std::string&, std::vector<uint64_t>& v, size_t, Use) override {
    longs.push_back(&v);
  }
  void names(const std::string&, Names& n) override { all_names.push_back(&n); }

  std::deque<Matrix*> matrices;
  std::deque<std::vector<float>*> floats;
  std::deque<std::vector<double>*> doubles;
  std::deque<std::vector<uint32_t>*> words;
  std::deque<std::vector<uint64_t>*> longs;
  std::deque<Names*> all_names;
  std::deque<std::string> entries, texts;

 protected:
  void entry(const std::string&, const Entry& e) override { entries.push_back(e.get()); }
  void stored_settings(const std::string&, const Section& section) override {
    texts.push_back(to_toml({&section, 1}));
  }
};

// Fills a model from such a list.
class PartFiller final : public Parts {
 public:
  PartFiller(PartList& from, bool move) : from_(from), move_(move) {}
  bool loading() const override { return true; }
  void matrix(const std::string&, Matrix& m, size_t, size_t, Use) override {
    Matrix& source = *take(from_.matrices);
    m = move_ ? std::move(source) : source.copy();
  }
  void values(const std::string&, std::vector<float>& v, size_t, Use) override {
    fill(*take(from_.floats), v);
  }
  void values(const std::string&, std::vector<double>& v, size_t, Use) override {
    fill(*take(from_.doubles), v);
  }
  void values(const std::string&, std::vector<uint32_t>& v, size_t, Use) override {
    fill(*take(from_.words), v);
  }
  void values(const std::string&, std::vector<uint64_t>& v, size_t, Use) override {
    fill(*take(from_.longs), v);
  }
  void names(const std::string&, Names& n) override { fill(*take(from_.all_names), n); }

 protected:
  void entry(const std::string&, const Entry& e) override { e.set(take(from_.entries)); }
  void stored_settings(const std::string&, const Section& section) override {
    apply_settings(settings_from_toml_text(take(from_.texts), ""), {&section, 1});
  }

 private:
  template <class T>
  static T take(std::deque<T>& list) {
    T out = std::move(list.front());
    list.pop_front();
    return out;
  }
  template <class T>
  void fill(T& source, T& to) const {
    if (move_) {
      to = std::move(source);
    } else {
      to = source;
    }
  }
  PartList& from_;
  bool move_;
};

void visit_run(RunState& state, Parts& parts) {
  parts.flag("progress.started", state.started, Use::kRun);
  parts.number("progress.block", state.block);
  parts.number("progress.lr_scale", state.lr_scale);
  parts.number("progress.loss", state.loss);
  parts.number("progress.epoch_loss", state.epoch_loss);
  parts.number("progress.epoch_steps", state.epoch_steps);
  parts.number("progress.first_loss", state.first_loss, Use::kRun);
  parts.list("progress.held_out", state.held_out);
  parts.flag("progress.unscored", state.unscored, Use::kRun);
  parts.flag("progress.converged", state.converged, Use::kRun);
  parts.maybe("progress.kept", state.kept);
  parts.maybe("progress.refit", state.refit);
  parts.flag("progress.finished", state.finished);
  parts.check(state.lr_scale > 0 && state.lr_scale <= 1,
              "the share of the learning rate is not between 0 and 1");
  parts.check(!state.refit || *state.refit < state.held_out.size(),
              "the second run has more epochs than the first");
}

}  // namespace

void visit_all(ModelBase& model, Parts& parts) {
  if (model.data()) {  // that it was trained on
    parts.settings("settings", model.settings());
    visit_run(model.state_, parts);
  }
  model.visit(parts);
  model.best_.visit(model, parts);
}

void take_parts(ModelBase& from, ModelBase& to, bool move) {
  PartList list;
  list.settings("settings", from.settings());
  from.visit(list);
  PartFiller filler(list, move);
  filler.settings("settings", to.settings());
  to.visit(filler);
  to.state_ = from.state_;
  to.best_.clear();
  if (move) to.best_ = std::move(from.best_);
  to.loaded();
}

void ModelBase::check_loadable() const {
  auto& self = const_cast<ModelBase&>(*this);  // visitors that only look change nothing
  FiniteCheck learned;
  self.visit(learned);
  if (!learned.bad().empty()) {
    throw fault(ErrorKind::kDiverged,
                "{} holds numbers that are not finite, so nothing is saved; try a smaller --lr or "
                "a larger --penalty",
                learned.bad());
  }
  LoadableCheck all;
  self.visit(all);
  if (all.bad().empty()) return;
  throw fault(ErrorKind::kInput,
              "{}, so nothing is saved; are some numbers in the data far too large?", all.bad());
}

bool ModelCourse::finite() {
  FiniteCheck check;
  model_.visit(check);
  return check.bad().empty();
}

std::vector<Fact> ModelBase::run_facts() const {
  std::vector<Fact> out{{"loss", fmt::format("{:.5f}", state_.loss), true}};
  if (!state_.held_out.empty()) {
    out.push_back({"held_out_before", fmt::format("{:.5f}", state_.held_out.front()), true});
    out.push_back({"held_out", fmt::format("{:.5f}", *state_.held_out_now()), true});
    if (state_.kept) out.push_back({"kept_epoch", fmt::format("{}", *state_.kept), true});
  }
  if (state_.lr_scale < 1) {
    out.push_back({"rollbacks", fmt::format("{}", std::lround(-std::log2(state_.lr_scale))), true});
  }
  return out;
}

std::string unanswered(const Asked& asked, std::string_view for_models_that) {
  return fmt::format("{} is for models that {}; {} holds {}, which", asked.what, for_models_that,
                     asked.where, asked.kind);
}

void refuse_question(const Asked& asked, std::string_view for_models_that) {
  throw fault(ErrorKind::kUsage, "{} does not", unanswered(asked, for_models_that));
}

}  // namespace kith
