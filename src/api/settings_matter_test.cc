// SPDX-License-Identifier: Apache-2.0
// Every setting matters: with another value of it other numbers are learned. Settings are taken
// from the tables that flags come from, so that a new one is tried by itself, or asked for here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <sstream>

#include "api/test_models.h"
#include "data/table/schema.h"

namespace kith::test {
namespace {

enum class Effect { kChanges, kNothing, kRefused };
using enum Effect;

// What is asked of a setting that the usual other value (below) does not suit: in these modes, with
// these values. Where there is such a case, the usual one is not tried.
struct Case {
  std::string_view of;  // a model, or a kind of data; "" for all
  std::string_view name;
  Effect effect;
  Settings mode{};
  std::vector<Value> values{};  // else the usual one
};

std::string str(const char* text) { return text; }
constexpr auto kModel = "(a model)", kSchema = "(a schema)";  // paths that stand for files

const Settings kCbow{text("objective", "cbow")};
const Settings kNce{text("loss", "nce")};
const Settings kYear{text("target", "year")};
const Settings kBig{text("target", "big")};
const Settings kSeen{text("rating", "none")};  // interactions
const Settings kShrink{text("method", "shrink")};
// Trained for too long and with nothing to hold it, so that the best epoch is not the last.
const Settings kLong{whole("epochs", 60), whole("dim", 12), number("holdout", 0.4)};
const Settings kFree{number("penalty", 1e-6)};

std::vector<Case> cases() {
  return {
      {"text", "from", kChanges, {}, {str(kModel)}},
      {"table", "from", kChanges, {}, {str(kModel)}},
      {"ratings", "from", kRefused, {}, {str(kModel)}},
      // Ratings are trained to the same bits by any number of threads, always.
      {"ratings", "deterministic", kNothing},

      {"", "tolerance", kChanges, {}, {0.5}},
      // All ratings are learned from in the end; what is held out says for how long.
      {"ratings", "holdout", kChanges, {flag("refit", false)}},

      {"text", "max-vocab", kChanges, {}, {int64_t{10}}},
      {"text", "max-word", kChanges, {}, {int64_t{20}}},
      {"text", "invalid-utf8", kChanges, {}, {str("replace"), str("drop")}},
      {"text", "invalid-utf8", kRefused, {}, {str("error")}},

      {"table", "schema", kChanges, {}, {str(kSchema)}},
      {"table", "types", kChanges, {}, {str("year=category"), str("year=ignore")}},

      {"word2vec", "noise", kChanges},
      // CBOW has one pair for each centre.
      {"word2vec", "noise", kNothing, kCbow + Settings{text("noise", "window")}, {str("pair")}},
      {"word2vec", "gradient", kChanges, kCbow},
      {"word2vec", "gradient", kNothing},
      {"word2vec", "early-stop", kChanges, {number("lr", 0.5), whole("epochs", 30)}},

      {"feat2vec", "loss", kChanges, {}, {str("softmax"), str("nce"), str("ns")}},
      {"feat2vec", "loss", kRefused, {}, {str("squared"), str("logistic")}},
      {"feat2vec",
       "loss",
       kChanges,
       kYear,
       {str("squared"), str("absolute"), str("huber"), str("tukey")}},
      {"feat2vec", "loss", kChanges, kBig, {str("logistic"), str("hinge"), str("softmax")}},
      {"feat2vec", "target", kChanges, {}, {str("city"), str("year")}},
      {"feat2vec", "mix", kChanges, kYear},
      {"feat2vec", "mix", kChanges, kBig},
      {"feat2vec", "mix", kRefused},
      {"feat2vec", "negatives", kChanges},
      {"feat2vec", "negatives", kNothing, kYear},  // a number needs no noise
      {"feat2vec", "negatives", kChanges, kYear + Settings{number("mix", 0.5)}},
      {"feat2vec", "dropout", kChanges},
      {"feat2vec", "dropout", kNothing, kNce},
      {"feat2vec", "intercepts", kChanges, kNce},
      {"feat2vec", "intercepts", kNothing},
      {"feat2vec", "early-stop", kChanges, {whole("epochs", 60), whole("holdout", 40)}},
      {"feat2vec", "biases", kChanges},
      {"feat2vec", "biases", kRefused, kYear, {false}},

      {"als", "unobserved", kChanges, kSeen},
      {"als", "unobserved", kNothing},
      {"als", "biases", kChanges},
      {"als", "biases", kNothing, kSeen},
      {"als", "bias-penalty", kChanges},
      {"als", "bias-penalty", kNothing, kSeen},
      {"als", "solver", kChanges, {whole("block", 2)}},
      {"als", "steps", kChanges},
      {"als", "steps", kNothing, {text("solver", "cholesky")}},
      {"als", "block", kChanges, {text("solver", "blocks")}, {int64_t{2}}},
      {"als", "block", kNothing},
      {"als", "early-stop", kChanges, kLong + kFree, {int64_t{0}}},

      {"mf", "early-stop", kChanges, kLong + kFree + Settings{number("lr", 1)}, {int64_t{0}}},
      {"mf",
       "loss",
       kChanges,
       {},
       {str("squared"), str("absolute"), str("huber"), str("tukey"), str("kl")}},
      {"mf", "loss", kRefused, {}, {str("logistic"), str("hinge")}},
      {"mf", "loss", kChanges, kSeen, {str("bpr"), str("squared")}},
      {"mf", "bias-penalty", kChanges},
      {"mf", "bias-penalty", kChanges, kSeen},
      {"mf", "bias-penalty", kChanges, {flag("adapt", false)}},

      {"nmf", "early-stop", kChanges, kLong + kFree, {int64_t{0}}},
      {"nmf", "biases", kChanges},
      {"nmf", "biases", kNothing, {text("loss", "kl")}},
      {"nmf", "biases", kNothing, {text("unrated", "zero")}},
      {"nmf", "penalty", kChanges},
      {"nmf", "penalty", kChanges, {text("method", "multiplicative")}},
      {"nmf", "penalty", kChanges, {text("method", "multiplicative"), text("loss", "kl")}},
      {"nmf", "sparsity", kChanges},
      {"nmf", "sparsity", kChanges, {text("method", "multiplicative")}},
      {"nmf", "sparsity", kChanges, {text("method", "multiplicative"), text("loss", "kl")}},

      {"softimpute", "early-stop", kChanges, kLong, {int64_t{0}}},
      {"softimpute", "early-stop", kChanges, kLong + kShrink, {int64_t{0}}},
      {"softimpute", "early-stop", kNothing, kLong + Settings{number("penalty", 1)}, {int64_t{0}}},
      {"softimpute", "step", kChanges, kShrink},
      {"softimpute", "step", kNothing},
      {"softimpute", "decay", kChanges},
      {"softimpute", "decay", kNothing, kShrink},
      {"softimpute", "iterations", kChanges},
      {"softimpute", "iterations", kNothing, kShrink},

      {"svp", "early-stop", kChanges, kLong, {int64_t{0}}},

      {"bmf", "burn-in", kChanges, {flag("refit", false)}},
  };
}

// How a table is read: tried with one model of each kind.
std::vector<Case> reading_cases() {
  return {
      {"", "format", kNothing, {}, {str("csv")}},
      {"", "format", kRefused, {}, {str("json"), str("sqlite"), str("postgres")}},
      {"", "delimiter", kNothing, {}, {str(",")}},
      {"", "delimiter", kRefused, {}, {str(";")}},
      {"", "query", kRefused, {}, {str("select 1")}},
      {"table", "header", kChanges, {text("types", "")}, {false}},
      {"ratings", "header", kRefused, {}, {false}},  // names are no ratings
      {"ratings", "header", kChanges, kSeen, {false}},
      {"ratings", "user", kChanges, {}, {str("item")}},
      {"ratings", "item", kChanges, {}, {str("timestamp")}},
      {"ratings", "rating", kChanges, {}, {str("timestamp"), str("none")}},
      {"ratings", "time", kNothing, {}, {str("timestamp")}},  // times are for splits
      {"ratings", "duplicates", kChanges, {}, {str("last"), str("first"), str("mean"), str("sum")}},
      {"ratings", "duplicates", kRefused, {}, {str("refuse")}},
  };
}

// --- Data in which every setting finds something ---

std::string text_with_oddities() {
  std::string out = topic_text(400);
  for (int i = 0; i < 20; ++i) {
    out += "The ship, THE Sail: a wave of unpronounceablelongwordswithoutend\n";
    out += "once caf\xff caf\xe9 caf\xe9 and oven\n";
  }
  return out + "hapax legomenon ship\ntwice twice ship\n";
}

// With a column of two values and one of dates that can be read in two ways.
std::string table_with_oddities() {
  std::string out, line;
  std::istringstream in(places_table(150));
  for (size_t row = 0; std::getline(in, line); ++row) {
    out += line + (row == 0 ? ",big,visited\n"
                            : fmt::format(",{},{:02}/{:02}/2020\n", row % 3 == 0 ? "yes" : "no",
                                          1 + row % 12, 1 + row % 5));
  }
  return out;
}

// None below 0; some twice.
std::string ratings_with_oddities() {
  const PlantedRatings planted{.users = 45, .items = 25, .noise = 0.2};
  std::string out(kRatingsHeader);
  for (size_t u = 0; u < planted.users; ++u) {
    for (size_t i = 0; i < planted.items; ++i) {
      if (!planted.is_there(u, i)) continue;
      const double rating = std::max(0.5, planted.rated(u, i));
      out += fmt::format("u{},i{},{:.3f},{}\n", u, i, rating, 1000 + u * i);
      if (i == u) out += fmt::format("u{},i{},{:.3f},{}\n", u, i, rating + 0.5, 2000 + u * i);
    }
  }
  return out;
}

const std::string& data_for(std::string_view kind) {
  if (kind == "text") return shared_file("odd.txt", text_with_oddities);
  if (kind == "table") return shared_file("odd.csv", table_with_oddities);
  return shared_file("odd-ratings.csv", ratings_with_oddities);
}

// What keeps training short. Values here are those that a setting is moved away from.
Settings quick(std::string_view model) {
  if (model == "word2vec") {
    return {whole("dim", 5),       whole("epochs", 2),    whole("window", 2),
            whole("negatives", 3), whole("min-count", 2), number("holdout", 0.1)};
  }
  if (model == "feat2vec") {
    return {whole("dim", 5), whole("epochs", 2), whole("negatives", 4), whole("holdout", 10),
            text("types", "id=ignore,notes=text,tags=set,opened=date")};
  }
  if (model == "bmf") {
    return {whole("dim", 3), whole("epochs", 12), whole("burn-in", 4), whole("samples", 3)};
  }
  if (model == "softimpute") return {whole("dim", 2), whole("epochs", 12), whole("iterations", 3)};
  return {whole("dim", 3), whole("epochs", model == "mf" ? 30 : 6)};
}

// --- Trying ---

// The tensors of a model file, without the settings in its header.
std::string numbers_in(const std::string& path) {
  const std::string bytes = bytes_of(path);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  return bytes.substr(sizeof header + header);
}

std::string shown(const Settings& settings) {
  std::string out;
  for (const Setting& s : settings) out += " " + s.name + "=" + detail::show_found(s.value);
  return out.empty() ? " nothing else" : out;
}

class Trial {
 public:
  explicit Trial(std::string_view model)
      : model_(model), data_(describe_model(model).data), base_(quick(model)) {}

