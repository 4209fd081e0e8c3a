// SPDX-License-Identifier: Apache-2.0
// Any bytes as a table of text: read or refused with Error, the same whatever the pieces they come
// in, and whether bad rows are skipped or not if there are none; and what is inferred survives its
// file. The first byte chooses; the rest is the table.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.h"
#include "data/table/schema.h"
#include "data/table/table_readers.h"

namespace {

using namespace kith;

struct Outcome {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

void require(bool truth) {
  if (!truth) std::abort();
}

Outcome read_all(const std::string& bytes, const TableOptions& options, size_t piece) {
  Outcome out;
  try {
    const auto reader = read_text_table(memory_source(bytes, piece), "fuzz", options);
    out.columns = reader->columns();
    require(!out.columns.empty());
    for (std::vector<Cell> cells; reader->next(cells);) {
      require(cells.size() == out.columns.size());
      for (const Cell& cell : cells) require(!cell || !cell->empty());
      out.rows.emplace_back(cells.begin(), cells.end());
    }
  } catch (const Error& e) {
    require(e.kind() == ErrorKind::kInput);
    out.error = "refused";  // what is quoted of the text may depend on the pieces
  }
  return out;
}

void infer(const std::string& bytes, const TableOptions& options) {
  try {
    const SampledTable table(read_text_table(memory_source(bytes), "fuzz", options));
    const Inferred inferred = infer_schema(table);
    require(inferred.profiles.size() == table.columns().size());
    const std::string json = to_json(inferred.schema);
    require(to_json(schema_from_json(json, "schema")) == json);
    require(to_json(merged(inferred.schema, inferred.schema, "schema")) == json);
  } catch (const Error& e) {
    require(e.kind() == ErrorKind::kInput);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  TableOptions options;
  options.format = data[0] & 1 ? TableFormat::kJson : TableFormat::kCsv;
  options.header = data[0] & 2;
  options.delimiter = data[0] & 4 ? "\t" : data[0] & 8 ? "," : "";
  options.encoding = static_cast<TextEncoding>(data[0] >> 6);
  const Outcome outcome = read_all(bytes, options, SIZE_MAX);
  require(read_all(bytes, options, 1 + data[0] / 16) == outcome);
  TableOptions skip = options;
  skip.bad_rows = BadRows::kSkip;
  const Outcome skipped = read_all(bytes, skip, SIZE_MAX);
  require(read_all(bytes, skip, 1 + data[0] / 16) == skipped);
  require(!outcome.error.empty() || skipped == outcome);  // nothing was bad, so nothing is left out
  infer(bytes, options);
  return 0;
}
