// SPDX-License-Identifier: Apache-2.0
// Rows of numbers as a kind of data: which source is read how, and all of them stacked.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "data/matrix/matrix.h"
#include "data/matrix/row_sources.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/archive.h"
#include "io/text_source.h"
#include "io/utf8.h"
#include "io/vector_formats.h"
#include "kith/text.h"

namespace kith {
namespace matrix {
namespace {

constexpr size_t kLookAhead = size_t{1} << 16;
constexpr uint64_t kTellEvery = 1 << 24;  // bytes

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

bool is_regular(const std::string& path) {
  std::error_code none;
  return path != "-" && !is_database(path) && std::filesystem::is_regular_file(path, none);
}

// The first bytes as they stand.
std::string raw_start(const RandomFile& file, size_t most) {
  std::string out(std::min<uint64_t>(most, file.size()), '\0');
  file.read(0, out);
  return out;
}

// A safetensors file that a training of ours wrote.
bool is_model(const Archive& archive) { return archive.metadata().contains("model"); }

void check_size(const NumberLayout& layout, uint64_t bytes, const std::string& where) {
  if (bytes == layout.offset + layout.bytes()) return;
  throw fault(ErrorKind::kInput,
              "{}: the header claims {} of {}, which is {} bytes, and {} follow it; the file is "
              "cut off or damaged",
              where, count_of(layout.rows, "row"), count_of(layout.cols, "number"), layout.bytes(),
              bytes - std::min(bytes, layout.offset));
}

// Names of the rows, one a line, in the file beside the matrix that kith export writes.
Names names_beside(const std::string& path, uint64_t rows) {
  Names out;
  const std::string beside = path + ".names.txt";
  if (!is_regular(beside)) return out;
  const auto source = open_text(beside);
  std::string line;
  uint64_t number = 0;
  const auto take = [&] {
    if (line.ends_with('\r')) line.pop_back();
    if (out.add(line) != number++) {
      throw fault(ErrorKind::kInput, "{}:{}: the name {} stands twice; names must differ", beside,
                  number, shown(line));
    }
    line.clear();
  };
  for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
    for (const char c : piece) c == '\n' ? take() : line.push_back(c);
  }
  if (!line.empty()) take();
  if (number == rows) return out;
  throw fault(ErrorKind::kInput, "{}: {} names for the {} rows of the matrix beside it", beside,
              number, rows);
}

// What was read of one source, or of several tables.
struct Part {
  std::unique_ptr<RowSource> rows;
  std::vector<std::string> columns;
  Names names;
  std::string where;
  bool lines = false;  // a row is a line
};

class Reading {
 public:
  Reading(const MatrixOptions& options, const TableOptions& table, const ReadRequest& request)
      : options_(options), table_(table), request_(request) {}

  MatrixData::Content read() {
    std::vector<std::string> tables;  // that follow one another
    for (const std::string& source : request_.sources) {
      if (is_database(source) || is_sqlite_file(source)) {
        tables.push_back(source);
        continue;
      }
      if (is_regular(source) && take_in_place(source, tables)) continue;
      auto stream = std::make_unique<PeekedSource>(open_source(source));
      const std::string_view start = stream->peek(kNumberHeader);
      if (start.empty()) {
        throw fault(ErrorKind::kInput, "{}: the file is empty", shown_name(source));
      }
      if (const auto layout = number_layout(start, shown_name(source))) {
        flush(tables);
        unpack(source, *layout, *stream);
      } else if (is_safetensors(start)) {
        throw fault(ErrorKind::kInput, "{}: unpack this file first, and give it by its name",
                    shown_name(source));
      } else if (sparse_format(start) != SparseFormat::kNone) {
        if (!sparse_) sparse_ = std::make_unique<Sparse>();
        add_sparse(source, std::move(stream), *sparse_, request_);
      } else if (source == "-") {
        flush(tables);
        add_tables({source}, std::move(stream));
      } else {
        tables.push_back(source);
      }
    }
    flush(tables);
    return stacked();
  }

