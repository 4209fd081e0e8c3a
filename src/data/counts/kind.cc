// SPDX-License-Identifier: Apache-2.0
// Counts of words that stand together as a kind of data: from a file of them, or from a text.
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "data/counts/count_options.h"
#include "data/counts/counts.h"
#include "data/counts/pair_counter.h"
#include "kith/context.h"
#include "kith/text.h"

namespace kith {
namespace counts {
namespace {

// Reading a text is about half of the work, and counting the rest.
constexpr double kReading = 0.5;

class ReadCounts final : public DataReader {
 public:
  std::vector<Section> settings() override {
    std::vector<Section> out = text_->settings();
    for (Section& s : out) {
      for (FieldInfo& f : s.fields) {
        if (f.name != "holdout") continue;
        f.help = "cells to hold out to score the model: a share of them, or a number; 0 for none";
        f.automatic = "50,000 cells, at most 1 %; none where a model needs all";
      }
    }
    out.insert(out.begin() + 1, {"What stands together", options_});
    for (Section& s : out) {
      s.set = [this, set = s.set](std::string_view name, const Value& value) {
        const bool known = set(name, value);
        if (known) given_.emplace(name);
        return known;
      };
    }
    return out;
  }

  std::unique_ptr<Dataset> read(const ReadRequest& request) override {
    const std::optional<double> given = holdout();
    if (!request.wishes.needs_all.empty() && given.value_or(0) != 0 && !request.keep_all) {
      throw fault(ErrorKind::kUsage, "{}; leave --holdout out", request.wishes.needs_all);
    }
    std::unique_ptr<Counts> out =
        Counts::is_file(request.sources.front()) ? read_file(request) : count_text(request);
    if (!request.keep_all) out->hold_out(given ? given : request.wishes.holdout);
    return out;
  }

 private:
  std::unique_ptr<Counts> read_file(const ReadRequest& request) {
    if (request.sources.size() > 1) {
      throw fault(ErrorKind::kUsage, "one file of counts at a time; count all texts together");
    }
    auto out = std::make_unique<Counts>(Counts::open(request.sources.front()));
    take_settings(*out, request.sources.front());
    return out;
  }

  std::unique_ptr<Counts> count_text(const ReadRequest& request) {
    ReadRequest reading = request;
    reading.keep_all = true;
    uint64_t bytes = 0;
    if (request.on_read) {
      reading.on_read = [&](uint64_t so_far, double share) {
        bytes = so_far;
        request.on_read(so_far, share < 0 ? share : kReading * share);
      };
    }
    const std::unique_ptr<Dataset> data = text_->read(reading);
    const auto& corpus = static_cast<const Corpus&>(*data);
    const Context alone(1);
    const auto progress = [&](double share) {
      if (request.on_read) request.on_read(bytes, kReading + (1 - kReading) * share);
    };
    Sparse cells = count_pairs(corpus, options_, request.scratch,
                               request.context ? *request.context : alone, progress);
    if (cells.size() == 0) {
      throw fault(ErrorKind::kInput,
                  "{}: no two words stand together: every line has one word that is kept",
                  shown_source(request.sources.front()));
    }
    auto out = std::make_unique<Counts>(Vocabulary(corpus.vocabulary()), std::move(cells),
                                        made_with(), corpus.metadata());
    for (Note& note : corpus.profile().notes) out->add_note(std::move(note));
    if (options_.within == CountWithin::kLine && corpus.counts().longest_line > kLongestLine) {
      out->add_note({Note::Level::kNote,
                     fmt::format("what is longer than {} is counted in pieces of that length; "
                                 "the longest has {}",
                                 count_of(kLongestLine, "word"),
                                 count_of(corpus.counts().longest_line, "word"))});
    }
    return out;
  }

  // All settings but those that do not change the counts.
  std::string made_with() {
    std::vector<Section> out = settings();
    for (Section& s : out) {
      std::erase_if(s.fields, [](const FieldInfo& f) { return is_of_no_matter(f.name); });
    }
    return to_toml(out);
  }
  static bool is_of_no_matter(std::string_view name) {
    return name == "holdout" || name == "count-memory";
  }

  // Of the text: a share or a number of cells here.
  std::optional<double> holdout() {
    for (const Section& s : text_->settings()) {
      if (!s.find("holdout")) continue;
      const std::string value = s.get("holdout");
      double out = 0;
      const auto end = std::from_chars(value.data(), value.data() + value.size(), out);
      if (end.ec == std::errc{}) return out;
    }
    return std::nullopt;
  }

  // What was given must be what the counts were made with; the rest is taken from them.
  void take_settings(const Counts& counts, const std::string& source) {
    ReadCounts made;
    std::vector<Section> before = made.settings(), now = settings();
    apply_settings(settings_from_toml_text(counts.made(), source), before);
    for (size_t k = 0; k < now.size(); ++k) {
      for (const FieldInfo& f : now[k].fields) {
        if (is_of_no_matter(f.name)) continue;
        const std::string given = now[k].get(f.name), of_file = before[k].get(f.name);
        if (given_.contains(f.name) && given != of_file) {
          throw fault(ErrorKind::kUsage,
                      "{}: these are counts made with --{} {}, not {}; leave it out, or count anew",
                      source, f.name, of_file, given);
        }
      }
    }
    const std::set<std::string, std::less<>> by_user = given_;
    apply_settings(settings_from_toml_text(counts.made(), source), now);
    given_ = by_user;
  }

  std::unique_ptr<DataReader> text_ = Corpus::data_kind().reader();
  CountOptions options_;
  std::set<std::string, std::less<>> given_;  // names of settings
};

}  // namespace

const DataKind& kind() {
  static const DataKind kind{
      .name = "counts",
      .noun = "counts of words that stand together",
      .unit = "cell",
      .to_save_memory =
          "keep fewer words with --max-vocab or a higher --min-count, or lower "
          "--window or --dim",
      .look_at = [](const std::string& source,
                    const std::string&) { return Look{Counts::is_file(source) ? 1.0 : 0.0}; },
      .reader = []() -> std::unique_ptr<DataReader> { return std::make_unique<ReadCounts>(); },
  };
  return kind;
}

}  // namespace counts

const DataKind& Counts::data_kind() { return counts::kind(); }

}  // namespace kith
