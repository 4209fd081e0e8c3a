// SPDX-License-Identifier: Apache-2.0
#include "data/bags/bags.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "data/holdout.h"
#include "io/text_source.h"
#include "kith/text.h"

namespace kith {
namespace {

constexpr uint64_t kHoldoutSeed = 0x62616773;

uint64_t sum_of(const Sparse& counts) {
  uint64_t out = 0;
  for (const float n : counts.value) out += static_cast<uint64_t>(n);
  return out;
}

}  // namespace

Bags::Bags(Names words, Names names, Sparse counts)
    : train_(std::move(counts)), words_(std::move(words)), names_(std::move(names)) {
  held_out_.columns = train_.columns;
  held_out_.offsets.assign(train_.offsets.size(), 0);
  profile_.documents = names_.size();
  profile_.types = words_.size();
  for (uint32_t d = 0; d < train_.rows(); ++d) profile_.empty += train_.row(d).size() == 0;
  count();
  profile_.tokens = profile_.kept = words_to_learn_;
}

void Bags::count() {
  word_counts_.assign(words_.size(), 0);
  for (size_t i = 0; i < train_.column.size(); ++i) {
    word_counts_[train_.column[i]] += static_cast<uint64_t>(train_.value[i]);
  }
  words_to_learn_ = sum_of(train_);
  words_held_out_ = sum_of(held_out_);
}

void Bags::hold_out(std::optional<double> setting, uint64_t usual) {
  const uint64_t all = train_.rows() - profile_.empty;
  const uint64_t wanted = HoldOut::wanted(setting, all, usual);
  if (wanted == 0) return;
  const HoldOut rule(static_cast<double>(wanted) / static_cast<double>(all), kHoldoutSeed);
  Sparse kept, out;
  kept.columns = out.columns = train_.columns;
  for (uint32_t d = 0; d < train_.rows(); ++d) {
    const Sparse::Row row = train_.row(d);
    const bool takes = row.size() > 0 && documents_held_out_ < wanted && rule.takes(d);
    documents_held_out_ += takes;
    Sparse& to = takes ? out : kept;
    to.column.insert(to.column.end(), row.columns.begin(), row.columns.end());
    to.value.insert(to.value.end(), row.values.begin(), row.values.end());
    kept.offsets.push_back(kept.column.size());
    out.offsets.push_back(out.column.size());
  }
  train_ = std::move(kept);
  held_out_ = std::move(out);
  count();
}

uint64_t Bags::bytes() const {
  const auto of_names = [](const Names& n) { return n.bytes().size() + 24 * n.size(); };
  const auto of_sparse = [](const Sparse& s) { return 8 * s.size() + 8 * s.offsets.size(); };
  return of_names(words_) + of_names(names_) + of_sparse(train_) + of_sparse(held_out_) +
         8 * words_.size();
}

uint64_t Bags::fingerprint() const {
  uint64_t out = stable_hash(words_.bytes());
  const auto add = [&]<class T>(std::span<const T> values) {
    out = fold_multiply(out ^ stable_hash({reinterpret_cast<const char*>(values.data()),
                                           values.size() * sizeof(T)}),
                        0xa0761d6478bd642f);
  };
  for (const Names* const names : {&words_, &names_}) {
    add(std::span<const char>(names->bytes()));
    add(names->offsets());
  }
  for (const Sparse* const part : {&train_, &held_out_}) {
    add(std::span<const uint64_t>(part->offsets));
    add(std::span<const uint32_t>(part->column));
    add(std::span<const float>(part->value));
  }
  return out;
}

std::map<std::string, std::string> Bags::metadata() const {
  const auto text = [](uint64_t n) { return fmt::format("{}", n); };
  return {{"bags.bytes", text(profile_.bytes)},
          {"bags.documents", text(profile_.documents)},
          {"bags.words", text(profile_.tokens)},
          {"bags.distinct", text(profile_.types)},
          {"bags.kept", text(profile_.kept)}};
}

std::string Bags::example() const { return fmt::format("document={}", names_[names_.size() / 4]); }

Profile Bags::profile() const {
  const BagsProfile& p = profile_;
  Profile out;
  out.data = kind().name;
  out.unit = kind().unit;
  out.size = words_to_learn_;
  out.held_out = words_held_out_;
  out.bytes = p.bytes;
  out.summary = fmt::format("{} in {}, {} distinct", count_of(p.tokens, "word"),
                            count_of(p.documents, "document"), grouped(p.types));
  const auto share = [&](uint64_t n) {
    return 100.0 * static_cast<double>(n) / static_cast<double>(std::max<uint64_t>(1, p.tokens));
  };
  for (const BagsProfile::Filtered& f : p.filtered) {
    out.lines.emplace_back(
        "drop", fmt::format("{}, {:.1f} % of the text: {}", count_of(f.types, "distinct word"),
                            share(f.tokens), f.by));
  }
  out.lines.emplace_back(
      "keep", fmt::format("{}, {:.1f} % of the text", count_of(words_.size(), "distinct word"),
                          share(p.kept)));
  out.lines.emplace_back(
      "train",
      fmt::format("on {} of {}; {} held out to score the model", count_of(words_to_learn_, "word"),
                  count_of(p.documents - p.empty - documents_held_out_, "document"),
                  documents_held_out_ ? count_of(documents_held_out_, "document") : "none"));
  if (p.empty) {
    out.notes.push_back({Note::Level::kNote,
                         fmt::format("{} without a word that is kept: nothing is learned of them",
                                     count_of(p.empty, "document"))});
  }
  if (p.too_long) {
    out.notes.push_back(
        {Note::Level::kNote, fmt::format("{} too long, dropped", count_of(p.too_long, "word"))});
  }
  if (p.invalid_utf8) {
    out.notes.push_back(
        {Note::Level::kNote, fmt::format("{} with bytes that are not UTF-8; {}",
                                         count_of(p.invalid_utf8, "word"), kIfNotUtf8)});
  }
  out.notes.insert(out.notes.end(), notes_.begin(), notes_.end());
  return out;
}

}  // namespace kith
