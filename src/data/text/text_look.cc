// SPDX-License-Identifier: Apache-2.0
#include "data/text/text_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "data/table/cells.h"
#include "data/table/table_readers.h"
#include "io/file.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr size_t kStartBytes = size_t{1} << 16;
constexpr size_t kSampleBytes = size_t{1} << 12;
constexpr uint64_t kSampleEvery = uint64_t{1} << 20;

// --- Tables ---

constexpr double kFewestWords = 3;  // of a cell of text, on average
constexpr size_t kEnoughRows = 3;   // to see a table whose name does not tell

struct TableLook {
  std::vector<std::string> columns{};
  std::vector<double> words{};  // of a cell, on average
};

double words_in(std::string_view text) {
  double out = 0;
  bool inside = false;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    out += !space && !inside;
    inside = !space;
  }
  return out;
}

bool is_table_by_name(const std::string& source) {
  const std::string end = std::filesystem::path(name_unpacked(source)).extension().string();
  return end == ".csv" || end == ".tsv" || end == ".json" || end == ".jsonl" || end == ".ndjson";
}

// By content, where the name does not tell: prose has commas and semicolons, too.
bool is_table_by_content(std::string_view start) {
  return looks_like_json(start) || find_delimiter(start, true) == '\t';
}

// The table that begins so; nothing if it is none. One without a name for it must have no flaw.
std::optional<TableLook> look_at_table(const std::string& start, const std::string& name) {
  const bool named = is_table_by_name(name);
  if (!named && !is_table_by_content(start)) return std::nullopt;
  TableLook out;
  size_t rows = 0;
  try {
    const auto reader = read_text_table(memory_source(start), name,
                                        {.bad_rows = named ? BadRows::kSkip : BadRows::kRefuse});
    out.columns = reader->columns();
    out.words.resize(out.columns.size());
    for (std::vector<Cell> cells; reader->next(cells); ++rows) {
      for (size_t c = 0; c < cells.size(); ++c) out.words[c] += words_in(cells[c].value_or(""));
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  if (rows == 0 || (!named && rows < kEnoughRows)) return std::nullopt;
  // One column of plain lines is a text as it stands.
  if (out.columns.size() < 2 && !looks_like_json(start)) return std::nullopt;
  for (double& w : out.words) w /= static_cast<double>(rows);
  return out;
}

// The flags that take the column with the most words, if they are enough for a text.
std::string column_flags(const TableLook& table) {
  const auto most = std::ranges::max_element(table.words);
  if (most == table.words.end() || *most < kFewestWords) return "";
  const auto at = static_cast<size_t>(most - table.words.begin());
  // A name of many words is no name: the first row is data.
  if (words_in(table.columns[at]) > kFewestWords) {
    return fmt::format("--no-header --column c{}", at + 1);
  }
  return "--column " + shell_quoted(table.columns[at]);
}

// --- Scripts ---

struct CodeRange {
  uint32_t first, last;
  size_t script;
};
constexpr size_t kHan = 0, kKana = 1;
constexpr CodeRange kUnspaced[] = {
    {0x0E00, 0x0E7F, 2},    {0x0E80, 0x0EFF, 3},     {0x1000, 0x109F, 4},
    {0x1780, 0x17FF, 5},    {0x3041, 0x30FF, kKana}, {0x3400, 0x4DBF, kHan},
    {0x4E00, 0x9FFF, kHan}, {0xF900, 0xFAFF, kHan},  {0x20000, 0x3134F, kHan},
};
constexpr size_t kNoScript = TextLook::kScripts;

// `longest`: characters of a run, on average, where somebody has put spaces between words.
struct ScriptInfo {
  std::string_view name, remedy;
  double longest;
};
constexpr std::string_view kIcu = "with the word iterator of ICU (PyICU)";
constexpr ScriptInfo kInfos[TextLook::kScripts] = {
    {"Chinese", "with: python3 -m jieba -d ' ' FILE", 4},
    {"Japanese", "with: mecab -Owakati FILE", 4},
    {"Thai", "with PyThaiNLP", 12},
    {"Lao", kIcu, 12},
    {"Burmese", kIcu, 12},
    {"Khmer", kIcu, 12},
};

size_t script_of(uint32_t code) {
  for (const CodeRange& r : kUnspaced) {
    if (code >= r.first && code <= r.last) return r.script;
  }
  return kNoScript;
}

bool counts(uint32_t code) {
  if (code < 0x80) return std::isalnum(static_cast<int>(code)) != 0;
  const bool sign = (code >= 0x2000 && code <= 0x206F) || (code >= 0x3000 && code <= 0x3020) ||
                    (code >= 0xFF00 && code <= 0xFF0F) || code < 0xC0;
  return !sign;
}

}  // namespace

void TextLook::see(std::span<const char> piece) {
  const std::string_view text(piece.data(), piece.size());
  if (start_.size() < kStartBytes) start_ += text.substr(0, kStartBytes - start_.size());
  if (bytes_ + text.size() > next_sample_) {
    sample(text.substr(0, kSampleBytes));
    next_sample_ = bytes_ + kSampleEvery;
  }
  bytes_ += text.size();
}

void TextLook::sample(std::string_view text) {
  size_t before = kNoScript;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    text.remove_prefix(c.length);
    if (c.state != Utf8Char::kValid) continue;  // cut at the ends of the sample
    size_t script = script_of(c.code);
    characters_ += counts(c.code);
    if (script != kNoScript) {
      ++scripts_[script].characters;
      // Japanese changes between its scripts within a word.
      const bool goes_on = before != kNoScript && (script > kKana) == (before > kKana);
      scripts_[script].runs += !goes_on;
    }
    before = script;
  }
}

