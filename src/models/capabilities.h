// SPDX-License-Identifier: Apache-2.0
#pragma once
// What models can be asked. Commands, methods and routes bind to these, never to the names of
// models or kinds of data; which of them a model has is seen from what it derives from.

#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.h"
#include "core/vectors.h"
#include "data/dataset.h"
#include "data/labelled/labelled.h"
#include "data/sparse.h"
#include "data/table/encoding.h"
#include "kith/context.h"
#include "kith/side.h"

namespace kith {

class MatrixRows;  // data/matrix/matrix.h

// Names of one kind with a vector each: the words of a text, the values of a column, the users.
struct VectorGroup {
  std::string column;  // "" where there is only one kind: words
  std::string family;  // what columns that share their values' vectors have in common
  const Names* names;  // of the model, one a row
  std::shared_ptr<const Vectors> vectors;
  std::string_view role{};    // what a user may call the column as well: "item"
  bool by_frequency = false;  // the most frequent names come first
};

struct HasVectors {
  static constexpr std::string_view kWhat = "have vectors";
  virtual ~HasVectors() = default;
  // What is asked about where nobody says which.
  virtual Side usual_side() const { return Side::kInput; }
  // Without a copy. Error(kUsage) if the model has no such side.
  virtual std::vector<VectorGroup> vectors(Side side) const = 0;
  std::vector<VectorGroup> vectors_of(std::optional<Side> side) const {
    return vectors(side.value_or(usual_side()));
  }
};

struct Spells {
  static constexpr std::string_view kWhat = "have vectors for words that they have not seen";
  virtual ~Spells() = default;
  virtual size_t dim() const = 0;
  // The vector of a word from how it is spelled; false if nothing about it is known.
  virtual bool spell(std::string_view word, std::span<float> out) const = 0;
};

struct CountsWords {
  static constexpr std::string_view kWhat = "have vectors of words";
  virtual ~CountsWords() = default;
  // How often each of its names was seen, by row; empty if nobody knows.
  virtual std::span<const uint64_t> word_counts() const = 0;
};

struct WritesFastText {
  static constexpr std::string_view kWhat = "hold the words of a text";
  virtual ~WritesFastText() = default;
  // All of it as a model of fastText.
  virtual void write_fasttext(const std::string& path, const Context& context) const = 0;
};

// A row of a table, or part of one, as a model sees it: the vector of each group that is there.
struct SeenRow {
  Matrix vectors;                // groups x dim
  std::vector<uint8_t> present;  // by group
  std::vector<float> bias;       // by group
  std::vector<Feature> bag;      // scratch
};

struct CompletesRows {
  static constexpr std::string_view kWhat = "complete rows of a table";
  virtual ~CompletesRows() = default;
  virtual const Encoding& encoding() const = 0;

  // The column that it learned to predict, or Encoding::npos; and whether by a score alone: as a
  // number, or as one of two values.
  virtual size_t target() const = 0;
  virtual bool scores_target() const = 0;
  // What the score of a whole row says of such a target, in its own unit.
  virtual double target_value(const SeenRow& row) const = 0;
  // Of a target of two values: how well each name of the column fits.
  struct ClassScores {
    std::vector<float> scores;
    bool probabilities;  // e^score / sum is one
  };
  virtual ClassScores class_scores(const SeenRow& row) const = 0;

