// SPDX-License-Identifier: Apache-2.0
#include "models/pca/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_errors.h"
#include "models/pca/test_rows.h"
#include "models/reconstruction.h"

namespace kith::pca {
namespace {

using test::as_small;
using test::largest_angle;
using test::plain_covariance;
using test::rows_with_spectrum;

std::unique_ptr<Pca> trained(const MatrixData& data, int dim, std::optional<Method> method = {},
                             uint64_t seed = 1, int threads = 1) {
  auto out = std::make_unique<Pca>();
  out->config().dim = dim;
  out->config().method = method;
  Job job(threads);
  job.seed = seed;
  EXPECT_TRUE(out->train(data, job));
  return out;
}

constexpr std::array kMethods{Method::kExact, Method::kRandomised, Method::kPower,
                              Method::kAutoencoder};

double error_of(const Pca& model, const MatrixData& data) {
  return reconstruction_error(model, data.train(), 0, data.rows()).error;
}

double sum(std::span<const double> values) {
  double out = 0;
  for (const double x : values) out += x;
  return out;
}

class Methods : public testing::TestWithParam<Method> {};

// The covariance is in single precision: 1e-5 of the spectrum is what may be asked of it. Angles
// are off by as much over the gap, 3 of 16 here.
TEST_P(Methods, FindTheSpaceAndTheSpectrumOfTheCovariance) {
  const Matrix x = rows_with_spectrum(3000, 24, {4, 3, 2, 1.5}, 1, 5);
  const MatrixData data = MatrixData::of(x.copy());
  const EigenPairs truth = largest_eigenpairs(plain_covariance(x), 4);
  const auto model = trained(data, 4, GetParam());
  EXPECT_LT(largest_angle(truth.vectors, as_small(model->components())), 1e-4);
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(model->explained()[k], truth.values[k], 1e-5 * truth.values[0]);
    // One by one, too, with the same sign: the autoencoder has been rotated.
    for (size_t c = 0; c < 24; ++c) {
      EXPECT_NEAR(model->components().row(k)[c], truth.vectors.at(k, c), 1e-3);
    }
  }
}

// Eckart and Young: what is lost is the tail of the spectrum.
TEST_P(Methods, LoseTheTailOfTheSpectrumAndNoMore) {
  const Matrix x = rows_with_spectrum(2000, 16, {4, 3, 2, 1});
  const MatrixData data = MatrixData::of(x.copy());
  const EigenPairs all = largest_eigenpairs(plain_covariance(x), 16);
  const double tail = sum(std::span(all.values).subspan(3)) * 1999;
  const auto model = trained(data, 3, GetParam());
  EXPECT_NEAR(error_of(*model, data) / tail, 1, 1e-4);
  EXPECT_NEAR(model->total_variance(), sum(all.values), 1e-9 * sum(all.values));
  EXPECT_NEAR(model->noise_variance(), tail / 1999 / 13, 1e-4);
}

TEST_P(Methods, GiveTheSameBitsForAnyNumberOfThreads) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(9000, 40, {4, 3, 2}));
  const auto one = trained(data, 3, GetParam());
  for (const int threads : {2, 8}) {
    const auto other = trained(data, 3, GetParam(), 1, threads);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(one->explained()[k], other->explained()[k]);
      for (size_t c = 0; c < 40; ++c) {
        EXPECT_EQ(one->components().row(k)[c], other->components().row(k)[c]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pca, Methods, testing::ValuesIn(kMethods), [](const auto& info) {
  return std::string(EnumNames<Method>::names[static_cast<size_t>(info.param)]);
});

TEST(Pca, NoOtherSubspaceLosesLess) {
  const Matrix x = rows_with_spectrum(500, 10, {3, 2, 1});
  const MatrixData data = MatrixData::of(x.copy());
  const Small c = plain_covariance(x);
  const auto model = trained(data, 3);
  const double least = error_of(*model, data);
  double trace = 0;
  for (size_t i = 0; i < 10; ++i) trace += c.at(i, i);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    // Near the best one as well as anywhere.
    Small other = random_block(3, 10, seed);
    for (size_t k = 0; k < 3 && seed > 100; ++k) {
      for (size_t i = 0; i < 10; ++i) {
        other.at(k, i) = 0.05 * other.at(k, i) + double{model->components().row(k)[i]};
      }
    }
    const Small q = orthonormal_rows(other);
    double kept = 0;
    const Small image = product(q, c);
    for (size_t i = 0; i < q.values.size(); ++i) kept += image.values[i] * q.values[i];
    EXPECT_GT((trace - kept) * 499, least * (1 - 1e-6)) << seed;
  }
}

// Variances of 0.01 beside a mean of a million, in floats: steps of 0.06 there are what the file
// has. In doubles nothing is lost.
TEST(Pca, ALargeMeanLosesNothing) {
  class Doubles final : public RowSource {
   public:
    Doubles(Matrix x, double mean) : x_(std::move(x)), mean_(mean) {}
    uint64_t rows() const override { return x_.rows(); }
    size_t cols() const override { return x_.cols(); }
    uint64_t bytes() const override { return 0; }
    void read(uint64_t first, size_t count, double* out) const override {
      for (size_t r = 0; r < count; ++r) {
        for (const float x : x_.row(first + r)) *out++ = x + mean_;
      }
    }
    void read(uint64_t, size_t, Rows) const override { FAIL() << "in single precision"; }

   private:
    Matrix x_;
    double mean_;
  };
  const auto model_at = [&](double mean) {
    MatrixData::Content content;
    content.sources.push_back(
        std::make_unique<Doubles>(rows_with_spectrum(1000, 8, {0.2, 0.15, 0.12}), mean));
    const MatrixData data(std::move(content), 0, Context(1));
    auto out = trained(data, 3);
    EXPECT_NEAR(error_of(*out, data) / 999 / out->noise_variance() / 5, 1, 1e-3);
    return out;
  };
  const auto near = model_at(0), far = model_at(1e6);
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(near->explained()[k], far->explained()[k], 1e-5 * near->explained()[0]);
  }
  EXPECT_LT(largest_angle(as_small(near->components()), as_small(far->components())), 1e-4);
}

