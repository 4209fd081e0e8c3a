// SPDX-License-Identifier: Apache-2.0
// Help and the man page, from the tables that the parser uses.
#include <algorithm>

#include "commands.h"
#include "completion.h"
#include "kith/version.h"
#include "terminal.h"

namespace kith::cli {
namespace {

constexpr size_t kColumn = 27;  // where explanations of flags begin

size_t help_width() { return std::clamp<size_t>(columns(Stream::kOut), 72, 96); }

std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  if (!out.ends_with('?')) out += '.';
  return out;
}

bool has_options(const Command& c) {
  return std::ranges::any_of(c.groups(""), [](const FieldGroup& g) { return !g.fields.empty(); });
}

std::string usage_of(const Command& c) {
  return fmt::format("kith {}{}{}{}", c.name, c.operands.empty() ? "" : " ", c.operands,
                     has_options(c) ? " [options]" : "");
}

// "--dim int", "--[no-]biases"
std::string flag_text(const FieldInfo& f) {
  if (!f.is_flag()) return fmt::format("--{} {}", f.name, f.type_text());
  return fmt::format("--{}{}", can_be_turned_off(f) ? "[no-]" : "", f.name);
}

std::string default_of(const FieldInfo& f) {
  if (f.is_flag() && f.default_text != "auto") return can_be_turned_off(f) ? " [on]" : "";
  if (f.default_text == "auto" && !f.automatic.empty()) {
    const bool on = f.is_flag() && f.automatic == "true";
    return fmt::format(" [{}]", on ? "on" : f.automatic);
  }
  return f.default_text.empty() ? "" : fmt::format(" [{}]", f.default_text);
}

std::string help_of(const FieldGroup& group) {
  std::string out = styled(Stream::kOut, Look::kBold, group.title) + "\n";
  for (const FieldInfo& f : group.fields) {
    const std::string flag = "  " + flag_text(f);
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

std::string man_of(const FieldGroup& group) {
  std::string out;
  for (const FieldInfo& f : group.fields) {
    out += fmt::format(".TP\n.B {}\n{}\n", roff(flag_text(f)),
                       roff(sentence(std::string(f.help) + default_of(f))));
  }
  return out;
}

std::string man_of(const Command& c) {
  std::string out = fmt::format(".SS {}\n.B {}\n.PP\n{}\n", roff(c.name), roff(usage_of(c)),
                                roff(sentence(c.summary)));
  if (!c.more.empty()) out += roff(c.more) + '\n';
  const std::vector<FieldGroup> groups = c.groups("");
  for (const FieldGroup& group : groups) {
    if (groups.size() > 1) out += fmt::format(".PP\n{}:\n", roff(group.title));
    out += man_of(group);
  }
  out += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  for (const auto example : c.examples) out += roff(example) + '\n';
  return out + ".RE\n.fi\n";
}

std::string man_of(const ModelDescription& m) {
  return fmt::format(".SS {}\n{}\n", roff(m.name), roff(sentence(m.summary))) + man_of(m.settings);
}

std::string man_page() {
  std::string out = fmt::format(
      ".TH KITH 1 \"\" \"kith {}\" \"User Commands\"\n.SH NAME\nkith \\- learn vectors from data, "
      "and query them\n.SH SYNOPSIS\n.B kith\n.I COMMAND\n[\\fIoptions\\fR] "
      "[\\fIarguments\\fR]\n.SH DESCRIPTION\nKith learns vectors for the words of a text, the rows "
      "and values of a table, the users and items of ratings, and finds what is alike.\nResults go "
      "to standard output, everything else to standard error.\n.SH COMMANDS\n",
      kVersion);
  for (const Command* c : commands()) out += man_of(*c);
  out += ".SH DATA\n";
  for (const std::string_view kind : available_data()) {
    out += fmt::format(".SS {}\n", roff(kind));
    for (const FieldGroup& group : data_settings(kind)) out += man_of(group);
  }
  out += ".SH MODELS\n";
  for (const ModelDescription& m : available_models()) out += man_of(m);
  out +=
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\nDone.\n.TP\n.B 1\nThe input is wrong, or a file cannot be read or written.\n"
      ".TP\n.B 2\nThe command line is wrong.\n"
      ".TP\n.B 3\nInterrupted; if training had begun, a checkpoint was kept.\n"
      ".TP\n.B 4\nTraining diverged.\n.TP\n.B 5\nNot enough memory.\n"
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set, output has no colours.\n";
  return out;
}

std::string help_of(const ModelDescription& m) {
  std::string out = fmt::format("{}: {}\n", m.name, m.summary);
  if (!m.settings.fields.empty()) out += '\n' + help_of(m.settings);
  if (!m.data.empty()) {
    out += fmt::format("\nkith train {} --help shows all options of training.\n", m.name);
  }
  return out;
}

int run_help(Args args) {
  Nothing options;
  const std::vector<std::string> words = parse(args, options);
  if (words.empty()) {
    put_text(overview());
  } else if (words[0] == "man") {
    put_text(man_page());
  } else if (words[0] == "completion") {
    if (words.size() != 2) misused(kHelp, "completion needs a shell: bash, zsh or fish");
    put_text(completion_for(words[1]));
  } else if (is_model(words[0])) {
    put_text(help_of(describe_model(words[0])));
  } else {
    put_text(help_of(command(words[0]), words.size() > 1 ? words[1] : ""));
  }
  return kDone;
}

}  // namespace

std::string overview() {
  std::string out = fmt::format(
      "{} learns vectors for words, for the rows and values of tables,\nfor users and items, from "
      "what they occur with, and finds what is alike.\n\n",
      styled(Stream::kOut, Look::kBold, fmt::format("kith {}", kVersion)));
  out += table({{"kith demo", "see it work, in seconds"},
                {"kith train corpus.txt", "learn from a text; writes corpus.kith"},
                {"kith train films.csv", "learn from a table; writes films.kith"},
                {"kith train ratings.csv", "learn from ratings; writes ratings.kith"},
                {"kith near corpus.kith king", "what is like king?"}},
               "<<");
  out += fmt::format("\n{}\n", styled(Stream::kOut, Look::kBold, "Commands"));
  std::vector<std::vector<std::string>> rows;
  for (const Command* c : commands()) {
    rows.push_back({std::string(c->name), std::string(c->summary)});
  }
  return out + table(rows, "<<") +
         "\nkith COMMAND --help shows options and examples. kith help man prints a man page,\nkith "
         "help completion bash|zsh|fish a script that completes commands and flags.\n";
}

std::string help_of(const Command& c, std::string_view model) {
  const auto bold = [](std::string_view s) { return styled(Stream::kOut, Look::kBold, s); };
  const bool taken = !model.empty() && c.takes && c.takes(describe_model(model));
  std::string out =
      bold(usage_of(c)) + "\n\n" + wrapped(sentence(c.summary), help_width(), 0) + '\n';
  if (!c.more.empty()) out += wrapped(c.more, help_width(), 0) + '\n';
  out += fmt::format("\n{}\n", bold("Examples"));
  for (const auto example : c.examples) out += fmt::format("  {}\n", example);
  for (const FieldGroup& group : c.groups(taken ? model : "")) {
    if (!group.fields.empty()) out += '\n' + help_of(group);
  }
  if (c.takes && !taken) {
    std::vector<std::string_view> names;
    for (const ModelDescription& m : available_models()) {
      if (c.takes(m)) names.push_back(m.name);
    }
    out += '\n' +
           wrapped(fmt::format("Each model and its data have more options: kith {} MODEL --help, "
                               "with MODEL one of {}.",
                               c.name, fmt::join(names, ", ")),
                   help_width(), 0) +
           '\n';
  }
  return out;
}

void misused(const Command& command, std::string_view what) {
  throw Error(ErrorKind::kUsage, fmt::format("{}; usage: {}", what, usage_of(command)));
}

const Command kHelp{
    "help",
    "[COMMAND [MODEL] | MODEL | man | completion SHELL]",
    "explain a command or a model",
    {"kith help train word2vec", "kith help man | man -l -",
     "kith help completion bash > ~/.local/share/bash-completion/completions/kith"},
    "",
    groups_for<Nothing>,
    run_help,
};

}  // namespace kith::cli
