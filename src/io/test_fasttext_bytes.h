// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of models of fastText for tests: one that fastText made, and quantised ones.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::testing {

using namespace std::string_view_literals;

// What `fasttext cbow -dim 2 -epoch 1 -minCount 1 -bucket 2 -minn 1 -maxn 2` of version 0.9.2 made
// of "a été a __label__x".
inline constexpr std::string_view kOfFastText =
    "\xba\x16\x4f\x2f\x0c\0\0\0\x02\0\0\0\x05\0\0\0"
    "\x01\0\0\0\x01\0\0\0\x05\0\0\0\x01\0\0\0"
    "\x02\0\0\0\x01\0\0\0\x02\0\0\0\x01\0\0\0"
    "\x02\0\0\0\x64\0\0\0\x2d\x43\x1c\xeb\xe2\x36\x1a\x3f"
    "\x04\0\0\0\x03\0\0\0\x01\0\0\0\x05\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
    "a\0\x02\0\0\0\0\0\0\0\0"
    "\xc3\xa9t\xc3\xa9\0\x01\0\0\0\0\0\0\0\0"
    "</s>\0\x01\0\0\0\0\0\0\0\0"
    "__label__x\0\x01\0\0\0\0\0\0\0\x01"
    "\0\x05\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
    "\xa0\x76\xd4\xbe\xa0\x76\xd4\xbe\x41\xed\xa8\xbe\xc3\xc7\x7a\xbe"
    "\x04\xb5\x23\xbe\x89\x44\x99\xbd\xa6\x07\x27\x3c\x73\x06\xc3\x3d"
    "\xf9\x95\x38\x3e\x5c\xd4\x87\x3e"
    "\0\x03\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv;
// Where things stand in it.
inline constexpr size_t kDim = 8, kKind = 36, kLoss = 32, kBuckets = 40, kMinN = 44, kEntries = 64,
                        kWords = 68, kTokens = 76, kPruned = 84, kNames = 92, kCount = 94,
                        kType = 102, kInputFlag = 152, kInputRows = 153, kInputCols = 161,
                        kInput = 169, kOutputFlag = 209, kOutputRows = 210;

template <class T>
inline std::string bytes_of_number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
template <class T>
inline std::string with(std::string_view bytes, size_t at, T value) {
  std::string out(bytes);
  return out.replace(at, sizeof(T), bytes_of_number(value));
}

inline std::string codebook(int32_t dim, int32_t width, const std::vector<float>& centroids) {
  std::string out;
  for (const int32_t n : {dim, (dim + width - 1) / width, width, (dim - 1) % width + 1}) {
    out += bytes_of_number(n);
  }
  for (const float x : centroids) out += bytes_of_number(x);
  return out;
}

// Centroid c of a vector of three values in parts of two: (c, c + 0.5), then (-c).
inline std::string codebook_of_three() {
  std::vector<float> values;
  for (int c = 0; c < 256; ++c) {
    values.insert(values.end(), {static_cast<float>(c), static_cast<float>(c) + 0.5f});
  }
  for (int c = 0; c < 256; ++c) values.push_back(static_cast<float>(-c));
  return codebook(3, 2, values);
}

inline std::string quantised_table(int64_t rows, bool norms) {
  std::string out = bytes_of_number(norms) + bytes_of_number(rows) + bytes_of_number(int64_t{3}) +
                    bytes_of_number(static_cast<int32_t>(2 * rows));
  for (int64_t r = 0; r < rows; ++r) out += {static_cast<char>(200 + r), static_cast<char>(r)};
  out += codebook_of_three();
  if (!norms) return out;
  for (int64_t r = 0; r < rows; ++r) out += static_cast<char>(255 - r);
  std::vector<float> lengths(256);
  for (size_t i = 0; i < 256; ++i) lengths[i] = static_cast<float>(i) / 256;
  return out + codebook(1, 1, lengths);
}

// The same words with three dimensions and four buckets, of which two were kept if `pruned`.
inline std::string quantised(bool norms, bool quantised_output, bool pruned) {
  std::string out(kOfFastText.substr(0, kInputFlag));
  out = with(with(out, kDim, 3), kBuckets, 4);
  if (pruned) {
    out = with(out, kPruned, int64_t{2});
    for (const int32_t n : {3, 0, 1, 1}) out += bytes_of_number(n);
  }
  out += '\1' + quantised_table(pruned ? 5 : 7, norms) + bytes_of_number(quantised_output);
  if (quantised_output) return out + quantised_table(3, false);
  out += bytes_of_number(int64_t{3}) + bytes_of_number(int64_t{3});
  for (int i = 1; i <= 9; ++i) out += bytes_of_number(static_cast<float>(i));
  return out;
}

// Where a file that quantised() made says how many bytes of codes there are.
inline size_t codes_in(std::string_view bytes) {
  return bytes.find(bytes_of_number(int64_t{7}) + bytes_of_number(int64_t{3})) + 16;
}

}  // namespace kith::testing
