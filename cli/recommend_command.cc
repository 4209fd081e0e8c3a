// SPDX-License-Identifier: Apache-2.0
// recommend: the items that a user would rate highest, of those that are new to them.
#include <algorithm>
#include <optional>
#include <sstream>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "titles.h"

namespace kith::cli {
namespace {

struct RecommendFlags {
  std::string only{}, exclude{};
  std::string given{}, rated{};
  bool all = false;
  std::string output{};
  int threads = 0;
  bool json = false;

  static constexpr std::tuple fields{
      field("only", &RecommendFlags::only,
            "recommend only the items in this file, one id per line"),
      field("exclude", &RecommendFlags::exclude,
            "leave out the items in this file, one id per line"),
      field("given", &RecommendFlags::given,
            "ratings by someone the model does not know: item=rating,item=rating"),
      field("rated", &RecommendFlags::rated,
            "one such rating, item=rating; may be given several times"),
      field("all", &RecommendFlags::all, "for every user of the model, as CSV"),
      field("output", &RecommendFlags::output,
            "the file to write (-o): .csv, .tsv or .jsonl; else printed"),
      field("threads", &RecommendFlags::threads, "0 for all cores").between(0, 1024),
      field("json", &RecommendFlags::json, "one JSON object per user"),
  };
};

// --given splits at commas; --rated takes what it gets, as often as it comes.
std::vector<std::string> given_ratings(const RecommendFlags& flags,
                                       std::span<const Setting> settings) {
  std::vector<std::string> out;
  std::istringstream list(flags.given);
  for (std::string one; std::getline(list, one, ',');) {
    if (!one.empty()) out.push_back(one);
  }
  for (const Setting& s : settings) {
    if (s.name == "rated") out.push_back(detail::convert<std::string>("rated", s.value));
  }
  return out;
}

Json json_of(const std::string& user, std::span<const Recommendation> list, bool titled) {
  Json out = Json::array();
  for (const Recommendation& r : list) {
    Json one{{"id", r.id}};
    if (titled) one["title"] = r.title;
    one["prediction"] = score(r.prediction);
    if (r.deviation) one["deviation"] = score(*r.deviation);
    for (const Reason& why : r.reasons) {
      Json reason{{"id", why.id}, {"score", score(why.weight)}};
      if (titled) reason["title"] = why.title;
      one["reasons"].push_back(std::move(reason));
    }
    out.push_back(std::move(one));
  }
  return {{"user", user}, {"recommendations", std::move(out)}};
}

void put_list(const std::string& user, std::span<const Recommendation> list, bool titled,
              bool heading) {
  if (heading) put("{}\n", styled(Stream::kOut, Look::kBold, printable(user)));
  std::vector<std::vector<std::string>> rows;
  for (const Recommendation& r : list) {
    auto& row = rows.emplace_back(std::vector<std::string>{printable(r.id)});
    if (titled) row.push_back(printable(r.title));
    row.push_back(fmt::format("{:.3f}{}", r.prediction,
                              r.deviation ? fmt::format(" ± {:.3f}", *r.deviation) : ""));
    std::string why;
    for (const Reason& reason : r.reasons) {
      why += (why.empty() ? "for " : "; ") + printable(titled ? reason.title : reason.id);
    }
    if (!why.empty()) row.push_back(why);
  }
  put_text(table(rows, titled ? "<<><" : "<><", heading ? 2 : 0));
  if (list.empty()) say("kith: warning: nothing is left to recommend to {}", printable(user));
}

void write_list(ResultFile& file, const Recommender& recommender, const std::string& user,
                std::span<const Recommendation> list, bool titled) {
  file.takes_json() ? file.json_line(dumped(json_of(user, list, titled)))
                    : add_recommendations(file, recommender, user, list, titled);
}

int recommend_to_all(const Recommender& recommender, const RecommendFlags& flags, bool titled,
                     const Context& context) {
  ResultFile file(results_path(flags.output), flags.json);
  Status status(flags.output.empty());
  size_t longest = 0;
  recommender.for_all(
      context,
      [&](const std::string& user, std::span<const Recommendation> list) {
        longest = std::max(longest, list.size());
        write_list(file, recommender, user, list, titled);
      },
      [&](double share) {
        if (status.due()) status.show(share, "recommending");
      });
  file.commit();
  status.clear();
  if (flags.output.empty()) return kDone;
  say("{}: {} for each of {}", flags.output, count_of(longest, "item"),
      count_of(recommender.users(), "user"));
  return kDone;
}

int recommend_to_some(const Recommender& recommender, const std::vector<std::string>& users,
                      std::span<const GivenRating> given, bool titled, const RecommendFlags& flags,
                      const Context& context) {
  int result = kDone;
  std::optional<ResultFile> file;
  if (!flags.output.empty()) file.emplace(flags.output, flags.json);
  for (const std::string& user : users) {
    try {
      const auto list = recommender.list(user, given, context);
      if (file) {
        write_list(*file, recommender, user, list, titled);
      } else if (flags.json) {
        put_json(json_of(user, list, titled));
      } else {
        put_list(user, list, titled, users.size() > 1);
      }
    } catch (const Error& e) {
      if (users.size() == 1 || !is_about_what_was_asked(e)) throw;
      complain(e.kind(), e.what());
      result = kFailed;
    }
  }
  if (file) file->commit();
  return result;
}

int run_recommend(Args args) {
  RecommendOptions options;
  RecommendFlags flags;
  TitleOptions title_options;
  const std::vector<Section> sections{Section("Options", options), Section("Options", flags),
                                      Section("Options", title_options)};
  Arguments arguments = parse_arguments(args, groups_of(sections));
  apply_settings(arguments.settings, sections);
  if (arguments.positional.empty()) misused(kRecommend, "recommend needs a model and a user");
  const std::string path = arguments.positional.front();
  std::vector<std::string> users = rest_of(arguments.positional);
  const std::vector<std::string> rated = given_ratings(flags, arguments.settings);
  if (users.empty() && !rated.empty()) users.emplace_back("someone");
  if (users.empty() != flags.all) {
    misused(kRecommend, flags.all ? "--all is for every user; leave out the users"
                                  : "recommend needs a user, --given ratings, or --all");
  }
  if (options.explain && (flags.all || !flags.output.empty())) {
    misused(kRecommend,
            "--explain is for users who are named and for lists that are printed; leave out --all "
            "and --output");
  }
  if (!flags.output.empty()) check_output(flags.output, {path});
  const Model model = open(path);
  const Titles titles = titles_for(title_options, model);
  Recommender::Items items;
  if (!flags.only.empty()) items.only = read_lines(flags.only);
  if (!flags.exclude.empty()) items.exclude = read_lines(flags.exclude);
  std::vector<GivenRating> given;
  for (const std::string& text : rated) given.push_back(parse_given(model, text));
  const Recommender recommender(model, options, items, &titles);
  if (recommender.unknown_items() > 0) {
    say("kith: warning: --only and --exclude: {} with an item that the model does not know",
        count_of(recommender.unknown_items(), "line"));
  }
  Context context(flags.threads);
  std::optional<Interrupts> interrupts;
  if (!flags.output.empty()) interrupts.emplace(context);  // there is something to clean up
  const bool titled = !titles.empty();
  if (flags.all) return recommend_to_all(recommender, flags, titled, context);
  return recommend_to_some(recommender, users, given, titled, flags, context);
}

}  // namespace

const Command kRecommend{
    "recommend",
    "MODEL USER... | MODEL --given item=rating,... | MODEL --all",
    "find what a user would rate highest",
    {"kith recommend films.kith 42 --names movies.dat",
     "kith recommend films.kith --given '260=5,1196=4.5' --top 5 --json",
     "kith recommend films.kith --all -o recommendations.csv"},
    "Items that the user has rated are left out. For someone new, a vector is computed from their "
    "ratings (--given), without training.",
    groups_for<RecommendOptions, RecommendFlags, TitleOptions>,
    run_recommend,
};

}  // namespace kith::cli
