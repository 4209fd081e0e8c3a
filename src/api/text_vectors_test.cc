// SPDX-License-Identifier: Apache-2.0
// Texts as vectors: means of the vectors of their words.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "api/opened.h"
#include "api/test_models.h"
#include "io/vector_files.h"

namespace kith::test {
namespace {

using Vector = std::vector<double>;

// The tables of a model, and what the paper says a text is.
struct Plain {
  explicit Plain(const Model& model)
      : group(model.impl().ask<HasVectors>("test").vectors_of(std::nullopt).front()),
        table(read_all(*group.vectors)) {
    const auto seen = model.impl().ask<CountsWords>("test").word_counts();
    counts.assign(seen.begin(), seen.end());
    all = std::accumulate(counts.begin(), counts.end(), 0.0);
  }
  double weight(size_t row, double a) const { return a / (a + counts[row] / all); }
  Vector mean(const Strings& words, double a) const {
    Vector out(table.cols());
    for (const std::string& word : words) {
      const size_t row = group.names->find(word).value();
      const double w = a > 0 ? weight(row, a) : 1;
      for (size_t k = 0; k < out.size(); ++k) out[k] += w * table.row(row)[k];
    }
    for (double& x : out) x /= static_cast<double>(words.size());
    return out;
  }
  Vector common(double a) const {
    Vector out(table.cols());
    for (size_t r = 0; r < table.rows(); ++r) {
      for (size_t k = 0; k < out.size(); ++k) {
        out[k] += counts[r] / all * weight(r, a) * table.row(r)[k];
      }
    }
    const double length = std::sqrt(std::inner_product(out.begin(), out.end(), out.begin(), 0.0));
    for (double& x : out) x /= length;
    return out;
  }
  VectorGroup group;
  Matrix table;
  Vector counts;
  double all;
};

Vector without(const Vector& u, Vector v) {
  const double along = std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
  for (size_t k = 0; k < v.size(); ++k) v[k] -= along * u[k];
  return v;
}

void expect_near(std::span<const float> found, const Vector& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(found[k], wanted[k], 1e-6) << k;
}

double cosine_of(std::span<const float> a, std::span<const float> b) {
  const double ab = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  const double aa = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
  const double bb = std::inner_product(b.begin(), b.end(), b.begin(), 0.0);
  return ab / std::sqrt(aa * bb);
}

TEST(TextVectors, AreTheFormula) {
  const Plain plain(words());
  const Strings text{"the", "ship", "the", "wave"};
  expect_near(embed(words(), text), without(plain.common(1e-3), plain.mean(text, 1e-3)));
  expect_near(embed(words(), text, {.smooth = 0.05}),
              without(plain.common(0.05), plain.mean(text, 0.05)));
  expect_near(embed(words(), text, {.common = CommonDirection::kNone}), plain.mean(text, 1e-3));
  expect_near(embed(words(), text, {.weights = WordWeights::kMean}), plain.mean(text, 0));
}

TEST(TextVectors, DoNotDependOnWhatElseIsAsked) {
  const TestFolder folder;
  const auto one = embed(words(), {"bread and butter"});
  EXPECT_EQ(one, embed(words(), {"bread", "and", "butter"}));
  const std::string lines = folder.write("a.txt", "the tide\nbread and butter\nsnow\n");
  const std::string output = folder.path() + "/a.npy";
  Events events;
  const Embedded done = embed_rows(words(), {lines}, output, {}, {}, two_threads(), &events);
  EXPECT_EQ(done.rows, 3u);
  const NamedVectors read = read_vectors(output);
  EXPECT_EQ(read.names[1], "2");
  EXPECT_EQ(std::vector<float>(read.matrix.row(1).begin(), read.matrix.row(1).end()), one);
  EXPECT_TRUE(events.noted("1 of 6 words are not known to the model"));
}

TEST(TextVectors, TextsOfOneTopicAreNear) {
  const auto sea = embed(words(), {"the ship and the harbour"});
  EXPECT_GT(cosine_of(sea, embed(words(), {"the tide, the wave the anchor"})),
            cosine_of(sea, embed(words(), {"the bread the dough"})) + 0.3);
}

// What all lines share is gone: the first singular vector of what is left is another one.
TEST(TextVectors, TheDirectionOfAllTextsIsTakenOut) {
  const TestFolder folder;
  const std::string lines = folder.write("a.txt", "the ship\nthe wave the sail\nthe tide\nchord\n");
  const auto embedded = [&](CommonDirection common) {
    const std::string output = folder.path() + "/a.npy";
    embed_rows(words(), {lines}, output, {.common = common}, {}, two_threads());
    return read_vectors(output).matrix;
  };
  const Matrix before = embedded(CommonDirection::kNone), after = embedded(CommonDirection::kTexts);
  // Of each row only a part along one direction is missing.
  Vector u(before.cols());
  for (size_t k = 0; k < u.size(); ++k) u[k] = before.row(0)[k] - after.row(0)[k];
  const double length = std::sqrt(std::inner_product(u.begin(), u.end(), u.begin(), 0.0));
  ASSERT_GT(length, 0);
  for (double& x : u) x /= length;
  double taken = 0, all = 0;
  for (size_t r = 0; r < before.rows(); ++r) {
    expect_near(after.row(r), without(u, {before.row(r).begin(), before.row(r).end()}));
    for (size_t k = 0; k < u.size(); ++k) {
      taken += std::pow(before.row(r)[k] - after.row(r)[k], 2);
      all += std::pow(before.row(r)[k], 2);
    }
  }
  EXPECT_GT(taken, all / 3) << "no other direction has more of three lines of one topic";
  EXPECT_EQ(usage_error([] { embed(words(), {"ship"}, {.common = CommonDirection::kTexts}); }),
            "--common texts is for files: one text has no others");
}

// What is left of it is rounding: no direction.
TEST(TextVectors, OfTextsThatAreAllAlikeNothingIsLeftWithoutWhatTheyShare) {
  const TestFolder folder;
  const std::string out = folder.path() + "/v.npy";
  Events events;
  embed_rows(words(), {folder.write("d.txt", "ship sail wave\nship sail wave\n")}, out,
             {.common = CommonDirection::kTexts}, {}, two_threads(), &events);
  const Matrix found = read_vectors(out).matrix;
  for (size_t r = 0; r < 2; ++r) {
    for (const float x : found.row(r)) EXPECT_EQ(x, 0);
  }
  EXPECT_TRUE(events.noted("2 texts with nothing but what all texts share"));
}

TEST(TextVectors, BytesThatAreNotUtf8AreTold) {
  const TestFolder folder;
  Events events;
  embed_rows(words(), {folder.write("d.txt", "ship caf\xe9 wave\n")}, folder.path() + "/v.npy", {},
             {}, two_threads(), &events);
  EXPECT_TRUE(events.noted("1 word with bytes that are not UTF-8"));
  expect_part("no texts in it", input_error([&] {
                embed_rows(words(), {folder.write("e.txt", "")}, folder.path() + "/e.npy", {}, {},
                           two_threads());
              }));
}

TEST(TextVectors, ATextWithoutAKnownWord) {
  EXPECT_EQ(input_error([] { embed(words(), {"qwerty uiop"}); }),
            "the text has no word that the model knows");
  EXPECT_EQ(input_error([] { embed(words(), {" "}); }), "the text has no words");
  const TestFolder folder;
  Events events;
  const std::string output = folder.path() + "/a.npy";
  embed_rows(words(), {folder.write("a.txt", "qwerty\n\nship\n")}, output, {}, {}, two_threads(),
             &events);
  EXPECT_TRUE(events.noted("2 texts without a word that the model knows"));
  const Matrix read = read_vectors(output).matrix;
  ASSERT_EQ(read.rows(), 3u);
  for (const size_t row : {0u, 1u}) {
    EXPECT_EQ(Vector(read.row(row).begin(), read.row(row).end()), Vector(read.cols(), 0.0));
  }
}

TEST(TextVectors, WordsAreCutAsTheModelsTextWas) {
  const Model& model = shared_model(
      "cut",
      request("word2vec", text_file(), "", quick_words() + Settings{text("tokens", "words")}));
  EXPECT_EQ(embed(model, {"The SHIP, the wave!"}), embed(model, {"the ship the wave"}));
  EXPECT_EQ(embed(words(), {"Ship ship", "sail,"}), embed(words(), {"ship"}));
  EXPECT_EQ(embed(words(), {"The SHIP,"}, {.tokens = Tokens::kWords}),
            embed(words(), {"the ship"}));
}

TEST(TextVectors, UnseenWordsAreSpelled) {
  const Model& model = shared_model("spelled", request("fasttext", text_file(), "", quick_words()));
  EXPECT_NE(embed(model, {"the ship harbours"}), embed(model, {"the ship"}));
  EXPECT_EQ(embed(words(), {"the ship harbours"}), embed(words(), {"the ship"}));
}

TEST(TextVectors, AColumnOfATableWithNames) {
  const TestFolder folder;
  const std::string table =
      folder.write("a.csv", "id,body,more\nx,the ship,sail\ny,,\n,snow,\nx,the ship,\n");
  const std::string output = folder.path() + "/a.jsonl";
  embed_rows(words(), {table}, output, {.name = "id", .column = "body"}, {}, two_threads());
  const std::string lines = bytes_of(output);
  for (const char* id : {"\"x\"", "\"y\"", "\"3\"", "\"x (2)\""}) expect_part(id, lines);
  const auto refused = [&](const EmbedOptions& options, const Settings& reading = {}) {
    return usage_error(
        [&] { embed_rows(words(), {table}, output, options, reading, two_threads()); });
  };
  expect_part("there is no column boy for --column", refused({.column = "boy"}));
  expect_part("there is no column di for --name", refused({.name = "di", .column = "body"}));
  expect_part("--name is for tables", refused({.name = "id"}));
  expect_part("--delimiter is for tables", refused({}, {text("delimiter", ";")}));
}

TEST(TextVectors, VectorsWithoutCountsAreAveraged) {
  Events events;
  const auto text = embed(royals(), {"king queen"}, {}, &events);
  expect_near(text, {1, 0, 0, 0});
  EXPECT_TRUE(events.noted("so all count the same"));
  expect_part("which --weights sif needs",
              usage_error([] { embed(royals(), {"king"}, {.weights = WordWeights::kSif}); }));
  expect_part("which --common model needs",
              usage_error([] { embed(royals(), {"king"}, {.common = CommonDirection::kModel}); }));
  expect_part("--smooth is for --weights sif",
              usage_error([] { embed(royals(), {"king"}, {.smooth = 0.1}); }));
}

// Its words count the same, and so do its runs of words.
TEST(TextVectors, OfAClassifierAreTheMeanOfItsRows) {
  const auto one = embed(topics(), {"ship"}), other = embed(topics(), {"flour"});
  Vector mean;
  for (size_t k = 0; k < one.size(); ++k) mean.push_back((double{one[k]} + other[k]) / 2);
  EXPECT_EQ(embed(topics(), {"ship", "unheard-of"}), one);
  expect_near(embed(topics(), {"ship unheard-of flour"}), mean);
  EXPECT_GT(cosine_of(one, embed(topics(), {"anchor tide"})),
            cosine_of(one, embed(topics(), {"oven flour"})));
  expect_part("no word that the model knows", input_error([] { embed(topics(), {"xyxyxy"}); }));
  for (const EmbedOptions& options : std::vector<EmbedOptions>{
           {.weights = WordWeights::kSif}, {.smooth = 0.1}, {.common = CommonDirection::kModel}}) {
    expect_part("is the plain mean with a classifier; leave --",
                usage_error([&] { embed(topics(), {"ship"}, options); }));
  }
  embed(topics(), {"ship"}, {.weights = WordWeights::kMean, .common = CommonDirection::kNone});
}

TEST(TextVectors, OfEveryModelOfWordsAndOfNoOther) {
  for (const char* name : {"glove", "pmi"}) {
    const Model& model = shared_model(
        name, request(name, text_file(), "", {whole("dim", 8), whole("min-count", 1)}));
    EXPECT_TRUE(model.can(Can::kEmbedTexts)) << name;
    EXPECT_GT(cosine_of(embed(model, {"ship sail wave"}), embed(model, {"anchor tide"})),
              cosine_of(embed(model, {"ship sail wave"}), embed(model, {"oven flour"})))
        << name;
  }
  EXPECT_TRUE(topics().can(Can::kEmbedTexts));
  EXPECT_FALSE(ratings().can(Can::kEmbedTexts));
  expect_part("embed is for models that complete rows of a table or have vectors of words",
              usage_error([] { embed(ratings(), {"ship"}); }));
  EXPECT_EQ(usage_error([] { embed(places(), {"city=Rome"}, {.smooth = 0.1}); }),
            "--smooth is for texts, and this is a model of rows of a table");
}

}  // namespace
}  // namespace kith::test