// Squares of 1e20 are no floats.
TEST(Pca, NumbersAsLargeAndAsSmallAsFloatsAre) {
  for (const float size : {1e-30f, 1e30f}) {
    Matrix x = rows_with_spectrum(300, 6, {3, 2});
    const auto usual = trained(MatrixData::of(x.copy()), 2);
    for (size_t r = 0; r < x.rows(); ++r) {
      for (float& v : x.row(r)) v *= size;
    }
    const auto model = trained(MatrixData::of(std::move(x)), 2);
    const double square = double{size} * size;
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(model->explained()[k] / square, usual->explained()[k], 1e-4);
    }
  }
}

TEST(Pca, WhitenedCoordinatesHaveTheCovarianceOfNoise) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(4000, 12, {5, 2, 0.7}));
  Pca model;
  model.config().dim = 5;
  model.config().whiten = true;
  Job job;
  ASSERT_TRUE(model.train(data, job));
  Matrix codes(4000, 5);
  model.encode(data.train(), 0, 4000, codes.view());
  const Small c = plain_covariance(codes);
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 5; ++j) EXPECT_NEAR(c.at(i, j), i == j, 1e-3);
  }
}

TEST(Pca, AConstantColumnTakesNoPartAndIsGivenBack) {
  Matrix x = rows_with_spectrum(400, 5, {2, 1});
  for (size_t r = 0; r < 400; ++r) x.row(r)[3] = 7.25f;
  for (const bool scale : {false, true}) {
    const MatrixData data = MatrixData::of(x.copy());
    Pca model;
    model.config().dim = 2;
    model.config().scale = scale;
    Job job;
    ASSERT_TRUE(model.train(data, job));
    for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(model.components().row(k)[3], 0, 1e-6);
    std::vector<double> back(5);
    model.reconstruct(data.train(), 17, 1, back.data());
    EXPECT_NEAR(back[3], 7.25, 1e-6);
  }
}

