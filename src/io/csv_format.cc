// SPDX-License-Identifier: Apache-2.0
// Vectors as comma-separated values (RFC 4180): NAME,V1,V2,... with or without a line of titles.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "io/vector_formats.h"

namespace kith {
namespace {

// Of the first column.
constexpr std::string_view kUsualTitles[] = {"", "name", "word", "id", "index"};

enum class Record { kWhole, kOpenQuote, kBad };

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Reads one record line by line: a field in quotes may hold line ends.
class RecordReader {
 public:
  const std::vector<std::string>& fields() const { return fields_; }

  // Takes a line without its \n. kOpenQuote: the record goes on in the next line.
  Record feed(std::string_view line) {
    size_t i = 0;
    if (open_) {
      fields_.back() += '\n';
    } else {
      fields_.clear();
    }
    for (;; ++i) {
      if (!open_) {
        fields_.emplace_back();
        open_ = i < line.size() && line[i] == '"';
        i += open_ ? 1 : 0;
      }
      if (!(open_ ? take_quoted(line, i) : take_bare(line, i))) return Record::kBad;
      if (open_) return Record::kOpenQuote;
      if (i == line.size()) return Record::kWhole;
    }
  }

 private:
  // Takes what belongs to the field in quotes from line[i] on, and leaves i at what follows it.
  bool take_quoted(std::string_view line, size_t& i) {
    for (;; ++i) {
      const size_t quote = std::min(line.find('"', i), line.size());
      fields_.back() += line.substr(i, quote - i);
      i = quote;
      if (i == line.size()) return true;  // still open
      ++i;
      if (i == line.size() || line[i] != '"') break;
      fields_.back() += '"';  // doubled: a quote of the text itself
    }
    open_ = false;
    if (line.substr(i) == "\r") ++i;
    return i == line.size() || line[i] == ',';
  }

  bool take_bare(std::string_view line, size_t& i) {
    const size_t comma = std::min(line.find(',', i), line.size());
    std::string_view field = line.substr(i, comma - i);
    if (comma == line.size() && field.ends_with('\r')) field.remove_suffix(1);
    fields_.back() = field;
    i = comma;
    return true;
  }

  std::vector<std::string> fields_;
  bool open_ = false;  // inside quotes
};

// Takes the record at the start of `text` away; kOpenQuote if the text ends before it does.
Record cut_record(std::string_view& text, std::vector<std::string>& fields) {
  RecordReader reader;
  Record result;
  do {
    const size_t end = std::min(text.find('\n'), text.size());
    result = reader.feed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  } while (result == Record::kOpenQuote && !text.empty());
  fields = reader.fields();
  return result;
}

size_t numeric_fields(std::span<const std::string> fields) {
  return static_cast<size_t>(std::count_if(
      fields.begin(), fields.end(), [](const std::string& f) { return !!parse_float(trim(f)); }));
}

// Titles are words, or under an empty or usual first title the numbers of the columns from 0 or 1
// on, as some libraries write them. "king,1,2" is a vector.
bool is_title(const std::vector<std::string>& fields) {
  if (numeric_fields(std::span(fields).subspan(1)) == 0) return true;
  if (std::ranges::find(kUsualTitles, fields[0]) == std::end(kUsualTitles) || fields.size() < 3)
    return false;
  const size_t first = fields[1] == "1" ? 1 : 0;
  for (size_t i = 1; i < fields.size(); ++i) {
    if (fields[i] != std::to_string(first + i - 1)) return false;
  }
  return true;
}

// The next record, which may span lines; false at the end. Empty lines are passed over.
bool next_record(VectorInput& input, RecordReader& reader, std::string& place) {
  std::string_view line;
  do {
    if (!input.line(line)) return false;
  } while (line.empty() || line == "\r");
  place = fmt::format("{}:{}", input.where(), input.line_number());
  Record result = reader.feed(line);
  size_t length = line.size();
  while (result == Record::kOpenQuote && length <= kMaxLine && input.line(line)) {
    result = reader.feed(line);
    length += line.size() + 1;
  }
  if (result != Record::kWhole) {
    throw fault(ErrorKind::kInput,
                "{}: a quote is not closed, or text follows a closed one; double the quotes that "
                "belong to a name",
                place);
  }
  return true;
}

void add_record(VectorBuilder& builder, const std::vector<std::string>& fields,
                std::vector<float>& values, const std::string& place) {
  if (fields.size() != builder.dim() + 1) {
    throw fault(ErrorKind::kInput,
                "{}: expected a name and {} numbers, found {} fields; correct or remove the line",
                place, builder.dim(), fields.size());
  }
  for (size_t i = 0; i < builder.dim(); ++i) {
    const auto value = parse_float(trim(fields[i + 1]));
    if (!value) {
      throw fault(ErrorKind::kInput,
                  "{}: {} is not a number (field {}); correct or remove the line", place,
                  shown(fields[i + 1]), i + 2);
    }
    values[i] = *value;
  }
  builder.add(fields[0], values, place);
}

std::string quoted_if_needed(std::string_view name) {
  if (name.find_first_of(",\"\r\n") == std::string_view::npos && trim(name) == name) {
    return std::string(name);
  }
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

bool is_csv(std::string_view start) {
  std::vector<std::string> first, second;
  std::string_view text = start;
  if (cut_record(text, first) != Record::kWhole || first.size() < 2) return false;
  if (numeric_fields(std::span(first).subspan(1)) == first.size() - 1) return true;
  // "a,b 1 2" is a line of GloVe whose word has a comma.
  if (split_text_line(start.substr(0, start.find('\n'))).numbers > 0) return false;
  return cut_record(text, second) == Record::kWhole && second.size() == first.size() &&
         numeric_fields(std::span(second).subspan(1)) == second.size() - 1;
}

NamedVectors read_csv(VectorInput& input, ReadReport& report) {
  RecordReader reader;
  std::string place;
  if (!next_record(input, reader, place) || reader.fields().size() < 2 ||
      reader.fields().size() - 1 > kMaxDim) {
    throw fault(ErrorKind::kInput, "{}: expected lines of a name and up to {} numbers",
                input.where(), kMaxDim);
  }
  VectorBuilder builder(reader.fields().size() - 1);
  std::vector<float> values(builder.dim());
  if (!is_title(reader.fields())) add_record(builder, reader.fields(), values, place);
  while (next_record(input, reader, place)) add_record(builder, reader.fields(), values, place);
  return builder.finish(report, input.where());
}

void write_csv(const std::string& path, const Names& names, const Vectors& vectors) {
  AtomicFile file(path);
  fmt::memory_buffer line;
  const auto out = std::back_inserter(line);
  fmt::format_to(out, "name");
  for (size_t i = 0; i < vectors.cols(); ++i) fmt::format_to(out, ",v{}", i + 1);
  for_each_row(vectors, [&](size_t r, std::span<const float> row) {
    fmt::format_to(out, "\n{}", quoted_if_needed(names[r]));
    for (const float x : row) fmt::format_to(out, ",{:.9g}", x);
    file.write(std::string_view(line.data(), line.size()));
    line.clear();
  });
  line.push_back('\n');
  file.write(std::string_view(line.data(), line.size()));
  file.commit();
}

}  // namespace kith
