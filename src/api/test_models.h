// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: models of each kind, trained when a test first asks for one; errors, files, events.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/test_data.h"
#include "data/test_files.h"
#include "kith/kith.h"

namespace kith::test {

using Strings = std::vector<std::string>;

inline const Context& two_threads() {
  static const Context context(2);
  return context;
}

// The folder of all data and models that tests share.
inline const TestFolder& shared_folder() {
  static const TestFolder folder;
  return folder;
}
// A file in it, written when it is first asked for.
inline const std::string& shared_file(const std::string& name, std::string (*make)()) {
  static std::map<std::string, std::string> paths;
  const auto [at, fresh] = paths.try_emplace(name);
  if (fresh) at->second = shared_folder().write(name, make());
  return at->second;
}
inline const std::string& text_file() {
  return shared_file("topics.txt", [] { return topic_text(); });
}
inline const std::string& places_file() {
  return shared_file("places.csv", [] { return places_table(); });
}
inline const std::string& ratings_file() {
  return shared_file("ratings.csv", [] { return ratings_table(); });
}
inline const std::string& unseen_ratings_file() {
  return shared_file("unseen.csv", [] { return ratings_table({}, true); });
}
inline const std::string& titles_file() {
  return shared_file("titles.csv", [] { return titles_table(); });
}
inline const std::string& royals_file() {
  return shared_file("royals.txt", [] { return std::string(kRoyals); });
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Setting whole(std::string name, int64_t value) { return {std::move(name), value}; }
inline Setting number(std::string name, double value) { return {std::move(name), value}; }
inline Setting text(std::string name, std::string value) {
  return {std::move(name), std::move(value)};
}
inline Setting flag(std::string name, bool value) { return {std::move(name), value}; }

using Settings = std::vector<Setting>;
inline Settings operator+(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Settings that make a model of each kind quickly.
inline Settings quick_words() {
  return {whole("dim", 12), whole("epochs", 4), whole("min-count", 1), number("sample", 0.02),
          flag("deterministic", true)};
}
inline Settings quick_places() {
  return {whole("dim", 12), whole("epochs", 40), text("types", "id=ignore,notes=text,tags=set")};
}
inline Settings quick_ratings() {
  return {whole("dim", 2), whole("epochs", 12), number("penalty", 0.01)};
}

inline TrainRequest request(std::string model, std::string source, std::string output,
                            Settings settings = {}) {
  TrainRequest out;
  out.model = std::move(model);
  out.sources = {std::move(source)};
  out.settings = std::move(settings);
  out.options.output = std::move(output);
  return out;
}
inline Trained train_now(const TrainRequest& request, int threads = 1,
                         Observer* observer = nullptr) {
  Context context(threads);
  return train(plan(request, observer), context, observer);
}
// Trained into the shared folder, once for each name.
inline const Model& shared_model(const std::string& name, const TrainRequest& how) {
  static std::map<std::string, Model> models;
  const auto found = models.find(name);
  if (found != models.end()) return found->second;
  TrainRequest request = how;
  request.options.output = shared_folder().path() + "/" + name + ".kith";
  train_now(request);
  return models.emplace(name, open(request.options.output)).first->second;
}

inline const Model& words() {
  return shared_model("words", request("word2vec", text_file(), "", quick_words()));
}
inline const Model& places() {
  return shared_model("places", request("feat2vec", places_file(), "", quick_places()));
}
inline const Model& ratings() {
  return shared_model("als", request("als", ratings_file(), "", quick_ratings()));
}
// Ratings for interactions: who rated what.
inline const Model& interactions() {
  return shared_model("interactions", request("als", ratings_file(), "",
                                              quick_ratings() + Settings{text("rating", "none")}));
}
// One that knows how sure it is.
inline const Model& sure() {
  return shared_model("bmf", request("bmf", ratings_file(), "",
                                     {whole("dim", 3), whole("epochs", 30), whole("burn-in", 10),
                                      whole("samples", 5)}));
}
// Biases alone.
inline const Model& no_vectors() {
  return shared_model("flat", request("als", ratings_file(), "", {whole("dim", 0)}));
}
inline std::string labelled_texts(size_t texts = 400, uint64_t seed = 1) {
  std::string out;
  Rng rng(seed, 0);
  for (size_t i = 0; i < texts; ++i) {
    const size_t topic = rng.below(kTopics.size());
    out += fmt::format("__label__topic{} the", topic);
    for (int k = 0; k < 4; ++k) out += fmt::format(" {}", kTopics[topic][rng.below(kTopicWords)]);
    out += "\n";
  }
  return out;
}
inline const std::string& labelled_file() {
  return shared_file("labelled.txt", [] { return labelled_texts(); });
}
// Which topic a text has.
inline const Model& topics() {
  return shared_model("topics", request("classifier", labelled_file(), "", {whole("dim", 8)}));
}
inline const Model& royals() {
  static const Model model = [] {
    const std::string path = shared_folder().path() + "/royals.kith";
    import_vectors(royals_file(), path, two_threads());
    return open(path);
  }();
  return model;
}

// Everything that is told, in its order.
class Events : public Observer {
 public:
  void on(const Note& e) override { add("note", notes, e); }
  void on(const Choice& e) override { add("choice", choices, e); }
  void on(const Reading& e) override { add("reading", readings, e); }
  void on(const Profile& e) override { add("profile", profiles, e); }
  void on(const Memory& e) override { add("memory", memories, e); }
  void on(const Training& e) override { add("training", trainings, e); }
  void on(const Checkpoint& e) override { add("checkpoint", checkpoints, e); }
  void on(const Examples& e) override { add("examples", examples, e); }
  void on(const Attempt& e) override { add("attempt", attempts, e); }

  Strings order;  // each kind once for a run of it
  std::vector<Note> notes;
  std::vector<Choice> choices;
  std::vector<Reading> readings;
  std::vector<Profile> profiles;
  std::vector<Memory> memories;
  std::vector<Training> trainings;
  std::vector<Checkpoint> checkpoints;
  std::vector<Examples> examples;
  std::vector<Attempt> attempts;

  bool noted(std::string_view part) const {
    for (const Note& n : notes) {
      if (n.text.find(part) != std::string::npos) return true;
    }
    return false;
  }

 private:
  template <class Event>
  void add(const char* kind, std::vector<Event>& list, const Event& event) {
    if (order.empty() || order.back() != kind) order.emplace_back(kind);
    list.push_back(event);
  }
};

// Cancels once a run has reported so often.
class CancelsAt : public Events {
 public:
  CancelsAt(Context& context, size_t report) : context_(context), report_(report) {}
  using Events::on;
  void on(const Training& e) override {
    Events::on(e);
    if (trainings.size() == report_) context_.cancel();
  }

 private:
  Context& context_;
  size_t report_;
};

inline void expect_part(std::string_view part, std::string_view message) {
  EXPECT_NE(message.find(part), std::string_view::npos)
      << "message: " << message << "\nwithout: " << part;
}
inline void expect_no_part(std::string_view part, std::string_view message) {
  EXPECT_EQ(message.find(part), std::string_view::npos)
      << "message: " << message << "\nwith: " << part;
}

// The message of the Error that a call must throw.
template <class Call>
std::string usage_error(const Call& call) {
  return message_of(ErrorKind::kUsage, call);
}
template <class Call>
std::string input_error(const Call& call) {
  return message_of(ErrorKind::kInput, call);
}
template <class Call>
std::string io_error(const Call& call) {
  return message_of(ErrorKind::kIo, call);
}

inline bool has_note(const Report& report, Note::Level level, std::string_view part) {
  return std::ranges::any_of(report.notes, [&](const Note& n) {
    return n.level == level && n.text.find(part) != std::string::npos;
  });
}

}  // namespace kith::test
