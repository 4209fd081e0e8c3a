// SPDX-License-Identifier: Apache-2.0
#include "kith/counts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "api/plan.h"
#include "api/reading.h"
#include "core/error.h"
#include "data/counts/counts.h"
#include "io/file.h"
#include "kith/files.h"
#include "kith/text.h"

namespace kith {
namespace {

namespace fs = std::filesystem;

// corpora/news.txt.gz -> news.counts, here.
std::string output_of(const CountRequest& request) {
  if (!request.output.empty()) return request.output;
  const std::string& source = request.sources.front();
  if (source == "-" || is_database(source)) return "text.counts";
  return fs::path(name_unpacked(fs::path(source).filename().string())).stem().string() + ".counts";
}

std::string folder_of(const std::string& path) {
  const auto folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

CountsSummary summary_of(const Counts& counts, const std::string& path) {
  return {path, counts.vocabulary().words.size(), counts.cells().size(), counts.total(),
          counts.made()};
}

}  // namespace

std::vector<FieldGroup> count_settings() {
  std::vector<FieldGroup> out = groups_of(Counts::data_kind().reader()->settings());
  for (FieldGroup& group : out) {  // nothing is learned yet, so nothing is held out
    std::erase_if(group.fields, [](const FieldInfo& f) { return f.name == "holdout"; });
  }
  return out;
}

bool is_counts(const std::string& path) { return Counts::is_file(path); }

CountsSummary count(const CountRequest& request, const Context& context, Observer* observer) {
  if (request.sources.empty()) throw fault(ErrorKind::kUsage, "there is nothing to count");
  for (const std::string& source : request.sources) {
    if (!is_counts(source)) continue;
    throw fault(ErrorKind::kUsage, "{}: these are counts already", source);
  }
  const std::string output = output_of(request);
  if (output == "-") {
    throw fault(ErrorKind::kUsage, "counts cannot be written to standard output; name a file");
  }
  check_output(output, request.sources);
  const auto reader = Counts::data_kind().reader();
  apply_settings(request.settings, reader->settings());
  ReadRequest read;
  read.sources = request.sources;
  read.scratch = request.scratch.empty() ? folder_of(output) : request.scratch;
  read.keep_all = true;
  const auto data = read_watched(*reader, std::move(read), context, observer, Counts::data_kind(),
                                 {available_memory(), false});
  const auto& counts = static_cast<const Counts&>(*data);
  if (observer) {
    for (const Note& n : counts.profile().notes) observer->on(n);
  }
  counts.save(output);
  return summary_of(counts, output);
}

struct CountTable::Impl {
  Counts counts;
  CountsSummary summary;
  std::vector<double> row_sum, column_sum;
};

CountTable::CountTable(const std::string& path) {
  auto out = std::make_shared<Impl>(Impl{Counts::open(path), {}, {}, {}});
  out->summary = summary_of(out->counts, path);
  const Sparse& cells = out->counts.cells();
  out->row_sum.resize(cells.rows());
  out->column_sum.resize(cells.columns);
  for (uint32_t r = 0; r < cells.rows(); ++r) {
    const Sparse::Row row = cells.row(r);
    for (size_t k = 0; k < row.size(); ++k) {
      out->row_sum[r] += double{row.values[k]};
      out->column_sum[row.columns[k]] += double{row.values[k]};
    }
  }
  impl_ = std::move(out);
}

const CountsSummary& CountTable::summary() const { return impl_->summary; }

std::vector<Company> CountTable::company(const std::string& word,
                                         const CompanyOptions& options) const {
  const Names& words = impl_->counts.vocabulary().words;
  const auto found = words.find(word);
  if (!found) {
    const auto near = similar_spellings(word, words);
    throw fault(ErrorKind::kInput, "{}: {} was not counted{}", impl_->summary.path, word,
                near.empty() ? std::string() : fmt::format("; is it {}?", fmt::join(near, ", ")));
  }
  const Sparse::Row row = impl_->counts.cells().row(*found);
  const double total = impl_->counts.total(), of_row = impl_->row_sum[*found];
  std::vector<Company> out;
  for (size_t k = 0; k < row.size(); ++k) {
    const uint32_t c = row.columns[k];
    const double n = row.values[k];
    out.push_back(
        {std::string(words[c]), n, std::log(n * total / (of_row * impl_->column_sum[c]))});
  }
  const auto top = std::min<size_t>(out.size(), static_cast<size_t>(options.top));
  const auto value = [&](const Company& c) {
    return options.by == CompanyOrder::kCount ? c.count : c.pmi;
  };
  // Equal ones stay in the order of their frequency.
  std::ranges::stable_sort(out, std::ranges::greater{}, value);
  out.resize(top);
  return out;
}

}  // namespace kith
