// SPDX-License-Identifier: Apache-2.0
#include "models/classifier/kernel.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "kernels/test_targets.h"
#include "models/classifier/class_weights.h"
#include "models/classifier/test_reference.h"
#include "models/test_model.h"

namespace kith::classifier {
namespace {

using reference::Tables;
using test::same_bits;

constexpr size_t kLabels = 5;

// Three texts with one label, several, and a word twice; weights of texts and of labels.
struct Small {
  Small(size_t dim, LabelLoss loss, Optimiser optimiser, bool weighted = true)
      : tree(std::vector<uint64_t>{5, 4, 3, 2, 1}) {
    documents.add(std::vector<uint32_t>{0, 1, 2}, std::vector<uint32_t>{1}, 1);
    documents.add(std::vector<uint32_t>{3, 3, kUnknownWord, 1}, std::vector<uint32_t>{0, 4, 2},
                  weighted ? 2.5f : 1);
    documents.add(std::vector<uint32_t>{2, 0, 1, 2, 3}, std::vector<uint32_t>{3}, 1);
    features = Features(4, 2, 1000, documents);
    if (weighted) class_weights = {1, 0.5f, 3, 1, 2};
    const size_t outputs = loss == LabelLoss::kHierarchical ? kLabels - 1 : kLabels;
    problem = {&documents, &features, loss, outputs, &tree, class_weights, optimiser, dim};
    input = Matrix(features.rows(), row_width(dim));
    output = Matrix(outputs, row_width(dim));
    Rng rng(7, dim);
    for (Matrix* const m : {&input, &output}) {
      for (size_t r = 0; r < m->rows(); ++r) {
        for (float& x : m->row(r).first(dim)) x = rng.uniform() - 0.5f;
        m->row(r)[parameters(dim)] = kFirstSquare;
      }
    }
  }
  double train(uint64_t text, float lr) {
    Scratch scratch(problem);
    return train_texts(problem, {&text, 1}, lr, {input.view()}, {output.view()}, scratch).loss;
  }
  Documents documents;
  Tree tree;
  Features features;
  std::vector<float> class_weights;
  Problem problem{};
  Matrix input, output;
};

constexpr LabelLoss kLosses[]{LabelLoss::kSoftmax, LabelLoss::kOneVsAll, LabelLoss::kHierarchical};

using ClassifierKernel = EveryTarget;

// A plain step moves every number by lr times the slope of the loss, which finite differences give;
// all rows by the slopes before the step.
TEST_P(ClassifierKernel, AStepFollowsTheGradient) {
  for (const LabelLoss loss : kLosses) {
    for (const size_t dim : {1u, 15u, 16u, 17u, 70u}) {
      for (uint64_t text = 0; text < 3; ++text) {
        Small s(dim, loss, Optimiser::kSgd);
        const Tables before = reference::tables_of(s.input, s.output, dim);
        const double told = s.train(text, 0.1f);
        EXPECT_NEAR(told, reference::loss(s.problem, text, before), 2e-5);
        const Tables after = reference::tables_of(s.input, s.output, dim);
        Tables at = before;
        const auto expect_moved = [&](std::vector<reference::Vec>& x, const auto& from,
                                      const auto& to) {
          for (size_t r = 0; r < x.size(); ++r) {
            for (size_t k = 0; k < dim; ++k) {
              constexpr double kStep = 1e-5;
              x[r][k] = from[r][k] + kStep;
              const double up = reference::loss(s.problem, text, at);
              x[r][k] = from[r][k] - kStep;
              const double slope = (up - reference::loss(s.problem, text, at)) / (2 * kStep);
              x[r][k] = from[r][k];
              // In float: a score has some hundred terms below 1.
              EXPECT_NEAR(to[r][k], from[r][k] - 0.1 * slope, 2e-6)
                  << "loss " << int(loss) << ", dim " << dim << ", text " << text << ", row " << r;
            }
          }
        };
        expect_moved(at.input, before.input, after.input);
        expect_moved(at.output, before.output, after.output);
      }
    }
  }
}

// h += |g|^2, then lr g / sqrt(h). A word that stands in a text twice takes two such steps.
TEST_P(ClassifierKernel, AdaGradHasARateForEveryRow) {
  constexpr size_t kDim = 20;
  const size_t square_at = parameters(kDim);
  for (const LabelLoss loss : kLosses) {
    Small plain(kDim, loss, Optimiser::kSgd), own(kDim, loss, Optimiser::kRowAdaGrad);
    const Small before(kDim, loss, Optimiser::kSgd);
    plain.train(0, 1);
    own.train(0, 0.3f);
    const auto expect_rows = [&](const Matrix& from, const Matrix& p, const Matrix& o) {
      for (size_t r = 0; r < from.rows(); ++r) {
        double square = 0;
        for (size_t k = 0; k < kDim; ++k) square += std::pow(from.row(r)[k] - p.row(r)[k], 2);
        const double h = kFirstSquare + square;
        EXPECT_NEAR(o.row(r)[square_at], h, 1e-5 * h);
        for (size_t k = 0; k < kDim; ++k) {
          const double g = double{from.row(r)[k]} - p.row(r)[k];
          EXPECT_NEAR(o.row(r)[k], from.row(r)[k] - 0.3 * g / std::sqrt(h), 1e-5) << r;
        }
      }
    };
    expect_rows(before.input, plain.input, own.input);
    expect_rows(before.output, plain.output, own.output);
  }
}

TEST_P(ClassifierKernel, TheLossAloneMovesNothing) {
  for (const LabelLoss loss : kLosses) {
    Small s(33, loss, Optimiser::kRowAdaGrad);
    const Small before(33, loss, Optimiser::kRowAdaGrad);
    Scratch scratch(s.problem);
    const std::vector<uint64_t> texts{0, 1, 2};
    const Tally tally = cost_of_texts(s.problem, texts, std::as_const(s.input).view(),
                                      std::as_const(s.output).view(), scratch);
    EXPECT_TRUE(same_bits(s.input, before.input));
    EXPECT_TRUE(same_bits(s.output, before.output));
    const Tables at = reference::tables_of(s.input, s.output, 33);
    double expected = 0;
    for (const uint64_t t : texts) expected += reference::loss(s.problem, t, at);
    EXPECT_NEAR(tally.loss, expected, 1e-4);
    EXPECT_EQ(tally.texts, 3u);
  }
}

// Private copies that are written back make the same step.
TEST_P(ClassifierKernel, CopiesMoveAsTheTableDoes) {
  Small shared(20, LabelLoss::kSoftmax, Optimiser::kRowAdaGrad);
  Small copied(20, LabelLoss::kSoftmax, Optimiser::kRowAdaGrad);
  const std::vector<uint64_t> texts{2, 0, 1};
  Scratch scratch(shared.problem);
  const double loss = train_texts(shared.problem, texts, 0.2f, {shared.input.view()},
                                  {shared.output.view()}, scratch)
                          .loss;
  RowOverlay in(copied.input.rows(), copied.input.stride());
  RowOverlay out(copied.output.rows(), copied.output.stride());
  in.start({copied.input.view()});
  out.start({copied.output.view()});
  EXPECT_EQ(train_texts(copied.problem, texts, 0.2f, in, out, scratch).loss, loss);
  for (uint32_t r = 0; r < copied.input.rows(); ++r) {
    EXPECT_TRUE(std::equal(in.row(r), in.row(r) + 20, shared.input.row(r).begin())) << r;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClassifierKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

TEST(ClassifierSteps, TextsWithoutAWordOrWithoutWeightMoveNothing) {
  Small s(8, LabelLoss::kSoftmax, Optimiser::kSgd), before(8, LabelLoss::kSoftmax, Optimiser::kSgd);
  s.documents.add(std::vector<uint32_t>{kUnknownWord}, std::vector<uint32_t>{1}, 1);
  s.documents.add(std::vector<uint32_t>{1}, std::vector<uint32_t>{1}, 0);
  s.train(3, 1);
  s.train(4, 1);
  EXPECT_TRUE(same_bits(s.input, before.input));
  EXPECT_TRUE(same_bits(s.output, before.output));
}

TEST(Features, WordsAndRunsThatOccur) {
  Documents d;
  d.add(std::vector<uint32_t>{0, 1, kUnknownWord, 2, 0, 1}, std::vector<uint32_t>{0}, 1);
  std::vector<uint32_t> out;
  Features one(3, 1, 1'000'000, d);
  EXPECT_EQ(one.rows(), 3u);
  one.find(d.words_of(0), out);
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 1, 2, 0, 1}));
  // "0 1" twice, "2 0", and the run of three: what is unknown stands in no run.
  EXPECT_EQ(Features(3, 2, 1'000'000, d).rows(), 3u + 2);
  const Features three(3, 3, 1'000'000, d);
  EXPECT_EQ(three.rows(), 3u + 3);
  three.find(d.words_of(0), out);
  EXPECT_EQ(out.size(), 5u + 3 + 1);
  three.find(std::vector<uint32_t>{1, 0}, out);  // a run that never occurred
  EXPECT_EQ(out, (std::vector<uint32_t>{1, 0}));
  const Features again(3, 3, 1'000'000, three.runs().list());
  std::vector<uint32_t> same;
  three.find(d.words_of(0), out);
  again.find(d.words_of(0), same);
  EXPECT_EQ(out, same);
  EXPECT_EQ(Features(3, 3, 1, d).rows(), 3u + 1);  // all share the only bucket
}

TEST(Tree, FrequentLabelsAreNearTheRoot) {
  const Tree tree(std::vector<uint64_t>{8, 4, 2, 1, 1});
  const size_t lengths[]{1, 2, 3, 4, 4};
  for (uint32_t l = 0; l < 5; ++l) EXPECT_EQ(tree.path(l).size(), lengths[l]) << l;
  EXPECT_EQ(tree.longest(), 4u);
}

TEST(Tree, ProbabilitiesAreProductsOfDecisionsAndSumToOne) {
  const Tree tree(std::vector<uint64_t>{3, 3, 2, 7, 1, 1, 0});
  const std::vector<float> right{0.1f, 0.9f, 0.4f, 0.5f, 0.7f, 0.3f};
  std::vector<float> out(7);
  tree.probabilities(right, out);
  float sum = 0;
  for (uint32_t l = 0; l < 7; ++l) {
    float product = 1;
    for (const Tree::Step s : tree.path(l)) product *= s.right ? right[s.node] : 1 - right[s.node];
    EXPECT_NEAR(out[l], product, 1e-6);
    sum += out[l];
  }
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(ClassWeights, NoneBalancedOrGiven) {
  Names labels;
  for (const char* l : {"ham", "spam", "a=b"}) labels.add(l);
  const std::vector<uint64_t> counts{6, 3, 1};
  const auto weights = [&](const char* setting) {
    return class_weights(setting, labels, counts, 10);
  };
  EXPECT_TRUE(weights("none").empty());
  const std::vector<float> balanced = weights("balanced");
  for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(balanced[k] * double(counts[k]), 10.0 / 3, 1e-6);
  EXPECT_EQ(weights("spam=5, a=b=0.5"), (std::vector<float>{1, 5, 0.5f}));
  for (const char* bad : {"spam", "spam=", "spam=-1", "spam=x", "spam=1e9"}) {
    EXPECT_NE(message_of(ErrorKind::kUsage, [&] { weights(bad); }).find("class-weights must be"),
              std::string::npos)
        << bad;
  }
  EXPECT_EQ(message_of(ErrorKind::kUsage, [&] { weights("spma=1"); }),
            "class-weights: there is no label spma; did you mean spam?");
}

}  // namespace
}  // namespace kith::classifier
