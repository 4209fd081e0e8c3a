// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: what settings do to what is learned where another value alone does not show it, and
// data in which every setting finds something.

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/test_models.h"

namespace kith::test {

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

inline std::string str(const char* text) { return text; }
// Paths that stand for files.
inline constexpr auto kModel = "(a model)", kSchema = "(a schema)", kAbout = "(a table of rows)",
                      kTexts = "(a table of texts)";

inline const Settings kCbow{text("objective", "cbow")};
inline const Settings kDm{text("method", "dm")};
inline const Settings kNce{text("loss", "nce")};
inline const Settings kYear{text("target", "year")};
inline const Settings kBig{text("target", "big")};
inline const Settings kSeen{text("rating", "none")};  // interactions
inline const Settings kShrink{text("method", "shrink")};
inline const Settings kOnline{text("method", "online")};
// Trained for too long and with nothing to hold it, so that the best epoch is not the last.
inline const Settings kLong{whole("epochs", 60), whole("dim", 12), number("holdout", 0.4)};
inline const Settings kFree{number("penalty", 1e-6)};

// Texts whose labels are chance: the first epoch is the best.
inline const Settings kWatched{whole("early-stop", 1), whole("epochs", 12), number("lr", 3)};

inline std::vector<Case> cases() {
  return {
      {"text", "from", kChanges, {}, {str(kModel)}},
      {"table", "from", kChanges, {}, {str(kModel)}},
      {"ratings", "from", kRefused, {}, {str(kModel)}},
      {"counts", "from", kRefused, {}, {str(kModel)}},
      {"labelled", "from", kRefused, {}, {str(kModel)}},
      {"documents", "from", kRefused, {}, {str(kModel)}},
      {"matrix", "from", kRefused, {}, {str(kModel)}},  // of its own kind; else it is a source
      {"bags", "from", kRefused, {}, {str(kModel)}},
      // Ratings and counts are trained to the same bits by any number of threads, always.
      {"ratings", "deterministic", kNothing},
      {"counts", "deterministic", kNothing},
      {"matrix", "deterministic", kNothing},  // likewise
      {"bags", "deterministic", kNothing},

      {"", "tolerance", kChanges, {}, {0.5}},
      // All ratings are learned from in the end; what is held out says for how long.
      {"ratings", "holdout", kChanges, {flag("refit", false)}},

      // What a table is, of which a column is the text, is in data/text/column_test.cc: this is
      // none.
      {"text", "column", kRefused, {}, {str("plot")}},
      {"counts", "column", kRefused, {}, {str("plot")}},
      {"text", "format", kRefused, {}, {str("csv"), str("json"), str("sqlite")}},
      {"counts", "format", kRefused, {}, {str("csv"), str("json"), str("sqlite")}},
      {"text", "delimiter", kRefused, {}, {str(",")}},
      {"counts", "delimiter", kRefused, {}, {str(",")}},
      {"text", "header", kRefused},
      {"counts", "header", kRefused},
      {"text", "bad-rows", kRefused, {}, {str("skip")}},
      {"counts", "bad-rows", kRefused, {}, {str("skip")}},
      {"text", "query", kRefused, {}, {str("films")}},
      {"counts", "query", kRefused, {}, {str("films")}},
      {"text", "max-vocab", kChanges, {}, {int64_t{10}}},
      {"counts", "max-vocab", kChanges, {}, {int64_t{10}}},
      {"text", "max-word", kChanges, {}, {int64_t{20}}},
      {"counts", "max-word", kChanges, {}, {int64_t{20}}},
      {"text", "encoding", kChanges, {}, {str("utf-8"), str("latin-1")}},
      {"counts", "encoding", kChanges, {}, {str("utf-8"), str("latin-1")}},
      {"text", "invalid-utf8", kChanges, {}, {str("replace"), str("drop")}},
      {"counts", "invalid-utf8", kChanges, {}, {str("replace"), str("drop")}},
      {"text", "invalid-utf8", kRefused, {}, {str("error")}},
      {"counts", "invalid-utf8", kRefused, {}, {str("error")}},

      {"documents", "column", kRefused, {}, {str("plot")}},
      {"documents", "id", kRefused, {}, {str("id")}},
      {"documents", "format", kRefused, {}, {str("csv"), str("json"), str("sqlite")}},
      {"documents", "delimiter", kRefused, {}, {str(",")}},
      {"documents", "header", kRefused},
      {"documents", "bad-rows", kRefused, {}, {str("skip")}},
      {"documents", "query", kRefused, {}, {str("films")}},
      {"documents", "max-vocab", kChanges, {}, {int64_t{10}}},
      {"documents", "max-word", kChanges, {}, {int64_t{20}}},
      {"documents", "encoding", kChanges, {}, {str("utf-8"), str("latin-1")}},
      {"documents", "invalid-utf8", kChanges, {}, {str("replace"), str("drop")}},
      {"documents", "invalid-utf8", kRefused, {}, {str("error")}},

      // Rows of tables and files of counts are in data/bags/bags_test.cc: these are lines.
      {"bags", "column", kRefused, {}, {str("plot")}},
      {"bags", "id", kRefused, {}, {str("id")}},
      {"bags", "vocab", kRefused, {}, {str("words")}},
      {"bags", "format", kRefused, {}, {str("csv"), str("json"), str("sqlite")}},
      {"bags", "delimiter", kRefused, {}, {str(",")}},
      {"bags", "header", kRefused},
      {"bags", "bad-rows", kRefused, {}, {str("skip")}},
      {"bags", "query", kRefused, {}, {str("films")}},
      {"bags", "stop-words", kChanges, {}, {str("english")}},
      {"bags", "min-df", kChanges, {}, {int64_t{30}}},
      {"bags", "max-df", kChanges, {}, {0.05}},
      {"bags", "max-vocab", kChanges, {}, {int64_t{10}}},
      {"bags", "max-word", kChanges, {}, {int64_t{20}}},
      {"bags", "encoding", kChanges, {}, {str("utf-8"), str("latin-1")}},
      {"bags", "invalid-utf8", kChanges, {}, {str("replace"), str("drop")}},
      {"bags", "invalid-utf8", kRefused, {}, {str("error")}},

      {"labelled", "max-vocab", kChanges, {}, {int64_t{10}}},
      {"labelled", "max-word", kChanges, {}, {int64_t{20}}},
      // In a table bad bytes are repaired; of lines it is in data/labelled/labelled_test.cc.
      {"labelled", "invalid-utf8", kRefused, {}, {str("drop"), str("error")}},
      {"labelled", "validation", kNothing, {}, {str(kTexts)}},
      {"labelled", "validation", kChanges, kWatched, {str(kTexts)}},
      {"labelled", "holdout", kChanges, {}, {0.3}},

      {"table", "schema", kChanges, {}, {str(kSchema)}},
      {"table", "types", kChanges, {}, {str("year=category"), str("year=ignore")}},

      {"word2vec", "noise", kChanges},
      {"word2vec", "noise", kRefused, kNce, {str("centre")}},
      {"word2vec", "loss", kChanges},
      {"word2vec", "loss", kRefused, kCbow, {str("softmax")}},
      {"word2vec", "side", kChanges},
      {"word2vec", "side", kChanges, {text("loss", "softmax")}},
      {"word2vec", "form", kChanges},
      {"word2vec", "form-rate", kChanges, {text("form", "full")}},
      {"word2vec", "form-rate", kNothing},
      {"word2vec", "relations", kChanges, {text("form", "full")}},
      {"word2vec", "relations", kRefused, {}, {str("side"), str("place")}},
      {"word2vec", "optimiser", kChanges},
      {"word2vec", "optimiser", kChanges, kCbow},
      {"word2vec", "optimiser", kRefused, {text("loss", "softmax")}, {str("sgd"), str("adam")}},
      {"word2vec", "optimiser", kRefused, {text("form", "full")}, {str("adagrad"), str("adam")}},
      {"word2vec", "negatives", kChanges},
      {"word2vec", "negatives", kChanges, kNce},
      {"word2vec", "negatives", kNothing, {text("loss", "softmax")}},
      {"word2vec", "alpha", kChanges},
      {"word2vec", "alpha", kChanges, kNce},
      {"word2vec", "alpha", kNothing, {text("loss", "hierarchical")}},
      // CBOW has one pair for each centre.
      {"word2vec", "noise", kNothing, kCbow + Settings{text("noise", "window")}, {str("pair")}},
      {"word2vec", "gradient", kChanges, kCbow},
      {"word2vec", "gradient", kNothing},
      {"word2vec", "early-stop", kChanges, {number("lr", 0.5), whole("epochs", 30)}},

      {"fasttext", "noise", kChanges, {}, {str("window"), str("pair")}},
      {"fasttext", "noise", kRefused, {}, {str("centre")}},
      {"fasttext", "gradient", kChanges},
      {"fasttext", "min-n", kChanges, {}, {int64_t{2}, int64_t{5}}},
      {"fasttext", "min-n", kRefused, {}, {int64_t{7}}},
      {"fasttext", "max-n", kChanges, {}, {int64_t{0}, int64_t{4}}},
      {"fasttext", "buckets", kChanges, {}, {int64_t{50}}},
      {"fasttext", "buckets", kNothing, {text("ngrams", "explicit")}, {int64_t{50}}},
      {"fasttext", "early-stop", kChanges, {number("lr", 3), whole("epochs", 30)}},

      {"doc2vec", "noise", kChanges, {}, {str("pool"), str("window")}},
      {"doc2vec", "noise", kChanges, {flag("words", true)}, {str("window"), str("pair")}},
      {"doc2vec", "noise", kNothing, {}, {str("pair")}},  // a document is one context
      {"doc2vec", "words", kChanges},
      {"doc2vec", "words", kNothing, kDm},
      {"doc2vec", "window", kChanges, kDm},
      {"doc2vec", "window", kChanges, {flag("words", true)}},
      {"doc2vec", "fixed-window", kChanges, kDm},
      {"doc2vec", "fixed-window", kNothing},
      {"doc2vec", "gradient", kChanges, kDm},
      {"doc2vec", "gradient", kNothing},
      {"doc2vec", "early-stop", kChanges, {number("lr", 2), whole("epochs", 40)}},
      {"doc2vec", "infer-epochs", kNothing},  // of new texts: models/doc2vec/doc2vec_test.cc

      {"counts", "weight", kChanges},
      {"counts", "weight", kNothing, {text("within", "line")}, {str("flat")}},
      {"counts", "window", kChanges},
      {"counts", "window", kNothing, {text("within", "line")}},
      {"counts", "count-memory", kNothing},  // what goes to disk comes back the same

      {"glove", "early-stop", kChanges, {number("lr", 3), whole("epochs", 40)}},
      {"pmi", "holdout", kRefused, {}, {0.1}},
      {"pmi", "observed", kChanges, {text("solver", "als")}, {10.0}},
      {"pmi", "observed", kNothing, {}, {10.0}},
      {"pmi", "positive", kChanges, {number("shift", 5)}},
      {"pmi", "lr", kChanges, {text("solver", "gradient")}, {0.0001}},
      {"pmi", "lr", kNothing, {}, {0.0001}},
      {"pmi", "penalty", kChanges},
      {"pmi", "penalty", kChanges, {text("solver", "als")}},
      {"pmi", "penalty", kChanges, {text("solver", "gradient")}},

      {"classifier", "class-weights", kChanges, {}, {str("none"), str("balanced"), str("A=3")}},
      {"classifier",
       "early-stop",
       kChanges,
       kWatched + Settings{flag("refit", false)},
       {int64_t{0}}},
      {"classifier", "refit", kChanges, kWatched},
      {"classifier", "refit", kNothing},

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
      // Where it changes something is in models/feat2vec/choices_test.cc: the table has few values.
      {"feat2vec", "choices", kRefused, {}, {true}},
      {"feat2vec", "choices", kRefused, kYear + Settings{text("loss", "squared")}, {true}},
      {"feat2vec", "biases", kChanges},
      {"feat2vec", "biases", kRefused, kYear, {false}},

      {"als", "unobserved", kChanges, kSeen},
      {"als", "unobserved", kNothing},
      {"als", "biases", kChanges},
      {"als", "biases", kChanges, kSeen},
      {"als", "bias-penalty", kChanges},
      {"als", "bias-penalty", kChanges, kSeen},
      {"als", "solver", kChanges, {whole("block", 2)}},
      {"als", "steps", kChanges},
      {"als", "steps", kNothing, {text("solver", "cholesky")}},
      {"als", "block", kChanges, {text("solver", "blocks")}, {int64_t{2}}},
      {"als", "block", kNothing},
      {"als", "early-stop", kChanges, kLong + kFree, {int64_t{0}}},
      {"als", "choices", kChanges, {}, {false}},
      {"als", "choices", kChanges, kSeen, {true}},
      {"als", "user-table", kChanges, {}, {str(kAbout)}},
      {"als", "item-table", kChanges, {}, {str(kAbout)}},

      // Where it changes something is in models/ratings/day_effects_test.cc: all is of one day.
      {"als", "days", kNothing},
      {"mf", "days", kNothing},
      {"bmf", "days", kNothing},

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
      {"mf", "choices", kChanges, {}, {false}},
      {"mf", "choices", kChanges, kSeen, {true}},
      {"mf", "columns", kChanges, {}, {false}},
      {"mf", "columns", kChanges, kSeen, {true}},
      {"mf", "user-table", kChanges, {}, {str(kAbout)}},
      {"mf", "item-table", kChanges, {}, {str(kAbout)}},

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

      {"plsa",
       "early-stop",
       kChanges,
       {whole("topics", 30), whole("epochs", 60), number("beta", 0), number("tolerance", 0)},
       {int64_t{0}}},
      {"plsa", "alpha", kChanges},
      {"plsa", "temper", kChanges, {}, {0.8, 0.9, 1.0}},

      {"lda", "burn-in", kChanges, {}, {int64_t{5}}},
      {"lda", "burn-in", kChanges, kOnline, {int64_t{5}}},
      {"lda", "burn-in", kNothing, {number("alpha", 0.2), number("beta", 0.2)}, {int64_t{5}}},
      {"lda", "average", kChanges, {}, {int64_t{1}}},
      {"lda", "average", kChanges, {text("method", "gibbs")}, {int64_t{1}}},
      {"lda", "average", kNothing, kOnline, {int64_t{1}}},
      {"lda", "proposals", kChanges},
      {"lda", "proposals", kNothing, {text("method", "gibbs")}},
      {"lda", "batch", kChanges, kOnline, {int64_t{50}}},
      {"lda", "batch", kNothing, {}, {int64_t{50}}},
      {"lda", "kappa", kChanges, kOnline, {0.0, 0.8}},
      {"lda", "kappa", kNothing, {}, {0.8}},
      {"lda", "tau0", kChanges, kOnline},
      {"lda", "tau0", kNothing},

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
      {"bmf", "user-table", kChanges, {}, {str(kAbout)}},
      {"bmf", "item-table", kChanges, {}, {str(kAbout)}},

      // Models of a few components, from starts that differ.
      {"gmm", "max-components", kNothing},
      {"gmm",
       "max-components",
       kChanges,
       {text("components", "auto"), text("covariance", "spherical")},
       {int64_t{1}}},
      {"gmm", "covariance", kChanges},
      {"gmm", "covariance", kRefused, {text("method", "kmeans")}, {str("full"), str("tied")}},
      {"gmm", "restarts", kChanges, {whole("components", 6)}, {int64_t{20}}},
      {"gmm", "regularise", kChanges, {}, {0.5}},
      {"gmm", "regularise", kNothing},  // where nothing collapses

      {"pca", "seed", kNothing, {text("method", "exact")}},
      {"pca", "seed", kChanges},
      {"pca", "whiten", kNothing},  // what is learned is the same: models/pca/model_test.cc
      {"pca", "epochs", kChanges},
      {"pca", "epochs", kNothing, {text("method", "exact")}},

      // These learn from ratings alone.
      {"nmf", "user-table", kRefused, {}, {str(kAbout)}},
      {"nmf", "item-table", kRefused, {}, {str(kAbout)}},
      {"svp", "user-table", kRefused, {}, {str(kAbout)}},
      {"svp", "item-table", kRefused, {}, {str(kAbout)}},
      {"softimpute", "user-table", kRefused, {}, {str(kAbout)}},
      {"softimpute", "item-table", kRefused, {}, {str(kAbout)}},
  };
}

// How a table is read: tried with one model of each kind.
inline std::vector<Case> reading_cases() {
  return {
      {"", "format", kNothing, {}, {str("csv")}},
      {"", "format", kRefused, {}, {str("json"), str("sqlite"), str("postgres")}},
      {"", "delimiter", kNothing, {}, {str(",")}},
      {"", "delimiter", kRefused, {}, {str(";")}},
      {"table", "encoding", kChanges, {}, {str("utf-8"), str("latin-1"), str("windows-1252")}},
      {"ratings", "encoding", kNothing, {}, {str("latin-1")}},  // they are ASCII
      {"", "encoding", kRefused, {}, {str("utf-16")}},
      {"", "bad-rows", kNothing, {}, {str("skip")}},  // there are none
      {"", "query", kRefused, {}, {str("select 1")}},
      {"table", "header", kChanges, {text("types", "")}, {false}},
      {"ratings", "header", kRefused, {}, {false}},  // names are no ratings
      {"ratings", "header", kChanges, kSeen, {false}},
      {"labelled", "encoding", kChanges, {}, {str("utf-8"), str("latin-1"), str("windows-1252")}},
      {"labelled", "header", kRefused, {}, {false}},  // columns have names
      {"labelled", "text", kChanges, {}, {str("title"), str("body,title")}},
      {"labelled", "text", kRefused, {}, {str("plot"), str("")}},
      {"labelled", "label", kChanges, {}, {str("kind")}},
      {"labelled", "row-weight", kChanges, {}, {str("weight")}},
      {"labelled", "row-weight", kRefused, {}, {str("title")}},
      {"labelled", "label-separator", kChanges, {}, {str(";")}},
      {"labelled", "label-prefix", kNothing, {}, {str("#")}},  // of lines
      {"matrix", "encoding", kNothing, {}, {str("latin-1")}},
      {"matrix", "header", kRefused, {}, {false}},  // names are no numbers
      {"matrix", "id", kChanges, {text("ignore", "name")}, {str("a")}},
      {"matrix", "id", kRefused, {}, {str("")}},
      {"matrix", "ignore", kChanges, {}, {str("a")}},
      {"matrix", "tensor", kNothing, {}, {str("x")}},  // of files that have some, in e2e_matrix.py
      {"matrix", "of", kNothing, {}, {str("x")}},      // likewise
      {"ratings", "user", kChanges, {}, {str("item")}},
      {"ratings", "item", kChanges, {}, {str("timestamp")}},
      {"ratings", "rating", kChanges, {}, {str("timestamp"), str("none")}},
      {"ratings", "time", kNothing, {}, {str("timestamp")}},  // times are for splits
      {"ratings", "duplicates", kChanges, {}, {str("last"), str("first"), str("mean"), str("sum")}},
      {"ratings", "duplicates", kRefused, {}, {str("refuse")}},
      {"ratings", "vocab", kRefused, {}, {str("words")}},  // these are no counts
  };
}

// --- Data in which every setting finds something ---

inline std::string text_with_oddities() {
  std::string out = topic_text(400);
  for (int i = 0; i < 20; ++i) {
    out += "The ship, THE Sail: a wave of unpronounceablelongwordswithoutend\n";
    out += "once caf\xff caf\xe9 caf\xe9 and oven\n";
    out += "a na\xc3\xafve and a nai\xcc\x88ve ship\n";  // two spellings of one word
  }
  return out + "hapax legomenon ship\ntwice twice ship\n";
}

// With a column of two values and one of dates that can be read in two ways.
inline std::string table_with_oddities() {
  std::string out, line;
  std::istringstream in(places_table(150));
  for (size_t row = 0; std::getline(in, line); ++row) {
    // A letter in Latin-1, and one in Windows-1252 alone.
    if (row % 9 == 4) line.back() = '\xe9';
    if (row % 9 == 5) line.back() = '\x8a';
    out += line + (row == 0 ? ",big,visited\n"
                            : fmt::format(",{},{:02}/{:02}/2020\n", row % 3 == 0 ? "yes" : "no",
                                          1 + row % 12, 1 + row % 5));
  }
  return out;
}

// None below 0; some twice; a column of users and one of items.
inline std::string ratings_with_oddities() {
  const PlantedRatings planted{.users = 45, .items = 25, .noise = 0.2};
  std::string out(kRatingsHeader);
  out.insert(out.size() - 1, ",town,shelf");
  for (size_t u = 0; u < planted.users; ++u) {
    for (size_t i = 0; i < planted.items; ++i) {
      if (!planted.is_there(u, i)) continue;
      const double rating = std::max(0.5, planted.rated(u, i));
      const std::string more = fmt::format(",t{},s{}\n", u % 4, i % 3);
      out += fmt::format("u{},i{},{:.3f},{}", u, i, rating, 1000 + u * i) + more;
      if (i == u) out += fmt::format("u{},i{},{:.3f},{}", u, i, rating + 0.5, 2000 + u * i) + more;
    }
  }
  return out;
}

inline std::string texts_with_oddities() {
  std::string out = "body,title,label,kind,weight\n";
  Rng rng(1, 0);
  for (int i = 0; i < 120; ++i) {
    for (int k = 0; k < 6; ++k) out += fmt::format("Word{}, ", rng.below(25));
    out +=
        fmt::format("unpronounceablelongwordswithoutend caf\xe9 \x8a na\xc3\xafve nai\xcc\x88ve");
    if (i % 10 == 0) out += fmt::format(" once{}", i);
    out.insert(out.rfind('\n') + 1, "\"");
    const char* const label = i % 7 == 0 ? "A|B" : rng.below(3) == 0 ? "A" : "B";
    out += fmt::format("\",t{} x,{},{},{}\n", i % 4, label, i % 2 ? "odd" : "even", 1 + i % 3);
  }
  return out;
}

// Sixteen numbers a row, of which three factors are most; and a name.
inline std::string numbers_with_names() {
  constexpr int kColumns = 16;
  std::string out = "name";
  for (int c = 0; c < kColumns; ++c) out += fmt::format(",{}", static_cast<char>('a' + c));
  for (int r = 0; r < 90; ++r) {
    Rng rng(5, static_cast<uint64_t>(r));
    const double x = 6 * rng.uniform(), y = 3 * rng.uniform(), z = rng.uniform();
    out += fmt::format("\nn{}", r);
    for (int c = 0; c < kColumns; ++c) {
      out += fmt::format(
          ",{:.4f}", 10 * c + x * (c % 4 + 1) + y * (c % 3) - z * (c % 2) + 2.0 * rng.uniform());
    }
  }
  return out + "\n";
}

inline const std::string& data_for(std::string_view kind) {
  if (kind == "text" || kind == "counts" || kind == "documents" || kind == "bags")
    return shared_file("odd.txt", text_with_oddities);
  if (kind == "table") return shared_file("odd.csv", table_with_oddities);
  if (kind == "labelled") return shared_file("odd-texts.csv", texts_with_oddities);
  if (kind == "matrix") return shared_file("numbers.csv", numbers_with_names);
  return shared_file("odd-ratings.csv", ratings_with_oddities);
}

// What keeps training short. Values here are those that a setting is moved away from.
inline Settings quick(std::string_view model) {
  if (model == "word2vec" || model == "fasttext") {
    return {whole("dim", 5),       whole("epochs", 2),    whole("window", 2),
            whole("negatives", 3), whole("min-count", 2), number("holdout", 0.1)};
  }
  if (model == "doc2vec") {
    return {whole("dim", 5),       whole("epochs", 2),    whole("window", 2),
            whole("negatives", 3), whole("min-count", 2), number("holdout", 0.1)};
  }
  const Settings pairs{whole("dim", 5), whole("epochs", 3), whole("window", 2),
                       whole("min-count", 2)};
  if (model == "glove") return pairs + Settings{number("holdout", 0.1)};
  if (model == "pmi") return pairs;
  if (model == "classifier") {
    return {whole("dim", 5), whole("epochs", 3), text("text", "body"), text("label", "label")};
  }
  if (model == "feat2vec") {
    return {whole("dim", 5), whole("epochs", 2), whole("negatives", 4), whole("holdout", 10),
            text("types", "id=ignore,notes=text,tags=set,opened=date")};
  }
  if (model == "plsa" || model == "lda") {
    return {whole("topics", 9), whole("epochs", 14), whole("min-df", 2), number("holdout", 0.1)};
  }
  if (model == "bmf") {
    return {whole("dim", 3), whole("epochs", 12), whole("burn-in", 4), whole("samples", 3)};
  }
  if (model == "pca") {
    return {whole("dim", 2), whole("epochs", 3), text("id", "name"), text("method", "randomised")};
  }
  if (model == "gmm") {
    return {whole("components", 3), whole("restarts", 1), whole("epochs", 3), text("id", "name")};
  }
  if (model == "softimpute") return {whole("dim", 2), whole("epochs", 12), whole("iterations", 3)};
  return {whole("dim", 3), whole("epochs", model == "mf" ? 30 : 6)};
}

}  // namespace kith::test
