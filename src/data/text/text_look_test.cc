// SPDX-License-Identifier: Apache-2.0
#include "data/text/text_look.h"

#include <gtest/gtest.h>

#include "data/table/test_tables.h"

namespace kith {
namespace {

TextLook look_at(std::string_view text, size_t piece = 100'000) {
  TextLook out;
  for (size_t i = 0; i < text.size(); i += piece) {
    const std::string_view part = text.substr(i, piece);
    out.see({part.data(), part.size()});
  }
  return out;
}

std::string table_hint(const std::string& text, const std::string& name) {
  return look_at(text, 7).table_hint(name);
}

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

constexpr const char* kFilms =
    "id,title,plot\n"
    "1,Alien,\"A crew, far out, meets a guest\"\n"
    "2,Blade Runner,A man looks for machines that look like men\n";

TEST(TableHint, NamesTheColumnWithTheMostWords) {
  const std::string hint = table_hint(kFilms, "films.csv");
  EXPECT_EQ(hint,
            "films.csv looks like a table and is read as lines of text, all columns and signs "
            "included; --column plot takes one column");
  for (const char* name : {"films.csv.gz", "f.json", "f.jsonl"}) {
    const bool json = std::string_view(name).starts_with("f.");
    expect_part("--column plot",
                table_hint(json ? "{\"id\": 1, \"plot\": \"a b c d\"}\n" : kFilms, name));
  }
  expect_part("--column 'the plot'", table_hint("id\tthe plot\n1\ta b c d\n", "films.tsv"));
}

TEST(TableHint, ARowOfWordsIsNoHeader) {
  expect_part("--no-header --column c2",
              table_hint("1,a man meets a ship\n2,a ship meets a man\n", "films.csv"));
}

TEST(TableHint, ATableWithoutTextIsForAnotherModel) {
  expect_part("to learn from its columns: kith train feat2vec films.csv",
              table_hint("id,title\n1,Alien\n2,Aliens\n", "films.csv"));
}

// Tabs and JSON are seen without a name, also in a pipe; commas are not, since prose has them.
TEST(TableHint, ContentTellsWhereTheNameDoesNot) {
  const std::string row = "{\"plot\": \"a man meets a ship\"}\n";
  expect_part("standard input looks like", table_hint(row + row + row, "-"));
  const std::string tabs = "id\tplot\n1\ta man meets a ship\n2\ta b c d\n3\te f g h\n";
  expect_part("--column plot", table_hint(tabs, "films.txt"));
  EXPECT_EQ(table_hint(kFilms, "films.txt"), "");
  EXPECT_EQ(table_hint(repeated("A man, a plan and a canal\n", 20), "films.txt"), "");
  EXPECT_EQ(table_hint(tabs + "a line without\n", "films.txt"), "");
  EXPECT_EQ(table_hint(repeated("just words in lines\n", 20), "films.csv"), "");
}

TEST(UntidyHint, CountsCapitalsAndSigns) {
  EXPECT_EQ(look_at("plain words of text and so on to the very end\n").untidy_hint(), "");
  expect_part("--tokens words", look_at("The king, and a ship\n").untidy_hint());
}

struct Language {
  const char *name, *unspaced, *spaced, *remedy;
};
const Language kLanguages[] = {
    {"Chinese", "我们今天去公园散步，天气很好。", "我们 今天 去 公园 散步 ， 天气 很 好 。",
     "jieba"},
    {"Japanese", "私たちは今日公園に行きました。", "私 たち は 今日 公園 に 行き まし た 。",
     "mecab"},
    {"Thai", "วันนี้เราไปเดินเล่นที่สวนสาธารณะ", "วันนี้ เรา ไป เดินเล่น ที่ สวน สาธารณะ", "PyThaiNLP"},
    {"Lao", "ມື້ນີ້ພວກເຮົາໄປຍ່າງຫຼິ້ນຢູ່ສວນສາທາລະນະ", "ມື້ນີ້ ພວກເຮົາ ໄປ ຍ່າງ ຫຼິ້ນ ຢູ່ ສວນ ສາທາລະນະ", "ICU"},
    {"Burmese", "ယနေ့ကျွန်ုပ်တို့ပန်းခြံသို့လမ်းလျှောက်သွားသည်", "ယနေ့ ကျွန်ုပ်တို့ ပန်းခြံ သို့ လမ်း လျှောက် သွား သည်", "ICU"},
    {"Khmer", "ថ្ងៃនេះយើងទៅដើរលេងនៅសួនច្បារ", "ថ្ងៃនេះ យើង ទៅ ដើរ លេង នៅ សួន ច្បារ", "ICU"},
};

TEST(UnspacedHint, SaysHowToCutTheText) {
  for (const Language& l : kLanguages) {
    const std::string hint = look_at(repeated(std::string(l.unspaced) + "\n", 50)).unspaced_hint();
    expect_part("much of the text is " + std::string(l.name) + ", ", hint);
    expect_part(l.remedy, hint);
    EXPECT_EQ(look_at(repeated(std::string(l.spaced) + "\n", 50)).unspaced_hint(), "") << l.name;
  }
  EXPECT_EQ(look_at("Plain words, and ευχαριστώ, спасибо, 감사합니다\n").unspaced_hint(), "");
  EXPECT_EQ(look_at("").unspaced_hint(), "");
}

// Little of it is a quotation; and what comes late counts as well.
TEST(UnspacedHint, CountsTheWholeText) {
  const std::string english =
      repeated("all the words of this line are told apart by spaces\n", 80'000);
  const std::string chinese = repeated("我们今天去公园散步，天气很好。\n", 300'000);
  EXPECT_EQ(look_at(english + chinese.substr(0, 450'000)).unspaced_hint(), "");
  expect_part("Chinese", look_at(english + chinese).unspaced_hint());
}

}  // namespace
}  // namespace kith