 private:
  // npy, idx, safetensors and models stay where they are.
  bool take_in_place(const std::string& source, std::vector<std::string>& tables) {
    const auto file = std::make_shared<RandomFile>(source);
    const std::string start = raw_start(*file, kNumberHeader);
    std::optional<NumberLayout> layout = number_layout(start, source);
    if (layout) {
      check_size(*layout, file->size(), source);
    } else if (is_safetensors(start)) {
      const Archive archive = Archive::open(source, false);
      if (is_model(archive)) {
        flush(tables);
        add_model(source);
        return true;
      }
      layout = tensor_layout(source, options_.tensor);
    } else {
      return false;
    }
    flush(tables);
    bytes_ += file->size();
    Part part{
        stored_rows([file](uint64_t at, std::span<char> out) { file->read(at, out); }, *layout),
        {},
        names_beside(source, layout->rows),
        source};
    parts_.push_back(std::move(part));
    return true;
  }

  void add_model(const std::string& source) {
    if (!request_.model_rows) {
      throw fault(ErrorKind::kUsage, "{}: this is a model, and rows of numbers are wanted", source);
    }
    ModelRows found = request_.model_rows(source, options_.of);
    parts_.push_back(
        {rows_of(std::move(found.vectors), found.bytes), {}, std::move(found.names), source});
  }

  // What is packed, or comes through a pipe, goes to a scratch file.
  void unpack(const std::string& source, NumberLayout layout, ByteSource& stream) {
    const auto scratch = std::make_shared<ScratchFile>(request_.scratch);
    uint64_t told = 0;
    for (auto piece = stream.next(); !piece.empty(); piece = stream.next()) {
      scratch->append(piece);
      if (request_.on_read && scratch->size() - told >= kTellEvery) {
        told = scratch->size();
        request_.on_read(told, stream.share());
      }
      if (scratch->size() > layout.offset + layout.bytes()) break;
    }
    scratch->flush();
    check_size(layout, scratch->size(), shown_name(source));
    bytes_ += scratch->size();
    parts_.push_back(
        {stored_rows([scratch](uint64_t at, std::span<char> out) { scratch->read(at, out); },
                     layout),
         {},
         names_beside(source, layout.rows),
         shown_name(source)});
  }

  void flush(std::vector<std::string>& tables) {
    if (!tables.empty()) add_tables(tables, nullptr);
    tables.clear();
  }

  void add_tables(const std::vector<std::string>& sources, std::unique_ptr<ByteSource> stream) {
    TableNumbers found = read_numbers(sources, std::move(stream), options_, table_, request_);
    bytes_ += found.bytes;
    for (Note& note : found.notes) notes_.push_back(std::move(note));
    parts_.push_back({std::move(found.rows), std::move(found.columns), std::move(found.names),
                      shown_source(shown_name(sources.front())), true});
  }

  MatrixData::Content stacked() {
    MatrixData::Content out;
    out.bytes = bytes_;
    out.notes = std::move(notes_);
    if (sparse_) {
      if (!parts_.empty()) {
        throw fault(ErrorKind::kUsage,
                    "{}: its rows are dense, and others are sparse; give them one kind at a time",
                    parts_.front().where);
      }
      out.sparse = std::move(sparse_);
      return out;
    }
    const bool named =
        std::ranges::any_of(parts_, [](const Part& p) { return p.names.size() > 0; });
    std::vector<std::pair<uint64_t, std::string>> begins;  // rows before each part
    uint64_t rows = 0;
    for (const Part& part : parts_) check_columns(part, parts_.front());
    for (Part& part : parts_) {
      if (out.columns.empty()) out.columns = std::move(part.columns);
      begins.emplace_back(rows, part.where);
      for (uint64_t r = 0; named && r < part.rows->rows(); ++r) {
        const std::string name =
            part.names.size() > 0 ? std::string(part.names[r]) : std::to_string(rows + r);
        if (out.names.add(name) == rows + r) continue;
        throw fault(ErrorKind::kInput, "{}: its row {} is called {}, as one before it is",
                    part.where, r + 1, shown(name));
      }
      rows += part.rows->rows();
      out.sources.push_back(std::move(part.rows));
    }
    out.place = [begins = std::move(begins)](uint64_t row) {
      auto at = std::ranges::upper_bound(begins, row, {}, &std::pair<uint64_t, std::string>::first);
      --at;
      return fmt::format("{}: row {}", at->second, row - at->first + 1);
    };
    return out;
  }

