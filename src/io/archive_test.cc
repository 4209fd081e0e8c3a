// SPDX-License-Identifier: Apache-2.0
#include "io/archive.h"

#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "core/error.h"
#include "io/test_files.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)

// 3 x 5: rows are padded to 16 floats in memory and must be dense in the file.
Matrix small_matrix() {
  Matrix m(3, 5);
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 5; ++c) m.row(r)[c] = static_cast<float>(r * 5 + c) - 7.25f;
  }
  return m;
}

Names small_names() {
  Names names;
  for (const char* name : {"king", "", "naïve, with spaces"}) names.add(name);
  return names;
}

const std::vector<uint64_t> kCounts{7, 5, UINT64_MAX};

std::string saved(const TempFolder& folder) {
  const Matrix m = small_matrix();
  const Names names = small_names();
  ArchiveWriter writer;
  writer.metadata = {{"model", "word2vec"}, {"quoted \"checksum\":\"x", "a\nb\\"}};
  writer.tensors["words"] = tensor_of(m);
  writer.tensors["counts"] = tensor_of(std::span<const uint64_t>(kCounts));
  writer.add_names("names", names);
  writer.save(folder / "model");
  return get(folder / "model");
}

// Whether an archive holds exactly what saved() wrote.
bool is_equal(const Archive& a) {
  const Matrix m = a.matrix("words"), expected = small_matrix();
  const Names names = a.names("names");
  bool equal = m.rows() == 3 && m.cols() == 5 && names.size() == 3 &&
               a.values<uint64_t>("counts") == kCounts && a.metadata_at("model") == "word2vec";
  for (size_t r = 0; equal && r < 3; ++r) {
    equal = std::memcmp(m.row(r).data(), expected.row(r).data(), 20) == 0 &&
            names[r] == small_names()[r];
  }
  return equal;
}

TEST(Archive, GivesBackWhatWasSaved) {
  const TempFolder folder;
  const std::string bytes = saved(folder);
  const Archive a = Archive::open(folder / "model");
  EXPECT_TRUE(is_equal(a));
  EXPECT_EQ(a.metadata_at("quoted \"checksum\":\"x"), "a\nb\\");
  EXPECT_TRUE(a.has("words"));
  EXPECT_FALSE(a.has("word"));
  EXPECT_EQ(saved(folder), bytes) << "the same parts give the same bytes";
  EXPECT_TRUE(is_equal(Archive::from_bytes(bytes, "memory")));
}

TEST(Archive, EveryTypeSurvives) {
  const TempFolder folder;
  const std::vector<float> f{1.5f, -0.0f};
  const std::vector<double> d{1e300};
  const std::vector<int32_t> i{-1};
  const std::vector<uint32_t> u{~0u};
  const std::vector<int64_t> l{INT64_MIN};
  const std::vector<char> c{'a', '\xff'};
  const std::vector<float> none;
  ArchiveWriter writer;
  writer.tensors = {{"f", tensor_of(std::span<const float>(f))},
                    {"d", tensor_of(std::span<const double>(d))},
                    {"i", tensor_of(std::span<const int32_t>(i))},
                    {"u", tensor_of(std::span<const uint32_t>(u))},
                    {"l", tensor_of(std::span<const int64_t>(l))},
                    {"c", tensor_of(std::span<const char>(c))},
                    {"none", tensor_of(std::span<const float>(none))}};
  writer.save(folder / "model");
  const Archive a = Archive::open(folder / "model");
  EXPECT_EQ(a.values<float>("f"), f);
  EXPECT_TRUE(std::signbit(a.values<float>("f")[1]));
  EXPECT_EQ(a.values<double>("d"), d);
  EXPECT_EQ(a.values<int32_t>("i"), i);
  EXPECT_EQ(a.values<uint32_t>("u"), u);
  EXPECT_EQ(a.values<int64_t>("l"), l);
  EXPECT_EQ(a.values<char>("c"), c);
  EXPECT_EQ(a.values<float>("none"), none);
}

