// SPDX-License-Identifier: Apache-2.0
// recommend: the items that a user would rate highest, of those that are new to them.
#include <algorithm>
#include <map>
#include <numeric>

#include "core/error.h"
#include "data/cells.h"
#include "io/file.h"
#include "json.h"
#include "ratings_query.h"
#include "recommender.h"

namespace kith::cli {
namespace {

struct RecommendOptions {
  int64_t top = 10;
  bool include_seen = false;
  std::string only, exclude;
  std::string given, rated;
  std::string names, names_column;
  bool all = false;
  std::string output;
  int threads = 0;
  bool json = false;

  static constexpr std::tuple fields{
      field("top", &RecommendOptions::top, "how many items").between(1, 1e6),
      field("include-seen", &RecommendOptions::include_seen, "also what the user rated"),
      field("only", &RecommendOptions::only, "none but the items in this file, an id a line"),
      field("exclude", &RecommendOptions::exclude, "not the items in this file, an id a line"),
      field("given", &RecommendOptions::given,
            "ratings of someone whom the model does not know: item=rating,item=rating"),
      field("rated", &RecommendOptions::rated,
            "one such rating, item=rating; may be given several times"),
      field("names", &RecommendOptions::names, "show titles from this table, by item id"),
      field("names-column", &RecommendOptions::names_column, "its column of titles; else found"),
      field("all", &RecommendOptions::all, "for every user of the model, as CSV"),
      field("output", &RecommendOptions::output,
            "with --all, the file to write (-o); else printed"),
      field("threads", &RecommendOptions::threads, "0 for all cores").between(0, 1024),
      field("json", &RecommendOptions::json, "one JSON object a user"),
  };
};

// --given splits at commas; --rated takes what it gets, as often as it comes.
std::vector<std::string> given_ratings(const RecommendOptions& options,
                                       std::span<const Setting> settings) {
  std::vector<std::string> out;
  for_each_member(options.given, ",", [&](std::string_view one) { out.emplace_back(one); });
  for (const Setting& s : settings) {
    if (s.name == "rated") out.push_back(detail::convert<std::string>("rated", s.value));
  }
  return out;
}

// By item, rising, as a row of the ratings has them.
using Given = std::map<uint32_t, float>;

Given parse_given(const AskedRatings& asked, const std::vector<std::string>& words) {
  Given out;
  for (const std::string& word : words) {
    // An id may hold the sign; a rating does not.
    const size_t sign = word.rfind('=');
    const bool bare = sign == std::string::npos;
    if (bare && !asked.model().implicit()) {
      throw Error(ErrorKind::kUsage, "{}: a rating is given as item=rating, such as Alien=4.5",
                  word);
    }
    const auto value = bare ? 1.0 : parse_number(std::string_view(word).substr(sign + 1));
    if (!value) {
      throw Error(ErrorKind::kUsage, "{}: {} is no rating; give it as item=rating", word,
                  word.substr(sign + 1));
    }
    const std::string item(trimmed(std::string_view(word).substr(0, sign)));
    out[asked.number(Axis::kItem, item)] = static_cast<float>(*value);
  }
  return out;
}

// Whom to recommend to, and by which row.
struct Person {
  std::string name;
  std::optional<uint32_t> number;
  std::vector<float> row;
  std::vector<uint32_t> seen;
};

Person person_of(const AskedRatings& asked, const std::string& name, const Given& given) {
  const RatingsModel& model = asked.model();
  Person out{name, asked.find(Axis::kUser, name), {}, {}};
  Given all = given;
  if (out.number) {
    const Sparse::Row seen = model.seen().row(*out.number);
    for (size_t i = 0; i < seen.size(); ++i) all.try_emplace(seen.columns[i], seen.values[i]);
  } else if (given.empty()) {
    try {
      asked.number(Axis::kUser, name);
    } catch (const Error& e) {
      throw Error(ErrorKind::kInput, "{}; for someone new, say what they rated with --given",
                  e.what());
    }
  }
  std::vector<float> values;
  for (const auto& [item, value] : all) {
    out.seen.push_back(item);
    values.push_back(value);
  }
  if (given.empty()) {
    std::vector<float> room;
    const auto row = model.scoring_row(Axis::kUser, *out.number, room);
    out.row.assign(row.begin(), row.end());
  } else {
    out.row = model.fold_in(Axis::kUser, {out.seen, values});
  }
  return out;
}

// The items that may be recommended, rising; empty for all of them.
std::vector<uint32_t> allowed_items(const AskedRatings& asked, const RecommendOptions& options) {
  if (options.only.empty() && options.exclude.empty()) return {};
  const auto listed = [&](const std::string& path) {
    std::vector<uint8_t> in(asked.model().names_of(Axis::kItem).size(), 0);
    uint64_t known = 0, unknown = 0;
    for (const std::string& line : read_lines(path)) {
      const auto item = asked.find(Axis::kItem, std::string(trimmed(line)));
      if (item) in[*item] = 1;
      ++(item ? known : unknown);
    }
    if (known == 0) {
      throw Error(ErrorKind::kInput, "{}: none of its {} is an item of the model", path,
                  count_of(unknown, "line"));
    }
    if (unknown) {
      say("kith: warning: {}: {} of no item that the model knows", path, count_of(unknown, "line"));
    }
    return in;
  };
  std::vector<uint8_t> allowed(asked.model().names_of(Axis::kItem).size(), 1);
  if (!options.only.empty()) allowed = listed(options.only);
  if (!options.exclude.empty()) {
    const auto out = listed(options.exclude);
    for (size_t i = 0; i < out.size(); ++i) allowed[i] = allowed[i] && !out[i];
  }
  std::vector<uint32_t> items;
  for (uint32_t i = 0; i < allowed.size(); ++i) {
    if (allowed[i]) items.push_back(i);
  }
  if (items.empty()) throw Error(ErrorKind::kUsage, "no item is left that may be recommended");
  return items;
}

Json json_of(const AskedRatings& asked, const std::string& user, std::span<const float> row,
             std::span<const Neighbour> found) {
  const RatingsModel& model = asked.model();
  Json list = Json::array();
  std::vector<float> room;
  for (const Neighbour& n : found) {
    const std::string_view id = model.names_of(Axis::kItem)[n.row];
    const auto item = model.scoring_row(Axis::kItem, n.row, room);
    Json one{{"id", id}};
    if (!asked.titles().empty()) one["title"] = asked.titles().of(id);
    one["prediction"] = score(model.predict(row, item));
    if (const auto deviation = model.deviation(row, item)) one["deviation"] = score(*deviation);
    list.push_back(std::move(one));
  }
  return {{"user", user}, {"recommendations", std::move(list)}};
}

void put_list(const AskedRatings& asked, const Person& person, std::span<const Neighbour> found,
              bool heading, bool json) {
  if (json) return put_json(json_of(asked, person.name, person.row, found));
  const RatingsModel& model = asked.model();
  const bool titled = !asked.titles().empty();
  if (heading) put("{}\n", styled(Stream::kOut, Look::kBold, printable(person.name)));
  std::vector<std::vector<std::string>> rows;
  std::vector<float> room;
  for (const Neighbour& n : found) {
    const std::string_view id = model.names_of(Axis::kItem)[n.row];
    const auto item = model.scoring_row(Axis::kItem, n.row, room);
    auto& row = rows.emplace_back();
    row.push_back(printable(id));
    if (titled) row.push_back(printable(asked.titles().of(id)));
    row.push_back(fmt::format("{:.3f}", model.predict(person.row, item)));
    if (const auto deviation = model.deviation(person.row, item)) {
      row.back() += fmt::format(" ± {:.3f}", *deviation);
    }
  }
  put_text(table(rows, titled ? "<<>" : "<>", heading ? 2 : 0));
  if (found.empty()) say("kith: nothing is left to recommend to {}", printable(person.name));
}

// The lines of one user in the file of all.
void add_lines(const AskedRatings& asked, uint32_t number, std::span<const Neighbour> found,
               bool json, std::string& text) {
  const RatingsModel& model = asked.model();
  std::vector<float> user_room, room;
  const auto row = model.scoring_row(Axis::kUser, number, user_room);
  const std::string_view user = model.names_of(Axis::kUser)[number];
  if (json) {
    const Json one = json_of(asked, std::string(user), row, found);
    text += one.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    return;
  }
  const bool titled = !asked.titles().empty();
  for (size_t k = 0; k < found.size(); ++k) {
    const std::string_view id = model.names_of(Axis::kItem)[found[k].row];
    const double prediction =
        model.predict(row, model.scoring_row(Axis::kItem, found[k].row, room));
    fmt::format_to(std::back_inserter(text), "{},{}{}{},{},{:.6g}\n", csv_cell(user), csv_cell(id),
                   titled ? "," : "", titled ? csv_cell(asked.titles().of(id)) : "", k + 1,
                   prediction);
  }
}

// A block of users at a time, so that memory does not grow with their number.
void recommend_to_all(const AskedRatings& asked, const Recommender& recommender,
                      const RecommendOptions& options) {
  const RatingsModel& model = asked.model();
  const size_t users = model.names_of(Axis::kUser).size();
  AtomicFile file(options.output.empty() ? "-" : options.output);
  if (!options.json) {
    file.write(fmt::format("{},{}{},rank,prediction\n", csv_cell(model.column_of(Axis::kUser)),
                           csv_cell(model.column_of(Axis::kItem)),
                           asked.titles().empty() ? "" : ",title"));
  }
  Status status(options.output.empty());
  std::string text;
  for (size_t begin = 0; begin < users; begin += recommender.batch()) {
    std::vector<uint32_t> block(std::min(recommender.batch(), users - begin));
    std::iota(block.begin(), block.end(), static_cast<uint32_t>(begin));
    const auto found = recommender.ask(block, options.include_seen);
    for (size_t b = 0; b < block.size(); ++b) {
      add_lines(asked, block[b], found[b], options.json, text);
    }
    file.write(text);
    text.clear();
    if (status.due()) {
      status.show(static_cast<double>(begin) / static_cast<double>(users), "recommending");
    }
  }
  file.commit();
  status.clear();
  if (options.output.empty()) return;
  say("{}: {} for each of {}", options.output, count_of(static_cast<uint64_t>(options.top), "item"),
      count_of(users, "user"));
}

int recommend_to_some(const AskedRatings& asked, const Recommender& recommender,
                      const std::vector<std::string>& users, const Given& given,
                      const RecommendOptions& options) {
  int result = kDone;
  for (const std::string& word : users) {
    try {
      const auto thing = asked.named(word);
      if (thing && thing->axis == Axis::kItem && !asked.find(Axis::kUser, word)) {
        throw Error(ErrorKind::kUsage, "{} is an item; name the user to recommend to", word);
      }
      const bool by_column = thing && !asked.find(Axis::kUser, word);
      const Person person = person_of(asked, by_column ? thing->id : word, given);
      Matrix row(1, person.row.size());
      std::ranges::copy(person.row, row.row(0).begin());
      const std::vector<std::vector<uint32_t>> seen{options.include_seen ? std::vector<uint32_t>()
                                                                         : person.seen};
      put_list(asked, person, recommender.ask(row, seen).front(), users.size() > 1, options.json);
    } catch (const Error& e) {
      if (users.size() == 1) throw;
      say("kith: {}", e.what());
      result = kFailed;
    }
  }
  return result;
}

int run_recommend(Args args) {
  RecommendOptions options;
  const std::array sections{Section("Options", options)};
  Arguments arguments = parse_arguments(args, sections);
  kith::apply(arguments.settings, sections);
  std::vector<std::string> words = std::move(arguments.positional);
  if (words.empty()) misused(kRecommend, "recommend needs a model and a user");
  const std::string path = words.front();
  words.erase(words.begin());
  const std::vector<std::string> rated = given_ratings(options, arguments.settings);
  if (words.empty() && !rated.empty()) words.emplace_back("someone");
  if (words.empty() != options.all) {
    misused(kRecommend, options.all ? "--all is for every user; name none"
                                    : "recommend needs a user, --given ratings, or --all");
  }
  if (!options.output.empty()) {
    if (!options.all) misused(kRecommend, "--output is for --all");
    check_distinct(path, options.output);
    check_writable(options.output);
  }
  OpenModel opened = open_model(path);
  if (!is_ratings(*opened.model)) {
    throw Error(ErrorKind::kUsage, "recommend is for models of ratings; {} holds {}", path,
                opened.kind);
  }
  Titles titles;
  if (!options.names.empty()) {
    titles = Titles(options.names, options.names_column,
                    dynamic_cast<const RatingsModel&>(*opened.model));
  }
  const AskedRatings asked(std::move(opened), std::move(titles));
  const Given given = parse_given(asked, rated);
  const Recommender recommender(asked.model(), allowed_items(asked, options),
                                static_cast<size_t>(options.top), thread_count(options.threads));
  if (!options.all) return recommend_to_some(asked, recommender, words, given, options);
  recommend_to_all(asked, recommender, options);
  return kDone;
}

}  // namespace

const Command kRecommend{
    "recommend",
    "MODEL USER... | MODEL --given item=rating,... | MODEL --all",
    "find what a user would rate highest",
    {"kith recommend films.kith 42 --names movies.dat",
     "kith recommend films.kith --given '260=5,1196=4.5' --top 5 --json",
     "kith recommend films.kith --all -o recommendations.csv"},
    "What the user rated is left out. Someone new is placed by what they rated, as the model would "
    "have placed them, without training.",
    sections_of<RecommendOptions>,
    run_recommend,
};

}  // namespace kith::cli
