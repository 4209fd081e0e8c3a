// SPDX-License-Identifier: Apache-2.0
#include "data/labelled/labelled.h"

#include <xxhash.h>

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "io/text_source.h"
#include "kith/text.h"

namespace kith {
namespace {

template <class T>
uint64_t bytes_in(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

template <class T>
void take_in(uint64_t& hash, const std::vector<T>& v) {
  hash = mix64(hash + XXH3_64bits(v.data(), bytes_in(v)));
}

void take_in(uint64_t& hash, const Names& names) {
  hash = mix64(hash + XXH3_64bits(names.bytes().data(), names.bytes().size()));
  hash = mix64(hash + XXH3_64bits(names.offsets().data(), names.offsets().size_bytes()));
}

void take_in(uint64_t& hash, const Documents& d) {
  take_in(hash, d.word_offsets);
  take_in(hash, d.words);
  take_in(hash, d.label_offsets);
  take_in(hash, d.labels);
  take_in(hash, d.weights);
}

}  // namespace

void Documents::add(std::span<const uint32_t> its_words, std::span<const uint32_t> its_labels,
                    float weight) {
  words.insert(words.end(), its_words.begin(), its_words.end());
  labels.insert(labels.end(), its_labels.begin(), its_labels.end());
  if (weight != 1 && weights.empty()) weights.assign(size(), 1.0f);
  if (weight != 1 || !weights.empty()) weights.push_back(weight);
  word_offsets.push_back(words.size());
  label_offsets.push_back(labels.size());
}

uint64_t Documents::bytes() const {
  return bytes_in(word_offsets) + bytes_in(label_offsets) + bytes_in(words) + bytes_in(labels) +
         bytes_in(weights);
}

std::vector<uint64_t> Labelled::label_counts() const {
  std::vector<uint64_t> out(labels_.size());
  for (const uint32_t label : train_.labels) ++out[label];
  return out;
}

uint64_t Labelled::bytes() const {
  const uint64_t names = vocabulary_.words.size() + labels_.size();
  return vocabulary_.words.bytes().size() + labels_.bytes().size() + 24 * names + train_.bytes() +
         held_out_.bytes();
}

uint64_t Labelled::fingerprint() const {
  uint64_t out = 0;
  take_in(out, vocabulary_.words);
  take_in(out, vocabulary_.counts);
  take_in(out, labels_);
  take_in(out, train_);
  take_in(out, held_out_);
  return out;
}

std::map<std::string, std::string> Labelled::metadata() const {
  const auto text = [](uint64_t n) { return fmt::format("{}", n); };
  return {{"labelled.texts", text(profile_.texts)},
          {"labelled.words", text(profile_.tokens)},
          {"labelled.distinct", text(profile_.types)},
          {"labelled.held_out", text(held_out_.size())}};
}

std::string Labelled::example() const {
  const Names& words = vocabulary_.words;  // beyond those that stand in everything
  return std::string(words[std::min<size_t>(1000, words.size() / 4)]);
}

Profile Labelled::profile() const {
  const LabelledProfile& p = profile_;
  Profile out;
  out.data = kind().name;
  out.unit = kind().unit;
  out.size = train_.size();
  out.held_out = held_out_.size();
  out.bytes = p.bytes;
  const std::vector<uint64_t> counts = label_counts();
  const auto most = std::ranges::max_element(counts);
  const double share = train_.size() == 0 || counts.empty()
                           ? 0
                           : static_cast<double>(*most) / static_cast<double>(train_.size());
  out.summary = fmt::format("{} with {}, {} distinct", count_of(p.texts, "text"),
                            count_of(p.tokens, "word"), grouped(p.types));
  out.lines.emplace_back(
      "labels",
      fmt::format("{}; the most frequent, {}, has {} of the texts{}", grouped(labels_.size()),
                  counts.empty() ? "" : labels_[static_cast<size_t>(most - counts.begin())],
                  in_percent(share),
                  p.several ? fmt::format("; {} have several", grouped(p.several)) : ""));
  out.lines.emplace_back(
      "train", fmt::format("on {} per epoch; {} held out to score the model{}",
                           count_of(train_.size(), "text"),
                           held_out_.size() ? grouped(held_out_.size()) : "none",
                           validated() && held_out_.size() ? ", from a file of its own" : ""));
  const auto note = [&](uint64_t count, std::string_view what) {
    if (count == 0) return;
    out.notes.push_back({Note::Level::kNote, fmt::format("{} {}", count_of(count, "text"), what)});
  };
  note(p.unlabelled, "without a label left out");
  note(p.empty, "without a word that is kept left out");
  if (p.invalid_utf8) {
    out.notes.push_back(
        {Note::Level::kNote, fmt::format("{} with bytes that are not UTF-8; {}",
                                         count_of(p.invalid_utf8, "word"), kIfNotUtf8)});
  }
  out.notes.insert(out.notes.end(), notes_.begin(), notes_.end());
  return out;
}

}  // namespace kith
