// SPDX-License-Identifier: Apache-2.0
// Flags are completed for a command, and where a model is named behind it for that model.
#include "completion.h"

#include <algorithm>
#include <vector>

#include "commands.h"
#include "terminal.h"

namespace kith::cli {
namespace {

// Something that can be told: --biases, or --no-biases if it is on anyway.
struct Flag {
  std::string name;
  bool takes_value;
  std::vector<std::string_view> choices;
  std::string_view help;
};

std::vector<Flag> flags_of(const std::vector<FieldGroup>& groups) {
  std::vector<Flag> out;
  for (const FieldGroup& group : groups) {
    for (const FieldInfo& f : group.fields) {
      out.push_back({std::string(f.name), !f.is_flag(), f.choices, f.help});
      if (can_be_turned_off(f)) {
        out.push_back({fmt::format("no-{}", f.name), false, {}, f.help});
      }
    }
  }
  return out;
}

// A command, and a model where it takes one: what may be told there.
struct Place {
  const Command* command;
  std::string_view model;
  std::vector<Flag> flags;
};

std::vector<std::string_view> models_for(const Command& c) {
  std::vector<std::string_view> out;
  for (const ModelDescription& m : available_models()) {
    if (c.takes && c.takes(m)) out.push_back(m.name);
  }
  return out;
}

// Where no model is named yet: those of all that could be.
std::vector<Flag> all_flags(const Command& c) {
  std::vector<Flag> out = flags_of(c.groups(""));
  for (const std::string_view m : models_for(c)) {
    for (Flag& f : flags_of(c.groups(m))) {
      if (std::ranges::find(out, f.name, &Flag::name) == out.end()) out.push_back(std::move(f));
    }
  }
  return out;
}

std::vector<Place> places() {
  std::vector<Place> out;
  for (const Command* c : commands()) {
    for (const std::string_view m : models_for(*c)) out.push_back({c, m, flags_of(c->groups(m))});
    out.push_back({c, "", all_flags(*c)});
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
  if (&c != &kHelp) return fmt::format("{}", fmt::join(models_for(c), " "));
  std::string out = command_names() + " man completion bash zsh fish";
  for (const ModelDescription& m : available_models()) out += ' ' + std::string(m.name);
  return out;
}

std::string all_model_names() {
  std::string out;
  for (const ModelDescription& m : available_models()) {
    out += (out.empty() ? "" : "|") + std::string(m.name);
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
  for (const Place& p : places()) {
    const std::string where = fmt::format("{}:{}", p.command->name, p.model);
    std::string list = "--help";
    for (const Flag& f : p.flags) {
      list += " --" + f.name;
      if (f.choices.empty()) continue;
      choices += fmt::format("    {}:--{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                             where, f.name, fmt::join(f.choices, " "));
    }
    flags += fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", where, list);
  }
  for (const Command* c : commands()) {
    if (const std::string w = words_for(*c); !w.empty()) {
      words += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", c->name, w);
    }
  }
  return fmt::format(
      "# bash completion for kith; made by: kith help completion bash\n"
      "_kith() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"${{COMP_WORDS[1]}}\" model= word\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command\" in train|tune|eval)\n"
      "    for word in \"${{COMP_WORDS[@]:2:COMP_CWORD-2}}\"; do\n"
      "      case \"$word\" in {}) model=\"$word\"; break ;; esac\n"
      "    done ;;\n"
      "  esac\n"
      "  case \"$command:$model:$prev\" in\n{}  esac\n"
      "  if [[ \"$cur\" == -* ]]; then\n"
      "    case \"$command:$model\" in\n{}    esac\n"
      "    return\n"
      "  fi\n"
      "  case \"$command\" in\n{}  esac\n"
      "  COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
      "}}\n"
      "complete -o filenames -F _kith kith\n",
      command_names(), all_model_names(), choices, flags, words);
}

std::string zsh() {
  std::string names, cases;
  for (const Command* c : commands()) {
    names += fmt::format("    '{}:{}'\n", c->name, without(c->summary, "':"));
  }
  for (const Place& p : places()) {
    cases += fmt::format("    {}:{})\n      _arguments \\\n        '--help[show help]' \\\n",
                         p.command->name, p.model);
    for (const Flag& f : p.flags) {
      const std::string value = !f.takes_value ? ""
                                : !f.choices.empty()
                                    ? fmt::format(":value:({})", fmt::join(f.choices, " "))
                                    : ":value:_files";
      cases += fmt::format("        '--{}[{}]{}' \\\n", f.name, without(f.help, "'[]:"), value);
    }
    const std::string w = words_for(*p.command);
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
      "  local command=$words[2] model= word\n"
      "  case $command in train|tune|eval)\n"
      "    for word in $words[3,CURRENT-1]; do\n"
      "      case $word in {}) model=$word; break ;; esac\n"
      "    done ;;\n"
      "  esac\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command:$model in\n{}  esac\n"
      "}}\n"
      "if [[ $funcstack[1] == _kith ]]; then _kith \"$@\"; else compdef _kith kith; fi\n",
      names, all_model_names(), cases);
}

std::string fish() {
  std::string out = "# fish completion for kith; made by: kith help completion fish\n";
  for (const Command* c : commands()) {
    out += fmt::format("complete -c kith -n __fish_use_subcommand -f -a {} -d '{}'\n", c->name,
                       without(c->summary, "'"));
  }
  for (const Place& p : places()) {
    std::string when = fmt::format("__fish_seen_subcommand_from {}", p.command->name);
    const auto models = models_for(*p.command);
    if (!p.model.empty()) {
      when += fmt::format("; and __fish_seen_subcommand_from {}", p.model);
    } else if (!models.empty()) {
      when += fmt::format("; and not __fish_seen_subcommand_from {}", fmt::join(models, " "));
    }
    for (const Flag& f : p.flags) {
      const std::string value = !f.takes_value ? ""
                                : !f.choices.empty()
                                    ? fmt::format(" -x -a '{}'", fmt::join(f.choices, " "))
                                    : " -r";
      out += fmt::format("complete -c kith -n '{}' -l {}{} -d '{}'\n", when, f.name, value,
                         without(f.help, "'"));
    }
    const std::string w = words_for(*p.command);
    if (p.model.empty() && !w.empty()) {
      out += fmt::format("complete -c kith -n '{}' -a '{}'\n", when, w);
    }
  }
  return out;
}

}  // namespace

std::string completion_for(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  throw Error(ErrorKind::kUsage,
              fmt::format("completion is there for bash, zsh and fish; got {}", shell));
}

}  // namespace kith::cli
