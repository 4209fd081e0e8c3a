// SPDX-License-Identifier: Apache-2.0
// Vectors that came from another tool: to be asked, compared and exported, not trained.
#include "models/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::vectors {
namespace {

struct Config {  // nothing to set
  static constexpr std::tuple<> fields{};
};

class VectorsModel final : public Model {
 public:
  VectorsModel() = default;
  explicit VectorsModel(NamedVectors table) : table_(std::move(table)) {}

  Section settings() override { return {"Settings of vectors", config_}; }
  bool finished() const override { return true; }
  void reopen() override { refuse(); }

  void pack(ArchiveWriter& out, bool) const override {
    out.tensors["input"] = tensor_of(table_.matrix);
    out.add_names("names", table_.names);
    if (!table_.counts.empty()) {
      out.tensors["counts"] = tensor_of(std::span<const uint64_t>(table_.counts));
    }
  }
  void restore(const Archive& in) override;

  const Names& names() const override { return table_.names; }
  std::span<const uint64_t> counts() const override { return table_.counts; }
  Matrix vectors(Side side) const override {
    if (side != Side::kInput) {
      throw Error(ErrorKind::kUsage,
                  "imported vectors have no output side; ask with --vectors input");
    }
    return table_.matrix.copy();
  }
  std::vector<Fact> info() const override {
    return {{"words", fmt::format("{}", table_.matrix.rows())},
            {"dim", fmt::format("{}", table_.matrix.cols())},
            {"counts", table_.counts.empty() ? "unknown" : "known"}};
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error(ErrorKind::kUsage,
                "imported vectors cannot be trained: what they were trained with is not in them");
  }

  Config config_;
  NamedVectors table_;
};

void VectorsModel::restore(const Archive& in) {
  NamedVectors table;
  table.names = in.names("names");
  table.matrix = in.matrix("input");
  if (in.has("counts")) table.counts = in.values<uint64_t>("counts");
  const size_t rows = table.names.size();
  if (table.matrix.rows() != rows || (!table.counts.empty() && table.counts.size() != rows)) {
    throw Error(ErrorKind::kInput, "{}: {} names for {} vectors and {} counts; the file is damaged",
                in.where(), rows, table.matrix.rows(), table.counts.size());
  }
  for (size_t r = 0; r < rows; ++r) {
    const auto row = table.matrix.row(r);
    if (!std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); })) {
      throw Error(ErrorKind::kInput, "{}: the vector of {} is not finite", in.where(),
                  table.names[r]);
    }
  }
  table_ = std::move(table);
}

}  // namespace

ModelInfo info() {
  return {"vectors", "vectors made by another tool and imported", InputKind::kNone,
          []() -> std::unique_ptr<Model> { return std::make_unique<VectorsModel>(); }};
}

std::unique_ptr<Model> of(NamedVectors table) {
  return std::make_unique<VectorsModel>(std::move(table));
}

}  // namespace kith::vectors

namespace kith {

std::unique_ptr<Model> model_of(NamedVectors vectors) {
  return kith::vectors::of(std::move(vectors));
}

}  // namespace kith
