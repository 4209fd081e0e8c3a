// SPDX-License-Identifier: Apache-2.0
#include "io/vector_files.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/rng.h"
#include "io/archive.h"
#include "io/test_files.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)
using Format = VectorFormat;

constexpr Format kFormats[] = {Format::kWord2vecBin, Format::kWord2vecText, Format::kGlove,
                               Format::kNpy,         Format::kCsv,          Format::kSafetensors};

// Random bits, so every exponent occurs, subnormal ones included; the first row has the edges.
Matrix wild_matrix(size_t rows, size_t cols) {
  Matrix m(rows, cols);
  Rng rng(3, cols);
  constexpr float kEdges[] = {0.0f,
                              -0.0f,
                              std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::denorm_min(),
                              std::numeric_limits<float>::min(),
                              0.1f,
                              16777217.0f};
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < cols; ++c) {
      float x;
      do {
        const auto bits = static_cast<uint32_t>(rng.next() >> 32);
        std::memcpy(&x, &bits, 4);
      } while (!std::isfinite(x));
      m.row(r)[c] = r == 0 && c < std::size(kEdges) ? kEdges[c] : x;
    }
  }
  return m;
}

Names plain_names(size_t rows) {
  Names names;
  for (const char* name : {"</s>", "2008", ",", "\"", "naïve", "nan", "-", "'", "#"}) {
    if (names.size() < rows) names.add(name);
  }
  while (names.size() < rows) names.add("word" + std::to_string(names.size()));
  return names;
}

void expect_equal(const NamedVectors& v, const Names& names, const Matrix& m) {
  ASSERT_EQ(v.names.size(), names.size());
  ASSERT_EQ(v.matrix.rows(), m.rows());
  ASSERT_EQ(v.matrix.cols(), m.cols());
  for (size_t r = 0; r < m.rows(); ++r) {
    EXPECT_EQ(v.names[r], names[r]);
    EXPECT_EQ(std::memcmp(v.matrix.row(r).data(), m.row(r).data(), m.cols() * 4), 0) << "row " << r;
  }
}

NamedVectors read_text(const std::string& text, ReadReport* report = nullptr) {
  const TempFolder folder;
  return read_vectors(put(folder / "f", text), report);
}

