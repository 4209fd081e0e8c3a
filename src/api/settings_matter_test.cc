// SPDX-License-Identifier: Apache-2.0
// Every setting matters: with another value of it other numbers are learned. Settings are taken
// from the tables that flags come from, so that a new one is tried by itself, or asked for here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "api/test_settings.h"
#include "data/table/schema.h"

namespace kith::test {
namespace {

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
    ADD_FAILURE() << "say in test_settings.h what --" << field.name << " of " << model_ << " does";
    return {};
  }

  // A model of this kind with default settings, and a schema of its columns with a weight changed.
  Value with_files(Value value) const {
    const auto* const name = std::get_if<std::string>(&value);
    if (!name || (*name != kModel && *name != kSchema && *name != kAbout && *name != kTexts)) {
      return value;
    }
    if (*name == kTexts) {
      return folder_.write("more.csv", "body,label\nword1 word2,A\nword3,B\nword1 word4,B\n");
    }
    if (*name == kAbout) {
      return folder_.write("about.csv",
                           "id,kind\nu1,a\nu2,b\nu3,a\nu4,b\ni1,a\ni2,a\ni3,b\ni4,b\n");
    }
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
  const bool all = trial.data() == "text" || trial.data() == "documents" || trial.data() == "bags";
  const auto reading = all ? std::vector<FieldGroup>{} : reading_settings(trial.data());
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

TEST(SettingsMatter, OfReadingTexts) {
  try_all(Trial("classifier"), reading_settings("labelled"), reading_cases(), "classifier");
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
    EXPECT_TRUE(learned(columns) != before) << c.column << ": " << c.key;
  }
  for (const FieldInfo& field : field_infos<Column>()) {
    EXPECT_NE(std::ranges::find(changes, field.name, &Change::key), changes.end())
        << "say in `changes` what " << field.name << " of a column does";
  }
  std::vector<Column> columns = usual;
  columns[1].interacts = {"year"};
  EXPECT_TRUE(learned(columns) != before) << "interacts";
  // The sums of the paper are for those columns of which nothing else is said.
  const Settings paper{flag("paper", true)};
  columns = usual;
  columns[4].pooling = 1;
  EXPECT_TRUE(learned(columns, paper) != learned(usual, paper)) << "pooling";
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
    EXPECT_TRUE(learned([&](TrainOptions& o) { set(o, name, value); }) == usual) << name;
  }
  // What a run goes on from is in train_test.cc.
  EXPECT_EQ(field_infos<TrainOptions>().size(), changes.size() + 1) << "say what the new one does";
}

}  // namespace
}  // namespace kith::test