// The layout as its documentation says it, read without the code under test.
TEST(Archive, TheFileIsSafetensors) {
  const TempFolder folder;
  std::string bytes = saved(folder);
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 64, 0u);
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  const auto& words = header["words"];
  EXPECT_EQ(words["dtype"], "F32");
  EXPECT_EQ(words["shape"], nlohmann::json({3, 5}));
  const size_t begin = words["data_offsets"][0], end = words["data_offsets"][1];
  EXPECT_EQ(end - begin, 60u);
  std::vector<float> values(15);
  std::memcpy(values.data(), bytes.data() + 8 + length + begin, 60);
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(values[i], static_cast<float>(i) - 7.25f);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const size_t width = entry["dtype"] == "U8" ? 1 : entry["dtype"] == "F32" ? 4 : 8;
    EXPECT_EQ(entry["data_offsets"][0].get<size_t>() % width, 0u) << name << " is not aligned";
  }
  const std::string checksum = header["__metadata__"]["checksum"];
  bytes.replace(bytes.find(checksum), 16, "0000000000000000");
  EXPECT_EQ(checksum, fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size())));
}

TEST(Archive, EveryTruncationIsRefused) {
  const TempFolder folder;
  const std::string bytes = saved(folder);
  for (size_t n = 0; n < bytes.size(); ++n) {
    for (const bool checksum : {true, false}) {
      // A copy of exact size, so that the address sanitizer sees a read behind its end.
      const std::vector<char> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(n));
      EXPECT_FAILURE(Archive::from_bytes(part, "short.kith", checksum), ErrorKind::kInput,
                     "short.kith: ");
    }
  }
  EXPECT_FAILURE(Archive::from_bytes(bytes + '\0', "long.kith"), ErrorKind::kInput, "long.kith: ");
}

TEST(Archive, EveryFlippedBitIsRefusedOrReadEqual) {
  const TempFolder folder;
  std::string bytes = saved(folder);
  size_t refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto flip = [&] { bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)); };
    flip();
    try {
      EXPECT_TRUE(is_equal(Archive::from_bytes(bytes, "flipped"))) << "bit " << bit;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
      ++refused;
    }
    flip();
  }
  EXPECT_EQ(refused, bytes.size() * 8) << "the checksum covers the whole file";
}

TEST(Archive, WithoutItsChecksumADamagedFileIsReadOrRefusedButNothingElse) {
  const TempFolder folder;
  const std::string whole = saved(folder);
  std::mt19937 random(1);
  size_t read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole;
    for (unsigned n = random() % 4 + 1; n-- > 0;) {
      // Mostly in the header, where damage is more than another number.
      bytes[random() % (random() % 4 ? bytes.size() / 2 : bytes.size())] =
          static_cast<char>(random());
    }
    try {
      const Archive a = Archive::from_bytes(bytes, "mutated", false);
      ++read;
      a.matrix("words");
      a.names("names");
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
    }
  }
  EXPECT_GT(read, 0u) << "the mutations are too wild to test anything";
}

// A file of the given header and data, as another tool could write it.
std::string file_of(const std::string& json, const std::string& data) {
  const uint64_t length = json.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + json + data;
}

void expect_refused(const std::string& json, const std::string& data, const std::string& part) {
  EXPECT_FAILURE(Archive::from_bytes(file_of(json, data), "f", false), ErrorKind::kInput, part);
}

std::string entry(const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST(Archive, TensorsMustFillTheData) {
  const std::string data(16, 'x');
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":)" + a + R"(,"b":)" + b + "}";
  };
  const std::string bytes = file_of(two(entry("[2]", "[8,16]"), entry("[2,1]", "[0,8]")), data);
  const Archive good = Archive::from_bytes(bytes, "f", false);
  EXPECT_EQ(good.values<float>("a").size(), 2u);
  EXPECT_EQ(good.matrix("b").rows(), 2u);

  expect_refused(two(entry("[1]", "[0,4]"), entry("[2]", "[8,16]")), data, "leave a hole");
  expect_refused(two(entry("[3]", "[0,12]"), entry("[2]", "[8,16]")), data, "overlap");
  expect_refused(two(entry("[4]", "[0,16]"), entry("[4]", "[0,16]")), data, "overlap");
  expect_refused(two(entry("[1]", "[0,4]"), entry("[2]", "[4,12]")), data, "4 bytes follow");
  expect_refused(R"({"a":)" + entry("[4]", "[4,20]") + "}", data, "there are 16 bytes of data");
  expect_refused(R"({"a":)" + entry("[4]", "[16,0]") + "}", data, "claims the bytes 16 to 0");
  expect_refused("{}", data, "16 bytes follow");
}

