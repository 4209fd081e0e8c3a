// SPDX-License-Identifier: Apache-2.0
// Text as a kind of data.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "data/table/table_readers.h"
#include "data/text/column_source.h"
#include "data/text/corpus.h"
#include "io/text_source.h"
#include "kith/text.h"

namespace kith {
namespace text {
namespace {

constexpr std::string_view kAColumn = "name the column that is the text, such as --column text";

struct LineOptions {
  bool paragraphs = false;

  static constexpr std::tuple fields{
      field("paragraphs", &LineOptions::paragraphs,
            "words stand together up to an empty line, not up to the end of a line: for text whose "
            "lines were broken to a width"),
  };
};

class ReadText final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {{"The text", options_},
            {"Lines", lines_},
            {"The files, or a table with the column", table_}};
  }

  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    CorpusOptions options = options_;
    options.encoding = table_.encoding;
    options.paragraphs = lines_.paragraphs;
    if (request.keep_all) options.holdout = 0;
    const auto* const base = std::any_cast<Vocabulary>(&request.base);
    auto corpus =
        std::make_unique<Corpus>(options.column.empty() ? read_lines(request, options, base)
                                                        : read_column(request, options, base));
    add_hints(*corpus, request.sources.front());
    return corpus;
  }

 private:
  Corpus read_lines(const ReadRequest& request, const CorpusOptions& options,
                    const Vocabulary* base) const {
    refuse_table_settings();
    for (const std::string& source : request.sources) {
      if (!is_database(source) && !is_sqlite_file(source)) continue;
      throw fault(ErrorKind::kUsage, "{}: this is a database and has no lines of text; {}",
                  shown_source(source), kAColumn);
    }
    return Corpus::read(request.sources, options, request.scratch, base, request.on_read);
  }

  Corpus read_column(const ReadRequest& request, const CorpusOptions& options,
                     const Vocabulary* base) const {
    if (options.invalid_utf8 != InvalidUtf8::kReplace) {
      throw fault(ErrorKind::kUsage,
                  "--invalid-utf8 is for files of text: in a table bad bytes become U+FFFD, and "
                  "the rows are counted; leave it out");
    }
    if (options.paragraphs) {
      throw fault(ErrorKind::kUsage,
                  "--paragraphs is for files of text: each cell of a --column stands by itself; "
                  "leave it out");
    }
    const std::string& first = request.sources.front();
    const std::string name = first == "-" ? "standard input" : shown_source(first);
    auto rows = open_table(request.sources, table_);
    const auto tally = rows->tally();
    std::vector<size_t> columns = columns_named(options.column, rows->columns(), name);
    Corpus out = Corpus::read(column_lines(std::move(rows), std::move(columns), request.on_read),
                              name, options, request.scratch, base);
    for (Note& note : tally->finish()) out.add_note(std::move(note));
    return out;
  }

  // They say nothing about lines of text.
  void refuse_table_settings() const {
    const TableOptions usual;
    std::string given;
    for_each_field<TableOptions>([&](const auto& f) {
      const bool same = table_.*(f.member) == usual.*(f.member);
      if (!same && f.name != "encoding") given = f.name;
    });
    if (given.empty()) return;
    throw fault(ErrorKind::kUsage, "--{} is for tables; {}, or leave it out", given, kAColumn);
  }

  void add_hints(Corpus& corpus, const std::string& source) const {
    const TextLook& look = corpus.look();
    std::string hint = options_.column.empty() ? look.table_hint(source) : "";
    if (hint.empty()) hint = look.unspaced_hint();
    if (hint.empty() && !options_.tokens) hint = look.untidy_hint();
    if (!hint.empty()) corpus.add_note({Note::Level::kHint, std::move(hint)});
  }

  CorpusOptions options_;
  LineOptions lines_;
  TableOptions table_;
};

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "text",
      .noun = "text",
      .unit = "word",
      .to_save_memory = "keep fewer words with --max-vocab or a higher --min-count, or lower --dim",
      .chosen_by = "column",
      .look_at = [](const std::string&,
                    const std::string&) { return Look{0.1}; },  // may be anything
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadText>(); },
  };
  return kind;
}

}  // namespace text

const DataKind& Corpus::data_kind() { return text::kind(); }

uint64_t Corpus::bytes() const {
  const uint64_t words = vocabulary_.words.size();
  return vocabulary_.words.bytes().size() + 24 * words + held_out_.size() * sizeof(WordId);
}

std::map<std::string, std::string> Corpus::metadata() const {
  const auto text = [](uint64_t n) { return fmt::format("{}", n); };
  return {{"corpus.bytes", text(profile_.bytes)},
          {"corpus.lines", text(profile_.lines)},
          {"corpus.words", text(profile_.tokens)},
          {"corpus.distinct", text(profile_.types)},
          {"corpus.kept", text(profile_.kept)}};
}

std::string Corpus::example() const {
  const Names& words = vocabulary_.words;  // beyond those that stand beside everything
  return std::string(words[std::min<size_t>(1000, words.size() / 4)]);
}

Profile Corpus::profile() const {
  const CorpusProfile& p = profile_;
  Profile out;
  out.data = kind().name;
  out.unit = kind().unit;
  out.size = words_;
  out.held_out = held_out_words();
  out.bytes = p.bytes;
  out.summary =
      fmt::format("{} on {}, {} distinct; the longest {} has {}", count_of(p.tokens, "word"),
                  count_of(p.lines, "line"), grouped(p.types),
                  options_.paragraphs ? "paragraph" : "line", count_of(p.longest_line, "word"));
  std::string which = options_.min_count > 1
                          ? fmt::format("seen {} times or more", options_.min_count)
                          : "all that were seen";
  if (options_.max_vocab) {
    which += fmt::format(", at most {}", grouped(static_cast<uint64_t>(*options_.max_vocab)));
  }
  if (goes_on_) which += ", or known to the model";
  const auto share = [&](uint64_t n) {
    return 100.0 * static_cast<double>(n) / static_cast<double>(std::max<uint64_t>(1, p.tokens));
  };
  out.lines.emplace_back("keep", fmt::format("{} ({}), {:.1f} % of the text; {:.1f} % is dropped",
                                             count_of(vocabulary_.words.size(), "distinct word"),
                                             which, share(p.kept), share(p.tokens - p.kept)));
  out.lines.emplace_back("train", fmt::format("on {} per epoch; {} held out to score the model",
                                              count_of(words_, "word"),
                                              out.held_out ? grouped(out.held_out) : "none"));
  if (p.invalid_utf8) {
    out.notes.push_back(
        {Note::Level::kNote,
         fmt::format(
             "{} with bytes that are not UTF-8 ({}); {}", count_of(p.invalid_utf8, "word"),
             options_.invalid_utf8 == InvalidUtf8::kDrop ? "dropped" : "the bytes became U+FFFD",
             kIfNotUtf8)});
  }
  if (p.too_long) {
    out.notes.push_back(
        {Note::Level::kNote, fmt::format("{} longer than {} bytes, dropped",
                                         count_of(p.too_long, "word"), options_.max_word)});
  }
  out.notes.insert(out.notes.end(), notes_.begin(), notes_.end());
  return out;
}

uint64_t Corpus::held_out_words() const {
  return static_cast<uint64_t>(
      std::ranges::count_if(held_out_, [](WordId w) { return w != kSentenceEnd; }));
}

}  // namespace kith
