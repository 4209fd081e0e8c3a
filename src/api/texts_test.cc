// SPDX-License-Identifier: Apache-2.0
// Labels of texts: asked one by one, for files, and measured.
#include <gtest/gtest.h>

#include <numeric>

#include "api/test_models.h"

namespace kith::test {
namespace {

std::vector<std::string> labels_of(const Prediction& p) {
  std::vector<std::string> out;
  for (const Candidate& c : p.candidates) out.push_back(c.id);
  return out;
}

TEST(Texts, TheLikeliestLabelsFirst) {
  const Prediction p = predict(topics(), {"bread and", "butter"});
  ASSERT_EQ(p.candidates.size(), kTopics.size());
  EXPECT_EQ(p.target, "label");
  EXPECT_EQ(p.candidates[0].id, "topic1");
  EXPECT_TRUE(p.known_text);
  double sum = 0;
  for (size_t k = 0; k < p.candidates.size(); ++k) {
    sum += *p.candidates[k].probability;
    if (k > 0) {
      EXPECT_LE(*p.candidates[k].probability, *p.candidates[k - 1].probability);
    }
  }
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(Texts, HowManyAndHowLikely) {
  EXPECT_EQ(predict(topics(), {"sail"}, {.top = 2}).candidates.size(), 2u);
  EXPECT_EQ(labels_of(predict(topics(), {"sail"}, {.threshold = 0.6})), Strings{"topic0"});
  EXPECT_TRUE(predict(topics(), {"nothing"}, {.threshold = 0.9}).candidates.empty());
}

TEST(Texts, OfATextThatItDoesNotKnowItSaysWhatIsUsual) {
  for (const char* text : {"nothing of it", ""}) {
    const Prediction p = predict(topics(), {text});
    EXPECT_FALSE(p.known_text);
    EXPECT_NEAR(*p.candidates[0].probability, 0.25, 0.05);
  }
}

TEST(Texts, LinesOfAFileWithTheirLabelsTakenOff) {
  const TestFolder folder;
  const std::string lines =
      folder.write("new.txt", "__label__topic9 snow on the summit\n\nchoir tune\n");
  Strings guessed, shown;
  const auto row = [&](const PredictedRow& r) {
    ASSERT_EQ(r.columns.size(), 1u);
    shown.emplace_back(*r.cells[0]);
    guessed.push_back(labels_of(r.prediction).front());
  };
  const PredictedRows done = predict_rows(topics(), {lines}, {}, {}, two_threads(), row);
  EXPECT_EQ(done.rows, 3u);
  EXPECT_EQ(done.unknown_texts, 1u);
  EXPECT_EQ(shown, (Strings{"snow on the summit", "", "choir tune"}));
  EXPECT_EQ(guessed[0], "topic2");
  EXPECT_EQ(guessed[2], "topic3");
}

TEST(Texts, RowsOfATable) {
  const TestFolder folder;
  const std::string path = folder.write("new.csv", "id,plot\n7,flour in the oven\n8,wave\n");
  const Settings reading{text("text", "plot")};
  Strings guessed;
  const auto row = [&](const PredictedRow& r) {
    EXPECT_EQ(r.columns[0], "id");
    guessed.push_back(labels_of(r.prediction).front());
  };
  predict_rows(topics(), {path}, {}, reading, two_threads(), row);
  EXPECT_EQ(guessed, (Strings{"topic1", "topic0"}));
  const Settings wrong{text("text", "plto")};
  expect_part("there is no column plto for --text; there are id, plot; did you mean plot?",
              usage_error([&] { predict_rows(topics(), {path}, {}, wrong, two_threads(), row); }));
}

// A list of one is seen as a list only by models that know which cells are lists.
TEST(Texts, ListsHaveMembers) {
  const TestFolder folder;
  const std::string path = folder.write(
      "new.jsonl", R"({"plot": "wave", "tags": ["a b ", "c"], "one": ["x"], "no": []})");
  const auto row = [&](const PredictedRow& r) {
    EXPECT_TRUE(r.members(0).empty());
    EXPECT_EQ(r.members(1), (std::vector<std::string_view>{"a b ", "c"}));
    EXPECT_TRUE(r.members(2).empty());
    EXPECT_TRUE(r.members(3).empty());
    ResultFile file(folder.path() + "/out.csv");
    add_prediction(file, r);
    file.commit();
  };
  predict_rows(topics(), {path}, {}, Settings{text("text", "plot")}, two_threads(), row);
  expect_part("row,plot,tags,one,no,prediction", bytes_of(folder.path() + "/out.csv"));
  expect_part("\n1,wave,a b |c,x,,topic0,", bytes_of(folder.path() + "/out.csv"));
}

TEST(Texts, AFileOrAText) {
  EXPECT_TRUE(are_sources(topics(), {"-"}));
  EXPECT_TRUE(are_sources(topics(), {labelled_file()}));
  EXPECT_FALSE(are_sources(topics(), {"ship"}));
  EXPECT_FALSE(are_sources(topics(), {"The ship sails. Does it?"}));
  EXPECT_FALSE(are_sources(topics(), {"ship."}));
  EXPECT_EQ(io_error([] { are_sources(topics(), {"new.txt"}); }),
            "new.txt: there is no such file of texts");
  EXPECT_EQ(io_error([] { are_sources(topics(), {"and/or"}, "--as-text"); }),
            "and/or: there is no such file of texts; if it is a text itself, add --as-text");
}

TEST(Texts, Measured) {
  const TestFolder folder;
  const std::string unseen = folder.write("test.txt", labelled_texts(200, 9));
  const Report r = evaluate(topics(), {unseen}, {}, {}, two_threads()).front();
  EXPECT_GT(*r.at("accuracy"), 0.99);
  EXPECT_GT(*r.at("macro_f1"), 0.99);
  EXPECT_LT(*r.at("log_loss"), 0.1);
  EXPECT_NEAR(*r.at("majority", "accuracy"), 0.25, 0.1);
  EXPECT_EQ(r.count("texts"), 200u);
  ASSERT_EQ(r.labels.size(), 4u);
  uint64_t texts = 0;
  for (const Report::Label& l : r.labels) texts += l.texts;
  EXPECT_EQ(texts, 200u);
  EXPECT_GE(r.labels[0].texts, r.labels[3].texts);
  ASSERT_TRUE(r.confusion);
  uint64_t right = 0;
  for (size_t k = 0; k < 4; ++k) right += r.confusion->counts[k][k];
  EXPECT_DOUBLE_EQ(static_cast<double>(right) / 200, *r.at("accuracy"));
}

// A label that training never saw cannot be guessed, and counts.
TEST(Texts, MeasuredWithALabelThatItDoesNotKnow) {
  const TestFolder folder;
  const std::string path =
      folder.write("test.txt", "__label__topic0 ship\n__label__new oven\n__label__topic3 zzz\n");
  const Report r = evaluate(topics(), {path}, {}, {}, two_threads()).front();
  EXPECT_EQ(r.count("texts"), 3u);
  EXPECT_EQ(r.count("unknown_texts"), 1u);
  EXPECT_LE(*r.at("accuracy"), 2.0 / 3 + 1e-9);
  EXPECT_EQ(r.labels.size(), 5u);
  EXPECT_TRUE(has_note(r, Note::Level::kNote, "1 text without a word that the model knows"));
  expect_part("1 of them training never saw", r.subtitle);
}

TEST(Texts, LabelsForThemselves) {
  const TestFolder folder;
  std::string lines;
  for (int i = 0; i < 100; ++i) {
    lines += "__label__a __label__b both\n__label__a first\n__label__b second\n";
  }
  const std::string path = folder.write("several.txt", lines);
  const Model& model = shared_model(
      "several", request("classifier", path, "", {whole("dim", 4), text("loss", "one-vs-all")}));
  const Report r = evaluate(model, {path}, {}, {}, two_threads()).front();
  EXPECT_EQ(*r.at("exact"), 1);
  EXPECT_EQ(*r.at("f1"), 1);
  EXPECT_FALSE(r.at("log_loss"));
  EXPECT_LT(*r.at("majority", "exact"), 0.5);
  EXPECT_EQ(predict(model, {"both"}, {.threshold = 0.5}).candidates.size(), 2u);
}

TEST(Texts, OtherQuestionsAndOtherModels) {
  expect_part("predict with --target is for models that complete rows",
              usage_error([] { predict(topics(), {"ship"}, {.target = "x"}); }));
  expect_part("predict with --threshold is for models that classify texts",
              usage_error([] { predict(places(), {"city=Paris"}, {.threshold = 0.5}); }));
  expect_part("predict is for models that classify texts, complete rows of a table or rate items",
              usage_error([] { predict(words(), {"ship"}); }));
  EXPECT_TRUE(topics().can(Can::kClassify));
  EXPECT_FALSE(words().can(Can::kClassify));
}

TEST(Texts, NearWordsAndLabels) {
  const auto near_of = [](const char* name) {
    return near(topics(), {name}, {.top = 3}, two_threads()).front();
  };
  for (const auto& n : near_of("bread").neighbours) {
    EXPECT_NE(std::ranges::find(kTopics[1], n.id), kTopics[1].end()) << n.id;
  }
  EXPECT_EQ(near_of("label=topic1").neighbours.size(), 3u);
}

}  // namespace
}  // namespace kith::test
