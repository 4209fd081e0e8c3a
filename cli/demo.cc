// SPDX-License-Identifier: Apache-2.0
// From nothing to answers in seconds: builds a text out of WordNet, trains on it and asks.
#include <algorithm>
#include <filesystem>

#include "commands.h"
#include "core/error.h"
#include "model_file.h"
#include "query/analogy.h"
#include "table_query.h"
#include "terminal.h"
#include "train.h"
#include "wordnet.h"

namespace kith::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  std::string folder;
  int threads = 0;

  static constexpr std::tuple fields{
      field("folder", &DemoOptions::folder,
            "where text and model go; else build/demo beside build, or here"),
      field("threads", &DemoOptions::threads, "0 for all cores").between(0, 1024),
  };
};

constexpr const char* kWords[] = {"king", "copper", "violin", "whale"};
constexpr const char* kAnalogies[][3] = {{"germany", "german", "france"},
                                         {"physics", "physicist", "chemistry"},
                                         {"brother", "sister", "son"}};
constexpr const char* kGlosses[] = {"a stringed instrument played with a bow",
                                    "a tropical tree with edible fruit",
                                    "a dish of rice with raw fish", "a city in northern France"};
constexpr const char* kOddOnes[] = {"violin", "flute", "piano", "hammer", "trumpet"};

std::string heading(std::string_view text) {
  return fmt::format("\n{}\n", styled(Stream::kOut, Look::kBold, text));
}

// "queen, prince, monarch": the answers without their scores.
std::string list(const Space& space, std::span<const Neighbour> found) {
  std::string out;
  for (const Neighbour& n : found)
    out += (out.empty() ? "" : ", ") + std::string(space.names()[n.row]);
  return out;
}

void show_neighbours(const Space& space) {
  put_text(heading("What is like ...?"));
  std::vector<std::vector<std::string>> rows;
  for (const char* word : kWords) {
    const uint32_t row = space.row(word);
    Matrix query(1, space.dim());
    std::ranges::copy(space.unit().row(row), query.row(0).begin());
    const std::vector<uint32_t> own[]{{row}};
    rows.push_back({word, list(space, exact_neighbours(space, query, own, {.top = 7})[0])});
  }
  put_text(table(rows, "<<"));
}

void show_analogies(const Space& space) {
  put_text(heading("What is to ..., as ... is to ...?"));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [a, b, c] : kAnalogies) {
    const auto found =
        analogy(space, space.row(a), space.row(b), space.row(c), AnalogyRule::kAdd, {.top = 3});
    rows.push_back({fmt::format("{} : {} = {} :", a, b, c), list(space, found)});
  }
  put_text(table(rows, "<<"));
}

void show_odd(const Space& space) {
  put_text(heading("Which does not fit?"));
  std::vector<uint32_t> rows;
  for (const char* word : kOddOnes) rows.push_back(space.row(word));
  const auto fit = fit_with_others(space, rows);
  const auto odd = static_cast<size_t>(std::ranges::min_element(fit) - fit.begin());
  put("  {}: {}\n", fmt::join(kOddOnes, ", "), styled(Stream::kOut, Look::kAccent, kOddOnes[odd]));
}

// The model itself knows what it scored before it had seen a word.
double untrained_score(const TrainSummary& s) {
  for (const Fact& f : s.plan.model->info()) {
    if (f.name == "held_out_before") return std::stod(f.value);
  }
  return *s.first_held_out;
}

void show_score(const TrainSummary& s) {
  if (!s.held_out || !s.first_held_out) return;
  put_text(heading("How well does it know text that it has not seen?"));
  put("  held-out loss {:.3f} before training, {:.3f} after; lower is better\n", untrained_score(s),
      *s.held_out);
}

