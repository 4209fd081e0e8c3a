// SPDX-License-Identifier: Apache-2.0
#include "narrator.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "commands.h"
#include "kith/text.h"

namespace kith::cli {
namespace {

constexpr size_t kColumn = 9;  // where the text after a label begins
constexpr size_t kLogWidth = 160;
constexpr int kLogEpochs = 20;  // lines of them, about

std::string columns_table(const std::vector<ColumnSummary>& columns) {
  std::vector<std::vector<std::string>> rows{{"column", "type", "values", "missing", "examples"}};
  for (const ColumnSummary& c : columns) {
    const std::string examples = fmt::format("{}", fmt::join(c.examples, " / "));
    const double missing = static_cast<double>(c.missing) / static_cast<double>(c.rows);
    rows.push_back({printable(c.name), c.type, grouped(c.distinct),
                    c.missing ? fmt::format("{:.1f} %", 100 * missing) : "-", printable(examples)});
  }
  return table(rows, "<<>><");
}

std::string read_line(const Profile& e) {
  const auto bytes = static_cast<double>(e.bytes);
  if (e.bytes == 0) return fmt::format("{} ({})", e.summary, in_time(e.seconds));
  std::string what = in_bytes(bytes) + " in " + in_time(e.seconds);
  // What takes no time has no speed.
  if (e.seconds >= 0.01) what += fmt::format(" ({}/s)", in_bytes(bytes / e.seconds));
  return fmt::format("{}: {}", what, e.summary);
}

std::string training_line(const Training& e) {
  const size_t width = fmt::formatted_size("{}", e.epochs);
  std::string out = fmt::format("epoch {:>{}}/{}  loss {:.4f}", e.epoch, width, e.epochs, e.loss);
  if (e.held_out) out += fmt::format("  held-out {:.4f}", *e.held_out);
  if (e.lr > 0) out += fmt::format("  lr {:.4f}", e.lr);  // closed forms have none
  if (e.per_second > 0) {
    out += fmt::format("  {} {}s/s", rate_of(e.per_second), e.unit);
    if (e.done < e.total) out += fmt::format("  {} left", in_time(e.seconds_left));
  }
  return out;
}

// A log of hundreds of epochs shows the first, the last and some in between; one that a program
// reads shows all.
bool is_logged(const Training& e) {
  if (is_terminal(Stream::kErr) || json_wanted || e.epochs <= kLogEpochs) return true;
  const int64_t epoch = e.epoch, lines = kLogEpochs;
  return epoch == 1 || epoch >= e.epochs ||
         epoch * lines / e.epochs != (epoch - 1) * lines / e.epochs;
}

}  // namespace

std::string labelled(std::string_view label, std::string_view text) {
  const std::string gap(kColumn - std::min(kColumn, label.size()), ' ');
  // A log is for tools, too: one line stays one line.
  const size_t width = is_terminal(Stream::kErr) ? std::min<size_t>(columns(Stream::kErr), 100)
                                                 : std::numeric_limits<size_t>::max();
  return styled(Stream::kErr, Look::kBold, label) + gap + wrapped(text, width, kColumn);
}

void Narrator::on(const Note& e) {
  const std::string text = printable(e.text);
  switch (e.level) {
    case Note::Level::kWarning:
      return status_.warning("warning: " + text);
    case Note::Level::kHint:
      return status_.line(labelled("hint", text));
    case Note::Level::kNote:
      return status_.line(labelled("note", text));
  }
}

void Narrator::on(const Choice& e) {
  const std::string why = e.why.empty() ? "" : " (" + printable(e.why) + ")";
  status_.line(labelled("see", fmt::format("{}: {}{}, so the model is {} ({})", printable(e.source),
                                           e.data, why, e.model, e.summary)));
}

void Narrator::on(const Reading& e) {
  if (!status_.due()) return;
  const auto size = static_cast<double>(e.bytes);
  status_.show(e.share, fmt::format("reading  {}  {}/s", in_bytes(size),
                                    in_bytes(size / std::max(e.seconds, 1e-9))));
}

void Narrator::on(const Profile& e) {
  if (!e.columns.empty()) {
    std::istringstream lines(columns_table(e.columns));
    for (std::string line; std::getline(lines, line);) {
      // A column of examples may be long; a terminal line is not.
      const size_t width = is_terminal(Stream::kErr) ? columns(Stream::kErr) : kLogWidth;
      status_.line(shortened(line, width));
    }
  }
  status_.line(labelled("read", read_line(e)));
  for (const auto& [label, text] : e.lines) status_.line(labelled(label, printable(text)));
  for (const Note& note : e.notes) on(note);
}

void Narrator::on(const Memory& e) {
  const std::string need = in_bytes(static_cast<double>(e.needed));
  status_.line(labelled("memory", !e.limit ? fmt::format("about {}", need)
                                           : fmt::format("about {} of {} {}", need,
                                                         in_bytes(static_cast<double>(*e.limit)),
                                                         e.asked ? "allowed" : "available")));
}

void Narrator::on(const Training& e) {
  if (e.kept) {
    const std::string epoch =
        e.epoch > 0 ? fmt::format("epoch {}", e.epoch) : "the start, before epoch 1";
    status_.line(labelled(
        "kept", fmt::format("{}{}, the best: held-out {:.4f}", e.note.empty() ? "" : e.note + "; ",
                            epoch, e.held_out.value_or(0))));
    return;
  }
  if (!e.note.empty()) status_.line(labelled("note", e.note));
  if (e.epoch_done && is_logged(e)) {
    status_.line("  " + training_line(e));
  } else if (status_.due()) {
    status_.show(static_cast<double>(e.done) / static_cast<double>(std::max<uint64_t>(1, e.total)),
                 training_line(e));
  }
}

void Narrator::on(const Checkpoint& e) {
  if (e.failure.empty()) return;
  status_.warning("warning: this checkpoint could not be written: " + e.failure);
}

void Narrator::on(const Examples& e) {
  status_.clear();
  if (e.vectors == 0) return;
  if (e.zero) status_.warning(fmt::format("warning: {} of {} vectors are zero", e.zero, e.vectors));
  status_.line(labelled("check", fmt::format("all {} are finite{}{}", count_of(e.vectors, "vector"),
                                             e.zero ? "" : " and none is zero",
                                             e.near.empty() ? "" : "; for example")));
  for (const Examples::Near& n : e.near) {
    status_.line(
        labelled("", printable(fmt::format("{} is near {}", n.name, fmt::join(n.to, ", ")))));
  }
}

void Narrator::on(const Attempt& e) {
  if (e.better) {
    status_.line(labelled("better", fmt::format("run {}: {}", e.number, e.text)));
  } else if (status_.due() && e.total == 1) {
    status_.show(e.share, e.text);
  } else if (status_.due()) {
    status_.show(e.share, fmt::format("run {}{}  {}", e.number,
                                      e.total ? fmt::format(" of {}", e.total) : "", e.text));
  }
}

}  // namespace kith::cli
