// SPDX-License-Identifier: Apache-2.0
#pragma once
// From texts with labels to numbers.

#include <functional>
#include <optional>

#include "data/labelled/label_source.h"
#include "data/labelled/labelled.h"

namespace kith {

class LabelledReader {
 public:
  using OnRead = std::function<void(uint64_t, double)>;
  LabelledReader(LabelledForm form, const TableOptions& table, OnRead on_read)
      : form_(std::move(form)), table_(table), on_read_(std::move(on_read)) {}

  // To learn from. `holdout` as in the settings; none if it is not given. Error(kInput) if there is
  // no label, only one, or no word.
  Labelled read(const std::vector<std::string>& sources, std::optional<double> holdout);
  // To ask a model about: its words and labels keep their numbers, other words are unknown, and
  // labels that it lacks come behind. Texts without a label are left out, those without a known
  // word are not.
  Labelled read_known(const std::vector<std::string>& sources, const KnownLabels& known);

 private:
  void collect(Labelled& out, const std::vector<std::string>& sources);
  void hold_out(Labelled& data, std::optional<double> holdout) const;
  void check(const Labelled& data, const std::string& where) const;
  void report(const LabelSource& source, uint64_t texts) const;
  std::unique_ptr<LabelSource> open(const std::vector<std::string>& sources,
                                    const LabelColumns& columns) const {
    return open_labelled(sources, columns, table_, true);
  }
  // Texts by the words of a vocabulary; of a model, with labels that it lacks.
  void find_texts(const std::vector<std::string>& sources, const LabelColumns& columns,
                  Labelled& data, Documents& out, const KnownLabels* known);

  LabelledForm form_;
  TableOptions table_;
  OnRead on_read_;
};

}  // namespace kith
