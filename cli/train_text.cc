// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "train_data.h"
#include "train_report.h"

namespace kith::cli {
namespace {

std::string scratch_folder(const TrainPlan& plan) {
  if (!plan.options.scratch.empty()) return plan.options.scratch;
  const auto folder = std::filesystem::path(plan.options.output).parent_path();
  return folder.empty() ? "." : folder.string();
}

class TextData final : public TrainData {
 public:
  TextData(Corpus corpus, TextModel& model) : corpus_(std::move(corpus)), model_(model) {}
  std::string_view unit() const override { return "word"; }
  uint64_t size() const override { return corpus_.words(); }
  uint64_t vectors() const override { return corpus_.vocabulary().words.size(); }
  uint64_t memory_needed(const Job& job) const override {
    return model_.memory_needed(corpus_, job);
  }
  std::string_view to_save_memory() const override {
    return "keep fewer words with --max-vocab or a higher --min-count, or lower --dim";
  }
  void train(Model& model, Job& job) override {
    dynamic_cast<TextModel&>(model).train(corpus_, job);
  }
  uint64_t fingerprint() const override { return corpus_.fingerprint(); }
  std::map<std::string, std::string> metadata() const override {
    const CorpusProfile& p = corpus_.profile();
    const auto text = [](uint64_t n) { return fmt::format("{}", n); };
    return {{"corpus.bytes", text(p.bytes)},
            {"corpus.lines", text(p.lines)},
            {"corpus.words", text(p.tokens)},
            {"corpus.distinct", text(p.types)},
            {"corpus.kept", text(p.kept)}};
  }
  std::string next() const override { return "near MODEL WORD"; }

 private:
  const Corpus corpus_;
  TextModel& model_;
};

}  // namespace

std::unique_ptr<TrainData> read_text(const TrainPlan& plan, Status& status) {
  const auto start = std::chrono::steady_clock::now();
  Corpus corpus = Corpus::read(plan.files, plan.corpus, scratch_folder(plan),
                               plan.base ? &*plan.base : nullptr, reading_progress(status));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  report_corpus(corpus, plan, took.count(), status);
  return std::make_unique<TextData>(std::move(corpus), dynamic_cast<TextModel&>(*plan.model));
}

}  // namespace kith::cli
