// SPDX-License-Identifier: Apache-2.0
#include "completion.h"

#include <algorithm>
#include <vector>

#include "commands.h"
#include "core/error.h"
#include "models/model.h"

namespace kith::cli {
namespace {

std::vector<FieldInfo> flags_of(const Command& c) {
  std::vector<FieldInfo> out;
  for (const Section& section : c.sections("")) {
    for (const FieldInfo& f : section.fields) {
      // Two models may have a setting of the same name.
      if (std::ranges::none_of(out, [&](const auto& o) { return o.name == f.name; })) {
        out.push_back(f);
      }
    }
  }
  return out;
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const Command* c : commands()) names.push_back(c->name);
  return fmt::format("{}", fmt::join(names, " "));
}

// Words that are not flags and not files, by command.
std::string words_for(const Command& c) {
  std::string out;
  if (c.name == "help") out = command_names() + " man completion bash zsh fish";
  for (const ModelInfo& m : models()) {
    const bool fits = c.name == "help" || (c.name == "train" && m.input != InputKind::kNone) ||
                      (c.name == "eval" && m.input == InputKind::kRatings);
    if (fits) out += ' ' + std::string(m.name);
  }
  return out;
}

std::string without(std::string_view text, std::string_view unwanted) {
  std::string out(text);
  std::erase_if(out, [&](char c) { return unwanted.find(c) != std::string_view::npos; });
  return out;
}

std::string bash() {
  std::string flags, choices, words;
  for (const Command* c : commands()) {
    std::string list = "--help";
    for (const FieldInfo& f : flags_of(*c)) {
      list += fmt::format(" --{}", f.name);
      if (!f.choices.empty()) {
        choices +=
            fmt::format("    {}:--{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                        c->name, f.name, fmt::join(f.choices, " "));
      }
    }
    flags +=
        fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", c->name, list);
    if (const std::string w = words_for(*c); !w.empty()) {
      words += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", c->name, w);
    }
  }
  return fmt::format(
      "# bash completion for kith; made by: kith help completion bash\n"
      "_kith() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}:$prev\" in\n{}  esac\n"
      "  if [[ \"$cur\" == -* ]]; then\n"
      "    case \"${{COMP_WORDS[1]}}\" in\n{}    esac\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
      "  COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
      "}}\n"
      "complete -o filenames -F _kith kith\n",
      command_names(), choices, flags, words);
}

std::string zsh() {
  std::string names, cases;
  for (const Command* c : commands()) {
    names += fmt::format("    '{}:{}'\n", c->name, without(c->summary, "':"));
    cases += fmt::format("    {})\n      _arguments \\\n        '--help[show help]' \\\n", c->name);
    for (const FieldInfo& f : flags_of(*c)) {
      const std::string value = f.is_flag ? ""
                                : !f.choices.empty()
                                    ? fmt::format(":value:({})", fmt::join(f.choices, " "))
                                    : ":value:_files";
      cases += fmt::format("        '--{}[{}]{}' \\\n", f.name, without(f.help, "'[]:"), value);
    }
    const std::string w = words_for(*c);
    cases += w.empty() ? "        '*:file:_files'\n      ;;\n"
                       : fmt::format("        '1:word:({})' '*:file:_files'\n      ;;\n", w);
  }
  return fmt::format(
      "#compdef kith\n# zsh completion for kith; made by: kith help completion zsh\n"
      "_kith() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "if [[ $funcstack[1] == _kith ]]; then _kith \"$@\"; else compdef _kith kith; fi\n",
      names, cases);
}

std::string fish() {
  std::string out = "# fish completion for kith; made by: kith help completion fish\n";
  for (const Command* c : commands()) {
    out += fmt::format("complete -c kith -n __fish_use_subcommand -f -a {} -d '{}'\n", c->name,
                       without(c->summary, "'"));
  }
  for (const Command* c : commands()) {
    const std::string when = fmt::format("-n '__fish_seen_subcommand_from {}'", c->name);
    for (const FieldInfo& f : flags_of(*c)) {
      const std::string value = f.is_flag ? ""
                                : !f.choices.empty()
                                    ? fmt::format(" -x -a '{}'", fmt::join(f.choices, " "))
                                    : " -r";
      out += fmt::format("complete -c kith {} -l {}{} -d '{}'\n", when, f.name, value,
                         without(f.help, "'"));
    }
    if (const std::string w = words_for(*c); !w.empty()) {
      out += fmt::format("complete -c kith {} -a '{}'\n", when, w);
    }
  }
  return out;
}

}  // namespace

std::string completion_for(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  throw Error(ErrorKind::kUsage, "completion is there for bash, zsh and fish; got {}", shell);
}

}  // namespace kith::cli