std::string TextLook::table_hint(const std::string& source) const {
  std::string start = start_;
  if (start.size() == kStartBytes) start.resize(start.rfind('\n') + 1);  // whole lines
  const auto table = look_at_table(start, source);
  if (!table) return "";
  const std::string flags = column_flags(*table);
  const std::string all = "kith train feat2vec " + shell_quoted(source);
  const std::string name = source == "-" ? "standard input" : source;
  if (flags.empty()) {
    return table->columns.size() < 2 ? ""
                                     : fmt::format(
                                           "{} looks like a table and is read as lines of "
                                           "text; to learn from its columns: {}",
                                           name, all);
  }
  return fmt::format(
      "{} looks like a table and is read as lines of text, all columns and signs included; {} "
      "takes one column",
      name, flags);
}

std::string TextLook::untidy_hint() const {
  uint64_t words = 0, untidy = 0;
  bool inside = false, plain = true;
  for (const char byte : start_) {
    const auto c = static_cast<unsigned char>(byte);
    if (std::isspace(c)) {
      words += inside;
      untidy += inside && !plain;
      inside = false;
      plain = true;
    } else {
      inside = true;
      plain = plain && !std::isupper(c) && !std::ispunct(c);
    }
  }
  if (untidy * 10 <= words) return "";
  return "many words have capitals or punctuation; with --tokens words, \"King,\" and \"king\" are "
         "one word";
}

std::string TextLook::unspaced_hint() const {
  std::array<Script, kScripts> scripts = scripts_;
  // Japanese is told by its own letters, and is written with Chinese ones as well.
  const bool japanese = 10 * scripts[kKana].characters > scripts[kHan].characters;
  const size_t main = japanese ? kKana : kHan, other = japanese ? kHan : kKana;
  scripts[main].characters += scripts[other].characters;
  scripts[main].runs += scripts[other].runs;
  scripts[other] = {};
  const auto most = std::ranges::max_element(scripts, {}, &Script::characters);
  const ScriptInfo& info = kInfos[most - scripts.begin()];
  const bool much = 10 * most->characters > 3 * characters_;
  const double run = static_cast<double>(most->characters) /
                     static_cast<double>(std::max<uint64_t>(1, most->runs));
  if (!much || run <= info.longest) return "";
  return fmt::format(
      "much of the text is {}, which has no spaces between words; split it into words first, such "
      "as {}",
      info.name, info.remedy);
}

}  // namespace kith
