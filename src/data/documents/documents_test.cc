// SPDX-License-Identifier: Apache-2.0
#include "data/documents/documents.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/error.h"
#include "core/test_errors.h"
#include "data/test_files.h"
#include "kith/settings.h"

namespace kith::test {
namespace {

std::unique_ptr<Dataset> read(const std::string& path, std::vector<Setting> settings = {}) {
  const auto reader = DocumentSet::data_kind().reader();
  settings.insert(settings.begin(), {"min-count", int64_t{1}});
  apply_settings(settings, reader->settings());
  ReadRequest request;
  request.sources = {path};
  return reader->read(request);
}
const DocumentSet& as(const std::unique_ptr<Dataset>& data) {
  return dynamic_cast<const DocumentSet&>(*data);
}
Setting text(std::string name, std::string value) { return {std::move(name), std::move(value)}; }

std::string shown(const DocumentSet& data) {
  std::string out;
  for (const WordId w : data.stream()) {
    out += w == kSentenceEnd ? std::string("|")
                             : std::string(data.vocabulary().words[row_of(w)]) + " ";
  }
  return out;
}

TEST(Documents, LinesInTheirOrderEmptyOnesToo) {
  const TestFolder folder;
  const auto data = read(folder.write("a.txt", "b a\n\na c a\n \nc"));
  EXPECT_EQ(shown(as(data)), "b a ||a c a ||c |");
  EXPECT_EQ(as(data).names().size(), 5u);
  EXPECT_EQ(as(data).names()[2], "3");
  EXPECT_EQ(as(data).words(), 6u);
  EXPECT_EQ(as(data).counts().empty, 2u);
  const std::vector<uint32_t> documents{0, 0, 0, 1, 2, 2, 2, 2, 3, 4, 4};
  for (size_t i = 0; i < documents.size(); ++i) {
    EXPECT_EQ(as(data).document_at(i), documents[i]) << i;
  }
  const auto rare = read(folder.write("b.txt", "b a\na c a c\n"), {{"min-count", int64_t{2}}});
  EXPECT_EQ(shown(as(rare)), "a |a c a c |");
}

TEST(Documents, RowsOfATableWithTheirNames) {
  const TestFolder folder;
  const std::string path = folder.write("a.csv", "id,body,title\nx,a b,t\ny,,\n,b,u\n");
  const auto data = read(path, {text("column", "body"), text("id", "id")});
  EXPECT_EQ(shown(as(data)), "a b ||b |");
  EXPECT_EQ(as(data).names()[0], "x");
  EXPECT_EQ(as(data).names()[2], "3");
  const auto both = read(path, {text("column", "title,body")});
  EXPECT_EQ(shown(as(both)), "t a b ||u b |");
}

TEST(Documents, SomeWordsAreHeldOutAndStandNowhereElse) {
  const TestFolder folder;
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "a b c d e f g h i j\n";
  const auto data = read(folder.write("a.txt", lines), {{"holdout", 0.1}});
  const DocumentSet& d = as(data);
  EXPECT_NEAR(static_cast<double>(d.held_out().size()), 300, 60);
  EXPECT_EQ(d.words() + d.held_out().size(), 3000u);
  for (const DocumentSet::HeldOut& h : d.held_out()) {
    // Where it stood: behind the word before it in the alphabet, or others that are held out.
    ASSERT_GT(h.position, 0u);
    const WordId before = d.stream()[h.position - 1];
    ASSERT_NE(before, kSentenceEnd) << "the first word stays";
    EXPECT_EQ(d.document_at(h.position), h.document);
    EXPECT_LT(d.vocabulary().words[row_of(before)], d.vocabulary().words[row_of(h.word)]);
  }
  EXPECT_EQ(data->fingerprint(),
            read(folder.write("a.txt", lines), {{"holdout", 0.1}})->fingerprint());
  EXPECT_NE(data->fingerprint(),
            read(folder.write("a.txt", lines), {{"holdout", 0.2}})->fingerprint());
  EXPECT_TRUE(as(read(folder.write("s.txt", "a b c\n"), {{"holdout", 0.5}})).held_out().empty());
}

TEST(Documents, WhatIsRefused) {
  const TestFolder folder;
  const auto says = [&](ErrorKind kind, std::string_view part, const std::string& content,
                        const std::vector<Setting>& settings = {}) {
    const std::string found =
        message_of(kind, [&] { read(folder.write("a.csv", content), settings); });
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  says(ErrorKind::kInput, "no words in 2 documents", " \n\n");
  says(ErrorKind::kInput, "the same word 2 times, and training needs 2 different ones", "a a\n");
  says(ErrorKind::kInput, "0 of 2 distinct words remain", "a b\n", {{"min-count", int64_t{3}}});
  says(ErrorKind::kInput, "two documents are called x (the second is number 2)",
       "id,body\nx,a b\nx,b\n", {text("column", "body"), text("id", "id")});
  says(ErrorKind::kUsage, "there is no column bod for --column", "id,body\nx,a b\n",
       {text("column", "bod")});
  says(ErrorKind::kUsage, "there is no column di for --id", "id,body\nx,a b\n",
       {text("column", "body"), text("id", "di")});
  says(ErrorKind::kUsage, "--id is for tables", "a b\n", {text("id", "id")});
  says(ErrorKind::kUsage, "--invalid-utf8 is for lines", "body\na b\n",
       {text("column", "body"), text("invalid-utf8", "drop")});
  message_of(ErrorKind::kIo, [&] { read(folder.path() + "/none.txt"); });
}

}  // namespace
}  // namespace kith::test