TEST(Pca, WithAllComponentsEveryRowIsGivenBack) {
  const Matrix x = rows_with_spectrum(300, 7, {3, 2, 1}, 1, 4);
  const MatrixData data = MatrixData::of(x.copy());
  Pca model;
  model.config().scale = true;
  Job job;
  ASSERT_TRUE(model.train(data, job));
  EXPECT_EQ(model.code_dim(), 7u);
  std::vector<double> back(300 * 7);
  model.reconstruct(data.train(), 0, 300, back.data());
  for (size_t r = 0; r < 300; ++r) {
    for (size_t c = 0; c < 7; ++c) EXPECT_NEAR(back[7 * r + c], x.row(r)[c], 1e-4);
  }
}

TEST(Pca, ScaledColumnsGiveTheCorrelationMatrix) {
  Matrix x = rows_with_spectrum(500, 6, {3, 2, 1});
  for (size_t r = 0; r < 500; ++r) x.row(r)[2] *= 1000;
  const MatrixData data = MatrixData::of(x.copy());
  Pca model;
  model.config().scale = true;
  Job job;
  ASSERT_TRUE(model.train(data, job));
  EXPECT_NEAR(model.total_variance(), 6, 1e-9);
  Small c = plain_covariance(x);
  Small correlation = c;
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 6; ++j) {
      correlation.at(i, j) = c.at(i, j) / std::sqrt(c.at(i, i) * c.at(j, j));
    }
  }
  const EigenPairs truth = largest_eigenpairs(correlation, 6);
  for (size_t k = 0; k < 6; ++k) EXPECT_NEAR(model.explained()[k], truth.values[k], 1e-4);
}

TEST(Pca, WithoutCentringTheMeanIsADirection) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(500, 6, {0.5, 0.3}, 1, 10));
  Pca model;
  model.config().dim = 1;
  model.config().centre = false;
  Job job;
  ASSERT_TRUE(model.train(data, job));
  for (const float x : model.components().row(0)) EXPECT_NEAR(x, 1 / std::sqrt(6.0), 0.02);
  EXPECT_NEAR(model.explained()[0], 600, 5);
}

TEST(Pca, OfSparseRowsIsThatOfTheSameRowsDense) {
  Matrix x(600, 30);
  Sparse sparse;
  sparse.columns = 30;
  for (size_t r = 0; r < 600; ++r) {
    Rng rng(3, r);
    const bool kind = r % 3 == 0;
    for (uint32_t c = 0; c < 30; ++c) {
      if (rng.uniform() > (kind == (c < 15) ? 0.5f : 0.1f)) continue;
      x.row(r)[c] = 1 + rng.uniform() + static_cast<float>(c % 4);
      sparse.column.push_back(c);
      sparse.value.push_back(x.row(r)[c]);
    }
    sparse.offsets.push_back(sparse.column.size());
  }
  const MatrixData a = MatrixData::of(x.copy()), b = MatrixData::of(std::move(sparse));
  for (const Method method : {Method::kExact, Method::kRandomised}) {
    const auto dense = trained(a, 2, method), implicit = trained(b, 2, method);
    EXPECT_NEAR(dense->total_variance(), implicit->total_variance(), 1e-9);
    EXPECT_LT(largest_angle(as_small(dense->components()), as_small(implicit->components())), 1e-3);
    Matrix one(600, 2), other(600, 2);
    dense->encode(a.train(), 0, 600, one.view());
    implicit->encode(b.train(), 0, 600, other.view());
    for (size_t r = 0; r < 600; ++r) {
      for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(one.row(r)[k], other.row(r)[k], 0.02);
    }
    EXPECT_NEAR(error_of(*implicit, b) / error_of(*implicit, a), 1, 1e-6);
  }
}