TEST(VectorFiles, EveryFormatBringsEveryBitBack) {
  const TempFolder folder;
  // Around the padding of 16, and more rows than a chunk of 2^20 floats holds.
  for (const auto& [rows, cols] :
       {std::pair<size_t, size_t>{1, 2}, {9, 7}, {20, 16}, {300, 17}, {70'000, 3}}) {
    const Names names = plain_names(rows);
    const Matrix m = wild_matrix(rows, cols);
    for (const Format format : kFormats) {
      SCOPED_TRACE(fmt::format("format {}, {} x {}", static_cast<int>(format), rows, cols));
      write_vectors(folder / "f", format, names, m);
      ReadReport report;
      expect_equal(read_vectors(folder / "f", &report), names, m);
      EXPECT_EQ(report.format, format);
      EXPECT_EQ(report.duplicates, 0u);
      EXPECT_EQ(report.invalid_utf8, 0u);
    }
  }
}

TEST(VectorFiles, CompressedFilesAreReadAsWell) {
  const TempFolder folder;
  const Names names = plain_names(12);
  const Matrix m = wild_matrix(12, 5);
  for (const Format format : kFormats) {
    SCOPED_TRACE(static_cast<int>(format));
    write_vectors(folder / "f", format, names, m);
    const std::string bytes = get(folder / "f");
    for (const std::string& packed : {gzip(bytes), zstd(bytes), xz(bytes), bzip2(bytes)}) {
      put(folder / "f", packed);
      expect_equal(read_vectors(folder / "f"), names, m);
    }
  }
}

TEST(VectorFiles, NamesThatAFormatCannotHoldAreRefusedAndNothingIsWritten) {
  const TempFolder folder;
  const Matrix m = wild_matrix(1, 3);
  const auto one = [](const char* name) {
    Names names;
    names.add(name);
    return names;
  };
  for (const char* name : {"New York", "tab\there", "line\nbreak", "", " front"}) {
    for (const Format format : {Format::kWord2vecBin, Format::kWord2vecText}) {
      EXPECT_FAILURE(write_vectors(folder / "f", format, one(name), m), ErrorKind::kInput,
                     "export as csv or safetensors");
    }
    for (const Format format : {Format::kCsv, Format::kSafetensors}) {
      write_vectors(folder / "g", format, one(name), m);
      expect_equal(read_vectors(folder / "g"), one(name), m);
    }
  }
  for (const char* name : {"tab\there", "line\nbreak", " front", "back ", "user 5"}) {
    EXPECT_FAILURE(write_vectors(folder / "f", Format::kGlove, one(name), m), ErrorKind::kInput,
                   "GloVe");
  }
  EXPECT_FAILURE(write_vectors(folder / "f", Format::kNpy, one("line\nbreak"), m),
                 ErrorKind::kInput, "a line break");
  for (const char* name : {"New York", ". . .", "a,b", "\"quoted\"", ","}) {
    for (const Format format : {Format::kGlove, Format::kNpy, Format::kCsv}) {
      write_vectors(folder / "g", format, one(name), m);
      expect_equal(read_vectors(folder / "g"), one(name), m);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "f"));
}

TEST(VectorFiles, WhatIsNotFiniteIsNeitherWrittenNorRead) {
  const TempFolder folder;
  const Names names = plain_names(2);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (const Format format : kFormats) {
      Matrix m = wild_matrix(2, 3);
      m.row(1)[2] = bad;
      EXPECT_FAILURE(write_vectors(folder / "f", format, names, m), ErrorKind::kInput, "finite");
    }
    Matrix m = wild_matrix(2, 3);
    m.row(1)[2] = bad;
    ArchiveWriter writer;
    writer.tensors["m"] = tensor_of(m);
    writer.save(folder / "s");
    EXPECT_FAILURE(read_vectors(folder / "s"), ErrorKind::kInput, "finite");
    std::string bin = std::string("1 2\nking ") + std::string(8, '\0');
    std::memcpy(bin.data() + bin.size() - 4, &bad, 4);
    EXPECT_FAILURE(read_text(bin), ErrorKind::kInput, "vector 1: value 2 of king");
  }
  for (const char* text : {"a 1 2\nb nan 2\n", "a 1 2\nb 1 inf\n", "a 1 2\nb 1 -1e39\n",
                           "1 2\na 1 NaN\n", "a,1,2\nb,nan,2\n"}) {
    SCOPED_TRACE(text);
    EXPECT_FAILURE(read_text(text), ErrorKind::kInput, "finite");
  }
}

TEST(VectorFiles, SmallNumbersBecomeZeroNotErrors) {
  const NamedVectors v = read_text("a 1e-50 -1e-400 +0.5\n");
  EXPECT_EQ(v.matrix.row(0)[0], 0.0f);
  EXPECT_EQ(v.matrix.row(0)[1], 0.0f);
  EXPECT_EQ(v.matrix.row(0)[2], 0.5f);
}

TEST(VectorFiles, Word2vecBinaryMayLackTheNewlineAfterEachVector) {
  const TempFolder folder;
  const Names names = plain_names(5);
  const Matrix m = wild_matrix(5, 4);
  for (const char* separator : {"", "\n"}) {
    std::string bytes = "5 4\n";
    for (size_t r = 0; r < 5; ++r) {
      bytes += std::string(names[r]) + ' ';
      bytes.append(reinterpret_cast<const char*>(m.row(r).data()), 16);
      bytes += separator;
    }
    ReadReport report;
    expect_equal(read_vectors(put(folder / "f", bytes), &report), names, m);
    EXPECT_EQ(report.format, Format::kWord2vecBin);
    // Both variants, every cut: never a shorter table.
    const size_t newline = *separator ? 1 : 0;  // the last one may go
    for (size_t n = 0; n < bytes.size() - newline; ++n) {
      EXPECT_FAILURE(read_vectors(put(folder / "f", bytes.substr(0, n))), ErrorKind::kInput,
                     folder / "f");
    }
    EXPECT_FAILURE(read_vectors(put(folder / "f", bytes + "more")), ErrorKind::kInput,
                   "bytes follow");
  }
}

TEST(VectorFiles, TextTakesCrlfTrailingSpacesTabsMarksAndNoLastNewline) {
  for (const char* text : {"2 2\r\nking 1 2\r\nqueen 3 4\r\n", "2 2\nking 1 2 \nqueen 3 4 \n",
                           "king 1 2\nqueen 3 4", "king\t1\t2\r\nqueen\t3\t4",
                           "\xef\xbb\xbfking 1 2\n\nqueen 3 4\n\n", "king,1,2\r\nqueen,3,4\r\n",
                           "name,x,y\nking,1,2\nqueen, 3, 4", ",0,1\nking,1,2\nqueen,3,4\n",
                           "\xef\xbb\xbfname,x,y\r\n\"king\",1,2\r\n\r\n\"queen\",\"3\",4"}) {
    SCOPED_TRACE(text);
    const NamedVectors v = read_text(text);
    ASSERT_EQ(v.names.size(), 2u);
    EXPECT_EQ(v.names[0], "king");
    EXPECT_EQ(v.names[1], "queen");
    EXPECT_EQ(v.matrix.row(0)[1], 2.0f);
    EXPECT_EQ(v.matrix.row(1)[0], 3.0f);
  }
}

TEST(VectorFiles, GloveWordsMayHoldSpaces) {
  const NamedVectors v =
      read_text(". . . 0.5 1\nat name@domain.com 2 3\n2008 4 5\n1 6 7\nnan 8 9\n");
  ASSERT_EQ(v.names.size(), 5u);
  EXPECT_EQ(v.names[0], ". . .");
  EXPECT_EQ(v.names[1], "at name@domain.com");
  EXPECT_EQ(v.names[2], "2008");
  EXPECT_EQ(v.matrix.row(0)[0], 0.5f);
  EXPECT_EQ(v.matrix.row(1)[1], 3.0f);
  EXPECT_EQ(v.matrix.row(4)[0], 8.0f);
}

TEST(VectorFiles, CsvNamesMayHoldCommasQuotesAndLines) {
  const NamedVectors v = read_text("\"a, \"\"b\"\"\",1,2\n\"two\r\nlines\",3,4\n5\" pipe,5,6\n");
  ASSERT_EQ(v.names.size(), 3u);
  EXPECT_EQ(v.names[0], "a, \"b\"");
  EXPECT_EQ(v.names[1], "two\r\nlines");
  EXPECT_EQ(v.names[2], "5\" pipe");
  EXPECT_FAILURE(read_text("a,1,2\n\"b,3,4\n"), ErrorKind::kInput, ":2: a quote is not closed");
  EXPECT_FAILURE(read_text("a,1,2\n\"b\"c,3,4\n"), ErrorKind::kInput, ":2: a quote is not closed");
}

TEST(VectorFiles, DuplicatesAndInvalidUtf8AreCounted) {
  ReadReport report;
  const NamedVectors v = read_text("4 1\na 1\nb 2\na 3\ncaf\xe9 4\n", &report);
  EXPECT_EQ(report.duplicates, 1u);
  EXPECT_EQ(report.invalid_utf8, 1u);
  ASSERT_EQ(v.names.size(), 3u);
  EXPECT_EQ(v.matrix.row(0)[0], 1.0f) << "the first is kept";
  EXPECT_EQ(v.names[2], "caf\xef\xbf\xbd");
  EXPECT_EQ(v.matrix.row(2)[0], 4.0f);
}

TEST(VectorFiles, MessagesSayLineAndWhatWasFound) {
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_FAILURE(read_text(text), ErrorKind::kInput, part);
  };
  expect("", "the file is empty");
  expect("\n\n", "no vector");
  expect("just some words\n", ":1: expected a word and its numbers, found just some words");
  expect("a 1 2\nb 1\n", ":2: expected a word and 2 numbers, found 2 fields");
  expect("a 1 2\nb 1 x\n", ":2: expected a word and 2 numbers, but x is not a number");
  expect("a 1 2\nb 1 2 3\n", ":2: more than a word and 2 numbers");
  expect("a 1 2\n 1 2\n", ":2: expected a word and 2 numbers, found 2 fields");
  expect("1 2\na b 1 2\n", ":2: more than a word");
  expect("3 2\na 1 2\nb 1 2\n", "claims 3 vectors but 2 follow");
  expect("1 2\na 1 2\nb 1 2\n", "claims 1 vectors but 2 follow");
  expect("a,1,2\nb,1\n", ":2: expected a name and 2 numbers, found 2 fields");
  expect("a,1,2\nb,1,x\n", ":2: x is not a number (field 3)");
  expect(
      "\xff\xfe"
      "a",
      "UTF-16");
  expect("PK\x03\x04", "zip");
  expect("\x80\x04\x95", "pickle");
  expect("\xba\x16\x4f\x2f", "fastText");
  const std::string control = failure_of([] { read_text("a\x1b[31m\n"); }).message;
  EXPECT_FALSE(contains(control, "\x1b")) << "a message must not carry control characters";
  const TempFolder folder;
  EXPECT_FAILURE(read_vectors(folder.path()), ErrorKind::kIo, "this is a folder");
  EXPECT_FAILURE(read_vectors(folder / "none"), ErrorKind::kIo, "no such file");
}

