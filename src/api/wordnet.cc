// SPDX-License-Identifier: Apache-2.0
// WordNet's data files (wndb(5WN)): a line is one meaning with its words, its links to other
// meanings, and after a bar its explanation with examples in quotes.
#include "kith/wordnet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <fstream>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "kith/files.h"

namespace kith {
namespace {

constexpr size_t kBroaderWords = 2;  // of each broader meaning; more would drown the rest

// The files that WordNet was written in, by number (lexnames(5WN)): a rough division by subject.
constexpr std::array<std::string_view, 45> kCategories{
    "all",      "pert",       "adverb",        "Tops",        "act",           "animal",
    "artifact", "attribute",  "body",          "cognition",   "communication", "event",
    "feeling",  "food",       "group",         "location",    "motive",        "object",
    "person",   "phenomenon", "plant",         "possession",  "process",       "quantity",
    "relation", "shape",      "state",         "substance",   "time",          "body",
    "change",   "cognition",  "communication", "competition", "consumption",   "contact",
    "creation", "emotion",    "motion",        "perception",  "possession",    "social",
    "stative",  "weather",    "participle"};

struct Meaning {
  size_t category = 0;
  std::vector<std::string> words;
  std::vector<std::string> broader;  // keys of meanings: "n02084071"
  std::string_view text;
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    if (end > i) out.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return out;
}

size_t number(std::string_view text, int base) {
  size_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out, base);
  return out;
}

// hot_dog -> hot dog; the mark of an adjective's place, as in galore(ip), goes.
std::string spelled(std::string_view lemma) {
  std::string out(lemma.substr(0, lemma.find('(')));
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

// Fields: offset, file, kind, count of words (hexadecimal), word and number for each, count of
// links (decimal), symbol, offset, kind and place for each. A link that is called @ or @i leads to
// what this is a kind, or an instance, of. No words if the line is the licence's or is damaged.
Meaning parse(std::string_view line) {
  Meaning out;
  const size_t bar = line.find(" | ");
  if (line.starts_with(' ') || bar == std::string_view::npos) return out;
  const auto fields = split(line.substr(0, bar));
  const size_t words = fields.size() > 4 ? number(fields[3], 16) : 0;
  const size_t links_at = 4 + 2 * words;
  if (words == 0 || links_at >= fields.size()) return out;
  out.category = number(fields[1], 10);
  for (size_t i = 4; i < links_at; i += 2) out.words.push_back(spelled(fields[i]));
  const size_t end = links_at + 1 + 4 * number(fields[links_at], 10);
  for (size_t i = links_at + 1; i + 4 <= std::min(end, fields.size()); i += 4) {
    if (fields[i].starts_with('@')) {
      out.broader.push_back(fmt::format("{}{}", fields[i + 2], fields[i + 1]));
    }
  }
  out.text = line.substr(bar + 3);
  return out;
}

// All meanings by key, in the order of the files, which must outlive them.
class Dictionary {
 public:
  void add(char kind, std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      Meaning meaning = parse(text.substr(0, end));
      if (!meaning.words.empty()) {
        numbers_.emplace(kind + std::string(text.substr(0, text.find(' '))), meanings_.size());
        meanings_.push_back(std::move(meaning));
        kinds_.push_back(kind);
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  size_t size() const { return meanings_.size(); }

  // dog|domestic dog|Canis familiaris,noun,animal,canine|domestic animal,"a member of the genus
  // ..."
  std::string row(size_t i) const {
    const Meaning& m = meanings_[i];
    std::vector<std::string> broader;
    for (const std::string& key : m.broader) {
      const auto found = numbers_.find(key);
      if (found != numbers_.end()) broader.push_back(meanings_[found->second].words[0]);
    }
    const std::string_view part = kinds_[i] == 'n'   ? "noun"
                                  : kinds_[i] == 'v' ? "verb"
                                  : kinds_[i] == 'r' ? "adverb"
                                                     : "adjective";
    std::string gloss(m.text.substr(0, m.text.find("; \"")));
    std::erase_if(gloss, [](char c) { return c == '"' || c == '\r'; });
    const std::string_view category =
        m.category < kCategories.size() ? kCategories[m.category] : "";
    return fmt::format("\"{}\",{},{},\"{}\",\"{}\"\n", fmt::join(m.words, "|"), part, category,
                       fmt::join(broader, "|"), gloss);
  }

  // Its words, then what it is a kind of, then the explanation and the examples, in lower case.
  std::string line(size_t i) const {
    const Meaning& m = meanings_[i];
    std::string out = fmt::format("{}", fmt::join(m.words, " "));
    for (const std::string& key : m.broader) {
      const auto found = numbers_.find(key);
      if (found == numbers_.end()) continue;
      const auto& words = meanings_[found->second].words;
      for (size_t w = 0; w < std::min(words.size(), kBroaderWords); ++w)
        out.append(" ").append(words[w]);
    }
    out.append(" ").append(m.text);
    out.erase(out.find_last_not_of(" \r") + 1);
    for (char& c : out) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out + '\n';
  }

 private:
  std::vector<Meaning> meanings_;
  std::vector<char> kinds_;
  std::unordered_map<std::string, size_t> numbers_;
};

// Writes `head`, then line(dictionary, i) for each meaning.
template <class Line>
WordNetFile write(const std::string& path, const std::string& folder, std::string_view head,
                  const Line& line_of) {
  std::deque<std::string> files;
  Dictionary dictionary;
  for (const auto& [name, kind] :
       {std::pair{"noun", 'n'}, {"verb", 'v'}, {"adj", 'a'}, {"adv", 'r'}}) {
    const std::string file = fmt::format("{}/data.{}", folder, name);
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      throw Error(ErrorKind::kIo,
                  fmt::format("{}: not there; the demo reads WordNet, install it with: apt-get "
                              "install wordnet-base",
                              file));
    }
    std::ostringstream text;
    text << in.rdbuf();
    files.push_back(std::move(text).str());
    dictionary.add(kind, files.back());
  }
  WordNetFile result{.meanings = dictionary.size()};
  OutputFile out(path);
  out.write(head);
  for (size_t i = 0; i < dictionary.size(); ++i) {
    const std::string line = line_of(dictionary, i);
    out.write(line);
    result.bytes += line.size();
  }
  out.commit();
  return result;
}

}  // namespace

WordNetFile write_wordnet_text(const std::string& path, const std::string& folder) {
  return write(path, folder, "", [](const Dictionary& d, size_t i) { return d.line(i); });
}

WordNetFile write_wordnet_table(const std::string& path, const std::string& folder) {
  // The files are sorted by subject; what the columns are is seen from the first rows, so mix them.
  // Steps of a prime that divides no number of meanings near this one visit each once.
  constexpr size_t kPrime = 1000003;
  return write(path, folder, "words,part,category,kind_of,gloss\n",
               [](const Dictionary& d, size_t i) { return d.row(i * kPrime % d.size()); });
}

}  // namespace kith