// Other writers put tensors anywhere; ours stand at multiples of their elements.
TEST(Archive, WhatIsNotAlignedIsCopiedAndTheRestUsedInPlace) {
  const TempFolder folder;
  const float numbers[]{1, 2, 3, 4};
  const std::string floats(reinterpret_cast<const char*>(numbers), sizeof numbers);
  for (const size_t before : {0, 1, 2, 3, 4}) {  // bytes of another tensor in front
    std::string header =
        fmt::format(R"({{"a":{{"dtype":"U8","shape":[{0}],"data_offsets":[0,{0}]}},)"
                    R"("m":{{"dtype":"F32","shape":[2,2],"data_offsets":[{0},{1}]}}}})",
                    before, before + 16);
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::string path =
        put(folder / "foreign", file_of(header, std::string(before, 'x') + floats));
    const Matrix m = Archive::open(path, false).borrowed_matrix("m");
    EXPECT_EQ(m.is_borrowed(), before % 4 == 0) << before;
    EXPECT_EQ(m.row(0)[1], 2);
    EXPECT_EQ(m.row(1)[1], 4);
  }
}

TEST(Archive, AbsurdSizesAreRefusedBeforeAnythingIsAllocated) {
  const std::string data(16, 'x');
  for (const char* shape : {"[18446744073709551615]", "[4611686018427387908]", "[3]", "[5]", "[]",
                            "[4294967296,4294967296]", "[2147483649,2147483648,4]",
                            "[9223372036854775808,2,2]", "[0]"}) {
    expect_refused(R"({"a":)" + entry(shape, "[0,16]") + "}", data, "does not fit");
  }
  expect_refused(R"({"a":)" + entry("[18446744073709551616]", "[0,16]") + "}", data, "64-bit");
  expect_refused(R"({"a":)" + entry("[-4]", "[0,16]") + "}", data, "negative");
  expect_refused(R"({"a":)" + entry("[4.0]", "[0,16]") + "}", data, "64-bit");
  expect_refused(R"({"a":)" + entry("[4]", "[0,16,16]") + "}", data, "data_offsets");
  expect_refused(R"({"a":)" + entry("[4]", "[0,16]", "F33") + "}", data, "the type F33");
  // Rows of nothing: no bytes, yet an endless loop for whoever walks over them.
  const std::string bytes =
      file_of(R"({"a":)" + entry("[1152921504606846976,0]", "[0,0]") + "}", "");
  const Archive a = Archive::from_bytes(bytes, "f", false);
  EXPECT_FAILURE(a.matrix("a"), ErrorKind::kInput, "without columns");

  std::string huge = file_of("{}", "");
  for (const uint64_t length : {uint64_t{3}, uint64_t{100'000'001}, UINT64_MAX}) {
    std::memcpy(huge.data(), &length, 8);
    EXPECT_FAILURE(Archive::from_bytes(huge, "f", false), ErrorKind::kInput, "claims a header");
  }
}

