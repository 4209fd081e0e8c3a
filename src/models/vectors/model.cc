// SPDX-License-Identifier: Apache-2.0
// Vectors that came from another tool: to be asked, compared and exported, not trained.
#include "models/model.h"

#include <utility>

#include "core/error.h"
#include "models/capabilities.h"

namespace kith::vectors {
namespace {

struct Config {  // nothing to set
  static constexpr std::tuple<> fields{};
};

class VectorsModel final : public ModelBase, public HasVectors, public CountsWords {
 public:
  VectorsModel() { state_.finished = true; }
  explicit VectorsModel(NamedVectors table) : VectorsModel() { table_ = std::move(table); }

  Section settings() override { return {"Settings of vectors", config_}; }
  void visit(Parts& parts) override {
    parts.names("names", table_.names);
    const size_t rows = table_.names.size();
    const bool loading = parts.loading();
    parts.matrix("input", table_.matrix, rows, loading ? Parts::kAny : table_.matrix.cols(),
                 Use::kLearned);
    parts.values("counts", table_.counts, rows, Use::kOptional);
  }
  std::vector<Fact> info() const override {
    return {{"words", fmt::format("{}", table_.matrix.rows()), true},
            {"dim", fmt::format("{}", table_.matrix.cols()), true},
            {"counts", table_.counts.empty() ? "unknown" : "known"}};
  }
  std::vector<VectorGroup> vectors(Side side) const override {
    if (side != Side::kInput) {
      throw fault(ErrorKind::kUsage,
                  "imported vectors have no output vectors beside them; use --vectors input");
    }
    return {{"", "", &table_.names, std::make_shared<MatrixVectors>(table_.matrix), "", true}};
  }

  std::span<const uint64_t> word_counts() const override { return table_.counts; }

  const DataKind* data() const override { return nullptr; }
  uint64_t memory_needed(const Dataset&, const Job&) const override { refuse(); }
  bool fit(Dataset&, Job&, bool) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw fault(ErrorKind::kUsage,
                "imported vectors cannot be trained further: the file lacks what training needs");
  }

  Config config_;
  NamedVectors table_;
};

}  // namespace

ModelInfo info() {
  return {"vectors", "vectors made by another tool and imported", nullptr,
          []() -> std::unique_ptr<ModelBase> { return std::make_unique<VectorsModel>(); }};
}

}  // namespace kith::vectors

namespace kith {

std::unique_ptr<ModelBase> model_of(NamedVectors vectors) {
  return std::make_unique<vectors::VectorsModel>(std::move(vectors));
}

}  // namespace kith
