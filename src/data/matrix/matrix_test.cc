// SPDX-License-Identifier: Apache-2.0
#include "data/matrix/matrix.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "core/rng.h"
#include "data/matrix/row_sources.h"
#include "data/test_files.h"

namespace kith {
namespace {

// A .npy file of so many numbers, as NumPy writes it.
std::string npy(std::string_view descr, const std::string& shape, std::string_view bytes,
                bool fortran = false) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", descr,
                                   fortran ? "True" : "False", shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  std::string out("\x93NUMPY\x01\x00", 8);
  out.append(reinterpret_cast<const char*>(&length), 2);
  return out + header + std::string(bytes);
}
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

class MatrixFiles : public testing::Test {
 protected:
  std::unique_ptr<MatrixData> read(const std::vector<std::string>& sources,
                                   const std::vector<Setting>& settings = {},
                                   const Context* context = nullptr) const {
    const auto reader = MatrixData::data_kind().reader();
    apply_settings(settings, reader->settings());
    ReadRequest request;
    request.sources = sources;
    request.scratch = folder_.path();
    request.context = context;
    std::unique_ptr<Dataset> out = reader->read(request);
    return std::unique_ptr<MatrixData>(static_cast<MatrixData*>(out.release()));
  }
  std::unique_ptr<MatrixData> read(const std::string& name, std::string_view bytes,
                                   const std::vector<Setting>& settings = {}) const {
    return read({folder_.write(name, bytes)}, settings);
  }
  std::string refused(const std::string& name, std::string_view bytes,
                      const std::vector<Setting>& settings = {}) const {
    std::string message = message_of(ErrorKind::kInput, [&] { read(name, bytes, settings); });
    const std::string folder = folder_.path() + "/";
    for (size_t at; (at = message.find(folder)) != std::string::npos;) {
      message.erase(at, folder.size());
    }
    return message;
  }
  TestFolder folder_;
};

std::vector<double> numbers_of(const MatrixRows& rows) {
  std::vector<double> out(rows.rows() * rows.cols());
  rows.read(0, rows.rows(), out.data());
  return out;
}
std::vector<double> numbers_of(const MatrixData& data) { return numbers_of(data.train()); }
using Numbers = std::vector<double>;

TEST_F(MatrixFiles, NpyOfEveryTypeAndOrderIsTheSameMatrix) {
  const Numbers wanted{1, 2, 3, 4, 5, 6};
  const auto expect = [&](const std::string& bytes) {
    const auto data = read("a.npy", bytes);
    EXPECT_EQ(data->rows(), 2u);
    EXPECT_EQ(data->cols(), 3u);
    EXPECT_EQ(numbers_of(*data), wanted);
    Matrix floats(2, 3);
    data->train().read(0, 2, floats.view());
    EXPECT_EQ(floats.row(1)[2], 6.0f);
  };
  const auto all = [&]<class T>(const char* descr, T) {
    expect(npy(descr, "2, 3", raw<T>({1, 2, 3, 4, 5, 6})));
    expect(npy(descr, "2, 3", raw<T>({1, 4, 2, 5, 3, 6}), true));
  };
  all("<f4", float{});
  all("<f8", double{});
  all("|i1", int8_t{});
  all("<i2", int16_t{});
  all("<i4", int32_t{});
  all("<i8", int64_t{});
  all("|u1", uint8_t{});
  all("<u2", uint16_t{});
  all("<u4", uint32_t{});
  all("<u8", uint64_t{});
  expect(npy("<f2", "2, 3", raw<uint16_t>({0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600})));
  expect(npy(">i2", "2, 3", raw<uint16_t>({0x100, 0x200, 0x300, 0x400, 0x500, 0x600})));
}

TEST_F(MatrixFiles, HalfNumbersSmallAndNegative) {
  const auto data = read("a.npy", npy("<f2", "1, 3", raw<uint16_t>({0x0001, 0xb800, 0x7bff})));
  EXPECT_EQ(numbers_of(*data), (Numbers{std::ldexp(1.0, -24), -0.5, 65504}));
}

TEST_F(MatrixFiles, NpyThatIsNoMatrixOfNumbersIsRefused) {
  EXPECT_EQ(refused("a.npy", npy("<f4", "3,", raw<float>({1, 2, 3}))),
            "a.npy: the array has 1 dimension (shape 3), and rows and columns are needed; save it "
            "with a.reshape(-1, 1) if each number is a row");
  EXPECT_EQ(refused("a.npy", npy("<f4", "1, 1, 3", raw<float>({1, 2, 3}))),
            "a.npy: the array has 3 dimensions (shape 1 x 1 x 3), and rows and columns are needed; "
            "save it with a.reshape(len(a), -1)");
  EXPECT_EQ(refused("a.npy", npy("<U4", "1, 1", "abcd")),
            "a.npy: the matrix has the type <U4, which is not one of numbers (f2, f4, f8, i1 to "
            "i8, u1 to u8); convert it with a.astype(numpy.float32)");
  EXPECT_EQ(refused("a.npy", npy("<f4", "2, 2", raw<float>({1, 2, 3}))),
            "a.npy: the header claims 2 rows of 2 numbers, which is 16 bytes, and 12 follow it; "
            "the file is cut off or damaged");
  EXPECT_EQ(refused("a.npy", npy("<f4", "0, 2", "")),
            "a.npy: there are no numbers in it: 0 rows of 2");
  EXPECT_NE(refused("a.npy", npy("<f4", "9223372036854775807, 9", "")).find("more than a file"),
            std::string::npos);
}

TEST_F(MatrixFiles, WhatIsNotFiniteIsRefusedWithItsRowAndColumn) {
  EXPECT_EQ(refused("a.npy", npy("<f4", "2, 2", raw<float>({1, 2, 3, NAN}))),
            "a.npy: row 2, column number 2: nan is not a number to learn from; fill the cell in, "
            "or leave the row out");
  EXPECT_EQ(refused("a.npy", npy("<f8", "2, 2", raw<double>({1, 2, -INFINITY, 4}))),
            "a.npy: row 2, column number 1: -inf is not a number to learn from; fill the cell in, "
            "or leave the row out");
  EXPECT_EQ(refused("a.npy", npy("<f8", "2, 2", raw<double>({1, 1e300, 3, 4}))),
            "a.npy: row 1, column number 2: 1e+300 is larger than 3.4e+38, the most that is worked "
            "with; divide the column");
  // In a second file rows are counted from its first.
  const std::string good = folder_.write("good.npy", npy("<f4", "1, 2", raw<float>({1, 2})));
  const std::string bad = folder_.write("bad.npy", npy("<f4", "1, 2", raw<float>({1, INFINITY})));
  EXPECT_EQ(message_of(ErrorKind::kInput,
                       [&] {
                         read({good, bad});
                       }),
            bad +
                ": row 1, column number 2: inf is not a number to learn from; fill the cell in, "
                "or leave the row out");
}

TEST_F(MatrixFiles, TablesWithAndWithoutTitles) {
  const auto named = read("a.csv", "x,y\n1,2\n3.5,-4e2\n");
  EXPECT_EQ(numbers_of(*named), (Numbers{1, 2, 3.5, -400}));
  EXPECT_EQ(named->columns(), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(named->has_column_names());
  const auto bare = read("b.csv", "1,2\n3.5,-4e2\n");
  EXPECT_EQ(numbers_of(*bare), (Numbers{1, 2, 3.5, -400}));
  EXPECT_FALSE(bare->has_column_names());
  // Columns that pandas numbers are titles, not a row.
  EXPECT_EQ(read("c.csv", "0,1,2\n5,6,7\n")->rows(), 1u);
  EXPECT_EQ(read("d.tsv", "x\ty\n1\t2\n")->cols(), 2u);
  EXPECT_EQ(numbers_of(*read("e.txt", "1 2 3\n4 5 6\n")), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST_F(MatrixFiles, AColumnMayNameTheRowsAndOthersBeLeftOut) {
  const std::string table = "name,x,kind,y\na,1,u,2\nb,3,v,4\n";
  EXPECT_EQ(refused("a.csv", table),
            "a.csv:2: columns name, kind are not of numbers (a in the first); leave them out "
            "with --ignore name,kind, or --id name if it names the rows");
  const auto data =
      read("a.csv", table, {{"id", std::string("name")}, {"ignore", std::string("kind")}});
  EXPECT_EQ(numbers_of(*data), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(data->row_name(1), "b");
  EXPECT_EQ(refused("b.csv", "name,x\na,1\nb,2\na,3\n", {{"id", std::string("name")}}),
            "b.csv:4: a row called a came before; give --id a column that names each row once, or "
            "leave it out");
  EXPECT_NE(message_of(ErrorKind::kUsage,
                       [&] {
                         read("a.csv", table, {{"id", std::string("nam")}});
                       })
                .find("there is no column nam; did you mean name?"),
            std::string::npos);
}

TEST_F(MatrixFiles, CellsThatAreNoNumbersAreRefusedWithTheirPlace) {
  EXPECT_EQ(refused("a.csv", "x,y\n1,2\n3,\n"),
            "a.csv:3: column y: the cell is empty; fill it in, or leave such rows out with "
            "--bad-rows skip");
  EXPECT_EQ(refused("a.csv", "x,y\n1,2\n3,four\n"),
            "a.csv:3: column y: four is not a finite number; correct it, leave such rows out with "
            "--bad-rows skip, or the column with --ignore y");
  EXPECT_EQ(refused("a.csv", "x,y\n1,2\nnan,3\n"),
            "a.csv:3: column x: nan is not a finite number; correct it, leave such rows out with "
            "--bad-rows skip, or the column with --ignore x");
  EXPECT_NE(refused("a.csv", "x,y\n1,2\n3\n").find("a.csv:3: "), std::string::npos);
  const auto rest =
      read("a.csv", "x,y\n1,2\n3,four\n5,6\n,8\n9,10\n", {{"bad-rows", std::string("skip")}});
  EXPECT_EQ(numbers_of(*rest), (Numbers{1, 2, 5, 6, 9, 10}));
}

// The doubles of a text are kept: floats would round 1000000.01 to 1000000.
TEST_F(MatrixFiles, NothingThatTheTextSaysIsLost) {
  const auto data = read("a.csv", "x,y\n1000000.01,1\n1000000.03,2\n");
  EXPECT_EQ(numbers_of(*data)[2], 1000000.03);
  Matrix floats(2, 2);
  const Numbers shift{1e6, 0}, scale{100, 1};
  data->train().read(0, 2, floats.view(), {shift, scale});
  EXPECT_NEAR(floats.row(0)[0], 1, 1e-6);
  EXPECT_NEAR(floats.row(1)[0], 3, 1e-6);
}

TEST_F(MatrixFiles, IdxImagesAreRowsOfPixels) {
  std::string idx("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16);
  for (const int pixel : {0, 1, 2, 255, 4, 5, 6, 7}) idx += static_cast<char>(pixel);
  EXPECT_EQ(numbers_of(*read("images", idx)), (Numbers{0, 1, 2, 255, 4, 5, 6, 7}));
  EXPECT_NE(refused("labels", std::string("\0\0\x08\x01\0\0\0\x02\1\2", 10)).find("labels have"),
            std::string::npos);
}

TEST_F(MatrixFiles, SparseFilesOfBothFormats) {
  const auto mtx = read("a.mtx",
                        "%%MatrixMarket matrix coordinate real general\n% comment\n3 4 3\n"
                        "3 1 2.5\n1 2 1\n1 4 -1\n");
  ASSERT_NE(mtx->sparse(), nullptr);
  EXPECT_EQ(mtx->rows(), 3u);
  EXPECT_EQ(mtx->cols(), 4u);
  EXPECT_EQ(mtx->sparse()->column, (std::vector<uint32_t>{1, 3, 0}));
  EXPECT_EQ(mtx->sparse()->value, (std::vector<float>{1, -1, 2.5}));
  const auto lda = read("a.ldac", "2 0:1 7:3\n0\n1 2:5\n");
  ASSERT_NE(lda->sparse(), nullptr);
  EXPECT_EQ(lda->rows(), 3u);
  EXPECT_EQ(lda->cols(), 8u);
  EXPECT_EQ(lda->sparse()->offsets, (std::vector<uint64_t>{0, 2, 2, 3}));
  // The mean counts what is not there.
  EXPECT_NEAR(lda->train().moments().mean[7], 1, 1e-12);
  EXPECT_NEAR(lda->train().moments().squares[7], 6, 1e-12);
}

TEST_F(MatrixFiles, SparseFilesThatContradictThemselvesAreRefused) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n2 2 1\n";
  EXPECT_EQ(refused("a.mtx", head + "3 1 1\n"),
            "a.mtx:3: entry (3, 1) is outside the 2 rows and 2 columns that the file claims; both "
            "count from 1");
  EXPECT_EQ(refused("a.mtx", head), "a.mtx: 1 entries are claimed and 0 are there; is it cut off?");
  EXPECT_EQ(refused("a.mtx", head + "1 1 nan\n"),
            "a.mtx:3: row 1, column 1: nan is not a finite number");
  EXPECT_NE(refused("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n").find("is read"),
            std::string::npos);
  EXPECT_EQ(refused("a.ldac", "2 0:1 7:3\n2 0:1\n"),
            "a.ldac:2: expected the number of entries and then so many of column:value, as in 2 "
            "0:1 7:3");
}

TEST_F(MatrixFiles, SeveralFilesAreStackedAndMustHaveTheSameColumns) {
  const std::string a = folder_.write("a.npy", npy("<f4", "1, 2", raw<float>({1, 2})));
  const std::string b = folder_.write("b.csv", "3,4\n5,6\n");
  const std::string c = folder_.write("c.npy", npy("|u1", "1, 3", raw<uint8_t>({1, 2, 3})));
  EXPECT_EQ(numbers_of(*read({a, b, a})), (Numbers{1, 2, 3, 4, 5, 6, 1, 2}));
  EXPECT_EQ(message_of(ErrorKind::kInput,
                       [&] {
                         read({a, c});
                       }),
            c + ": rows of 3 numbers, and " + a +
                " has rows of 2 numbers; files that are read "
                "together have the same columns");
}

TEST_F(MatrixFiles, NamesBesideAnNpyFileAreThoseOfItsRows) {
  folder_.write("a.npy.names.txt", "one\ntwo\n");
  EXPECT_EQ(read("a.npy", npy("<f4", "2, 1", raw<float>({1, 2})))->row_name(1), "two");
  EXPECT_NE(refused("a.npy", npy("<f4", "3, 1", raw<float>({1, 2, 3}))).find("2 names for the 3"),
            std::string::npos);
}

TEST_F(MatrixFiles, AreKnownByTheirFirstBytes) {
  const auto sure = [&](const std::string& name, std::string_view bytes) {
    return seen_as(folder_.write(name, bytes)).kind->name;
  };
  EXPECT_EQ(sure("a.npy", npy("<f4", "1, 1", raw<float>({1}))), "matrix");
  EXPECT_EQ(sure("images", std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x01\5", 17)),
            "matrix");
  EXPECT_EQ(sure("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"),
            "matrix");
  EXPECT_EQ(sure("a.csv", "1.5,2,7\n3,4,8\n5,6,9\n"), "matrix");
  EXPECT_EQ(sure("b.csv", "x,y,z\n1.5,2,7\n3,4,8\n5,6,9\n"), "table");
  EXPECT_EQ(sure("c.csv", "1.5,2,a\n3,4,b\n5,6,c\n"), "table");
}

// --- Rows in memory ---

Matrix random_rows(size_t rows, size_t cols, uint64_t seed = 1, float mean = 0) {
  Matrix out(rows, cols);
  for (size_t r = 0; r < rows; ++r) {
    Rng rng(seed, r);
    for (float& x : out.row(r)) x = mean + 2 * rng.uniform() - 1;
  }
  return out;
}

TEST(MatrixData, MomentsAreThoseOfTheWholeWhateverTheMean) {
  const MatrixData far = MatrixData::of(random_rows(70000, 3, 1, 1e6f));
  const ColumnMoments& m = far.train().moments();
  const Numbers x = numbers_of(far);
  for (size_t c = 0; c < 3; ++c) {
    long double mean = 0, squares = 0;
    for (size_t r = 0; r < 70000; ++r) mean += x[3 * r + c];
    mean /= 70000;
    for (size_t r = 0; r < 70000; ++r) squares += (x[3 * r + c] - mean) * (x[3 * r + c] - mean);
    EXPECT_NEAR(m.mean[c], static_cast<double>(mean), 1e-8);
    EXPECT_NEAR(m.squares[c] / static_cast<double>(squares), 1, 1e-9);
  }
}

TEST(MatrixData, AConstantColumnVariesByNothingAtAll) {
  Matrix rows = random_rows(5000, 2);
  for (size_t r = 0; r < rows.rows(); ++r) rows.row(r)[1] = 0.1f;
  const MatrixData data = MatrixData::of(std::move(rows));
  EXPECT_TRUE(data.train().moments().constant(1));
  EXPECT_EQ(data.train().moments().squares[1], 0);
  EXPECT_EQ(data.train().moments().mean[1], double{0.1f});
  ASSERT_EQ(data.profile().notes.size(), 1u);
  EXPECT_EQ(data.profile().notes[0].text,
            "column 2: the same in every row, so nothing is learned from it");
}

TEST(MatrixData, HeldOutRowsAndTheOthersAreAllRowsOnceByNumberAlone) {
  Matrix rows(20000, 1);
  for (size_t r = 0; r < rows.rows(); ++r) rows.row(r)[0] = static_cast<float>(r);
  const MatrixData data = MatrixData::of(std::move(rows), 0.3);
  EXPECT_NEAR(static_cast<double>(data.held_out().rows()), 6000, 200);
  EXPECT_EQ(data.rows() + data.held_out().rows(), 20000u);
  std::vector<int> seen(20000);
  for (const MatrixRows* const part : {&data.train(), &data.held_out()}) {
    const Numbers all = numbers_of(*part);
    for (size_t r = 0; r < all.size(); ++r) {
      ++seen[static_cast<size_t>(all[r])];
      ASSERT_EQ(part->number(r), static_cast<uint64_t>(all[r]));
    }
    Numbers some(10);  // from the middle, across blocks
    part->read(4090 * part->rows() / 20000, 10, some.data());
    EXPECT_EQ(some[3], all[4090 * part->rows() / 20000 + 3]);
  }
  EXPECT_EQ(std::ranges::count(seen, 1), 20000);
}

TEST(MatrixData, TheFingerprintIsOfTheNumbersAndNotOfTheThreads) {
  const auto of = [](uint64_t seed, double holdout, int threads) {
    MatrixData::Content content;
    const auto rows = std::make_shared<Matrix>(random_rows(30000, 7, seed));
    content.sources.push_back(rows_of(std::shared_ptr<const Vectors>(
        new MatrixVectors(*rows), [rows](const Vectors* v) { delete v; })));
    return MatrixData(std::move(content), holdout, Context(threads)).fingerprint();
  };
  EXPECT_EQ(of(1, 0, 1), of(1, 0, 8));
  EXPECT_NE(of(1, 0, 1), of(2, 0, 1));
  EXPECT_NE(of(1, 0, 1), of(1, 0.1, 1));
}

}  // namespace
}  // namespace kith
