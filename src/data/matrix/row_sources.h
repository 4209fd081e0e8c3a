// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where dense rows come from. Private to src/data/matrix.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/vectors.h"
#include "data/matrix/matrix.h"
#include "data/table/table_reader.h"
#include "data/table/table_readers.h"
#include "io/number_files.h"

namespace kith {

// Exactly so many bytes from there, from many threads at once.
using ReadBytes = std::function<void(uint64_t offset, std::span<char> out)>;

// Numbers as a file holds them.
std::unique_ptr<RowSource> stored_rows(ReadBytes read, const NumberLayout& layout);
// The vectors of a model, or a matrix in memory.
std::unique_ptr<RowSource> rows_of(std::shared_ptr<const Vectors> vectors, uint64_t bytes = 0);

// Rows of a table of numbers, written once to a scratch file as doubles: nothing that the text says
// is lost.
struct TableNumbers {
  std::unique_ptr<RowSource> rows;
  std::vector<std::string> columns;  // empty if the table does not name them
  Names names;                       // empty without --id
  uint64_t bytes = 0;
  std::vector<Note> notes;
};
// `stream`: what there is to read if the only source cannot be opened again; else null.
TableNumbers read_numbers(const std::vector<std::string>& sources,
                          std::unique_ptr<ByteSource> stream, const MatrixOptions& options,
                          const TableOptions& table, const ReadRequest& request);

// Matrix Market's coordinates (.mtx), and lines of lda-c ("2 0:1 7:3": entries, then column:value).
enum class SparseFormat { kNone, kMatrixMarket, kLdaC };
SparseFormat sparse_format(std::string_view start);
// Its rows below those that are there.
void add_sparse(const std::string& path, std::unique_ptr<PeekedSource> source, Sparse& out,
                const ReadRequest& request);

}  // namespace kith
