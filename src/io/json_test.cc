// SPDX-License-Identifier: Apache-2.0
#include "io/json.h"

#include <gtest/gtest.h>

#include "core/test_errors.h"

namespace kith {
namespace {

std::string again(std::string_view text) { return to_text(parse_json(text, "f.json")); }

std::string error(std::string_view text) {
  return message_of(ErrorKind::kInput, [&] { parse_json(text, "f.json"); });
}

TEST(JsonTree, HoldsWhatTheFileSays) {
  for (const std::string text :
       {R"({"b":[1,-2,0.5,1.0,"x",true,false,null],"a":{"c":{},"d":[]},"":[[],[{}]]})", "[]", "7",
        "null", R"("\"\\\b\f\n\r\t\u0001")", "9223372036854775807", "-9223372036854775808"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again(" [ 1 ,\n\t2 ] "), "[1,2]");
  EXPECT_EQ(again(R"("\u00e9\ud83d\ude00\/")"), "\"\xC3\xA9\xF0\x9F\x98\x80/\"");
  EXPECT_EQ(again("18446744073709551616"), "1.8446744073709552e+19");
  EXPECT_EQ(again(R"({"a":1,"b":2,"a":{"c":3}})"), R"({"a":{"c":3},"b":2})");
}

TEST(JsonTree, FindsMembersOfObjects) {
  const JsonValue json = parse_json(R"({"a": 5})", "f.json");
  ASSERT_NE(json.find("a"), nullptr);
  EXPECT_EQ(std::get<int64_t>(json.find("a")->value), 5);
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_EQ(json.find("a")->find("b"), nullptr);
}

TEST(JsonTree, NestingHasALimit) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(again(nested(64)), nested(64));
  EXPECT_EQ(error(nested(65)), "f.json: lists or objects are nested more than 64 deep");
  EXPECT_EQ(error(std::string(100000, '[')), error(nested(65)));
}

TEST(JsonTree, MalformedTextIsToldWithItsLine) {
  EXPECT_EQ(error("").rfind("f.json:1: this is not JSON: syntax error", 0), 0u);
  EXPECT_EQ(error("{\n\"a\": 1,\n}").rfind("f.json:3: this is not JSON: syntax error", 0), 0u);
  EXPECT_EQ(error("[1e999]"), "f.json:1: this is not JSON: number overflow parsing '1e999'");
  for (const char* const text :
       {"[1", "{\"a\"}", "[1] 2", "nul", "\"\xFF\"", "\"\\ud800\"", "01"}) {
    EXPECT_EQ(error(text).rfind("f.json:1: this is not JSON: ", 0), 0u) << text;
  }
}

}  // namespace
}  // namespace kith
