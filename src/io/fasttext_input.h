// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of a fastText model, and its tables. Private to src/io.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "io/vector_input.h"

namespace kith {

// Longer names are taken for damage.
inline constexpr size_t kMaxFastTextName = size_t{1} << 16;

// Costs no more memory than there are bytes: where the size of the file is known, claims are
// compared with what is left of it; else what is read grows piece by piece. `what` is for messages.
class FastTextInput {
 public:
  explicit FastTextInput(VectorInput& input);  // at its first byte
  const std::string& where() const { return input_.where(); }
  bool knows_size() const { return left_.has_value(); }

  // The next n bytes, valid until the next call; Error if there are fewer.
  std::string_view take(size_t n, std::string_view what);
  template <class T>
  T number(std::string_view what) {
    T out;
    std::memcpy(&out, take(sizeof(T), what).data(), sizeof(T));
    return out;
  }
  bool flag(std::string_view what);
  std::string word(int32_t entry);  // of the dictionary, from 1; without the zero that ends it
  std::string bytes(uint64_t n, std::string_view what);
  // Error if n things of so many bytes each are claimed and the file is known to have fewer.
  void expect(uint64_t n, uint64_t each, std::string_view what) const;
  void expect_end();

 private:
  VectorInput& input_;
  std::optional<uint64_t> left_;
};

// A table as the rest of the file announces it.
struct FastTextTable {
  std::string_view title;
  uint64_t rows, dim;
  std::vector<uint64_t> dropped;  // rows to leave out, rising
};
Matrix take_dense(FastTextInput& in, const FastTextTable& table);
Matrix take_quantised(FastTextInput& in, const FastTextTable& table);

}  // namespace kith
