// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is like what, by vectors.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kith/analogy_rule.h"
#include "kith/context.h"
#include "kith/model.h"
#include "kith/side.h"
#include "kith/titles.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

enum class Search { kExact, kHnsw };

struct NearOptions {
  int64_t top = 10;
  std::optional<Side> vectors{};  // none: those the model is best known by
  std::optional<Search> search{};
  std::optional<int64_t> restrict_to{};
  std::string to{};
  bool text = false;

  static constexpr std::tuple fields{
      field("top", &NearOptions::top, "how many answers").between(1, 1e6),
      field("vectors", &NearOptions::vectors, "which vectors of the model to compare")
          .automatic(kUsualSide),
      field("search", &NearOptions::search,
            "exact: compare with every vector; hnsw: search a graph, and measure its recall")
          .automatic("whichever is faster"),
      field("restrict", &NearOptions::restrict_to,
            "look only among this many of the most frequent names")
          .between(1, 4e9)
          .automatic("all"),
      field(
          "to", &NearOptions::to,
          "tables: answer with values of this column that go with the given ones in a row; topics: "
          "answer with what is near of this kind (document, topic or word)"),
      field("text", &NearOptions::text,
            "each query is a text: answer with the documents, or else the words, that are like it"),
  };
};

struct Neighbour {
  std::string id;
  std::string title;  // if titles were given
  double score = 0;   // the cosine; of interactions less where few visits made the vector
};
struct Near {
  std::string query;
  std::string column;  // of the neighbours; "" where there is only one kind of names
  std::vector<Neighbour> neighbours;
  std::string error;  // why this query of many was not answered
};

// A query is a name ("king"; "director=Ridley Scott", "user=42" where a model has several kinds),
// or names with signs ("king - man + woman"). With `to`, the queries are values of one row, and the
// answer is what of that column goes with it; with `text` each is a text, as embed takes it. One
// query that fails is an error; of many, each says so. `answer` gets each answer as it is there.
void near(const Model& model, const std::vector<std::string>& queries, const NearOptions& options,
          const Context& context, const std::function<void(const Near&)>& answer,
          Observer* observer = nullptr, const Titles* titles = nullptr);
std::vector<Near> near(const Model& model, const std::vector<std::string>& queries,
                       const NearOptions& options, const Context& context);

struct AnalogyOptions {
  AnalogyRule rule = AnalogyRule::kAdd;
  int64_t top = 10;
  std::optional<Side> vectors{};  // none: those the model is best known by
  std::optional<int64_t> restrict_to{};

  static constexpr std::tuple fields{
      field("rule", &AnalogyOptions::rule, "3CosAdd, or 3CosMul"),
      field("top", &AnalogyOptions::top, "how many answers").between(1, 1e6),
      field("vectors", &AnalogyOptions::vectors, "which vectors of the model to compare")
          .automatic(kUsualSide),
      field("restrict", &AnalogyOptions::restrict_to,
            "look only among this many of the most frequent names")
          .between(1, 4e9)
          .automatic("all"),
  };
};
// a is to b as c is to what?
std::vector<Neighbour> analogy(const Model& model, const std::string& a, const std::string& b,
                               const std::string& c, const AnalogyOptions& options,
                               const Context& context);

// The cosine of two names.
double similarity(const Model& model, const std::string& a, const std::string& b,
                  std::optional<Side> side = {});
// How well each name fits with the others: its cosine with their mean. The smallest is the odd one.
std::vector<double> fit_with_others(const Model& model, const std::vector<std::string>& names,
                                    std::optional<Side> side = {});

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::Search> {
  static constexpr std::array<std::string_view, 2> names{"exact", "hnsw"};
};
