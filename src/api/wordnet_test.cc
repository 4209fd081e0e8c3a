// SPDX-License-Identifier: Apache-2.0
#include "kith/wordnet.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/test_models.h"
#include "io/test_files.h"

namespace kith::test {
namespace {

// As wndb(5WN) has them: a licence, a meaning with two words and a link to what it is a kind of, a
// name that is an instance of something, an adjective with the mark of its place.
const char* const kNouns =
    "  1 This software and database is being provided to you\n"
    "00000010 05 n 01 canine 0 001 ~ 00000020 n 0000 | a mammal with claws; \"a canine bit\"\n"
    "00000020 05 n 02 dog 0 Domestic_Dog 0 001 @ 00000010 n 0000 | a \"tame\" canine; \"he has a "
    "dog\"\n"
    "00000030 18 n 01 Rex 0 001 @i 00000020 n 0000 | a king of dogs  \n"
    "00000040 05 n 02 damaged 0\n";
const char* const kAdjectives = "00000010 00 a 01 galore(ip) 0 000 | in great numbers\n";

struct WordNet : ::testing::Test {
  void SetUp() override {
    folder.write("data.noun", kNouns);
    folder.write("data.verb", "00000010 38 v 01 run_away 0 000 01 + 02 00 | flee\n");
    folder.write("data.adj", kAdjectives);
    folder.write("data.adv", "");
  }
  TestFolder folder;
  std::string out = folder.path() + "/out";
};

TEST_F(WordNet, ALineOfTextIsAMeaningWithItsBroaderOneAndItsGloss) {
  const WordNetFile made = write_wordnet_text(out, folder.path());
  EXPECT_EQ(made.meanings, 5u);
  EXPECT_EQ(made.bytes, std::filesystem::file_size(out));
  EXPECT_EQ(bytes_of(out),
            "canine a mammal with claws; \"a canine bit\"\n"
            "dog domestic dog canine a \"tame\" canine; \"he has a dog\"\n"
            "rex dog domestic dog a king of dogs\n"
            "run away flee\n"
            "galore in great numbers\n");
}

TEST_F(WordNet, ARowOfTheTableHasSetsACategoryAndTheGlossWithoutExamples) {
  EXPECT_EQ(write_wordnet_table(out, folder.path()).meanings, 5u);
  const std::string table = bytes_of(out);
  EXPECT_TRUE(table.starts_with("words,part,category,kind_of,gloss\n"));
  for (const char* row : {"\"canine\",noun,animal,\"\",\"a mammal with claws\"\n",
                          "\"dog|Domestic Dog\",noun,animal,\"canine\",\"a tame canine\"\n",
                          "\"Rex\",noun,person,\"dog\",\"a king of dogs  \"\n",
                          "\"run away\",verb,motion,\"\",\"flee\"\n",
                          "\"galore\",adjective,all,\"\",\"in great numbers\"\n"}) {
    EXPECT_NE(table.find(row), std::string::npos) << row << "is not in\n" << table;
  }
}

TEST_F(WordNet, WhatIsNotThereNamesThePackage) {
  const std::string message =
      io_error([&] { write_wordnet_text(out, folder.path() + "/elsewhere"); });
  EXPECT_NE(message.find("apt-get install wordnet-base"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace kith::test
