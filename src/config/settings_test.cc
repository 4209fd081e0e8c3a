// SPDX-License-Identifier: Apache-2.0
#include "kith/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "core/test_errors.h"

namespace kith {

enum class Colour { kRed, kGreen };
template <>
struct EnumNames<Colour> {
  static constexpr std::array<std::string_view, 2> names{"red", "green"};
};

namespace {

struct Paint {
  int dim = 100;
  int64_t min_count = 5;
  double lr = 0.025;
  double any = 1;
  bool shiny = false;
  Colour colour = Colour::kRed;
  std::string output = "out";
  std::string layers{};

  static constexpr std::tuple fields{
      field("dim", &Paint::dim, "length of each vector").between(1, 4096),
      field("min-count", &Paint::min_count, "drop rare words").at_least(1),
      field("lr", &Paint::lr, "first learning rate").between(0, 10),
      field("any", &Paint::any, "any finite number"),
      field("shiny", &Paint::shiny, "make it shine"),
      field("colour", &Paint::colour, "which paint"),
      field("output", &Paint::output, "where it goes"),
      field("layers", &Paint::layers, "which").adding_up(),
  };
};

struct Extra {
  bool quiet = false;
  static constexpr std::tuple fields{field("quiet", &Extra::quiet, "say nothing")};
};

struct Parsed {
  Paint paint;
  Extra extra;
  std::vector<std::string> positional;
};

Parsed parse(std::vector<std::string_view> args) {
  Parsed out;
  const std::vector<Section> sections{{"paint", out.paint}, {"extra", out.extra}};
  const Arguments arguments = parse_arguments(args, groups_of(sections));
  apply_settings(arguments.settings, sections);
  out.positional = arguments.positional;
  return out;
}

std::string usage(std::vector<std::string_view> args) {
  return message_of(ErrorKind::kUsage, [&] { parse(std::move(args)); });
}

TEST(Flags, EveryWayToWriteThem) {
  const Parsed p = parse({"in.txt", "--dim", "7", "--lr=0.5", "--shiny", "--colour", "green", "-o",
                          "x y", "-q", "-", "--min_count=3", "--", "--dim", "-z"});
  EXPECT_EQ(p.paint.dim, 7);
  EXPECT_EQ(p.paint.lr, 0.5);
  EXPECT_TRUE(p.paint.shiny);
  EXPECT_EQ(p.paint.colour, Colour::kGreen);
  EXPECT_EQ(p.paint.output, "x y");
  EXPECT_EQ(p.paint.min_count, 3);
  EXPECT_TRUE(p.extra.quiet);
  EXPECT_EQ(p.positional, (std::vector<std::string>{"in.txt", "-", "--dim", "-z"}));
}

TEST(Flags, SwitchesGoOnAndOffAndTheLastWins) {
  EXPECT_FALSE(parse({"--shiny", "--no-shiny"}).paint.shiny);
  EXPECT_TRUE(parse({"--no-shiny", "--shiny"}).paint.shiny);
  EXPECT_TRUE(parse({"--shiny=true"}).paint.shiny);
  EXPECT_FALSE(parse({"--shiny", "--shiny=false"}).paint.shiny);
  EXPECT_EQ(parse({"--dim", "1", "--dim", "2"}).paint.dim, 2);
  EXPECT_EQ(usage({"--no-shiny=true"}), "--no-shiny takes no value; got --no-shiny=true");
  EXPECT_EQ(usage({"--shiny=maybe"}), "command line: shiny must be true or false; got \"maybe\"");
}

TEST(Flags, ListsAddUp) {
  EXPECT_EQ(parse({"--layers", "a=1,b=2", "--layers", "c=3"}).paint.layers, "a=1,b=2,c=3");
  EXPECT_EQ(parse({"--layers", "a=1", "--layers", "b=2", "--layers=a=1"}).paint.layers, "a=1,b=2");
  EXPECT_EQ(parse({"--layers", "a", "--layers", "", "--layers", "b"}).paint.layers, "b");
}

TEST(Flags, TextStaysAsItWasTyped) {
  for (const char* const text : {"007", "1e5", "true", "0.10", "nan", "-1", "", "a=b", "\n\"\\"}) {
    EXPECT_EQ(parse({"--output", text}).paint.output, text);
    EXPECT_EQ(parse({std::string("--output=") + text}).paint.output, text);
  }
}

TEST(Flags, WholeNumbersMayBeWrittenLikeOthers) {
  EXPECT_EQ(parse({"--min-count", "1e6"}).paint.min_count, 1'000'000);
  EXPECT_EQ(parse({"--dim", "5.0"}).paint.dim, 5);
  EXPECT_EQ(parse({"--lr", "1"}).paint.lr, 1.0);
  EXPECT_EQ(parse({"--any", "-3"}).paint.any, -3.0);
}

TEST(Flags, UnknownNamesComeWithASuggestion) {
  EXPECT_EQ(usage({"--dmi", "5"}), "unknown flag --dmi; did you mean --dim?");
  EXPECT_EQ(usage({"--min-cout=5"}), "unknown flag --min-cout; did you mean --min-count?");
  EXPECT_EQ(usage({"--colour-of-the-sea", "5"}), "unknown flag --colour-of-the-sea");
  EXPECT_EQ(usage({"-x"}), "unknown flag -x");
  EXPECT_EQ(usage({"--no-shin"}), "unknown flag --no-shin; did you mean --no-shiny?");
  EXPECT_EQ(usage({"--no-dim"}).rfind("unknown flag --no-dim", 0), 0u);
  EXPECT_EQ(usage({"--=5"}), "unknown flag --");
}

TEST(Flags, AMissingValueIsTold) {
  EXPECT_EQ(usage({"--dim"}), "--dim needs a value");
  EXPECT_EQ(usage({"-o", "--dim", "5"}), "-o needs a value; got --dim");
  EXPECT_EQ(parse({"--output=--dim"}).paint.output, "--dim");
}

TEST(Values, OutOfRangeAndNotANumberAreRefused) {
  EXPECT_EQ(usage({"--dim", "0"}), "command line: dim must be between 1 and 4096; got 0");
  EXPECT_EQ(usage({"--dim", "4097"}), "command line: dim must be between 1 and 4096; got 4097");
  EXPECT_EQ(usage({"--min-count", "-5"}), "command line: min-count must be at least 1; got -5");
  EXPECT_EQ(usage({"--lr", "nan"}), "command line: lr must be between 0 and 10; got nan");
  EXPECT_EQ(usage({"--lr", "-0.1"}), "command line: lr must be between 0 and 10; got -0.1");
  EXPECT_EQ(usage({"--any", "inf"}), "command line: any must be a finite number; got inf");
  EXPECT_EQ(usage({"--any", "nan"}), "command line: any must be a finite number; got nan");
  EXPECT_EQ(usage({"--lr", "fast"}), "command line: lr must be a number; got \"fast\"");
  EXPECT_EQ(usage({"--colour", "blue"}),
            "command line: colour must be one of red, green; got blue");
  const std::string whole = "command line: dim must be a whole number";
  for (const auto& [typed, shown] :
       std::vector<std::pair<std::string, std::string>>{{"2.5", "2.5"},
                                                        {"ten", "\"ten\""},
                                                        {"", "\"\""},
                                                        {"nan", "nan"},
                                                        {"1e300", "1e+300"},
                                                        {"7x", "\"7x\""}}) {
    EXPECT_EQ(usage({"--dim", typed}), whole + "; got " + shown);
  }
  EXPECT_EQ(usage({"--dim", "3000000000"}),
            whole + " from -2147483648 to 2147483647; got 3000000000");
  EXPECT_EQ(usage({"--min-count", "99999999999999999999"}),
            "command line: min-count must be a whole number; got 1e+20");
}

TEST(Values, ARefusedOneChangesNothing) {
  Paint paint;
  EXPECT_THROW(set(paint, "dim", Value(int64_t{0})), Error);
  EXPECT_EQ(paint.dim, 100);
  EXPECT_FALSE(set(paint, "absent", Value(int64_t{0})));
}

class Toml : public testing::Test {
 protected:
  Toml() {
    std::string name = (std::filesystem::temp_directory_path() / "kith-toml-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Toml() override { std::filesystem::remove_all(folder_); }
  Paint read(std::string_view text, std::string_view table = "") {
    std::ofstream(path(), std::ios::binary) << text;
    Paint paint;
    const std::vector<Section> sections{{"paint", paint}};
    apply_settings(settings_from_toml(path(), table), sections);
    return paint;
  }
  std::string error(ErrorKind kind, std::string_view text) {
    std::string message = message_of(kind, [&] { read(text); });
    EXPECT_EQ(message.rfind(path(), 0), 0u) << message;
    return message.substr(std::min(message.size(), path().size()));
  }
  std::string path() const { return folder_ + "/run.toml"; }
  std::string folder_;
};

TEST_F(Toml, ReadsTheTopAndThenTheTable) {
  const std::string text =
      "dim = 7\nmin_count = 3\nshiny = true\ncolour = \"green\"\n"
      "[paint]\nlr = 0.5\ndim = 8\n[other]\ndim = 9\n";
  const Paint top = read(text);
  EXPECT_EQ(top.dim, 7);
  EXPECT_EQ(top.min_count, 3);
  EXPECT_TRUE(top.shiny);
  EXPECT_EQ(top.colour, Colour::kGreen);
  EXPECT_EQ(top.lr, 0.025);
  const Paint table = read(text, "paint");
  EXPECT_EQ(table.dim, 8);
  EXPECT_EQ(table.min_count, 3);
  EXPECT_EQ(table.lr, 0.5);
}

TEST_F(Toml, ErrorsNameFileAndLine) {
  EXPECT_EQ(error(ErrorKind::kUsage, "dim = 5\nlr = 1\nwindw = 3\n"), ":3: unknown setting windw");
  EXPECT_EQ(error(ErrorKind::kUsage, "\n\nmin_coutn = 3\n"),
            ":3: unknown setting min-coutn; did you mean min-count?");
  EXPECT_EQ(error(ErrorKind::kUsage, "lr = nan\n"), ":1: lr must be between 0 and 10; got nan");
  EXPECT_EQ(error(ErrorKind::kUsage, "dim = \"5\"\n"), ":1: dim must be a whole number; got \"5\"");
  EXPECT_EQ(error(ErrorKind::kUsage, "colour = 3\n"),
            ":1: colour must be one of red, green; got 3");
  EXPECT_EQ(error(ErrorKind::kInput, "lr = 1\ndim = [1, 2]\n"),
            ":2: dim must be a number, a text, true or false");
  EXPECT_EQ(error(ErrorKind::kInput, "dim = 5\nlr = = 2\n").rfind(":2: ", 0), 0u);
}

TEST_F(Toml, AFileThatCannotBeReadIsTold) {
  const std::string missing = folder_ + "/missing.toml";
  EXPECT_EQ(message_of(ErrorKind::kIo, [&] { settings_from_toml(missing, ""); }),
            missing + ": cannot read the settings: No such file or directory");
  EXPECT_EQ(message_of(ErrorKind::kIo, [&] { settings_from_toml(folder_, ""); }),
            folder_ + ": this is a folder; name a file of settings");
}

Paint round_trip(Paint paint) {
  const std::string text = to_toml(std::vector<Section>{{"paint", paint}});
  Paint again;
  const std::vector<Section> sections{{"paint", again}};
  apply_settings(settings_from_toml_text(text, "words.kith"), sections);
  return again;
}

TEST_F(Toml, AllValuesSurviveTheRoundTrip) {
  const Paint paint{.dim = 4096,
                    .min_count = std::numeric_limits<int64_t>::max(),
                    .lr = 0.1 + 0.2,
                    .any = -1.7976931348623157e308,
                    .shiny = true,
                    .colour = Colour::kGreen};
  const Paint again = round_trip(paint);
  EXPECT_EQ(again.dim, paint.dim);
  EXPECT_EQ(again.min_count, paint.min_count);
  EXPECT_EQ(again.lr, paint.lr);
  EXPECT_EQ(again.any, paint.any);
  EXPECT_EQ(again.shiny, paint.shiny);
  EXPECT_EQ(again.colour, paint.colour);
  for (const double any : {5.0, 1e20, 5e-324, 1e-7, -0.5}) {
    EXPECT_EQ(round_trip({.any = any}).any, any);
  }
}

TEST_F(Toml, EveryTextSurvivesTheRoundTrip) {
  using namespace std::string_literals;
  std::string all;
  for (char c = 1; c < 127; ++c) all += c;
  for (const std::string& text :
       {all, all + "\x7f", "\0"s, "\"quoted\" \\back\\slash\\"s, "line\nline\r\n\ttab"s, "\\u0041"s,
        "\"\"\""s, "caf\xC3\xA9 \xF0\x9F\x98\x80"s, ""s, "# no comment"s, "5"s, "true"s}) {
    EXPECT_EQ(round_trip({.output = text}).output, text);
  }
  // TOML has no way to write other bytes; the rest of the settings must still be readable.
  EXPECT_EQ(round_trip({.output = "caf\xE9"}).output, "caf\xEF\xBF\xBD");
}

TEST_F(Toml, StoredTextThatIsDamagedNamesTheModelFile) {
  EXPECT_EQ(message_of(ErrorKind::kInput, [] { settings_from_toml_text("dim = ", "words.kith"); })
                .rfind("words.kith: the stored settings cannot be read: ", 0),
            0u);
}

TEST(Stored, ValuesAreOfTheirTypes) {
  const auto settings = settings_from_toml_text(
      "flag = false\n\n  some_name=\"a = \\\"b\\\" # c\"  \nleast = -9223372036854775808\n"
      "more = 9223372036854775808\nless = -1.7976931348623157e+308\nnone = 5e-324\n"
      "text = \"\\b\\t\\n\\f\\r\\\\\\u00e9\\U0001F600\\u0000\"",
      "w");
  using namespace std::string_literals;
  const std::vector<Value> expected{false,
                                    "a = \"b\" # c"s,
                                    std::numeric_limits<int64_t>::min(),
                                    0x1p63,
                                    -std::numeric_limits<double>::max(),
                                    5e-324,
                                    "\b\t\n\f\r\\\xC3\xA9\xF0\x9F\x98\x80\0"s};
  ASSERT_EQ(settings.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(settings[i].value, expected[i]) << i;
  EXPECT_EQ(settings[1].name, "some-name");
  EXPECT_EQ(settings[1].where, "w:3");
  EXPECT_TRUE(settings_from_toml_text("", "w").empty());
}

TEST(Stored, MalformedTextIsRefused) {
  using namespace std::string_literals;
  for (const std::string& line : {"dim"s,
                                  "= 5"s,
                                  "dim = "s,
                                  "dim = five"s,
                                  "dim = 5 6"s,
                                  "dim = 5x"s,
                                  "dim = --5"s,
                                  "dim = 1e999"s,
                                  "dim = [5]"s,
                                  "[dim]"s,
                                  "a b = 5"s,
                                  "dim = tru"s,
                                  "\"dim\" = 5"s,
                                  "dim = \""s,
                                  "dim = \"x"s,
                                  "dim = \"x\\\""s,
                                  "dim = \"x\" y"s,
                                  "dim = \"\\x\""s,
                                  "dim = \"\\u00e\""s,
                                  "dim = \"\\u-001\""s,
                                  "dim = \"\\ud800\""s,
                                  "dim = \"\\U00110000\""s,
                                  "dim = \"\x01\""s,
                                  "dim = \"\0\""s,
                                  "\0"s,
                                  "lr = 2"s}) {
    const std::string message = message_of(
        ErrorKind::kInput, [&] { settings_from_toml_text("lr = 1\n" + line, "words.kith"); });
    EXPECT_EQ(message.rfind("words.kith: the stored settings cannot be read: line 2 ", 0), 0u)
        << line << ": " << message;
  }
}

struct Older {
  std::optional<double> below{};
  std::optional<int> zero{};
  static constexpr std::tuple fields{
      field("below", &Older::below, "was auto below 0").automatic("x").formerly("lower", -1),
      field("zero", &Older::zero, "was auto at 0").automatic("x").formerly("zero", 0),
  };
};

TEST(Modernised, NumbersThatStoodForAutoBecomeIt) {
  Older older;
  const Section section("older", older);
  const auto now = [&](std::string_view name, Value value) {
    return modernised({{std::string(name), std::move(value)}}, {&section, 1})[0];
  };
  const Value automatic = std::string("auto");
  EXPECT_EQ(now("lower", int64_t{-1}).name, "below");
  for (const double value : {-1.0, -2.0, -0.5}) EXPECT_EQ(now("lower", value).value, automatic);
  EXPECT_EQ(now("lower", int64_t{-7}).value, automatic);
  EXPECT_EQ(now("lower", 0.0).value, Value(0.0));
  EXPECT_EQ(now("zero", int64_t{0}).value, automatic);
  // Where 0 was auto, what is below it was an error then, and is one now.
  EXPECT_EQ(now("zero", int64_t{-1}).value, Value(int64_t{-1}));
}

TEST(Suggest, StaysSilentWhenNothingIsNear) {
  const std::vector<std::string_view> known{"window", "dim", "negatives"};
  EXPECT_EQ(suggest("windw", known), "; did you mean window?");
  EXPECT_EQ(suggest("negative", known), "; did you mean negatives?");
  EXPECT_EQ(suggest("objective", known), "");
  EXPECT_EQ(suggest("x", {}), "");
  // A name that was cut short, though it is far away letter by letter.
  const std::vector<std::string_view> columns{"age", "income-per-year", "income-tax"};
  EXPECT_EQ(suggest("income", columns), "; did you mean income-per-year?");
  EXPECT_EQ(suggest("income-tux", columns), "; did you mean income-tax?");
  EXPECT_EQ(suggest("in", columns), "");
}

}  // namespace
}  // namespace kith