// The second half: the same dictionary as a table of mixed columns.
int learn_table(const fs::path& folder, const std::string& threads) {
  const std::string file = (folder / "wordnet.csv").lexically_normal().string();
  const std::string model = (folder / "concepts.kith").lexically_normal().string();
  const WordNetFile made = write_wordnet_table(file);
  say("\nThe same as a table, {} by five columns (words, part of speech, category, what it is a "
      "kind of, gloss):\n  {}, {}\n",
      count_of(made.meanings, "row"), file, in_bytes(static_cast<double>(made.bytes)));
  const std::vector<std::string_view> args{
      "feat2vec", file, "-o",       model, "--types",     "words=set,kind_of=set",
      "--dim",    "64", "--epochs", "6",   "--no-biases", "--threads",
      threads};
  std::string shown;
  for (const auto arg : args) shown += ' ' + shell_quoted(arg);
  say("Learning from it, a vector for each value of each column:\n  {} train{}\n", program, shown);
  if (!train(args).finished) return kInterrupted;

  AskedTable asked(open_model(model));
  put_text(
      heading("Which concept is this? A gloss that nobody has seen, and the nearest concepts"));
  std::vector<std::vector<std::string>> rows;
  for (const char* gloss : kGlosses) {
    const std::string term = fmt::format("gloss={}", gloss);
    const SeenRow& row = asked.see(asked.cells({&term, 1}));
    std::vector<std::string> kinds;
    const size_t kind = asked.encoding().group("kind_of"), c = asked.encoding().group("category");
    for (const Ranked& r : best_of(asked.scores(row, kind), 3, {})) {
      kinds.emplace_back(asked.names(kind)[r.value]);
    }
    const auto scores = asked.scores(row, c);
    const Ranked best = best_of(scores, 1, {})[0];
    rows.push_back({gloss, fmt::format("{}", fmt::join(kinds, ", ")),
                    fmt::format("{} ({:.0f} %)", asked.names(c)[best.value],
                                100 * probabilities(scores)[best.value])});
  }
  put_text(table(rows, "<<<"));
  return kDone;
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

int run_demo(Args args) {
  DemoOptions options;
  if (!parse(args, options).empty()) misused(kDemo, "demo takes no words");
  fs::path folder = options.folder;
  if (folder.empty()) folder = fs::is_directory("build") ? "build/demo" : ".";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw Error(ErrorKind::kIo, "{}: cannot make this folder: {}", folder.string(),
                failed.message());
  }
  const std::string text = (folder / "wordnet.txt").lexically_normal().string();
  const std::string model = (folder / "wordnet.kith").lexically_normal().string();
  const WordNetFile made = write_wordnet_text(text);
  say("The dictionary WordNet, {} with their explanations and examples, is now a text:\n  {}, {}\n",
      count_of(made.meanings, "meaning"), text, in_bytes(static_cast<double>(made.bytes)));

  const std::string threads = fmt::format("{}", options.threads);
  // Measured on this text: rare words make neighbours that nobody knows, and a wide window with
  // many negatives makes the most of a small text.
  const std::vector<std::string_view> train_args{
      "word2vec", text, "-o",          model, "--tokens", "words", "--min-count", "10",
      "--window", "8",  "--negatives", "10",  "--epochs", "10",    "--threads",   threads};
  std::string shown;
  for (const auto arg : train_args) shown += ' ' + shell_quoted(arg);
  say("Learning from it, a vector for each word:\n  {} train{}\n", program, shown);
  const TrainSummary summary = train(train_args);
  if (!summary.finished) return kInterrupted;

  const AskedModel asked(model, Side::kInput);
  show_neighbours(asked.space);
  show_analogies(asked.space);
  show_odd(asked.space);
  show_score(summary);
  if (const int code = learn_table(folder, threads); code != kDone) return code;
  show_next(model, text);
  return kDone;
}

}  // namespace

const Command kDemo{
    "demo",
    "",
    "learn from a dictionary in seconds, and show what was learned",
    {"kith demo", "kith demo --folder /tmp/kith-demo", "kith demo --threads 1"},
    "Reads WordNet from the Debian package wordnet-base.",
    sections_of<DemoOptions>,
    run_demo,
};

}  // namespace kith::cli
