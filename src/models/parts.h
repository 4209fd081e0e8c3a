// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a model consists of. A model names each of its tensors and numbers once, in visit(); saving,
// loading, checking shapes and finiteness, counting memory, keeping the best epoch and copying are
// visitors of that list.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "core/names.h"
#include "data/sparse.h"
#include "kith/settings.h"

namespace kith {

enum class Use {
  kLearned,   // what training moves: finite, and kept with the best epoch
  kFixed,     // all the rest that an answer needs
  kOptional,  // the same, but a model may have none
  kRun,       // what only a run needs to go on: in checkpoints
};

class Parts {
 public:
  static constexpr size_t kAny = std::numeric_limits<size_t>::max();  // whatever the file has

  virtual ~Parts() = default;
  // The parts are read from a file: checks that cost something are worth it now.
  virtual bool loading() const { return false; }
  // Only names and vectors are wanted: numbers may be missing, and what has many is left out.
  virtual bool vectors_only() const { return false; }
  // Error(kInput) that the file is damaged, if it is one that is read and this is not so.
  virtual void check(bool /*good*/, std::string_view /*what*/) {}

  // Tensors. The shape is what they must have.
  virtual void matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) = 0;
  virtual void values(const std::string& name, std::vector<float>& v, size_t size, Use use) = 0;
  virtual void values(const std::string& name, std::vector<double>& v, size_t size, Use use) = 0;
  virtual void values(const std::string& name, std::vector<uint32_t>& v, size_t size, Use use) = 0;
  virtual void values(const std::string& name, std::vector<uint64_t>& v, size_t size, Use use) = 0;
  virtual void names(const std::string& name, Names& names) = 0;

  // Entries of the header.
  void settings(const std::string& key, const Section& section);
  void text(const std::string& key, std::string& value, Use use = Use::kFixed);
  void number(const std::string& key, double& value, Use use = Use::kFixed);
  void number(const std::string& key, float& value, Use use = Use::kFixed);
  void number(const std::string& key, uint64_t& value, Use use = Use::kFixed);
  void flag(const std::string& key, bool& value, Use use = Use::kFixed);
  void maybe(const std::string& key, std::optional<uint64_t>& value);
  void maybe(const std::string& key, std::optional<double>& value);
  void list(const std::string& key, std::vector<double>& values);

 protected:
  // A header entry as text. An empty text is not written where it is optional.
  struct Entry {
    std::function<std::string()> get;
    std::function<void(const std::string&)> set;  // false if it cannot be read
    Use use;
  };
  template <class T>
  static Entry maybe_entry(const std::string& key, std::optional<T>& value);
  virtual void entry(const std::string& key, const Entry& entry) = 0;
  virtual void stored_settings(const std::string& key, const Section& section) = 0;
};

// A sparse matrix with so many rows and columns, as NAME.offsets and what the others are called.
struct SparseNames {
  std::string offsets, columns, values;
};
void visit(Parts& parts, const SparseNames& names, Sparse& matrix, size_t rows, size_t columns);

}  // namespace kith
