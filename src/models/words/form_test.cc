// SPDX-License-Identifier: Apache-2.0
// The bilinear score x'By: steps of the kernel against finite differences in double.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/test_targets.h"
#include "models/words/kernel.h"
#include "models/words/test_reference.h"

namespace kith::words {
namespace {

using reference::Vec;

class WordForm : public EveryTarget {};

constexpr size_t kWords = 8;
const std::vector<uint32_t> kNoise{5, 6};
constexpr size_t kLeft = 2, kWindow = 3;
constexpr uint32_t kCentre = 4;
constexpr double kLr = 0.1, kRate = 0.5;
// Two words left of the centre and two right of it, and which of the forms they are scored with.
struct Scored {
  Relations relations;
  std::vector<uint32_t> contexts;
  std::vector<size_t> forms;
};
const std::vector<Scored> kScored{{Relations::kOne, {0, 1, 2, 3}, {0, 0, 0, 0}},
                                  {Relations::kSide, {0, 1, 2, 0}, {0, 0, 1, 1}},
                                  {Relations::kPlace, {0, 1, 2, 0}, {1, 0, 3, 4}}};

struct Tables {
  Tables(size_t dim, bool full, size_t forms)
      : in(kWords, dim), out(kWords, dim), form(forms * (full ? dim : 1), dim) {
    std::mt19937 rng(6);
    for (Matrix* const m : tables()) {
      for (size_t r = 0; r < m->rows(); ++r) {
        const Vec v = reference::random_vec(dim, rng);
        std::ranges::copy(v, m->row(r).begin());
      }
    }
  }
  std::vector<Matrix*> tables() { return {&in, &out, &form}; }
  Vec values() {
    Vec all;
    for (const Matrix* const m : tables()) {
      for (size_t r = 0; r < m->rows(); ++r) {
        all.insert(all.end(), m->row(r).begin(), m->row(r).end());
      }
    }
    return all;
  }
  Matrix in, out, form;
  std::vector<float> energy = std::vector<float>(kWords, 1.0f);
};

// x_a' B y_b of all parameters in one vector, with the B of a relation.
double score(const Vec& p, size_t dim, bool full, size_t relation, size_t a, size_t b) {
  const double *const x = &p[a * dim], *const y = &p[(kWords + b) * dim];
  const double* const form = &p[(2 * kWords + relation * (full ? dim : 1)) * dim];
  double sum = 0;
  for (size_t k = 0; k < dim; ++k) {
    for (size_t l = 0; l < dim; ++l) {
      if (full || k == l) sum += x[k] * (full ? form[k * dim + l] : form[k]) * y[l];
    }
  }
  return sum;
}

// Rows move by lr times their gradient, B by the outer products, which are its gradient, times the
// rate that it has.
TEST_P(WordForm, StepIsTheGradient) {
  const AliasSampler sampler(std::vector<double>(kWords, 1.0));
  for (const auto& [relations, contexts, forms] : kScored) {
    for (const bool full : {false, true}) {
      for (const size_t dim : {1, 3, 16, 17}) {
        Tables t(dim, full, FormTable::count(relations, kWindow));
        const Vec before = t.values();
        const auto loss = [&](const Vec& p) {
          double sum = 0;
          for (size_t i = 0; i < contexts.size(); ++i) {
            const auto s = [&](uint32_t w) {
              return score(p, dim, full, forms[i], contexts[i], w);
            };
            sum += std::log1p(std::exp(-s(kCentre)));
            for (const uint32_t n : kNoise) sum += std::log1p(std::exp(s(n)));
          }
          return sum;
        };
        const Config config{.dim = static_cast<int>(dim),
                            .window = kWindow,
                            .negatives = 2,
                            .form = full ? Form::kFull : Form::kDiagonal};
        Scratch scratch(config, padded(dim));
        const FormTable form{t.form.view(), dim, full, kRate, relations, kWindow};
        const RowTable in{t.in.view(), t.energy.data()}, out{t.out.view(), t.energy.data()};
        const Tally tally = train_window({config, &sampler, nullptr, nullptr, nullptr, &form},
                                         {contexts, kCentre, kNoise, kLeft},
                                         static_cast<float>(kLr), in, out, scratch);
        EXPECT_NEAR(tally.loss, loss(before), 1e-4);
        const Vec gradient = reference::numeric_gradient(loss, before), after = t.values();
        for (size_t i = 0; i < after.size(); ++i) {
          const double lr = i < 2 * kWords * dim ? kLr : kLr * kRate;
          ASSERT_NEAR(after[i], before[i] - lr * gradient[i], 3e-6) << "dim " << dim << " at " << i;
        }
        for (const Matrix* const m : t.tables()) {
          for (size_t r = 0; r < m->rows(); ++r) {
            for (size_t i = dim; i < m->stride(); ++i) ASSERT_EQ(m->view().row(r)[i], 0);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, WordForm,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace kith::words