  std::string_view data() const { return data_; }

  // What is learned; nothing if it is refused.
  std::optional<std::string> learned(const Settings& more) const {
    Settings settings = base_ + more;
    for (Setting& s : settings) s.value = with_files(std::move(s.value));
    const std::string path = folder_.path() + "/a.kith";
    try {
      train_now(request(model_, data_for(data_), path, settings));
    } catch (const Error& e) {
      EXPECT_TRUE(e.kind() == ErrorKind::kUsage || e.kind() == ErrorKind::kInput) << e.what();
      return std::nullopt;
    }
    return numbers_in(path);
  }

  // Of one value: against the default. Of several: all differ, and one of them is the default.
  void expect(const Case& c, const FieldInfo& field) const {
    const std::vector<Value> values = c.values.empty() ? usual_values(field) : c.values;
    std::vector<std::optional<std::string>> seen;
    if (c.effect == kNothing || values.size() == 1) seen.push_back(learned(c.mode));
    for (const Value& value : values) {
      const std::string what = fmt::format("{} --{} {} with{}", model_, field.name,
                                           detail::show_found(value), shown(c.mode));
      const auto now = learned(c.mode + Settings{{std::string(field.name), value}});
      EXPECT_EQ(now.has_value(), c.effect != kRefused) << what << ": whether it can be done";
      if (c.effect == kRefused) continue;
      const bool repeated = std::ranges::find(seen, now) != seen.end();
      EXPECT_EQ(repeated, c.effect == kNothing) << what << ": whether the numbers are the same";
      seen.push_back(now);
    }
  }