TEST(Archive, TheHeaderMustHaveItsForm) {
  const std::string good = entry("[0]", "[0,0]");
  expect_refused(R"({"a":)" + good + R"(,"a":)" + good + "}", "", "has a twice");
  expect_refused(R"({"__metadata__":{},"__metadata__":{}})", "", "twice");
  expect_refused(R"({"__metadata__":{"a":"1","a":"2"}})", "", "has a twice");
  expect_refused(R"({"__metadata__":{"a":1}})", "", "a number");
  expect_refused(R"({"__metadata__":{"a":{}}})", "", "an object");
  expect_refused(R"({"__metadata__":[]})", "", "a list");
  expect_refused(R"({"__metadata__":"a"})", "", "a text");
  expect_refused(R"({"a":null})", "", "null");
  expect_refused(R"({"a":{"dtype":"F32","shape":[0]}})", "", "lacks");
  expect_refused(R"({"a":{"dtype":"F32","dtype":"F32"}})", "", "dtype twice");
  expect_refused(R"({"a":{"dtype":[0]}})", "", "a list");
  expect_refused(R"({"a":{"shape":"F32"}})", "", "a text");
  expect_refused(R"({"a":{"shape":[[0]]}})", "", "a list");
  expect_refused(R"({"a":{"other":1}})", "", "another name");
  expect_refused(R"({"a")", "", "not JSON");
  expect_refused(R"({} {})", "", "not JSON");
  expect_refused("{\"\xff\":1}", "", "not JSON");
  expect_refused(R"([])", "", "does not begin with {");
  expect_refused("", "", "does not begin with {");
}

TEST(Archive, DeepNestingIsRefusedNotFollowed) {
  const std::string lists(5'000'000, '[');
  expect_refused(R"({"a":)" + lists, "", "a list");
  expect_refused(R"({"a":{"shape":)" + lists, "", "a list");
  std::string objects = "{";
  for (int i = 0; i < 1'000'000; ++i) objects += R"("a":{)";
  expect_refused(objects, "", "another name");
  std::string dimensions = "[0";
  for (int i = 0; i < 1'000'000; ++i) dimensions += ",0";
  expect_refused(R"({"a":)" + entry(dimensions + "]", "[0,0]") + "}", "", "more than 32");
}

TEST(Archive, SaysWhatIsMissingOrOfAnotherKind) {
  const TempFolder folder;
  saved(folder);
  const Archive a = Archive::open(folder / "model");
  EXPECT_FAILURE(a.matrix("vectors"), ErrorKind::kInput, "no tensor vectors");
  EXPECT_FAILURE(a.matrix("counts"), ErrorKind::kInput, "must be of type F32 with 2 dimensions");
  EXPECT_FAILURE(a.values<float>("words"), ErrorKind::kInput, "found F32 with 2");
  // As many bytes, and other numbers.
  EXPECT_FAILURE(a.values<double>("counts"), ErrorKind::kInput, "must be of type F64");
  EXPECT_FAILURE(a.values<int64_t>("counts"), ErrorKind::kInput, "must be of type I64");
  EXPECT_FAILURE(a.names("words"), ErrorKind::kInput, "no tensor words.bytes");
  EXPECT_FAILURE(a.metadata_at("seed"), ErrorKind::kInput, "does not say its seed");
  EXPECT_FAILURE(Archive::from_bytes(file_of("{}", ""), "f"), ErrorKind::kInput, "no checksum");
  EXPECT_FAILURE(Archive::open(put(folder / "t", "some text, not a model")), ErrorKind::kInput,
                 "not a model file");
  EXPECT_FAILURE(Archive::open(put(folder / "e", "")), ErrorKind::kInput, "the file is empty");
  EXPECT_FAILURE(Archive::open(folder / "none"), ErrorKind::kIo, "no such file");
}

TEST(Archive, MessagesStayOnOneLineWhateverAFileCallsItsTensors) {
  const auto failure = failure_of([] {
    Archive::from_bytes(file_of("{\"a\\nb\\u001b\":" + entry("[9]", "[0,0]") + "}", ""), "f",
                        false);
  });
  EXPECT_TRUE(contains(failure.message, "does not fit")) << failure.message;
  EXPECT_EQ(failure.message.find_first_of("\n\x1b"), std::string::npos) << failure.message;
}

TEST(Archive, TextThatIsNotUtf8IsRepairedOnSaving) {
  const TempFolder folder;
  ArchiveWriter writer;
  writer.metadata["file"] = "caf\xe9";
  writer.save(folder / "model");
  EXPECT_EQ(Archive::open(folder / "model").metadata_at("file"), "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace kith