// A run that is cancelled at every report and goes on is the run that was not.
TEST_P(Methods, GoOnFromWhereTheyStopped) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(70000, 40, {4, 3, 2}), 0.01);
  const auto whole = trained(data, 3, GetParam());
  Pca cut;
  cut.config().dim = 3;
  cut.config().method = GetParam();
  int runs = 0;
  for (bool done = false; !done && runs < 2000; ++runs) {
    Job job;
    job.on_progress = [&](const Progress&) { job.cancel(); };
    done = cut.train(data, job);
  }
  EXPECT_GT(runs, 1);
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(whole->explained()[k], cut.explained()[k]);
    for (size_t c = 0; c < 40; ++c) {
      EXPECT_EQ(whole->components().row(k)[c], cut.components().row(k)[c]);
    }
  }
  ASSERT_EQ(whole->state().held_out.size(), cut.state().held_out.size());
  EXPECT_EQ(whole->state().held_out, cut.state().held_out);
  EXPECT_LT(whole->error_now(), whole->error_before() / 5);
}

TEST(Pca, TheSignOfAComponentIsThatOfItsLargestEntry) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(300, 6, {3, 2, 1}));
  for (const Method method : kMethods) {
    const auto model = trained(data, 3, method);
    for (size_t k = 0; k < 3; ++k) {
      const auto row = model->components().row(k);
      const float largest = *std::ranges::max_element(row, {}, [](float x) { return std::abs(x); });
      EXPECT_GT(largest, 0);
    }
  }
}

TEST(Pca, ColumnsThatGoTogetherHaveLoadingsThatDo) {
  Matrix x = rows_with_spectrum(500, 5, {1, 1, 1, 1, 1});
  for (size_t r = 0; r < 500; ++r) x.row(r)[4] = -2 * x.row(r)[1];
  const auto model = trained(MatrixData::of(std::move(x)), 4);
  const auto groups = model->vectors(Side::kInput);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].column, "column");
  const Matrix loadings = read_all(*groups[0].vectors);
  double dot = 0, a = 0, b = 0;
  for (size_t k = 0; k < 4; ++k) {
    dot += double{loadings.row(1)[k]} * loadings.row(4)[k];
    a += std::pow(loadings.row(1)[k], 2);
    b += std::pow(loadings.row(4)[k], 2);
  }
  EXPECT_NEAR(dot / std::sqrt(a * b), -1, 1e-4);
  // The product of two loadings is what the components tell of their covariance.
  EXPECT_NEAR(b / a, 4, 1e-3);
}

TEST(Pca, WhatCannotBeDoneIsSaid) {
  const MatrixData data = MatrixData::of(rows_with_spectrum(3, 6, {3, 2}));
  Pca model;
  model.config().dim = 5;
  Job job;
  EXPECT_EQ(message_of(ErrorKind::kUsage, [&] { model.train(data, job); }),
            "--dim 5 is more than the 2 directions that 3 rows of 6 numbers have around their "
            "mean; lower it, or leave it out");
  EXPECT_EQ(trained(data, 2)->code_dim(), 2u);
  const MatrixData one = MatrixData::of(rows_with_spectrum(1, 6, {3, 2}));
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { Pca().train(one, job); }),
            "1 row of 6 numbers have no direction in which they vary; give at least 2 rows");
  const MatrixData same = MatrixData::of(Matrix(10, 3));
  EXPECT_EQ(message_of(ErrorKind::kInput, [&] { Pca().train(same, job); }),
            "every column is the same in all rows: there is nothing to learn");
}

TEST(Pca, TheMethodFollowsFromTheShape) {
  const auto taken = [](const MatrixData& data, int dim) {
    const auto model = trained(data, dim);
    for (const Fact& f : model->info()) {
      if (f.name == "method") return f.value;
    }
    return std::string();
  };
  EXPECT_EQ(taken(MatrixData::of(rows_with_spectrum(2000, 20, {3, 2})), 2), "exact");
  EXPECT_EQ(taken(MatrixData::of(Matrix(test::rows_with_spectrum(60, 20, {3, 2}))), 2), "exact");
  // Few rows of many columns: 3 directions of 5,000 columns are no reason for 25 million cells.
  Matrix wide(40, 5000);
  for (size_t r = 0; r < 40; ++r) {
    Rng rng(1, r);
    for (float& x : wide.row(r)) x = rng.uniform();
  }
  EXPECT_EQ(taken(MatrixData::of(std::move(wide)), 3), "randomised");
}

}  // namespace
}  // namespace kith::pca
