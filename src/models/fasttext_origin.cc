// SPDX-License-Identifier: Apache-2.0
#include "models/fasttext_origin.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>
#include <type_traits>

#include "core/error.h"

namespace kith {
namespace {

using Loss = FastTextHeader::Loss;

constexpr double kMostWhole = 0x1p53;  // up to here a double holds every whole number

// In this order they stand in model files, for ever.
template <class Header, class F>
void each(Header& h, F&& f) {
  f(h.loss);
  f(h.window);
  f(h.epochs);
  f(h.min_count);
  f(h.negatives);
  f(h.word_ngrams);
  f(h.min_n);
  f(h.lr_update_rate);
  f(h.sample);
  f(h.tokens);
}

// Whether a number of a model file can become what stands in the header.
template <class T>
bool fits(double number) {
  if constexpr (std::is_same_v<T, double>) {
    return std::isfinite(number) && number >= 0;
  } else if constexpr (std::is_same_v<T, Loss>) {
    return number >= 1 && number <= 4 && number == std::floor(number);
  } else {
    const auto most = std::min(static_cast<double>(std::numeric_limits<T>::max()), kMostWhole);
    return number >= 0 && number <= most && number == std::floor(number);
  }
}

}  // namespace

FastTextOrigin::FastTextOrigin(const FastTextHeader& header) {
  each(header, [&](auto value) { numbers_.push_back(static_cast<double>(value)); });
  numbers_.back() = std::min(numbers_.back(), kMostWhole);  // of tokens
}

void FastTextOrigin::visit(Parts& parts) {
  const std::string list = fmt::format("{}", fmt::join(numbers_, " "));
  std::string said = list;
  parts.text("fasttext.header", said, Use::kOptional);
  if (!parts.loading() || said == list) return;
  std::istringstream text(said);
  numbers_.assign(std::istream_iterator<double>(text), {});
  if (said.empty()) return;
  size_t at = 0;
  bool good = true;
  FastTextHeader header;
  each(header, [&](auto value) {
    good = good && at < numbers_.size() && fits<decltype(value)>(numbers_[at]);
    ++at;
  });
  parts.check(good && at == numbers_.size() && text.eof(),
              "what the file of fastText said is not what it says");
}

std::optional<Loss> FastTextOrigin::loss() const {
  if (numbers_.empty()) return std::nullopt;
  FastTextHeader header;
  restore(header);
  return header.loss;
}

void FastTextOrigin::restore(FastTextHeader& header) const {
  if (numbers_.empty()) return;
  size_t at = 0;
  each(header, [&](auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(numbers_[at++]);
  });
}

}  // namespace kith
