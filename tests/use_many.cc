// SPDX-License-Identifier: Apache-2.0
// Opens many model files made by hand and asks them everything, each in a process of its own: what
// a file says must be believed or refused by a kith::Error, whatever question comes first.
// Anything else that is thrown, a crash, a report of a sanitizer, or work that goes on after it was
// told to stop is a bug.
//
//   use_many FOLDER < LIST    a line is a file and, after a tab, the name of its data in FOLDER.
//                             Puts its checksum right, prints its path and what came of it. A file
//                             that ends in .checkpoint is resumed; NAME.more in FOLDER holds the
//                             rows for updates.
//   use_many --stop N MODEL SOURCE OUTPUT [--SETTING VALUE...]
//                             trains up to the Nth report, which leaves a checkpoint, or to the end

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "kith/kith.h"
#include "seal.h"

namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
// Of work, not of the clock: other programs on the machine must not look like a hang here. At half
// of it the file is told to stop, for settings may ask for days.
constexpr int kSeconds = kSanitized ? 20 : 2;
constexpr size_t kMemory = size_t{1} << 30;
constexpr int kReports = 300;  // of training, before it is told to stop

kith::Context* g_context = nullptr;  // for the signal handler

// Stops training at a report.
class Stopper final : public kith::Observer {
 public:
  Stopper(kith::Context& context, int reports) : context_(context), left_(reports) {}
  using Observer::on;
  void on(const kith::Training&) override {
    if (--left_ <= 0) context_.cancel();
  }

 private:
  kith::Context& context_;
  int left_;
};

// Asks one file; counts what was answered.
class Asker {
 public:
  Asker(std::string path, std::string source, std::string scratch)
      : path_(std::move(path)), source_(std::move(source)), scratch_(std::move(scratch)) {
    g_context = &context_;
  }

  void ask_all() {
    if (path_.ends_with(".checkpoint")) return resume();
    try_to([&] {
      kith::Model model = kith::open(path_);
      // Questions that look at vectors alone read another part of the file than others: who comes
      // first must not matter.
      ask_vectors(model);
      try_to([&] { model.facts(); });
      model.run_settings();
      ask_rows(model);
      ask_ratings(model);
      ask_texts(model);
      ask_topics(model);
      change(model);
    });
  }
  int answered() const { return answered_; }

 private:
  // Whatever is refused is.
  void try_to(const std::function<void()>& question) {
    try {
      question();
      ++answered_;
    } catch (const kith::Error&) {
    } catch (const std::bad_alloc&) {
    }
  }

  std::string out(std::string_view name) const { return scratch_ + "/" + std::string(name); }

  // Names that the model has, the first and the last, as questions take them.
  std::vector<std::string> names(const kith::Model& model) {
    const std::string file = out("names.txt");
    std::vector<std::string> found, some;
    try_to([&] {
      kith::export_vectors(model, file, kith::VectorFormat::kGlove, context_);
      for (const std::string& line : kith::read_lines(file)) {
        found.push_back(line.substr(0, line.find(' ')));
      }
    });
    for (size_t i = 0; i < found.size(); ++i) {
      if (i < 2 || i + 2 >= found.size() || i % 7 == 0) some.push_back(found[i]);
    }
    for (const char* known : {"hill1", "sea1", "hill2", "who=w1", "user=u1", "item=i1"}) {
      some.emplace_back(known);
    }
    return some;
  }

  void ask_vectors(const kith::Model& model) {
    const std::vector<std::string> some = names(model);
    for (const auto side : {kith::Side::kInput, kith::Side::kOutput, kith::Side::kSum}) {
      kith::NearOptions options;
      options.vectors = side;
      options.top = 3;
      for (const auto search : {kith::Search::kExact, kith::Search::kHnsw}) {
        options.search = search;
        try_to([&] { kith::near(model, some, options, context_); });
      }
      try_to([&] { kith::similarity(model, some.front(), some.back(), side); });
      try_to([&] { kith::fit_with_others(model, some, side); });
      for (const auto format : {kith::VectorFormat::kWord2vecBin, kith::VectorFormat::kWord2vecText,
                                kith::VectorFormat::kGlove, kith::VectorFormat::kNpy,
                                kith::VectorFormat::kCsv, kith::VectorFormat::kSafetensors}) {
        try_to([&] { kith::export_vectors(model, out("vectors"), format, context_, side); });
      }
    }
    for (const auto rule : {kith::AnalogyRule::kAdd, kith::AnalogyRule::kMul}) {
      kith::AnalogyOptions options;
      options.rule = rule;
      try_to([&] { kith::analogy(model, some[0], some[1], some[2], options, context_); });
    }
  }

