// SPDX-License-Identifier: Apache-2.0
// Help and the man page, from the tables that the parser uses.
#include <algorithm>

#include "commands.h"
#include "completion.h"
#include "core/error.h"
#include "models/model.h"
#include "terminal.h"

namespace kith::cli {
namespace {

constexpr size_t kColumn = 27;  // where explanations of flags begin

struct NoOptions {
  static constexpr std::tuple<> fields{};
};

size_t help_width() { return std::clamp<size_t>(columns(Stream::kOut), 72, 96); }

std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  if (!out.ends_with('?')) out += '.';
  return out;
}

std::string usage_of(const Command& c) {
  const bool options = !c.sections("").empty() && !c.sections("").front().fields.empty();
  return fmt::format("kith {}{}{}{}", c.name, c.operands.empty() ? "" : " ", c.operands,
                     options ? " [options]" : "");
}

std::string default_of(const FieldInfo& f) {
  return f.is_flag || f.default_text.empty() ? "" : fmt::format(" [{}]", f.default_text);
}

std::string help_of(const Section& section) {
  std::string out = styled(Stream::kOut, Look::kBold, section.title) + "\n";
  for (const FieldInfo& f : section.fields) {
    const std::string flag = fmt::format("  --{}{}", f.name, f.is_flag ? "" : " " + f.type);
    out += flag;
    out += flag.size() + 1 < kColumn ? std::string(kColumn - flag.size(), ' ')
                                     : '\n' + std::string(kColumn, ' ');
    out += wrapped(std::string(f.help) + default_of(f), help_width(), kColumn) + '\n';
  }
  return out;
}

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  // A line that begins with one of these would be a command.
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string man_of(const Section& section) {
  std::string out;
  for (const FieldInfo& f : section.fields) {
    out += fmt::format(".TP\n.B \\-\\-{}{}\n{}\n", roff(f.name),
                       f.is_flag ? "" : fmt::format("\\fR \\fI{}\\fR", roff(f.type)),
                       roff(sentence(std::string(f.help) + default_of(f))));
  }
  return out;
}

std::string man_of(const Command& c) {
  std::string out = fmt::format(".SS {}\n.B {}\n.PP\n{}\n", roff(c.name), roff(usage_of(c)),
                                roff(sentence(c.summary)));
  if (!c.more.empty()) out += roff(c.more) + '\n';
  for (const Section& section : c.sections("")) {
    if (c.sections("").size() > 1) out += fmt::format(".PP\n{}:\n", roff(section.title));
    out += man_of(section);
  }
  out += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  for (const auto example : c.examples) out += roff(example) + '\n';
  return out + ".RE\n.fi\n";
}

std::string man_page() {
  std::string out = fmt::format(
      ".TH KITH 1 \"\" \"kith {}\" \"User Commands\"\n"
      ".SH NAME\nkith \\- learn vectors from data, and ask them\n"
      ".SH SYNOPSIS\n.B kith\n.I COMMAND\n[\\fIoptions\\fR] [\\fIarguments\\fR]\n"
      ".SH DESCRIPTION\nKith learns a vector for each word of a text from the company the word "
      "keeps, and answers what is like what.\nResults go to standard output, everything else to "
      "standard error.\n.SH COMMANDS\n",
      kVersion);
  for (const Command* c : commands()) out += man_of(*c);
  out +=
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\nDone.\n.TP\n.B 1\nThe input is wrong, or a file cannot be read or written.\n"
      ".TP\n.B 2\nThe command line is wrong.\n.TP\n.B 3\nInterrupted; a checkpoint was kept.\n"
      ".TP\n.B 4\nTraining diverged.\n.TP\n.B 5\nNot enough memory.\n"
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set, output has no colours.\n";
  return out;
}

int run_help(Args args) {
  NoOptions options;
  const std::vector<std::string> words = parse(args, options);
  if (words.empty()) {
    put_text(overview());
  } else if (words[0] == "man") {
    put_text(man_page());
  } else if (words[0] == "completion") {
    if (words.size() != 2) misused(kHelp, "completion needs a shell: bash, zsh or fish");
    put_text(completion_for(words[1]));
  } else if (std::ranges::any_of(models(), [&](const auto& m) { return m.name == words[0]; })) {
    const auto made = model(words[0]).make();
    put("{}: {}\n\n{}", words[0], model(words[0]).summary, help_of(made->settings()));
  } else {
    put_text(help_of(command(words[0]), words.size() > 1 ? words[1] : ""));
  }
  return kDone;
}

}  // namespace

std::string overview() {
  std::string out = fmt::format(
      "{} learns vectors for words from the company they keep,\nand answers what is like what.\n\n",
      styled(Stream::kOut, Look::kBold, fmt::format("kith {}", kVersion)));
  out += table({{"kith demo", "see it work, in seconds"},
                {"kith train corpus.txt", "learn from your text; writes corpus.kith"},
                {"kith near corpus.kith king", "what is like king?"}},
               "<<");
  out += fmt::format("\n{}\n", styled(Stream::kOut, Look::kBold, "Commands"));
  std::vector<std::vector<std::string>> rows;
  for (const Command* c : commands()) {
    rows.push_back({std::string(c->name), std::string(c->summary)});
  }
  return out + table(rows, "<<") +
         "\nkith COMMAND --help tells more, with examples. kith help man prints a man page,\n"
         "kith help completion bash|zsh|fish what makes a shell complete commands and flags.\n";
}

std::string help_of(const Command& c, std::string_view topic) {
  const auto bold = [](std::string_view s) { return styled(Stream::kOut, Look::kBold, s); };
  std::string out =
      bold(usage_of(c)) + "\n\n" + wrapped(sentence(c.summary), help_width(), 0) + '\n';
  if (!c.more.empty()) out += wrapped(c.more, help_width(), 0) + '\n';
  out += fmt::format("\n{}\n", bold("Examples"));
  for (const auto example : c.examples) out += fmt::format("  {}\n", example);
  for (const Section& section : c.sections(topic)) {
    if (!section.fields.empty()) out += '\n' + help_of(section);
  }
  return out;
}

void misused(const Command& command, std::string_view what) {
  throw Error(ErrorKind::kUsage, "{}; usage: {}", what, usage_of(command));
}

const Command kHelp{
    "help",
    "[COMMAND | MODEL | man | completion SHELL]",
    "explain a command or a model",
    {"kith help train", "kith help man | man -l -",
     "kith help completion bash > /etc/bash_completion.d/kith"},
    "",
    sections_of<NoOptions>,
    run_help,
};

}  // namespace kith::cli
