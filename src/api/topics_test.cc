// SPDX-License-Identifier: Apache-2.0
#include "kith/topics.h"

#include <gtest/gtest.h>

#include <set>

#include "api/test_models.h"

namespace kith::test {
namespace {

// Sentences of four topics, each with "the" in it.
const Model& mixtures() {
  return shared_model("plsa", request("plsa", text_file(), "",
                                      {whole("topics", 4), text("stop-words", "english")}));
}

std::set<std::string> words_of(const TopicSummary& topic) {
  std::set<std::string> out;
  for (const TopicWord& w : topic.words) out.insert(w.word);
  return out;
}

TEST(TopicsTest, TheWordsOfEachByEveryOrder) {
  std::set<std::set<std::string>> truth;
  for (const auto& words : kTopics) {
    std::set<std::string> topic;
    for (const std::string_view w : words) topic.emplace(w);
    truth.insert(std::move(topic));
  }
  for (const TopicOrder by : {TopicOrder::kProbability, TopicOrder::kLift, TopicOrder::kFrex}) {
    const auto found = kith::topics(mixtures(), {.top = kTopicWords, .by = by}, two_threads());
    ASSERT_EQ(found.size(), kTopics.size());
    std::set<std::set<std::string>> words;
    double all = 0, before = 1;
    for (const TopicSummary& t : found) {
      words.insert(words_of(t));
      all += t.size;
      EXPECT_LE(t.size, before);  // the largest first
      before = t.size;
      for (size_t i = 0; i < t.words.size(); ++i) {
        EXPECT_LE(t.words[i].score, t.words[i - std::min<size_t>(i, 1)].score);
        // Each of the four has nearly all of its words: p(w) is its share of them all.
        EXPECT_NEAR(t.words[i].lift, 1 / t.size, 0.2);
      }
    }
    EXPECT_EQ(words, truth);
    EXPECT_NEAR(all, 1, 1e-4);
  }
}

TEST(TopicsTest, OrdersDiffer) {
  // Half of the topics that there are: two and two share one, and frequent is not exclusive.
  const Model& few = shared_model(
      "few", request("plsa", text_file(), "", {whole("topics", 2), number("max-df", 1)}));
  const auto words = [&](TopicOrder by) {
    return words_of(kith::topics(few, {.top = 3, .by = by}, two_threads()).front());
  };
  EXPECT_TRUE(words(TopicOrder::kProbability).contains("the"));
  EXPECT_FALSE(words(TopicOrder::kLift).contains("the"));
}

TEST(TopicsTest, APictureOfThem) {
  std::vector<TopicSummary> all(7);
  for (size_t k = 0; k < all.size(); ++k) {
    all[k].name = fmt::format("topic{}", k + 1);
    all[k].words = {{"a&b", 0.5, 2, 0.5}, {"unpronounceably-long-word", 0.25, 1, 0.25}};
  }
  const std::string picture = topics_plot(all, {});
  expect_part("topic7", picture);
  expect_part("a&amp;b", picture);
  expect_part("unpronounceab…", picture);
  expect_part("unpronounceably-long-word: 25.00 % of the words of topic1", picture);
  // The bar of half the probability is half as long.
  expect_part("width=\"106.0\"", picture);
  expect_part("width=\"53.0\"", picture);
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
}

TEST(TopicsTest, ModelsWithoutTopicsSaySo) {
  EXPECT_FALSE(words().can(Can::kShowTopics));
  EXPECT_TRUE(mixtures().can(Can::kShowTopics));
  expect_part("topics is for models that have topics",
              usage_error([] { kith::topics(words(), {}, two_threads()); }));
}

TEST(TopicsTest, PerplexityBesideThatOfWordsAlone) {
  const TestFolder folder;
  const std::string test = folder.write("test.txt", topic_text(200, 9));
  const Report r = evaluate(mixtures(), {test}, {}, {}, two_threads()).front();
  // Six words that are as likely, once it is clear which topic; 24 by themselves.
  EXPECT_NEAR(*r.at("perplexity"), 6, 1.5);
  EXPECT_NEAR(*r.at("unigram_perplexity"), 24, 1);
  EXPECT_EQ(r.at("unigram", "perplexity"), r.at("unigram_perplexity"));
  EXPECT_EQ(r.count("documents"), 200u);
  EXPECT_EQ(r.count("unknown_words"), 800u);  // "the"
  expect_part("the model knows none of the 2 words", input_error([&] {
                evaluate(mixtures(), {folder.write("u.txt", "qq rr\n")}, {}, {}, two_threads());
              }));
}

TEST(TopicsTest, DocumentsAsMixtures) {
  const TestFolder folder;
  const std::string out = folder.path() + "/m.csv";
  const std::string lines = folder.write("n.txt", "ship sail\n\noven ship bread tide\n");
  Events events;
  const Embedded done = embed_rows(mixtures(), {lines}, out, {}, {}, two_threads(), &events);
  EXPECT_EQ(done.rows, 3u);
  EXPECT_EQ(done.dim, 4u);
  EXPECT_TRUE(events.noted("1 document without a word that the model knows"));
  expect_part("\n2,0,0,0,0\n", bytes_of(out));
  const std::vector<float> one = embed(mixtures(), {"ship", "sail"});
  EXPECT_GT(*std::ranges::max_element(one), 0.8f);
  usage_error([&] {
    embed_rows(mixtures(), {lines}, out, {.weights = WordWeights::kSif}, {}, two_threads());
  });
}

TEST(TopicsTest, WhatIsNearOfAnotherKind) {
  const auto found = kith::topics(mixtures(), {.top = kTopicWords}, two_threads());
  const TopicSummary& first = found.front();
  const auto near_words =
      near(mixtures(), {first.name}, {.top = kTopicWords, .to = "word"}, two_threads());
  ASSERT_EQ(near_words.size(), 1u);
  EXPECT_EQ(near_words[0].column, "word");
  for (const Neighbour& n : near_words[0].neighbours) {
    EXPECT_TRUE(words_of(first).contains(n.id)) << n.id;
  }
  const auto back =
      near(mixtures(), {first.words[0].word}, {.top = 1, .to = "topic"}, two_threads());
  EXPECT_EQ(back[0].neighbours[0].id, first.name);
  expect_part("there are document, topic, word",
              usage_error([] { near(mixtures(), {"ship"}, {.to = "city"}, two_threads()); }));
}

}  // namespace
}  // namespace kith::test