  // Rows of tables; the terms are those of the first row of the data.
  void ask_rows(const kith::Model& model) {
    if (!model.can(kith::Can::kCompleteRows)) return;
    const std::vector<std::string> terms = first_row();
    for (const std::string& term : terms) {
      const std::string column = term.substr(0, term.find('='));
      const kith::PredictOptions target{.target = column};
      try_to([&] { kith::predict(model, terms, target); });
      try_to([&] { kith::predict(model, {term}, target); });
      kith::NearOptions near;
      near.to = column;
      try_to([&] { kith::near(model, terms, near, context_); });
      kith::EvaluateOptions evaluate;
      evaluate.target = column;
      try_to([&] { kith::evaluate(model, {source_}, evaluate, {}, context_); });
      try_to([&] { kith::embed(model, {term}); });
    }
    try_to([&] { kith::predict(model, terms); });
    try_to([&] { predict_rows(model); });
    try_to([&] { kith::embed(model, terms); });
    try_to([&] { kith::embed_rows(model, {source_}, out("rows.npy"), {}, {}, context_); });
    try_to([&] { kith::embed_rows(model, {source_}, out("rows.kith"), {}, {}, context_); });
    try_to([&] { kith::score_rows(model, {source_}, {}, {}, context_); });
  }

  std::vector<std::string> first_row() const {
    std::ifstream in(source_);
    std::string head, row;
    std::getline(in, head);
    std::getline(in, row);
    std::vector<std::string> terms;
    for (size_t a = 0, b = 0; a < head.size() && b < row.size();) {
      const size_t end = std::min(head.find(',', a), head.size());
      const size_t stop = std::min(row.find(',', b), row.size());
      terms.push_back(head.substr(a, end - a) + "=" + row.substr(b, stop - b));
      a = end + 1;
      b = stop + 1;
    }
    return terms;
  }

  void predict_rows(const kith::Model& model) {
    kith::predict_rows(model, {source_}, {}, {}, context_, [](const kith::PredictedRow&) {});
  }

  // Documents; queries of the names that it has.
  void ask_topics(const kith::Model& model) {
    if (!model.can(kith::Can::kShowTopics)) return;
    for (const auto by :
         {kith::TopicOrder::kProbability, kith::TopicOrder::kLift, kith::TopicOrder::kFrex}) {
      const kith::TopicOptions options{.top = 5, .by = by};
      try_to([&] { kith::topics_plot(kith::topics(model, options, context_), options); });
    }
    for (const char* to : {"document", "topic", "word"}) {
      kith::NearOptions near;
      near.to = to;
      try_to([&] { kith::near(model, {"topic1", "document=1", "hill1"}, near, context_); });
    }
    try_to([&] { kith::evaluate(model, {source_}, {}, {}, context_); });
    try_to([&] { kith::embed_rows(model, {source_}, out("mixtures.npy"), {}, {}, context_); });
  }

  void ask_ratings(const kith::Model& model) {
    if (!model.can(kith::Can::kRateItems)) return;
    for (const char* user : {"u1", "u2", "u3", "nobody"}) {
      for (const char* item : {"i1", "i2", "nothing"}) {
        try_to([&] {
          kith::predict(model, {std::string("user=") + user, std::string("item=") + item});
        });
      }
    }
    try_to([&] { predict_rows(model); });
    try_to([&] { kith::evaluate(model, {source_}, {}, {}, context_); });
    for (const bool seen : {false, true}) {
      try_to([&] {
        const kith::Recommender recommender(model, {.top = 3, .include_seen = seen});
        const std::vector<kith::GivenRating> given{{"i1", 2}, {"i3", 1}};
        try_to([&] { recommender.list("u1", {}, context_); });
        try_to([&] { recommender.list("u2", given, context_); });
        try_to([&] { recommender.list("", given, context_); });
        recommender.for_all(context_, [](const auto&, const auto&) {});
      });
    }
  }

  void ask_texts(const kith::Model& model) {
    if (!model.can(kith::Can::kClassify)) return;
    for (const char* text : {"hill1 hill2 sea3", "nothing known", ""}) {
      try_to([&] { kith::predict(model, {text}); });
    }
    try_to([&] { predict_rows(model); });
    try_to([&] { kith::evaluate(model, {source_}, {}, {}, context_); });
  }

