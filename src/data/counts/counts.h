// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often words stand together, as data to learn from: made from a text, or read from the file
// that `kith count` writes.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/sparse.h"
#include "data/text/corpus.h"

namespace kith {

class Counts final : public Dataset {
 public:
  // `cells`: words x words. `made`: the settings they were made with, as TOML.
  Counts(Vocabulary vocabulary, Sparse cells, std::string made,
         std::map<std::string, std::string> about);
  // Error(kInput) that says what is wrong with the file.
  static Counts open(const std::string& path);
  void save(const std::string& path) const;
  static bool is_file(const std::string& path);  // by its first bytes

  // Dataset
  static const DataKind& data_kind();
  const DataKind& kind() const override { return data_kind(); }
  uint64_t size() const override { return cells_.size(); }
  uint64_t vectors() const override { return vocabulary_.words.size(); }
  uint64_t bytes() const override;
  uint64_t fingerprint() const override;
  std::map<std::string, std::string> metadata() const override;
  Profile profile() const override;
  std::string example() const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const Sparse& cells() const { return cells_; }        // to learn from
  const Sparse& held_out() const { return held_out_; }  // likewise words x words
  const std::string& made() const { return made_; }
  double total() const { return total_; }  // the sum of all counts, held-out ones included

  // Takes cells out, as HoldOut says: (a, b) and (b, a) go together, since they are often the same.
  void hold_out(std::optional<double> setting);
  void add_note(Note note) { notes_.push_back(std::move(note)); }  // for the profile

 private:
  Vocabulary vocabulary_;
  Sparse cells_, held_out_;
  std::string made_;
  std::map<std::string, std::string> about_;  // of the text
  std::vector<Note> notes_;
  double total_ = 0;
};

}  // namespace kith
