// SPDX-License-Identifier: Apache-2.0
// Documents as counts of words as a kind of data: from texts, or from files of counts.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "data/bags/bags.h"
#include "data/bags/raw_bags.h"
#include "data/labelled/label_source.h"
#include "kith/text.h"

namespace kith {

class BagReader final : public DataReader {
 public:
  std::vector<Section> settings() override {
    return {{"Documents", sources_},
            {"Files of counts", files_},
            {"The words", options_},
            {"The table", table_}};
  }
  std::vector<Section> reading() override {
    return {{"Documents", sources_}, {"Files of counts", files_}, {"The table", table_}};
  }

  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    const auto* const known = std::any_cast<KnownBags>(&request.base);
    const bool files = bag_file_at(request.sources.front()) != BagFile::kNone;
    RawBags raw = files ? read_files(request, known) : read_texts(request, known);
    raw.profile.documents = raw.names.size();
    const std::string where = name_of_sources(request.sources);
    if (raw.profile.tokens == 0 && !known) {
      throw fault(ErrorKind::kInput, "{}: no words in {}; give a file with a document a line",
                  where, count_of(raw.names.size(), "document"));
    }
    if (known) {
      keep_known(raw, known->words.size());
    } else {
      filter(raw, options_, files, where);
    }
    auto out =
        std::make_unique<Bags>(std::move(raw.words), std::move(raw.names), std::move(raw.counts));
    raw.profile.empty = out->profile_.empty;
    raw.profile.from_files = files ? request.sources.size() : 0;
    out->profile_ = std::move(raw.profile);
    out->notes_ = std::move(raw.notes);
    if (!known && !request.keep_all) {
      out->hold_out(options_.holdout ? options_.holdout : request.wishes.holdout);
    }
    return out;
  }

 private:
  RawBags read_files(const ReadRequest& request, const KnownBags* known) const {
    for (const auto& [name, given] :
         {std::pair{"column", !sources_.column.empty()}, {"id", !sources_.id.empty()}}) {
      if (!given) continue;
      throw fault(ErrorKind::kUsage, "--{} is for tables, and {} is a file of counts; leave it out",
                  name, request.sources.front());
    }
    return read_bag_files(request.sources, files_.vocab, known ? &known->words : nullptr,
                          request.on_read);
  }

  RawBags read_texts(const ReadRequest& request, const KnownBags* known) const {
    if (!files_.vocab.empty()) {
      throw fault(ErrorKind::kUsage,
                  "--vocab is for files of counts (lda-c, UCI docword), and {} is none; leave it "
                  "out",
                  name_of_sources(request.sources));
    }
    if (!sources_.column.empty() && options_.invalid_utf8 != InvalidUtf8::kReplace) {
      throw fault(ErrorKind::kUsage,
                  "--invalid-utf8 is for lines of text: in a table bad bytes become U+FFFD, and "
                  "the rows are counted; leave it out");
    }
    TextRows rows(request.sources, sources_.column, sources_.id, "id", table_);
    return read_bag_texts(rows, known ? known->cut : cut(), known ? &known->words : nullptr,
                          request.on_read);
  }

  LabelledOptions cut() const {
    LabelledOptions out;
    out.tokens = options_.tokens.value_or(Tokens::kWords);
    out.max_word = options_.max_word;
    out.nfc = options_.nfc;
    out.invalid_utf8 = options_.invalid_utf8;
    return out;
  }

  // Words that the model does not know are behind its own.
  static void keep_known(RawBags& bags, size_t known) {
    Sparse out;
    out.columns = static_cast<uint32_t>(known);
    for (uint32_t d = 0; d < bags.counts.rows(); ++d) {
      const Sparse::Row row = bags.counts.row(d);
      for (size_t i = 0; i < row.size() && row.columns[i] < known; ++i) {
        out.column.push_back(row.columns[i]);
        out.value.push_back(row.values[i]);
        bags.profile.kept += static_cast<uint64_t>(row.values[i]);
      }
      out.offsets.push_back(out.column.size());
    }
    Names words;
    for (size_t w = 0; w < known; ++w) words.add(bags.words[w]);
    bags.words = std::move(words);
    bags.counts = std::move(out);
  }

  BagSources sources_;
  CountFileOptions files_;
  BagOptions options_;
  TableOptions table_;
};

namespace bags {

const DataKind& kind() {
  static const DataKind kind{
      .name = "bags",
      .noun = "documents as counts of words",
      .unit = "word",
      .to_save_memory = "keep fewer words with --max-vocab or a higher --min-df, or lower --topics",
      .holdout_to_tune = 0.1,
      .look_at =
          [](const std::string& source, const std::string&) {
            switch (bag_file_at(source)) {
              case BagFile::kLdaC:
                return Look{1, "lda-c"};
              case BagFile::kDocword:
                return Look{1, "UCI docword"};
              case BagFile::kNone:
                break;
            }
            return Look{};
          },
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<BagReader>(); },
  };
  return kind;
}

}  // namespace bags

const DataKind& Bags::data_kind() { return bags::kind(); }

}  // namespace kith