 private:
  // The value that a setting has before it is changed.
  Value now_of(const FieldInfo& field) const {
    for (const Setting& s : base_) {
      if (s.name == field.name) return s.value;
    }
    return field.default_text;
  }

  // Another value than the one that it has; of a choice all.
  std::vector<Value> usual_values(const FieldInfo& field) const {
    const Value now = now_of(field);
    const auto* const unset = std::get_if<std::string>(&now);
    switch (field.type) {
      case FieldType::kFlag:
        return {field.default_text != "true" && field.automatic != "true"};
      case FieldType::kChoice: {
        std::vector<Value> out;
        for (const std::string_view choice : field.choices) out.emplace_back(std::string(choice));
        return out;
      }
      case FieldType::kWhole:
        if (unset) return {*unset == "auto" ? int64_t{7} : std::stoll(*unset) + 1};
        return {std::get<int64_t>(now) + 1};
      case FieldType::kNumber: {
        if (unset && *unset == "auto") return {0.37};
        const double x = unset                                 ? std::stod(*unset)
                         : std::holds_alternative<double>(now) ? std::get<double>(now)
                                                               : double(std::get<int64_t>(now));
        return {x == 0 ? 0.5 : x / 2};
      }
      case FieldType::kText:
        break;
    }
    ADD_FAILURE() << "say in cases() what --" << field.name << " of " << model_ << " does";
    return {};
  }

