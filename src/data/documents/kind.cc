// SPDX-License-Identifier: Apache-2.0
// Documents as a kind of data.
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "data/documents/document_reader.h"
#include "data/documents/documents.h"
#include "io/text_source.h"
#include "kith/text.h"

namespace kith {
namespace documents {
namespace {

class ReadDocuments final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {{"The text", options_},
            {"Documents", documents_},
            {"The files, or a table with the column", table_}};
  }

  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    CorpusOptions options = options_;
    if (request.keep_all) options.holdout = 0;
    if (!options.column.empty() && options.invalid_utf8 != InvalidUtf8::kReplace) {
      throw fault(ErrorKind::kUsage,
                  "--invalid-utf8 is for lines of text: in a table bad bytes become U+FFFD, and "
                  "the rows are counted; leave it out");
    }
    TextRows rows(request.sources, options.column, documents_.id, "id", table_);
    return std::make_unique<DocumentSet>(DocumentReader(options, request.on_read).read(rows));
  }

 private:
  CorpusOptions options_;
  DocumentOptions documents_;
  TableOptions table_;
};

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "documents",
      .noun = "documents",
      .unit = "word",
      .to_save_memory = "keep fewer words with --max-vocab or a higher --min-count, or lower --dim",
      .chosen_by = "id",
      // A text may be documents: say so.
      .look_at = [](const std::string&, const std::string&) { return Look{}; },
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadDocuments>(); },
  };
  return kind;
}

}  // namespace documents

const DataKind& DocumentSet::data_kind() { return documents::kind(); }

uint64_t DocumentSet::bytes() const {
  return vocabulary_.words.bytes().size() + 24 * vocabulary_.words.size() + names_.bytes().size() +
         24 * names_.size() + stream_.size() * sizeof(WordId) + held_out_.size() * sizeof(HeldOut);
}

uint64_t DocumentSet::fingerprint() const {
  uint64_t out = XXH3_64bits(stream_.data(), stream_.size() * sizeof(WordId));
  for (const Names* const names : {&names_, &vocabulary_.words}) {
    out = mix64(out + XXH3_64bits(names->bytes().data(), names->bytes().size()));
    out = mix64(out + XXH3_64bits(names->offsets().data(), names->offsets().size_bytes()));
  }
  for (const HeldOut& h : held_out_) out = mix64(out + h.position * 0x100000001 + row_of(h.word));
  return out;
}

std::map<std::string, std::string> DocumentSet::metadata() const {
  const auto text = [](uint64_t n) { return fmt::format("{}", n); };
  return {{"documents.bytes", text(profile_.bytes)},
          {"documents.count", text(profile_.documents)},
          {"documents.words", text(profile_.tokens)},
          {"documents.distinct", text(profile_.types)},
          {"documents.kept", text(profile_.kept)}};
}

std::string DocumentSet::example() const {
  return fmt::format("document={}", names_[names_.size() / 4]);
}

uint32_t DocumentSet::document_at(uint64_t position) const {
  return static_cast<uint32_t>(std::ranges::upper_bound(ends_, position) - ends_.begin());
}

Profile DocumentSet::profile() const {
  const DocumentsProfile& p = profile_;
  Profile out;
  out.data = kind().name;
  out.unit = kind().unit;
  out.size = words_;
  out.held_out = held_out_.size();
  out.bytes = p.bytes;
  out.summary = fmt::format("{} in {}, {} distinct", count_of(p.tokens, "word"),
                            count_of(p.documents, "document"), grouped(p.types));
  const double share =
      100.0 * static_cast<double>(p.kept) / static_cast<double>(std::max<uint64_t>(1, p.tokens));
  out.lines.emplace_back("keep",
                         fmt::format("{}, {:.1f} % of the text",
                                     count_of(vocabulary_.words.size(), "distinct word"), share));
  out.lines.emplace_back("train", fmt::format("on {} per epoch; {} held out to score the model",
                                              count_of(words_, "word"),
                                              out.held_out ? grouped(out.held_out) : "none"));
  if (p.empty) {
    out.notes.push_back({Note::Level::kNote,
                         fmt::format("{} without a word that is kept: nothing is learned of them",
                                     count_of(p.empty, "document"))});
  }
  if (p.invalid_utf8) {
    out.notes.push_back(
        {Note::Level::kNote, fmt::format("{} with bytes that are not UTF-8; {}",
                                         count_of(p.invalid_utf8, "word"), kIfNotUtf8)});
  }
  out.notes.insert(out.notes.end(), notes_.begin(), notes_.end());
  return out;
}

}  // namespace kith
