// SPDX-License-Identifier: Apache-2.0
#include "train_report.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error.h"

namespace kith::cli {
namespace {

constexpr size_t kColumn = 9;  // where the text after a label begins

double seconds_between(std::chrono::steady_clock::time_point a,
                       std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// Share of the words at the start of a file that carry capitals or punctuation.
double untidy_share(std::span<const char> bytes) {
  uint64_t words = 0, untidy = 0;
  bool inside = false, plain = true;
  for (const char byte : bytes) {
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
  return words ? static_cast<double>(untidy) / static_cast<double>(words) : 0;
}

}  // namespace

std::string labelled(std::string_view label, std::string_view text) {
  const std::string gap(kColumn - std::min(kColumn, label.size()), ' ');
  // A log is for tools, too: one line stays one line.
  const size_t width = is_terminal(Stream::kErr) ? std::min<size_t>(columns(Stream::kErr), 100)
                                                 : std::numeric_limits<size_t>::max();
  return styled(Stream::kErr, Look::kBold, label) + gap + wrapped(text, width, kColumn);
}

void report_choice(const std::string& path, const ModelInfo& chosen, const CorpusOptions& options,
                   Status& status) {
  std::error_code none;
  const std::string shown = path == "-" ? "standard input" : shown_source(path);
  const std::string_view kind = chosen.input == InputKind::kTable     ? "a table"
                                : chosen.input == InputKind::kRatings ? "ratings"
                                                                      : "text";
  status.line(labelled("see", fmt::format("{}: {}, so the model is {} ({})", printable(shown), kind,
                                          chosen.name, chosen.summary)));
  if (chosen.input != InputKind::kText) return;
  // A pipe can be read only once.
  if (!std::filesystem::is_regular_file(path, none)) return;
  if (options.tokens == Tokens::kSpaces && untidy_share(open_source(path)->next()) > 0.1) {
    status.line(labelled("hint",
                         "many words carry capitals or punctuation; with --tokens words, "
                         "King, and king are one word"));
  }
}

void report_corpus(const Corpus& corpus, const TrainPlan& plan, double seconds, Status& status) {
  const CorpusOptions& options = plan.corpus;
  const CorpusProfile& p = corpus.profile();
  std::string which = options.min_count > 1
                          ? fmt::format("seen {} times or more", options.min_count)
                          : "all that were seen";
  if (options.max_vocab) {
    which += fmt::format(", at most {}", grouped(static_cast<uint64_t>(options.max_vocab)));
  }
  if (plan.base) which += fmt::format(", or known to {}", plan.run.from);
  const size_t vocabulary = corpus.vocabulary().words.size();
  status.line(labelled(
      "read", fmt::format("{} in {} ({}/s): {} on {}, {} distinct; the longest line has {}",
                          in_bytes(static_cast<double>(p.bytes)), in_time(seconds),
                          in_bytes(static_cast<double>(p.bytes) / std::max(seconds, 1e-9)),
                          count_of(p.tokens, "word"), count_of(p.lines, "line"), grouped(p.types),
                          count_of(p.longest_line, "word"))));
  status.line(labelled(
      "keep", fmt::format("{} ({}), {:.1f} % of the text; {:.1f} % is dropped",
                          count_of(vocabulary, "distinct word"), which, percent(p.kept, p.tokens),
                          percent(p.tokens - p.kept, p.tokens))));
  if (p.invalid_utf8) {
    status.line(labelled(
        "note",
        fmt::format(
            "{} with bytes that are not UTF-8 ({})", count_of(p.invalid_utf8, "word"),
            detail::show(options.invalid_utf8) == "drop" ? "dropped" : "the bytes became U+FFFD")));
  }
  if (p.too_long) {
    status.line(labelled("note", fmt::format("{} longer than {} bytes, dropped",
                                             count_of(p.too_long, "word"), options.max_word)));
  }
  const auto held_out = static_cast<uint64_t>(
      std::ranges::count_if(corpus.held_out(), [](WordId w) { return w != kSentenceEnd; }));
  status.line(labelled("train", fmt::format("on {} per epoch; {} held out to score the model",
                                            count_of(corpus.words(), "word"),
                                            held_out ? grouped(held_out) : "none")));
}

TrainReport::TrainReport(Status& status, std::string_view unit, uint64_t size, bool resumed)
    : status_(status), unit_(unit), size_(size), started_(!resumed) {}

void TrainReport::update(const Progress& p) {
  last_ = Clock::now();
  if (!started_) {
    started_ = true;
    start_ = last_;
    first_done_ = done_ = p.done;
  }
  add_loss(p);
  done_ = p.done;
  total_ = p.total;
  if (p.held_out) {
    held_out_ = p.held_out;
    if (!first_held_out_) first_held_out_ = p.held_out;
  }
  kept_ = kept_ || p.kept;
  if (p.kept) {
    const std::string epoch =
        p.epoch > 0 ? fmt::format("epoch {}", p.epoch) : std::string("the start, before epoch 1");
    status_.line(labelled(
        "kept", fmt::format("{}{}, the best: held-out {:.4f}",
                            p.note ? fmt::format("{}; ", p.note) : "", epoch, *p.held_out)));
    return;
  }
  if (p.note) status_.line(labelled("note", p.note));
  if (p.epoch_done) {
    epoch_loss_ = loss_weight_ > 0 ? loss_sum_ / loss_weight_ : p.loss;
    status_.line("  " + text_of(p));
    loss_sum_ = loss_weight_ = 0;
  } else if (status_.due()) {
    status_.show(static_cast<double>(p.done) / static_cast<double>(std::max<uint64_t>(1, p.total)),
                 text_of(p));
  }
}

void TrainReport::add_loss(const Progress& p) {
  if (p.done < done_) loss_sum_ = loss_weight_ = 0;  // rolled back
  // After a rollback, or in a second run, the count begins again; the work does not.
  work_ += p.done > done_ ? p.done - done_ : p.done < done_ ? p.done : 0;
  if (p.done > done_) {
    const auto weight = static_cast<double>(p.done - done_);
    loss_sum_ += p.loss * weight;
    loss_weight_ += weight;
  }
}

double TrainReport::loss() const {
  return loss_weight_ > 0 ? loss_sum_ / loss_weight_ : epoch_loss_;
}

double TrainReport::epochs_done() const {
  if (total_ == 0 || done_ < first_done_) return 0;
  return static_cast<double>(done_ - first_done_) / static_cast<double>(total_) * epochs();
}

double TrainReport::per_second() const {
  const double seconds = seconds_between(start_, last_);
  return seconds > 0 ? static_cast<double>(work_) / seconds : 0;
}

std::string TrainReport::text_of(const Progress& p) const {
  const auto last = std::lround(epochs());
  const size_t width = fmt::formatted_size("{}", last);
  std::string out = fmt::format("epoch {:>{}}/{}  loss {:.4f}", p.epoch, width, last, loss());
  if (held_out_ && !kept_) out += fmt::format("  held-out {:.4f}", *held_out_);
  if (p.lr > 0) out += fmt::format("  lr {:.4f}", p.lr);  // closed forms have none
  const double rate = per_second();
  if (rate > 0) {
    out += fmt::format("  {} {}s/s", rate_of(rate), unit_);
    const double left = static_cast<double>(p.total - std::min(p.done, p.total)) /
                        static_cast<double>(std::max<uint64_t>(1, p.total)) * epochs() *
                        static_cast<double>(size_) / rate;
    if (p.done < p.total) out += fmt::format("  {} left", in_time(left));
  }
  return out;
}

}  // namespace kith::cli
