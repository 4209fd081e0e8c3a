// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words that stand together in a text: counted once, written to a file, and then learned from as
// often as wanted, or looked at.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kith/context.h"
#include "kith/events.h"
#include "kith/fields.h"
#include "kith/settings.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct CountRequest {
  std::vector<std::string> sources{};
  std::string output{};   // "": named after the first source
  std::string scratch{};  // a folder for what does not fit in memory; "": that of the output
  std::vector<Setting> settings{};
};
// All that can be set: how the text is read, and what stands together.
std::vector<FieldGroup> count_settings();

// What a file of counts holds.
struct CountsSummary {
  std::string path;
  uint64_t words = 0, cells = 0;
  double total = 0;      // the sum of all counts
  std::string settings;  // that it was made with, as TOML
};
// Counts and writes the file.
CountsSummary count(const CountRequest& request, const Context& context,
                    Observer* observer = nullptr);

bool is_counts(const std::string& path);  // whether a file holds counts, by its first bytes

enum class CompanyOrder { kCount, kPmi };
struct CompanyOptions {
  int64_t top = 10;
  CompanyOrder by = CompanyOrder::kCount;

  static constexpr std::tuple fields{
      field("top", &CompanyOptions::top, "how many answers").between(1, 1e6),
      field("by", &CompanyOptions::by,
            "order by how often a word stands there, or by how much more often than by chance"),
  };
};
// A word that stands around another.
struct Company {
  std::string id;
  double count = 0;
  double pmi = 0;  // log(N(a,b) N / (N(a) N(b))): 0 by chance, above 0 where more often
};

// A file of counts, opened.
class CountTable {
 public:
  explicit CountTable(const std::string& path);
  const CountsSummary& summary() const;
  // What stands around a word. Error(kInput) with a suggestion if it is not known.
  std::vector<Company> company(const std::string& word, const CompanyOptions& options) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace KITH_VISIBLE

template <>
struct kith::EnumNames<kith::CompanyOrder> {
  static constexpr std::array<std::string_view, 2> names{"count", "pmi"};
};