TEST(VectorFiles, AbsurdHeadersAreRefused) {
  for (const char* header :
       {"2 0", "2 1048577", "2 18446744073709551615", "0 2", "18446744073709551615 2"}) {
    EXPECT_FAILURE(read_text(std::string(header) + "\nking 1 2\n"), ErrorKind::kInput, "vector");
    EXPECT_FAILURE(read_text(std::string(header) + "\nking " + std::string(8, '\0')),
                   ErrorKind::kInput, "vector");
    EXPECT_FAILURE(read_text(zstd(std::string(header) + "\nking " + std::string(8, '\0'))),
                   ErrorKind::kInput, "vector");
  }
  EXPECT_FAILURE(read_text("a " + std::string(70'000'000, '1')), ErrorKind::kInput, "64 MiB");
}

std::string npy(const std::string& dict, const std::string& data) {
  std::string out = "\x93NUMPY";
  const auto length = static_cast<uint16_t>(dict.size());
  out += std::string("\x01\0", 2);
  out.append(reinterpret_cast<const char*>(&length), 2);
  return out + dict + data;
}

TEST(VectorFiles, NpyOfOtherWriters) {
  const float values[] = {1, 2, 3, 4};
  const std::string data(reinterpret_cast<const char*>(values), 16);
  const auto dict = [](const char* descr, const char* order, const char* shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}   \n", descr, order,
                       shape);
  };
  const NamedVectors v = read_text(npy(dict("<f4", "False", "(2, 2)"), data));
  EXPECT_EQ(v.names[1], "1") << "rows without names are called by their number";
  EXPECT_EQ(v.matrix.row(1)[0], 3.0f);
  const double wide[] = {0.5, 1e-300};
  const NamedVectors w = read_text(
      npy(dict("<f8", "False", "(1, 2)"), std::string(reinterpret_cast<const char*>(wide), 16)));
  EXPECT_EQ(w.matrix.row(0)[0], 0.5f);

  const auto expect = [&](const std::string& header, const char* part) {
    EXPECT_FAILURE(read_text(npy(header, data)), ErrorKind::kInput, part);
  };
  expect(dict("<f2", "False", "(2, 4)"), "astype(numpy.float32)");
  expect(dict("|O", "False", "(2, 2)"), "the type |O");
  expect(dict("<f4", "True", "(2, 2)"), "ascontiguousarray");
  expect(dict("<f4", "False", "(4,)"), "the shape (4)");
  expect(dict("<f4", "False", "(4, 0)"), "the shape (4, 0)");
  expect(dict("<f4", "False", "(3, 2)"), "claims 3 rows");
  expect(dict("<f4", "False", "(1, 2)"), "bytes follow");
  expect(dict("<f4", "False", "(4611686018427387904, 4)"), "claims");
  expect(dict("<f4", "False", "(2, 18446744073709551616)"), "not understood");
  expect(dict("<f4", "False", "(2, 2"), "not understood");
  expect("{'descr': '<f4', 'descr': '<f4'}", "not understood");
  expect("{}", "not understood");
  const auto padded = [&](uint32_t length) {  // version 2 has a length of four bytes
    std::string header = dict("<f4", "False", "(2, 2)");
    header.resize(length, ' ');
    const std::string size(reinterpret_cast<const char*>(&length), 4);
    return "\x93NUMPY" + std::string("\x02\0", 2) + size + header + data;
  };
  EXPECT_EQ(read_text(padded(1 << 20)).names.size(), 2u);
  EXPECT_FAILURE(read_text(padded((1 << 20) + 1)), ErrorKind::kInput, "more than 1 MiB");
  const std::string whole = npy(dict("<f4", "False", "(2, 2)"), data);
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FAILURE(read_text(whole.substr(0, n)), ErrorKind::kInput, ": ");
  }
}

