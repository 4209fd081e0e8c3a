// SPDX-License-Identifier: Apache-2.0
// Damaged files of every format: each is refused with an Error or read as finite vectors.

#include <cmath>
#include <random>
#include <utility>

#include "io/test_files.h"
#include "io/vector_files.h"

namespace kith {
namespace {

using namespace kith::testing;  // NOLINT(google-build-using-namespace)

std::string mutated(std::string bytes, std::mt19937& random) {
  for (unsigned n = random() % 4 + 1; n-- > 0 && !bytes.empty();) {
    const size_t at = random() % bytes.size();
    const size_t length = random() % 16;
    switch (random() % 6) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(random() % bytes.size(), length));
        break;
      case 4:
        bytes.insert(at, 1, " \n\r,\"0-9e{\0"[random() % 11]);
        break;
      default:
        if (random() % 4 == 0) bytes.resize(at);
    }
  }
  return bytes;
}

// Reads what is at `path`; true if it was accepted.
bool is_read_soundly(const std::string& path) {
  try {
    const NamedVectors v = read_vectors(path);
    EXPECT_GT(v.names.size(), 0u);
    EXPECT_EQ(v.names.size(), v.matrix.rows());
    EXPECT_GT(v.matrix.cols(), 0u);
    for (size_t r = 0; r < v.matrix.rows(); ++r) {
      for (const float x : v.matrix.row(r)) EXPECT_TRUE(std::isfinite(x));
    }
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput) << e.what();
    EXPECT_EQ(std::string_view(e.what()).find('\n'), std::string_view::npos) << e.what();
    return false;
  }
}

class VectorMutation : public ::testing::TestWithParam<std::pair<VectorFormat, const char*>> {};

TEST_P(VectorMutation, IsRefusedOrReadAsFiniteVectors) {
  const VectorFormat format = GetParam().first;
  const TempFolder folder;
  Names names;
  Matrix m(4, 3);
  for (const char* name : {"king", "queen", "2008", "a"}) names.add(name);
  for (size_t i = 0; i < 12; ++i) m.row(i / 3)[i % 3] = 0.37f * static_cast<float>(i) - 1.5f;
  write_vectors(folder / "f", format, names, m);
  const std::string whole = get(folder / "f");
  ASSERT_TRUE(is_read_soundly(folder / "f"));

  std::mt19937 random(static_cast<unsigned>(format));
  size_t accepted = 0;
  for (int i = 0; i < 2500; ++i) {
    accepted += is_read_soundly(put(folder / "f", mutated(whole, random)));
  }
  // A file with a checksum is accepted only unchanged; the others survive some changes.
  EXPECT_TRUE(accepted > 0 || format == VectorFormat::kSafetensors);
  for (int i = 0; i < 300; ++i) {
    is_read_soundly(put(folder / "f", mutated(gzip(whole), random)));
    is_read_soundly(put(folder / "f", mutated(zstd(whole), random)));
    is_read_soundly(put(folder / "f", gzip(mutated(whole, random))));
  }
}

constexpr std::pair<VectorFormat, const char*> kFormats[] = {
    {VectorFormat::kWord2vecBin, "Word2vecBin"},
    {VectorFormat::kWord2vecText, "Word2vecText"},
    {VectorFormat::kGlove, "Glove"},
    {VectorFormat::kNpy, "Npy"},
    {VectorFormat::kCsv, "Csv"},
    {VectorFormat::kSafetensors, "Safetensors"}};

INSTANTIATE_TEST_SUITE_P(EveryFormat, VectorMutation, ::testing::ValuesIn(kFormats),
                         [](const auto& info) { return std::string(info.param.second); });

}  // namespace
}  // namespace kith
