// SPDX-License-Identifier: Apache-2.0
// Models of words as files of fastText.

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "io/fasttext_bin.h"
#include "models/words/model.h"

namespace kith::words {
namespace {

// The rows of words, then one for each bucket: zeros if no part falls into it.
class BucketRows final : public Vectors {
 public:
  BucketRows(const Matrix& input, size_t words, const Subwords& parts)
      : input_(input), words_(words), parts_(parts) {}
  size_t rows() const override { return words_ + parts_.settings().buckets; }
  size_t cols() const override { return input_.cols(); }
  void read(size_t first, size_t count, Rows out) const override {
    for (size_t i = 0; i < count; ++i) {
      if (const auto row = row_of(first + i)) {
        std::ranges::copy(input_.row(*row), out.row(i));
      } else {
        std::fill_n(out.row(i), cols(), 0.0f);
      }
    }
  }

 private:
  std::optional<size_t> row_of(size_t row) const {
    if (row < words_) return row;
    const auto buckets = parts_.buckets();
    const auto at = std::ranges::lower_bound(buckets, row - words_);
    if (at == buckets.end() || *at != row - words_) return std::nullopt;
    return words_ + static_cast<size_t>(at - buckets.begin());
  }

  const Matrix& input_;
  size_t words_;
  const Subwords& parts_;
};

}  // namespace

void WordsModel::write_fasttext(const std::string& path, const Context& context) const {
  const SubwordSettings& parts = subwords_.settings();
  if (parts.longest > 0 && parts.buckets == 0) {
    throw fault(
        ErrorKind::kUsage,
        "in fastText's files parts of words share rows by their hash, and here each has its "
        "own; train with --ngrams hashed, or export the vectors in another format");
  }
  const Config& config = common();
  if (config.loss != WordLoss::kNs || config.form != Form::kNone) {
    throw fault(ErrorKind::kUsage,
                "fastText's files are written of models with --loss ns and no --form; export the "
                "vectors in "
                "another format");
  }
  FastTextHeader header;
  header.dim = static_cast<int32_t>(input_.cols());
  header.window = config.window;
  header.epochs = config.epochs;
  header.negatives = config.negatives;
  header.kind = config.objective == Objective::kCbow ? FastTextHeader::Kind::kCbow
                                                     : FastTextHeader::Kind::kSkipGram;
  header.buckets = static_cast<int32_t>(parts.buckets);
  header.min_n = parts.shortest;
  header.max_n = parts.longest;
  header.sample = config.sample;
  header.words = names_;
  header.counts = counts_;
  header.tokens =
      static_cast<int64_t>(std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}));
  header.min_count = counts_.empty() ? 1 : static_cast<int32_t>(std::ranges::min(counts_));
  restore(header);
  const BucketRows rows(input_, names_.size(), subwords_);
  const MatrixVectors output(output_);
  write_fasttext_bin(path, header, WatchedVectors(rows, context), WatchedVectors(output, context));
}

}  // namespace kith::words
