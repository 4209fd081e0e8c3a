// SPDX-License-Identifier: Apache-2.0
#include "io/quantised.h"

#include <gtest/gtest.h>

#include "core/test_errors.h"
#include "io/test_files.h"

namespace kith {
namespace {

using testing::TempFolder;

// Five columns in three parts of two: centroid c has 10 c + the column.
class QuantisedFile : public ::testing::Test {
 protected:
  QuantisedFile() : centroids_(3, 5), norms_(2, 1) {
    for (size_t c = 0; c < 3; ++c) {
      for (size_t k = 0; k < 5; ++k) centroids_.row(c)[k] = static_cast<float>(10 * c + k);
    }
    norms_.row(0)[0] = 2;
    norms_.row(1)[0] = -1;
  }
  static Tensor bytes(const std::string& codes, uint64_t cols) {
    const size_t rows = codes.size() / cols;
    return {DType::kU8, {rows, cols}, codes.data(), rows, cols, cols};
  }
  Archive file() {
    out_.metadata["compressed"] = "2";
    out_.save(folder_ / "a.kith");
    return Archive::open(folder_ / "a.kith");
  }
  std::string refused() {
    return message_of(ErrorKind::kInput, [&] { file().matrix("input"); });
  }

  TempFolder folder_;
  Matrix centroids_, norms_;
  const std::string codes_{"\0\1\2\2\2\0", 6}, bad_{"\0\1\2\2\3\0", 6}, norm_codes_{"\1\0", 2},
      bad_norms_{"\1\2", 2};
  ArchiveWriter out_;
};

TEST_F(QuantisedFile, ATableInCodesIsATable) {
  out_.tensors["input.codes"] = bytes(codes_, 3);
  out_.tensors["input.centroids"] = tensor_of(centroids_);
  const Archive in = file();
  EXPECT_TRUE(in.has("input"));
  for (const Matrix& m : {in.matrix("input"), in.borrowed_matrix("input")}) {
    ASSERT_EQ(m.rows(), 2u);
    const std::vector<float> first(m.row(0).begin(), m.row(0).end()),
        second(m.row(1).begin(), m.row(1).end());
    EXPECT_EQ(first, (std::vector<float>{0, 1, 12, 13, 24}));
    EXPECT_EQ(second, (std::vector<float>{20, 21, 22, 23, 4}));
  }
  out_.tensors["input.norm.codes"] = bytes(norm_codes_, 1);
  out_.tensors["input.norm.centroids"] = tensor_of(norms_);
  const Matrix m = file().matrix("input");
  EXPECT_EQ(m.row(0)[2], -12);
  EXPECT_EQ(m.row(1)[2], 44);
}

TEST_F(QuantisedFile, CodesBeyondTheCentroidsAreRefused) {
  out_.tensors["input.codes"] = bytes(bad_, 3);
  out_.tensors["input.centroids"] = tensor_of(centroids_);
  EXPECT_NE(refused().find("row 2 of input has the code 3, and there are 3 centroids"),
            std::string::npos);
  out_.tensors["input.codes"] = bytes(codes_, 3);
  out_.tensors["input.norm.codes"] = bytes(bad_norms_, 1);
  out_.tensors["input.norm.centroids"] = tensor_of(norms_);
  EXPECT_NE(refused().find("row 2 of input.norm has the code 2"), std::string::npos);
}

TEST_F(QuantisedFile, ShapesThatDoNotFitAreRefused) {
  const auto says = [&] { return refused().find("do not fit its centroids"); };
  out_.tensors["input.codes"] = bytes(codes_, 3);
  EXPECT_NE(says(), std::string::npos);  // there are none
  out_.tensors["input.centroids"] = tensor_of(norms_);
  EXPECT_NE(says(), std::string::npos);  // three parts of one column
  const Matrix wide(3, 300), many(257, 5), none(0, 5);
  for (const Matrix* m : {&wide, &many, &none}) {
    out_.tensors["input.centroids"] = tensor_of(*m);
    EXPECT_NE(says(), std::string::npos);
  }
  out_.tensors["input.centroids"] = tensor_of(centroids_);
  out_.tensors["input"] = tensor_of(centroids_);
  EXPECT_NE(says(), std::string::npos);  // there twice
  out_.tensors.erase("input");
  out_.tensors["input.norm.codes"] = bytes(codes_, 1);  // of six rows
  out_.tensors["input.norm.centroids"] = tensor_of(norms_);
  EXPECT_NE(says(), std::string::npos);
}

}  // namespace
}  // namespace kith