  static void check_columns(const Part& part, const Part& first) {
    if (part.rows->cols() == first.rows->cols()) return;
    throw fault(ErrorKind::kInput,
                "{}: rows of {}, and {} has rows of {}; files that are read together have the same "
                "columns",
                part.where, count_of(part.rows->cols(), "number"), first.where,
                count_of(first.rows->cols(), "number"));
  }

  const MatrixOptions& options_;
  const TableOptions& table_;
  const ReadRequest& request_;
  std::vector<Part> parts_;
  std::unique_ptr<Sparse> sparse_;
  std::vector<Note> notes_;
  uint64_t bytes_ = 0;
};

class ReadMatrix final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {
        {"The rows of numbers", options_}, {"The table", table_}, {"Learning from the rows", use_}};
  }
  std::vector<Section> reading() override {
    return {{"The rows of numbers", options_}, {"The table", table_}};
  }
  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    const std::optional<double> given = use_.holdout;
    if (!request.wishes.needs_all.empty() && given.value_or(0) != 0 && !request.keep_all) {
      throw fault(ErrorKind::kUsage, "{}; leave --holdout out", request.wishes.needs_all);
    }
    const double holdout =
        request.keep_all ? 0 : given.value_or(request.wishes.holdout.value_or(0));
    const Context alone(1);
    return std::make_unique<MatrixData>(Reading(options_, table_, request).read(), holdout,
                                        request.context ? *request.context : alone);
  }

 private:
  MatrixOptions options_;
  TableOptions table_;
  MatrixUse use_;
};

// A text whose first lines are numbers and nothing else, the very first one too: no header.
bool is_all_numbers(std::string_view start) {
  size_t lines = 0, cells = 0;
  for (; lines < 20 && !start.empty(); ++lines) {
    const size_t end = start.find('\n');
    if (end == std::string_view::npos && lines > 0) break;  // may be cut
    std::string_view line = trimmed(start.substr(0, end));
    start.remove_prefix(std::min(end == std::string_view::npos ? end : end + 1, start.size()));
    size_t found = 0;
    while (!line.empty()) {
      const size_t stop = std::min(line.find_first_of(",;\t "), line.size());
      if (!parse_number(line.substr(0, stop))) return false;
      ++found;
      line = line.substr(std::min(stop + 1, line.size()));
    }
    if (found < 2 || (lines > 0 && found != cells)) return false;
    cells = found;
  }
  return lines >= 3;
}

Look look_at(const std::string& source, const std::string&) {
  if (!is_regular(source)) return {};
  try {
    PeekedSource stream(open_source(source));
    const std::string_view start = stream.peek(kLookAhead);
    if (is_npy(start) || is_idx(start)) return {1};
    if (is_safetensors(start)) {
      const std::string_view header = start.substr(0, start.find('\0', 9));
      const bool ours = header.find("\"checksum\":\"") != std::string_view::npos;
      return {ours ? 0.0 : 1.0};
    }
    if (sparse_format(start) == SparseFormat::kMatrixMarket) return {0.95};
    const std::string extension = std::filesystem::path(name_unpacked(source)).extension().string();
    if ((extension == ".csv" || extension == ".tsv") && is_all_numbers(start)) {
      return {0.6, "numbers alone"};
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
  }
  return {};  // whoever reads it says what is wrong
}

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "matrix",
      .noun = "rows of numbers",
      .unit = "row",
      .to_save_memory = "lower --dim",
      .takes_models = true,
      .takes = "bags",
      .look_at = look_at,
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadMatrix>(); },
  };
  return kind;
}

}  // namespace matrix

const DataKind& MatrixData::data_kind() { return matrix::kind(); }

}  // namespace kith
