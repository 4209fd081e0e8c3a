// SPDX-License-Identifier: Apache-2.0
// Flags, keywords and files set options by name: each name is that of its own member.
#include <gtest/gtest.h>

#include <set>

#include "api/test_models.h"

namespace kith::test {
namespace {

// The options with one of them set.
template <class Options>
Options with(std::string_view name, const Value& value) {
  Options out;
  EXPECT_TRUE(set(out, name, value)) << name;
  return out;
}

// All names that a test has set must be all that there are.
template <class Options>
std::set<std::string_view> names_of() {
  std::set<std::string_view> out;
  for (const FieldInfo& f : field_infos<Options>()) {
    out.insert(f.name);
    EXPECT_FALSE(f.help.empty()) << f.name;
  }
  return out;
}
using Names = std::set<std::string_view>;

Value whole_value(int64_t x) { return x; }
Value text_value(const char* s) { return std::string(s); }

TEST(Options, OfNear) {
  using O = NearOptions;
  EXPECT_EQ(with<O>("top", whole_value(3)).top, 3);
  EXPECT_EQ(with<O>("vectors", text_value("sum")).vectors, Side::kSum);
  EXPECT_EQ(with<O>("search", text_value("hnsw")).search, Search::kHnsw);
  EXPECT_EQ(with<O>("search", text_value("auto")).search, std::nullopt);
  EXPECT_EQ(with<O>("restrict", whole_value(9)).restrict_to, 9);
  EXPECT_EQ(with<O>("to", text_value("city")).to, "city");
  EXPECT_TRUE(with<O>("text", true).text);
  EXPECT_EQ(names_of<O>(), (Names{"top", "vectors", "search", "restrict", "to", "text"}));
  usage_error([] { with<O>("top", whole_value(0)); });
}

TEST(Options, OfAnalogies) {
  using O = AnalogyOptions;
  EXPECT_EQ(with<O>("rule", text_value("mul")).rule, AnalogyRule::kMul);
  EXPECT_EQ(with<O>("top", whole_value(3)).top, 3);
  EXPECT_EQ(with<O>("vectors", text_value("output")).vectors, Side::kOutput);
  EXPECT_EQ(with<O>("restrict", whole_value(9)).restrict_to, 9);
  EXPECT_EQ(names_of<O>(), (Names{"rule", "top", "vectors", "restrict"}));
}

TEST(Options, OfAnswersAboutRowsAndRatings) {
  EXPECT_EQ(with<PredictOptions>("target", text_value("city")).target, "city");
  EXPECT_EQ(with<PredictOptions>("top", whole_value(3)).top, 3);
  EXPECT_EQ(with<PredictOptions>("threshold", 0.5).threshold, 0.5);
  EXPECT_TRUE(with<PredictOptions>("as-text", true).as_text);
  EXPECT_EQ(names_of<PredictOptions>(), (Names{"target", "top", "threshold", "as-text"}));
  EXPECT_EQ(with<RecommendOptions>("top", whole_value(3)).top, 3);
  EXPECT_TRUE(with<RecommendOptions>("include-seen", true).include_seen);
  EXPECT_TRUE(with<RecommendOptions>("explain", true).explain);
  EXPECT_EQ(names_of<RecommendOptions>(), (Names{"top", "include-seen", "explain"}));
  EXPECT_EQ(with<EmbedOptions>("to", text_value("csv")).to, VectorFormat::kCsv);
  EXPECT_EQ(with<EmbedOptions>("name", text_value("id")).name, "id");
  EXPECT_TRUE(with<EmbedOptions>("text", true).text);
  EXPECT_EQ(with<EmbedOptions>("column", text_value("note")).column, "note");
  EXPECT_EQ(with<EmbedOptions>("weights", text_value("mean")).weights, WordWeights::kMean);
  EXPECT_EQ(with<EmbedOptions>("smooth", 0.5).smooth, 0.5);
  EXPECT_EQ(with<EmbedOptions>("common", text_value("texts")).common, CommonDirection::kTexts);
  EXPECT_EQ(with<EmbedOptions>("tokens", text_value("words")).tokens, Tokens::kWords);
  EXPECT_EQ(names_of<EmbedOptions>(),
            (Names{"to", "name", "text", "column", "weights", "smooth", "common", "tokens"}));
  EXPECT_EQ(with<ScoreOptions>("top", whole_value(3)).top, 3);
  EXPECT_EQ(with<ScoreOptions>("name", text_value("id")).name, "id");
  EXPECT_TRUE(with<ScoreOptions>("all", true).all);
  EXPECT_EQ(names_of<ScoreOptions>(), (Names{"top", "name", "all"}));
}

TEST(Options, OfEvaluating) {
  using O = EvaluateOptions;
  EXPECT_EQ(O{}.restrict_to, 30000);
  EXPECT_EQ(with<O>("restrict", text_value("auto")).restrict_to, std::nullopt);
  EXPECT_EQ(with<O>("restrict", whole_value(9)).restrict_to, 9);
  EXPECT_EQ(with<O>("rule", text_value("mul")).rule, AnalogyRule::kMul);
  EXPECT_EQ(with<O>("vectors", text_value("sum")).vectors, Side::kSum);
  EXPECT_EQ(with<O>("target", text_value("city")).target, "city");
  EXPECT_EQ(with<O>("given", text_value("a,b")).given, "a,b");
  EXPECT_EQ(with<O>("train", text_value("a.csv")).train, "a.csv");
  EXPECT_EQ(with<O>("top", whole_value(3)).top, 3);
  EXPECT_EQ(with<O>("relevant", 3.5).relevant, 3.5);
  EXPECT_EQ(names_of<O>(),
            (Names{"restrict", "rule", "vectors", "target", "given", "train", "top", "relevant"}));
  EXPECT_EQ(with<SplitOptions>("split", text_value("user-time")).split, SplitBy::kUserTime);
  EXPECT_EQ(with<SplitOptions>("test", 0.25).test, 0.25);
  EXPECT_EQ(with<SplitOptions>("folds", whole_value(4)).folds, 4);
  EXPECT_EQ(with<SplitOptions>("seed", whole_value(7)).seed, 7);
  EXPECT_EQ(names_of<SplitOptions>(), (Names{"split", "test", "folds", "seed"}));
  usage_error([] { with<SplitOptions>("test", 1.0); });
  usage_error([] { with<SplitOptions>("folds", whole_value(1)); });
}

TEST(Options, OfTraining) {
  EXPECT_EQ(with<RunOptions>("from", text_value("a.kith")).from, "a.kith");
  EXPECT_EQ(with<RunOptions>("seed", whole_value(7)).seed, 7);
  EXPECT_TRUE(with<RunOptions>("deterministic", true).deterministic);
  EXPECT_EQ(names_of<RunOptions>(), (Names{"from", "seed", "deterministic"}));
  using O = TrainOptions;
  EXPECT_EQ(with<O>("output", text_value("a.kith")).output, "a.kith");
  EXPECT_TRUE(with<O>("resume", true).resume);
  EXPECT_EQ(with<O>("checkpoint-every", whole_value(5)).checkpoint_every, 5);
  EXPECT_EQ(with<O>("max-memory", text_value("2G")).max_memory, "2G");
  EXPECT_EQ(with<O>("scratch", text_value("/tmp")).scratch, "/tmp");
  EXPECT_EQ(names_of<O>(),
            (Names{"output", "resume", "checkpoint-every", "max-memory", "scratch"}));
  EXPECT_EQ(with<TuneOptions>("budget", 1.5).budget, 1.5);
  EXPECT_EQ(with<TuneOptions>("trials", whole_value(4)).trials, 4);
  EXPECT_EQ(with<TuneOptions>("search", text_value("dim")).search, "dim");
  EXPECT_EQ(names_of<TuneOptions>(), (Names{"budget", "trials", "search"}));
}

TEST(Options, OfRecovery) {
  using O = RecoveryOptions;
  EXPECT_EQ(with<O>("size", whole_value(20)).size, 20);
  EXPECT_EQ(with<O>("ranks", whole_value(4)).ranks, 4);
  EXPECT_EQ(with<O>("shares", whole_value(5)).shares, 5);
  EXPECT_EQ(with<O>("trials", whole_value(2)).trials, 2);
  EXPECT_EQ(with<O>("spike", 0.5).spike, 0.5);
  EXPECT_EQ(with<O>("method", text_value("nuclear")).method, RecoveryMethod::kNuclear);
  EXPECT_EQ(with<O>("seed", whole_value(7)).seed, 7);
  EXPECT_EQ(names_of<O>(), (Names{"size", "ranks", "shares", "trials", "spike", "method", "seed"}));
}

}  // namespace
}  // namespace kith::test