  // `cells` by group. A group whose cell is missing, or has no known value, is not present.
  // `out` is reused: a table of a million rows asks for no more memory than one.
  virtual void see(CellEncoder& encoder, std::span<const Cell> cells, SeenRow& out) const = 0;
  // What the other groups of the row ask of this one: its value v scores values(group).row(v) .
  // out. One longer than dim if values have biases.
  virtual std::vector<float> context(const SeenRow& row, size_t group) const = 0;
  // The contribution of a pair of groups to the score of the row; 0 if one is not there.
  virtual double pair_score(const SeenRow& row, size_t a, size_t b) const = 0;
  // The vectors of all values of a group: of its names, or of the numbers in Group::values.
  virtual Matrix values(size_t group) const = 0;
  virtual size_t row_dim() const = 0;  // of the vector of a row: the sum of its groups'
};

struct Classifies {
  static constexpr std::string_view kWhat = "classify texts";
  virtual ~Classifies() = default;
  virtual const Names& words() const = 0;
  virtual const Names& labels() const = 0;
  // Texts that it learned from, by label.
  virtual std::span<const uint64_t> label_counts() const = 0;
  virtual const LabelledForm& form() const = 0;  // how they were read
  // Whether the probabilities of a text are those of one label, and sum to 1; or each is that of
  // its label alone.
  virtual bool exclusive() const = 0;
  // How the words of a text get their numbers, where that is not by words().
  virtual NumberWords numbering() const { return {}; }
  // The probability of each label for a text of these words, by number or kUnknownWord. A text
  // without a word that it knows gets the share that each label has of all texts; false then.
  virtual bool classify(std::span<const uint32_t> words, std::span<float> out) const = 0;
};

// Words and documents by topics: p(word | document) = sum over topics of p(word | topic)
// p(topic | document).
struct Topics {
  static constexpr std::string_view kWhat = "have topics";
  virtual ~Topics() = default;
  virtual const Names& topic_words() const = 0;  // the vocabulary
  virtual const Names& topic_names() const = 0;
  // p(word | topic), words x topics: columns sum to 1.
  virtual const Matrix& word_topics() const = 0;
  // Of the Dirichlet that mixtures come from, by topic; 0 where there is none.
  virtual std::span<const double> topic_prior() const = 0;
  // Share of the words of the training documents that each topic has.
  virtual std::span<const double> topic_sizes() const = 0;
  // NPMI of the top words of each topic in the training documents (eval/coherence.h).
  virtual std::span<const double> topic_coherence() const = 0;
  // How often each word was there in training.
  virtual std::span<const uint64_t> trained_counts() const = 0;
  // p(topic | document) of documents by counts of its words, into rows of `out`.
  virtual void find_mixtures(const Sparse& documents, const Context& context,
                             Matrix& out) const = 0;
};

enum class Axis { kUser, kItem };
inline constexpr Axis other(Axis axis) { return axis == Axis::kUser ? Axis::kItem : Axis::kUser; }

struct Ranks {
  static constexpr std::string_view kWhat = "rate items for users";
  virtual ~Ranks() = default;
  virtual const Names& names_of(Axis axis) const = 0;
  virtual const std::string& column_of(Axis axis) const = 0;
  virtual bool implicit() const = 0;
  virtual bool has_strengths() const = 0;  // of ratings or interactions; or all are 1
  virtual const Sparse& seen() const = 0;  // users x items: all ratings that it was given
  // The row of one in the unit of the ratings: what a user would give an item is rating() of both,
  // and products with a user's row are in the order of that. `scratch` is for one that has to be
  // made first.
  virtual std::span<const float> scoring_row(Axis axis, uint32_t number,
                                             std::vector<float>& scratch) const = 0;
  virtual size_t scoring_cols() const = 0;
  // All rows of an axis as they are, if those are the scoring rows; null if not.
  virtual const Matrix* scoring_rows(Axis axis) const = 0;
  // The scoring row that someone with these ratings (columns: numbers of the other axis) would
  // have. Nobody with no ratings gets the row of the unknown.
  virtual std::vector<float> fold_in(Axis axis, Sparse::Row ratings) const = 0;
  // Of each of these ratings the row of someone with that one alone.
  virtual std::vector<std::vector<float>> fold_in_each(Axis axis, Sparse::Row ratings) const = 0;
  virtual double rating(std::span<const float> user, std::span<const float> item,
                        float on_day = 0) const = 0;
  // Whether it knows what the ratings of a user's day have in common; and what that is, 0 if it
  // does not know. To be added to what rating() sees, as `on_day`.
  virtual bool knows_days() const = 0;
  virtual float day_effect(uint32_t user, float day) const = 0;
  // How far the truth may be from it, one standard deviation; for models that know.
  virtual std::optional<double> deviation(std::span<const float> user,
                                          std::span<const float> item) const = 0;
};

// Rows of numbers, and nothing else: what a matrix is asked with.
struct Encodes {
  static constexpr std::string_view kWhat = "turn rows of numbers into vectors";
  virtual ~Encodes() = default;
  // The columns that a row must have, and whether they have names of their own or only numbers.
  virtual const Names& columns() const = 0;
  virtual bool columns_named() const = 0;
  virtual size_t code_dim() const = 0;
  // Rows [first, first + count) into the first code_dim() floats of `out`. From many threads at
  // once; a row's vector does not depend on those read with it.
  virtual void encode(const MatrixRows& rows, uint64_t first, size_t count, Rows out) const = 0;
};

struct Reconstructs {
  static constexpr std::string_view kWhat = "give rows of numbers back from their vectors";
  virtual ~Reconstructs() = default;
  // The same rows as their vectors tell, columns().size() numbers each.
  virtual void reconstruct(const MatrixRows& rows, uint64_t first, size_t count,
                           double* out) const = 0;
  // What one is told who knows nothing of a row: the baseline.
  virtual std::span<const double> mean_row() const = 0;
};

// How much of what varies each direction explains.
struct HasSpectrum {
  static constexpr std::string_view kWhat = "find the main directions of rows of numbers";
  virtual ~HasSpectrum() = default;
  virtual std::span<const double> explained() const = 0;  // variances, falling
  virtual double total_variance() const = 0;
};

// Groups of rows, whatever the rows are: each has a share of them, and a mean and a spread of each
// column.
struct HasClusters {
  static constexpr std::string_view kWhat = "divide rows into clusters";
  virtual ~HasClusters() = default;
  virtual const Names& cluster_columns() const = 0;
  virtual uint64_t cluster_rows() const = 0;                    // that were learned from
  virtual std::span<const double> cluster_weights() const = 0;  // shares, one a cluster
  struct Spread {
    std::vector<double> mean, deviation;  // by column
  };
  virtual Spread cluster(size_t k) const = 0;
  virtual Spread all_rows() const = 0;
  // w^T S v for the covariance S of a cluster.
  virtual double cluster_product(size_t k, std::span<const double> w,
                                 std::span<const double> v) const = 0;
};

// Rows of numbers and the clusters that they belong to.
struct AssignsRows {
  static constexpr std::string_view kWhat = "assign rows of numbers to clusters";
  virtual ~AssignsRows() = default;
  struct Assigned {
    std::span<const double> memberships;  // of a row: sum to 1, one a cluster
    double log_density = 0;               // log p(row)
    double distance = 0;  // from the mean of the cluster that it belongs to most, in deviations
  };
  // Calls take(row, what it is assigned) for all rows, from threads of the context.
  virtual void assign(const MatrixRows& rows, const Context& context,
                      const std::function<void(uint64_t, const Assigned&)>& take) const = 0;
};

// How likely rows of numbers are.
struct HasDensity {
  static constexpr std::string_view kWhat = "have a density of rows of numbers";
  virtual ~HasDensity() = default;
  struct Likelihood {
    double log_likelihood = 0;  // of all rows
    double one = 0;             // the same under a single component: what no grouping reaches
    uint64_t parameters = 0, one_parameters = 0;  // free ones
  };
  virtual Likelihood likelihood(const MatrixRows& rows, const Context& context) const = 0;
};

// What update() did.
struct Updated {
  uint64_t units = 0;  // rows or ratings that were read
  struct Added {
    std::string column, id;
    uint64_t rows;  // that speak of it
  };
  std::vector<Added> added;
  uint64_t solved = 0;  // rows that were computed anew
};

struct Updates {
  static constexpr std::string_view kWhat = "take in new data without training";
  virtual ~Updates() = default;
  // What the data must be read on top of, so that known names keep their numbers.
  virtual std::any known() const = 0;
  // Data that were read so. May leave the model half changed if it throws, as it does when it is
  // cancelled: update a copy.
  virtual Updated update(const Dataset& more, const Context& context) = 0;
};

struct Continues {
  static constexpr std::string_view kWhat = "can be trained further";
  virtual ~Continues() = default;
  virtual std::any known() const = 0;
  // Takes what was learned as the start of a new run, on data that were read on top of known().
  virtual void reopen() = 0;
};

}  // namespace kith
