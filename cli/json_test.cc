// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <gtest/gtest.h>

#include <limits>

namespace kith::cli {
namespace {

TEST(Json, ReadsLikeWhatItPrints) {
  const std::vector<std::string> words{"a", "b"};
  const Json value{{"text", "x"},    {"none", nullptr},       {"yes", true},
                   {"words", words}, {"list", Json::array()}, {"inner", {{"n", 1}}}};
  EXPECT_EQ(dumped(value),
            R"({"text":"x","none":null,"yes":true,"words":["a","b"],"list":[],"inner":{"n":1}})"
            "\n");
}

TEST(Json, KeysStandInTheOrderTheyWereGiven) {
  Json value;
  EXPECT_TRUE(value.empty());
  value["z"] = 1;
  value["a"]["b"] = 2;
  value["z"] = 3;
  value["list"].push_back({{"c", 4}});
  value["list"].push_back(nullptr);
  value["new"];
  EXPECT_EQ(dumped(value), R"({"z":3,"a":{"b":2},"list":[{"c":4},null],"new":null})"
                           "\n");
  EXPECT_TRUE(value.contains("new"));
  EXPECT_FALSE(value.contains("b"));
  value.update({{"new", "x"}, {"more", 0.5}});
  EXPECT_EQ(dumped(value), R"({"z":3,"a":{"b":2},"list":[{"c":4},null],"new":"x","more":0.5})"
                           "\n");
}

TEST(Json, NothingInsideIsNotNull) {
  EXPECT_EQ(dumped(Json::object()), "{}\n");
  EXPECT_EQ(dumped(Json::array()), "[]\n");
  EXPECT_EQ(dumped(nullptr), "null\n");
  EXPECT_TRUE(Json::object().empty());
  EXPECT_FALSE(Json(0).empty());
}

TEST(Json, NumbersAtTheirExtremes) {
  EXPECT_EQ(dumped(std::numeric_limits<int64_t>::min()), "-9223372036854775808\n");
  EXPECT_EQ(dumped(std::numeric_limits<uint64_t>::max()), "18446744073709551615\n");
  EXPECT_EQ(dumped(1.0), "1.0\n");
  EXPECT_EQ(dumped(std::numeric_limits<double>::max()), "1.7976931348623157e+308\n");
  EXPECT_EQ(dumped(std::vector<float>{0.1f, NAN}), "[0.10000000149011612,null]\n");
  EXPECT_EQ(dumped(score(2.0 / 3)), "0.666667\n");
  EXPECT_EQ(dumped(score(INFINITY)), "null\n");
}

TEST(Json, TextsAndKeysAreEscaped) {
  EXPECT_EQ(dumped({{"a\"\n", "\x01\xFF"}}), "{\"a\\\"\\n\":\"\\u0001\xEF\xBF\xBD\"}\n");
}

}  // namespace
}  // namespace kith::cli
