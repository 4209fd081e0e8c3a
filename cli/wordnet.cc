// SPDX-License-Identifier: Apache-2.0
// WordNet's data files (wndb(5WN)): a line is one meaning, its words, its links, and after a bar
// its explanation with examples in quotes.
#include "wordnet.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/file.h"

namespace kith::cli {
namespace {

constexpr std::string_view kFolder = "/usr/share/wordnet/";

std::vector<std::string_view> split(std::string_view text, size_t most) {
  std::vector<std::string_view> out;
  for (size_t i = 0; i < text.size() && out.size() < most;) {
    const size_t end = std::min(text.find(' ', i), text.size());
    if (end > i) out.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return out;
}

// hot_dog -> hot dog; the mark of an adjective's place, as in galore(ip), goes.
std::string spelled(std::string_view lemma) {
  std::string out(lemma.substr(0, lemma.find('(')));
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

// The words of a meaning, or nothing for the lines of the licence and for what is not understood.
std::string words_of(std::string_view left) {
  constexpr size_t kCount = 3, kFirst = 4;  // fields: offset, file, kind, count, word, number, ...
  const auto head = split(left, kFirst);
  size_t count = 0;
  if (left.starts_with(' ') || head.size() < kFirst) return "";
  std::from_chars(head[kCount].data(), head[kCount].data() + head[kCount].size(), count, 16);
  const auto fields = split(left, kFirst + 2 * count);
  std::vector<std::string> words;
  for (size_t i = kFirst; i < fields.size(); i += 2) words.push_back(spelled(fields[i]));
  return fmt::format("{}", fmt::join(words, " "));
}

void add_line(std::string_view line, AtomicFile& out, WordNetText& result) {
  const size_t bar = line.find(" | ");
  if (bar == std::string_view::npos) return;
  const std::string words = words_of(line.substr(0, bar));
  if (words.empty()) return;
  std::string text = words + ' ' + std::string(line.substr(bar + 3));
  text.erase(text.find_last_not_of(" \r") + 1);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
  });
  text += '\n';
  out.write(text);
  ++result.synsets;
  result.bytes += text.size();
}

}  // namespace

WordNetText write_wordnet_text(const std::string& path) {
  WordNetText result;
  AtomicFile out(path);
  for (const char* kind : {"noun", "verb", "adj", "adv"}) {
    const std::string file = std::string(kFolder) + "data." + kind;
    if (!std::filesystem::exists(file)) {
      throw Error(ErrorKind::kIo,
                  "{}: not there; the demo reads WordNet, install it with: apt-get install "
                  "wordnet-base",
                  file);
    }
    const MappedFile mapped(file);
    std::string_view text(mapped.bytes().data(), mapped.bytes().size());
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      add_line(text.substr(0, end), out, result);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  out.commit();
  return result;
}

}  // namespace kith::cli
