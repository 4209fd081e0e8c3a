// SPDX-License-Identifier: Apache-2.0
// From nothing to answers in seconds: builds a text and a table out of WordNet, trains on them and
// asks.
#include <algorithm>
#include <filesystem>

#include "kith/kith.h"
#include "terminal.h"
#include "train_args.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  std::string folder{};

  static constexpr std::tuple fields{
      field("folder", &DemoOptions::folder,
            "folder for the text and the model; by default build/demo if there is a folder build, "
            "else this one"),
  };
};

constexpr const char* kWords[] = {"king", "copper", "violin", "whale"};
constexpr const char* kAnalogies[][3] = {{"germany", "german", "france"},
                                         {"physics", "physicist", "chemistry"},
                                         {"brother", "sister", "son"}};
constexpr const char* kGlosses[] = {"a stringed instrument played with a bow",
                                    "a tropical tree with edible fruit",
                                    "a dish of rice with raw fish", "a city in northern France"};

std::string heading(std::string_view text) {
  return fmt::format("\n{}\n", styled(Stream::kOut, Look::kBold, text));
}

// "queen, prince, monarch": the answers without their scores.
std::string list(const std::vector<Neighbour>& found) {
  std::string out;
  for (const Neighbour& n : found) out += (out.empty() ? "" : ", ") + n.id;
  return out;
}

void show_neighbours(const Model& model, const Context& context) {
  put_text(heading("What is like ...?"));
  std::vector<std::vector<std::string>> rows;
  for (const char* word : kWords) {
    rows.push_back({word, list(near(model, {word}, {.top = 7}, context)[0].neighbours)});
  }
  put_text(table(rows, "<<"));
}

void show_analogies(const Model& model, const Context& context) {
  put_text(heading("What is to ..., as ... is to ...?"));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [a, b, c] : kAnalogies) {
    rows.push_back({fmt::format("{} : {} = {} :", a, b, c),
                    list(analogy(model, a, b, c, {.top = 3}, context))});
  }
  put_text(table(rows, "<<"));
}

void show_odd(const Model& model) {
  put_text(heading("Which does not fit?"));
  const std::vector<std::string> words{"violin", "flute", "piano", "hammer", "trumpet"};
  const auto fit = fit_with_others(model, words);
  const auto odd = static_cast<size_t>(std::ranges::min_element(fit) - fit.begin());
  put("  {}: {}\n", fmt::join(words, ", "), styled(Stream::kOut, Look::kAccent, words[odd]));
}

void show_score(const Trained& t) {
  if (!t.held_out || !t.first_held_out) return;
  put_text(heading("How well does it know text that it has not seen?"));
  put("  held-out loss, in nats per predicted word: {:.3f} before training, {:.3f} after; lower is "
      "better\n",
      *t.first_held_out, *t.held_out);
}

// Says the command, and does what it would.
Outcome train_shown(std::string_view remark, const std::vector<std::string>& args) {
  const std::vector<std::string_view> words(args.begin(), args.end());
  const TrainArgs told = parse_train(kTrain, words);
  say("{}:\n  {} train{}\n", remark, program, told.words);
  return train_aloud(told);
}

void show_concepts(const Model& model) {
  put_text(
      heading("Which concept is this? A gloss that nobody has seen, and the nearest concepts"));
  std::vector<std::vector<std::string>> rows;
  for (const char* gloss : kGlosses) {
    const std::vector<std::string> given{fmt::format("gloss={}", gloss)};
    const Prediction kinds = predict(model, given, {.target = "kind_of", .top = 3});
    const Prediction category = predict(model, given, {.target = "category", .top = 1});
    std::vector<std::string> names;
    for (const Candidate& c : kinds.candidates) names.push_back(c.id);
    const Candidate& best = category.candidates.front();
    rows.push_back({gloss, fmt::format("{}", fmt::join(names, ", ")),
                    fmt::format("{} ({:.0f} %)", best.id, 100 * best.probability.value_or(0))});
  }
  put_text(table(rows, "<<<"));
}