  void change(kith::Model& model) {
    try_to([&] {
      model.save(out("saved.kith"));
      kith::open(out("saved.kith")).facts();
    });
    if (model.can(kith::Can::kTrainFurther)) {
      kith::TrainRequest request;
      request.settings = {{"from", path_, ""}};
      train(std::move(request));
    }
    if (!model.can(kith::Can::kUpdate)) return;
    for (const char* more : {"", ".more"}) {
      try_to([&] { kith::update(model, {source_ + more}, {}, context_); });
    }
    ask_vectors(model);
    ask_rows(model);
    ask_ratings(model);
    try_to([&] { model.save(out("updated.kith")); });
  }

  void resume() {
    const std::string copy = out("trained.kith.checkpoint");
    fs::copy_file(path_, copy, fs::copy_options::overwrite_existing);
    kith::TrainRequest request;
    request.options.resume = true;
    train(std::move(request));
    context_.reset();
    try_to([&] { kith::open(out("trained.kith")).facts(); });
  }

  void train(kith::TrainRequest request) {
    request.sources = {source_};
    request.options.output = out("trained.kith");
    request.options.max_memory = "256M";
    Stopper stopper(context_, kReports);
    try_to([&] { kith::train(kith::plan(request), context_, &stopper); });
  }

  std::string path_, source_, scratch_;
  kith::Context context_{2};
  int answered_ = 0;
};

// In a process of its own: what is asked is answered or refused.
[[noreturn]] void ask_file(const std::string& path, const std::string& source,
                           const std::string& scratch) {
  const rlimit seconds{kSeconds, kSeconds + 1}, memory{kMemory, kMemory}, none{0, 0};
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_CORE, &none);
  if (!kSanitized) setrlimit(RLIMIT_AS, &memory);  // sanitizers reserve terabytes
  alarm(kSeconds * 30);
  fs::current_path(scratch);  // settings may name files that are written
  std::signal(SIGPROF, [](int) { g_context->cancel(); });
  const itimerval half{{0, 0}, {kSeconds / 2, 0}};
  int status = 1;
  try {
    seal(path);
    Asker asker(path, source, scratch);
    setitimer(ITIMER_PROF, &half, nullptr);
    asker.ask_all();
    status = asker.answered() > 0 ? 10 : 11;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: threw %s\n", path.c_str(), e.what());
  }
  std::fflush(nullptr);
  _exit(status);
}

std::string shown_status(int status) {
  if (WIFSIGNALED(status)) {
    const int by = WTERMSIG(status);
    if (by == SIGXCPU || by == SIGKILL || by == SIGALRM) return "WRONG: no end";
    return "WRONG: signal " + std::to_string(by);
  }
  if (WEXITSTATUS(status) == 10) return "used";
  if (WEXITSTATUS(status) == 11) return "refused";
  return "WRONG: exit " + std::to_string(WEXITSTATUS(status));
}

int ask_list(const std::string& folder) {
  std::string name = (fs::temp_directory_path() / "kith-use-XXXXXX").string();
  if (!mkdtemp(name.data())) return 1;
  int wrong = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t tab = line.find('\t');
    const std::string path = fs::absolute(line.substr(0, tab)).string();
    const std::string source = tab == std::string::npos ? "" : line.substr(tab + 1);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) ask_file(path, fs::absolute(folder).string() + "/" + source, name);
    int status = 0;
    waitpid(child, &status, 0);
    const std::string shown = shown_status(status);
    wrong += shown.starts_with("WRONG");
    std::printf("%s %s\n", path.c_str(), shown.c_str());
    for (const auto& left : fs::directory_iterator(name)) fs::remove_all(left);
  }
  fs::remove_all(name);
  return wrong ? 1 : 0;
}

int train_and_stop(int argc, char** argv) {
  kith::TrainRequest request;
  request.model = argv[3];
  request.sources = {argv[4]};
  request.options.output = argv[5];
  const std::vector<std::string_view> flags(argv + 6, argv + argc);
  request.settings = kith::parse_arguments(flags, kith::train_settings(request.model)).settings;
  kith::Context context(1);
  Stopper stopper(context, std::atoi(argv[2]));
  kith::train(kith::plan(request), context, &stopper);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 5 && std::string_view(argv[1]) == "--stop") return train_and_stop(argc, argv);
    if (argc == 2) return ask_list(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "use_many: %s\n", e.what());
    return 1;
  }
  std::fprintf(stderr, "usage: use_many FOLDER < LIST, or --stop N MODEL SOURCE OUTPUT ...\n");
  return 2;
}
