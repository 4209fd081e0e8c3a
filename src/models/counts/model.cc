// SPDX-License-Identifier: Apache-2.0
#include "models/counts/model.h"

#include "core/error.h"
#include "models/two_sided.h"

namespace kith {

class CountsModel::OwnCourse final : public ModelCourse {
 public:
  OwnCourse(CountsModel& model, const Counts& counts, Job& job)
      : ModelCourse(model), m_(model), counts_(counts), job_(job) {}
  RunPlan plan() const override { return m_.plan(); }
  void start(Start) override {
    m_.names_ = counts_.vocabulary().words;
    m_.counts_ = counts_.vocabulary().counts;
    m_.rows_ = m_.names_.size();
    m_.working_ = true;
    m_.start(job_.seed);
  }
  std::unique_ptr<Trainer> trainer() override { return m_.trainer(counts_, job_); }
  void finish() override {
    ModelCourse::finish();
    m_.finish(job_);
    m_.working_ = false;
  }

 private:
  CountsModel& m_;
  const Counts& counts_;
  Job& job_;
};

bool CountsModel::learn(const Counts& counts, Job& job) {
  const size_t size = counts.vocabulary().words.size();
  if (state_.started && (!working_ || names_.size() != size)) {
    throw fault(ErrorKind::kInput,
                "the counts have {} words, the checkpoint {}; resume with the same counts and "
                "settings",
                size, names_.size());
  }
  OwnCourse course(*this, counts, job);
  return kith::train(course, state_, job);
}

void CountsModel::visit_words(Parts& parts) {
  parts.names("words", names_);
  if (parts.loading()) rows_ = names_.size();
  parts.flag("progress.working", working_, Use::kRun);
  parts.values("counts", counts_, rows_, Use::kFixed);
}

void CountsModel::visit_tables(Parts& parts, size_t cols) {
  parts.matrix("input", input_, rows_, cols, Use::kLearned);
  parts.matrix("output", output_, rows_, cols, Use::kLearned);
}

std::vector<VectorGroup> CountsModel::vectors(Side side) const {
  return two_sided(side, names_, input_, output_);
}

std::vector<Fact> CountsModel::facts() const {
  std::vector<Fact> out{{"vocabulary", fmt::format("{}", names_.size()), true},
                        {"dim", fmt::format("{}", input_.cols()), true}};
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

uint64_t CountsModel::memory_of_words(const Counts& counts) {
  const Names& words = counts.vocabulary().words;
  return words.bytes().size() + 24 * words.size() + kMemoryOfAll;
}

}  // namespace kith