TEST(VectorFiles, NpyNamesMustFitTheRows) {
  const TempFolder folder;
  write_vectors(folder / "f", Format::kNpy, plain_names(3), wild_matrix(3, 2));
  put(folder / "f.names.txt", "a\r\nb\r\nc");
  EXPECT_EQ(read_vectors(folder / "f").names[1], "b");
  put(folder / "f.names.txt", "a\nb\n");
  EXPECT_FAILURE(read_vectors(folder / "f"), ErrorKind::kInput, "names.txt: 2 names for the 3");
  put(folder / "f.names.txt", "a\nb\nc\nd\n");
  EXPECT_FAILURE(read_vectors(folder / "f"), ErrorKind::kInput, "names.txt:4: more names");
}

TEST(VectorFiles, SafetensorsOfOtherWriters) {
  const TempFolder folder;
  const Matrix m = wild_matrix(3, 4);
  const std::vector<uint64_t> counts{3, 2, 1};
  const Names names = plain_names(3), two = plain_names(2);
  ArchiveWriter writer;
  writer.tensors["embedding"] = tensor_of(m);
  writer.save(folder / "f");
  EXPECT_EQ(read_vectors(folder / "f").names[2], "2");
  writer.add_names("words", names);
  writer.tensors["counts"] = tensor_of(std::span<const uint64_t>(counts));
  writer.save(folder / "f");
  const NamedVectors v = read_vectors(folder / "f");
  expect_equal(v, names, m);
  EXPECT_EQ(v.counts, counts);
  writer.add_names("words", two);
  writer.save(folder / "f");
  EXPECT_FAILURE(read_vectors(folder / "f"), ErrorKind::kInput, "no lists of names fit");
  writer.tensors["other"] = tensor_of(m);
  writer.save(folder / "f");
  EXPECT_FAILURE(read_vectors(folder / "f"), ErrorKind::kInput, "several matrices");
}

TEST(VectorFiles, ADamagedFileOfOursIsRefusedWhateverItsPacking) {
  const TempFolder folder;
  write_vectors(folder / "f", Format::kSafetensors, plain_names(3), wild_matrix(3, 4));
  std::string bytes = get(folder / "f");
  bytes.back() ^= 1;  // of the last name
  for (const std::string& file : {bytes, gzip(bytes)}) {
    put(folder / "f", file);
    EXPECT_FAILURE(read_vectors(folder / "f"), ErrorKind::kInput, "checksum");
  }
}

TEST(VectorFiles, VectorsLongerThanAnyModelTakesAreRefused) {
  const TempFolder folder;
  const Matrix m(1, (size_t{1} << 20) + 1);
  ArchiveWriter writer;
  writer.tensors["embedding"] = tensor_of(m);
  writer.save(folder / "f");
  EXPECT_FAILURE(read_vectors(folder / "f"), ErrorKind::kInput, "1048576 is the most");
}

}  // namespace
}  // namespace kith