  // A model of this kind with default settings, and a schema of its columns with a weight changed.
  Value with_files(Value value) const {
    const auto* const name = std::get_if<std::string>(&value);
    if (!name || (*name != kModel && *name != kSchema)) return value;
    if (*name == kSchema) {
      return folder_.write("given.json",
                           R"({"columns": [{"name": "city", "type": "category", "weight": 2}]})");
    }
    const std::string path = folder_.path() + "/first.kith";
    train_now(request(model_, data_for(data_), path, base_));
    return path;
  }

  std::string model_;
  std::string_view data_;
  Settings base_;
  TestFolder folder_;
};

void try_all(const Trial& trial, const std::vector<FieldGroup>& groups,
             const std::vector<Case>& all, std::string_view model) {
  for (const FieldGroup& group : groups) {
    for (const FieldInfo& field : group.fields) {
      bool any = false;
      for (const Case& c : all) {
        if (c.name != field.name || (!c.of.empty() && c.of != model && c.of != trial.data())) {
          continue;
        }
        any = true;
        trial.expect(c, field);
      }
      if (!any) trial.expect({model, field.name, kChanges}, field);
    }
  }
}

std::vector<FieldGroup> without(std::vector<FieldGroup> groups,
                                const std::vector<FieldGroup>& taken) {
  for (FieldGroup& g : groups) {
    std::erase_if(g.fields, [&](const FieldInfo& f) {
      return std::ranges::any_of(taken, [&](const FieldGroup& t) { return t.find(f.name); });
    });
  }
  return groups;
}

std::vector<std::string> trained_models() {
  std::vector<std::string> out;
  for (const ModelDescription& m : available_models()) {
    if (!m.data.empty()) out.emplace_back(m.name);
  }
  return out;
}

class SettingsMatter : public testing::TestWithParam<std::string> {};

// Those of the run, of the model, and of its data but for how they are read.
TEST_P(SettingsMatter, OfAModel) {
  const Trial trial(GetParam());
  const auto reading =
      trial.data() == "text" ? std::vector<FieldGroup>{} : reading_settings(trial.data());
  try_all(trial, without(train_settings(GetParam()), reading), cases(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Models, SettingsMatter, testing::ValuesIn(trained_models()),
                         [](const auto& info) { return info.param; });

TEST(SettingsMatter, OfReadingATable) {
  try_all(Trial("feat2vec"), reading_settings("table"), reading_cases(), "feat2vec");
}
TEST(SettingsMatter, OfReadingRatings) {
  try_all(Trial("als"), reading_settings("ratings"), reading_cases(), "als");
}

// What a schema says of its columns.
TEST(SettingsMatter, OfAColumn) {
  using enum ColumnType;
  const std::vector<Column> usual{
      {.name = "id", .type = kIgnore},
      {.name = "city", .vocabulary = "places", .swap = "both"},
      {.name = "twin"},
      {.name = "country"},
      {.name = "tags", .type = kSet, .separator = "|"},
      {.name = "year", .type = kNumber},
      {.name = "opened", .type = kIgnore},
      {.name = "notes", .type = kText},
      {.name = "big", .type = kBoolean},
      {.name = "visited", .type = kDate, .order = DateOrder::kDayFirst},
  };
  struct Change {
    std::string_view key, column;
    Value value;
  };
  const std::vector<Change> changes{
      {"type", "year", str("category")}, {"separator", "tags", str("a")},
      {"order", "visited", str("mdy")},  {"vocabulary", "twin", str("places")},
      {"swap", "twin", str("both")},     {"sampled", "city", false},
      {"weight", "city", 2.0},           {"min_count", "city", int64_t{13}},
      {"buckets", "city", int64_t{50}},  {"knots", "year", int64_t{5}},
      {"pooling", "tags", 1.0},          {"pooling", "notes", 0.0},
  };
  const TestFolder folder;
  const auto learned = [&](const std::vector<Column>& columns, const Settings& more = {}) {
    const std::string schema = folder.write("s.json", to_json({columns}));
    const std::string path = folder.path() + "/a.kith";
    Settings settings = quick("feat2vec") + more;
    settings.push_back(text("types", ""));
    settings.push_back(text("schema", schema));
    train_now(request("feat2vec", data_for("table"), path, settings));
    return numbers_in(path);
  };
  const std::string before = learned(usual);
  for (const Change& c : changes) {
    std::vector<Column> columns = usual;
    set(*std::ranges::find(columns, c.column, &Column::name), c.key, c.value);
    EXPECT_NE(learned(columns), before) << c.column << ": " << c.key;
  }
  for (const FieldInfo& field : field_infos<Column>()) {
    EXPECT_NE(std::ranges::find(changes, field.name, &Change::key), changes.end())
        << "say in `changes` what " << field.name << " of a column does";
  }
  std::vector<Column> columns = usual;
  columns[1].interacts = {"year"};
  EXPECT_NE(learned(columns), before) << "interacts";
  // The sums of the paper are for those columns of which nothing else is said.
  const Settings paper{flag("paper", true)};
  columns = usual;
  columns[4].pooling = 1;
  EXPECT_NE(learned(columns, paper), learned(usual, paper));
}

// How a run is done is not what is learned: not one bit.
TEST(SettingsMatter, NotThoseOfHowARunIsDone) {
  const TestFolder folder;
  const auto learned = [&](const std::function<void(TrainOptions&)>& change) {
    TrainRequest asked =
        request("word2vec", data_for("text"), folder.path() + "/a.kith", quick("word2vec"));
    change(asked.options);
    train_now(asked);
    return numbers_in(asked.options.output);
  };
  const std::string usual = learned([](TrainOptions&) {});
  std::filesystem::create_directory(folder.path() + "/scratch");
  const std::vector<std::pair<std::string_view, Value>> changes{
      {"output", folder.path() + "/b.kith"},
      {"checkpoint-every", int64_t{1}},
      {"max-memory", str("1G")},
      {"scratch", folder.path() + "/scratch"},
  };
  for (const auto& [name, value] : changes) {
    EXPECT_EQ(learned([&](TrainOptions& o) { set(o, name, value); }), usual) << name;
  }
  // What a run goes on from is in train_test.cc.
  EXPECT_EQ(field_infos<TrainOptions>().size(), changes.size() + 1) << "say what the new one does";
}

}  // namespace
}  // namespace kith::test