// The second half: the same dictionary as a table of mixed columns.
int learn_table(const fs::path& folder, const std::string& threads) {
  const std::string file = (folder / "wordnet.csv").lexically_normal().string();
  const std::string path = (folder / "concepts.kith").lexically_normal().string();
  const WordNetFile made = write_wordnet_table(file);
  say("\nThe same as a table, {} by five columns (words, part of speech, category, what it is a "
      "kind of, gloss):\n  {}, {}\n",
      count_of(made.meanings, "row"), file, in_bytes(static_cast<double>(made.bytes)));
  const Outcome done =
      train_shown("Learning from it, a vector for each value of each column",
                  {"feat2vec", file, "-o", path, "--types", "words=set,kind_of=set", "--dim", "64",
                   "--epochs", "6", "--no-biases", "--threads", threads});
  if (done.code == kDone) show_concepts(open(path));
  return done.code;
}

void show_next(const std::string& model, const std::string& text) {
  put_text(heading("Try next"));
  const std::string m = shell_quoted(model), p = shell_quoted(program);
  const std::string concepts =
      shell_quoted(fs::path(model).replace_filename("concepts.kith").string());
  put("  {} near {} ocean\n", p, m);
  put("  {} near {} 'kind_of=stringed instrument'\n", p, concepts);
  put("  {} predict {} --target category 'gloss=a dish of rice and fish'\n", p, concepts);
  put("  {} near {} 'german - germany + france'\n", p, m);
  put("  {} odd {} red green seven blue\n", p, m);
  put("  {} export {} --to word2vec-text -o {}\n", p, m,
      shell_quoted(fs::path(model).replace_extension(".txt.vec").string()));
  put("  {} train {} --tokens words --dim 50 -o {}\n", p, shell_quoted(text),
      shell_quoted(fs::path(model).replace_filename("small.kith").string()));
  put("  {} train YOUR_TEXT.txt\n", p);
  put("  {} train YOUR_TABLE.csv\n", p);
}

fs::path made_folder(const std::string& wanted) {
  fs::path folder = wanted;
  if (folder.empty()) folder = fs::is_directory("build") ? "build/demo" : ".";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed) return folder;
  throw Error(ErrorKind::kIo,
              fmt::format("{}: cannot make this folder: {}", folder.string(), failed.message()));
}

int run_demo(Args args) {
  DemoOptions options;
  Threads threads;
  if (!parse(args, options, threads).empty()) misused(kDemo, "demo takes no arguments");
  const fs::path folder = made_folder(options.folder);
  const std::string text = (folder / "wordnet.txt").lexically_normal().string();
  const std::string path = (folder / "wordnet.kith").lexically_normal().string();
  const WordNetFile made = write_wordnet_text(text);
  say("The dictionary WordNet, {} with their explanations and examples, is now a text:\n  {}, {}\n",
      count_of(made.meanings, "meaning"), text, in_bytes(static_cast<double>(made.bytes)));
  const std::string count = fmt::format("{}", threads.threads);
  // Measured on this text: rare words make neighbours that nobody knows, and a wide window with
  // many negatives makes the most of a small text.
  const Outcome done =
      train_shown("Learning from it, a vector for each word",
                  {"word2vec", text, "-o", path, "--tokens", "words", "--min-count", "10",
                   "--window", "8", "--negatives", "10", "--epochs", "10", "--threads", count});
  if (done.code != kDone) return done.code;
  const Context context(threads.threads);
  const Model model = open(path);
  show_neighbours(model, context);
  show_analogies(model, context);
  show_odd(model);
  show_score(done.trained);
  if (const int code = learn_table(folder, count); code != kDone) return code;
  show_next(path, text);
  return kDone;
}

}  // namespace

const Command kDemo{
    "demo",
    "",
    "learn from a dictionary in seconds, and show what was learned",
    {"kith demo", "kith demo --folder /tmp/kith-demo", "kith demo --threads 1"},
    "Reads WordNet from the Debian package wordnet-base.",
    groups_for<DemoOptions, Threads>,
    run_demo,
};

}  // namespace kith::cli
