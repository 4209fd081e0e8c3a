// SPDX-License-Identifier: Apache-2.0
// Texts with labels as a kind of data.
#include <utility>

#include "data/labelled/labelled.h"
#include "data/labelled/labelled_reader.h"

namespace kith {
namespace labelled {
namespace {

class ReadLabelled final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {{"Texts and labels", columns_}, {"The text", options_}, {"The table", table_}};
  }
  std::vector<Section> reading() override {
    return {{"Texts and labels", columns_}, {"The table", table_}};
  }

  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    LabelledReader reader({columns_, options_}, table_, request.on_read);
    if (const auto* const known = std::any_cast<KnownLabels>(&request.base)) {
      return std::make_unique<Labelled>(reader.read_known(request.sources, *known));
    }
    std::optional<double> holdout = options_.holdout;
    if (!holdout && options_.validation.empty()) holdout = request.wishes.holdout;
    if (request.keep_all) holdout.reset();
    return std::make_unique<Labelled>(reader.read(request.sources, holdout));
  }

 private:
  LabelColumns columns_;
  LabelledOptions options_;
  TableOptions table_;
};

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "labelled",
      .noun = "texts with labels",
      .unit = "text",
      .to_save_memory =
          "keep fewer words with --max-vocab or a higher --min-count, or lower --dim, "
          "--word-ngrams or --buckets",
      .holdout_to_tune = 0.2,
      .chosen_by = "label",
      .look_at = [](const std::string& source,
                    const std::string&) { return Look{starts_with_label(source) ? 0.9 : 0.0}; },
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadLabelled>(); },
  };
  return kind;
}

}  // namespace labelled

const DataKind& Labelled::data_kind() { return labelled::kind(); }

}  // namespace kith
