// SPDX-License-Identifier: Apache-2.0
#include "data/labelled/collect_texts.h"

#include <string_view>
#include <utility>

#include "core/error.h"
#include "data/labelled/text_words.h"
#include "io/utf8.h"

namespace kith {

constexpr uint64_t kReportEvery = 10'000;  // texts

CollectedTexts collect_texts(TextRows& rows, const LabelledOptions& cut, WordCounter& counter,
                             const std::function<void(uint64_t, double)>& on_read) {
  CollectedTexts out;
  TextWords text(cut, rows.where());
  std::vector<uint32_t> ids;
  uint64_t read = 0;
  for (TextRow row; rows.next(row);) {
    if (++read % kReportEvery == 0 && on_read) on_read(rows.bytes(), rows.share());
    if (read >= 0xffffffff) throw fault(ErrorKind::kLimit, "too many documents");
    std::string fixed;
    const std::string_view name = repair_utf8(row.name, fixed) ? fixed : row.name;
    const std::string wanted = name.empty() ? fmt::format("{}", rows.row()) : std::string(name);
    if (out.names.find(wanted)) {
      throw fault(ErrorKind::kInput,
                  "{}: two documents are called {} (the second is number {}); name them by a "
                  "column whose values differ, or leave --id out",
                  rows.where(), shown(wanted), rows.row());
    }
    out.names.add(wanted);
    text.for_each(row.text, [&](std::span<const std::string_view> words) {
      ids.resize(words.size());
      counter.count(words, ids);
      out.words.insert(out.words.end(), ids.begin(), ids.end());
    });
    out.words.push_back(WordCounter::kEnd);
  }
  out.bytes = rows.bytes();
  out.tokens = text.counts().words;
  out.too_long = text.counts().too_long;
  out.invalid_utf8 = text.counts().invalid_utf8;
  out.notes = rows.finish();
  return out;
}

}  // namespace kith
