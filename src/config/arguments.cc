// SPDX-License-Identifier: Apache-2.0
// Flags and what stands between them.
#include <charconv>

#include "config/names.h"
#include "core/error.h"

namespace kith {
namespace {

template <class T>
bool parse_all(std::string_view s, T& out) {
  const char* const end = s.data() + s.size();
  const auto [stop, error] = std::from_chars(s.data(), end, out);
  return error == std::errc{} && stop == end;
}

// What is typed for a text stays as it was typed: 007 and true are fine names.
Value parse_value(std::string_view s, const FieldInfo& info) {
  if (info.type == FieldType::kText || !info.choices.empty()) return std::string(s);
  if (s == "true" || s == "false") return s == "true";
  if (int64_t i; parse_all(s, i)) return i;
  if (double d; parse_all(s, d)) return d;
  return std::string(s);
}

std::string_view long_name(std::string_view flag) {
  if (flag == "-o") return "output";
  if (flag == "-h") return "help";
  if (flag == "-q") return "quiet";
  return "";
}

struct Flag {
  const FieldInfo* info;
  bool off;  // --no-...
  std::string name() const { return std::string(info->name); }
};

// What can be switched off.
std::vector<FieldGroup> switches(std::span<const FieldGroup> groups) {
  std::vector<FieldGroup> out(groups.begin(), groups.end());
  for (FieldGroup& group : out) {
    std::erase_if(group.fields, [](const FieldInfo& f) { return !f.is_flag(); });
  }
  return out;
}

// `text` is a flag with its dashes and without a value.
Flag find_flag(std::string_view text, std::span<const FieldGroup> groups) {
  const bool is_long = text.starts_with("--");
  const std::string name = with_dashes(is_long ? text.substr(2) : long_name(text));
  if (const FieldInfo* const info = find_field(name, groups)) return {info, false};
  if (name.starts_with("no-")) {
    const FieldInfo* const info = find_field(name.substr(3), groups);
    if (info && info->is_flag()) return {info, true};
    const std::string meant = correction(name.substr(3), switches(groups), "--no-");
    if (!meant.empty()) throw fault(ErrorKind::kUsage, "unknown flag {}{}", text, meant);
  }
  throw fault(ErrorKind::kUsage, "unknown flag {}{}", text,
              correction(text.substr(is_long ? 2 : 1), groups, "--"));
}

}  // namespace

Arguments parse_arguments(std::span<const std::string_view> args,
                          std::span<const FieldGroup> groups) {
  Arguments out;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--") {
      out.positional.insert(out.positional.end(), args.begin() + static_cast<ptrdiff_t>(i) + 1,
                            args.end());
      break;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      out.positional.emplace_back(arg);
      continue;
    }
    const size_t equals = arg.find('=');
    const std::string_view text = arg.substr(0, equals);
    const Flag flag = find_flag(text, groups);
    if (equals != std::string_view::npos) {
      if (flag.off) throw fault(ErrorKind::kUsage, "{} takes no value; got {}", text, arg);
      out.settings.push_back(
          {flag.name(), parse_value(arg.substr(equals + 1), *flag.info), "command line"});
    } else if (flag.info->is_flag()) {
      out.settings.push_back({flag.name(), !flag.off, "command line"});
    } else if (i + 1 == args.size() || args[i + 1].starts_with("--")) {
      // No text is meant to look like a flag; one that does is written with =.
      throw fault(ErrorKind::kUsage, "{} needs a value{}", text,
                  i + 1 == args.size() ? "" : fmt::format("; got {}", args[i + 1]));
    } else {
      out.settings.push_back({flag.name(), parse_value(args[++i], *flag.info), "command line"});
    }
  }
  return out;
}

}  // namespace kith
