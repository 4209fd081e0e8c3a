// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers about many rows, in a file whose name says its format.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kith/predict.h"
#include "kith/recommend.h"
#include "kith/score.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

// A column of such a file. NumPy files hold the answers alone, and the ids of the rows beside them.
struct ResultColumn {
  std::string name;
  bool answer = false;
};
using ResultCell = std::variant<std::monostate, uint64_t, double, std::string_view>;

// Written whole or not at all, as OutputFile. The extension is the format: .csv, .tsv, .jsonl or
// .npy; other ones are Error(kUsage). Standard output ("-"), a pipe and a device have none: they
// get JSON lines if `json`, else CSV.
class ResultFile {
 public:
  explicit ResultFile(const std::string& path, bool json = false);
  ~ResultFile();
  // Whether lines of JSON are wanted, and neither columns nor rows.
  bool takes_json() const;
  void json_line(std::string_view line);  // with its end
  void columns(std::vector<ResultColumn> columns);
  // `id` as in the names beside a NumPy file. Error(kUsage) for answers that such a file cannot
  // hold.
  void row(std::string_view id, std::span<const ResultCell> cells);
  void commit();
  size_t width() const;  // how many columns; 0 before they are known

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What is answered, as rows of such a file that takes no JSON; the first brings the columns.
// Of a prediction: the number of the row, its cells, what is predicted.
void add_prediction(ResultFile& file, const PredictedRow& row);
void add_score(ResultFile& file, const ScoredRow& row);
void add_recommendations(ResultFile& file, const Recommender& recommender, const std::string& user,
                         std::span<const Recommendation> list, bool titled);

}  // namespace KITH_VISIBLE
