// SPDX-License-Identifier: Apache-2.0
// Topics as a grid of small charts: a bar for each word, as long as the word is probable.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kith/topics.h"
#include "plot/svg.h"

namespace kith {
namespace {

using plot::Anchor;
using plot::Svg;

constexpr size_t kColumns = 5;
constexpr double kLeft = 24, kTop = 74, kWidth = 236, kBar = 19, kHead = 40, kGap = 26;
constexpr double kLeast = 720;   // width: room for the lines on top
constexpr double kName = 104;    // from the left of a chart to where bars begin
constexpr double kLetter = 6.6;  // the width of one, about
constexpr std::string_view kBarColour = "#1c7ed6", kQuiet = "#868e96", kLineColour = "#dee2e6";

// As many letters as there is room for, whole characters of UTF-8.
std::string shortened(const std::string& word) {
  const auto most = static_cast<size_t>((kName - 10) / kLetter);
  size_t letters = 0, end = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    if ((static_cast<unsigned char>(word[i]) & 0xC0) == 0x80) continue;
    if (++letters == most) end = i;
  }
  return letters <= most ? word : word.substr(0, end) + "…";
}

double longest(const TopicSummary& topic) {
  double out = 0;
  for (const TopicWord& w : topic.words) out = std::max(out, w.probability);
  return out;
}

void draw_topic(Svg& svg, const TopicSummary& topic, double x, double y) {
  svg.text({x, y + 14}, topic.name, {.size = 14, .bold = true});
  svg.text({x + kWidth - kGap, y + 14},
           fmt::format("{:.1f} %, coherence {:.2f}", 100 * topic.size, topic.coherence),
           {.anchor = Anchor::kEnd, .size = 11, .colour = kQuiet});
  svg.line({x, y + 22}, {x + kWidth - kGap, y + 22}, kLineColour);
  const double most = longest(topic), room = kWidth - kGap - kName;
  for (size_t i = 0; i < topic.words.size(); ++i) {
    const TopicWord& w = topic.words[i];
    const double top = y + 30 + kBar * static_cast<double>(i);
    svg.text({x + kName - 6, top + 11}, shortened(w.word), {.anchor = Anchor::kEnd, .size = 12});
    svg.rect({x + kName, top}, most > 0 ? std::max(1.0, room * w.probability / most) : 1, kBar - 5,
             kBarColour,
             fmt::format("{}: {:.2f} % of the words of {}, lift {:.1f}", w.word,
                         100 * w.probability, topic.name, w.lift));
  }
}

}  // namespace

std::string topics_plot(const std::vector<TopicSummary>& topics, const TopicOptions& options) {
  size_t words = 1;
  for (const TopicSummary& t : topics) words = std::max(words, t.words.size());
  const size_t columns = std::clamp<size_t>(topics.size(), 1, kColumns);
  const size_t rows = (topics.size() + columns - 1) / columns;
  const double height = kHead + kBar * static_cast<double>(words) + 12;
  const double width = 2 * kLeft + kWidth * static_cast<double>(columns) - kGap;
  Svg svg(std::max(width, kLeast), kTop + height * static_cast<double>(rows) + 8);
  svg.text({kLeft, 32}, fmt::format("{} topics and their words", topics.size()),
           {.size = 18, .bold = true});
  constexpr std::array orders{"the most frequent words of each",
                              "words that each has more of than others (lift)",
                              "frequent and exclusive words of each (FREX)"};
  svg.text({kLeft, 54},
           fmt::format("{}; a bar: how much of the topic the word is; grey: the topic's share of "
                       "all words",
                       orders[static_cast<size_t>(options.by)]),
           {.size = 12, .colour = kQuiet});
  for (size_t t = 0; t < topics.size(); ++t) {
    draw_topic(svg, topics[t], kLeft + kWidth * static_cast<double>(t % columns),
               kTop + height * static_cast<double>(t / columns));
  }
  return std::move(svg).finished();
}

}  // namespace kith
