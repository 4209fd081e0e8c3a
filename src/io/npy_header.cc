// SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.h"

#include <charconv>

#include "core/error.h"

namespace kith {
namespace {

// Reads the header, which is a Python dictionary of three entries. Only what NumPy writes is
// understood; anything else is refused.
class DictReader {
 public:
  DictReader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  NpyHeader read() {
    NpyHeader header;
    unsigned seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      const unsigned bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
      if (bit == 0 || (seen & bit) != 0) wrong();
      seen |= bit;
      if (bit == 1) header.descr = quoted();
      if (bit == 2) header.fortran_order = truth();
      if (bit == 4) header.shape = tuple();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (seen != 7 || at_ != text_.size()) wrong();
    return header;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) wrong();
  }
  std::string quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) wrong();
    std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }
  bool truth() {
    skip_space();
    for (const std::string_view word : {"False", "True"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    wrong();
  }
  std::vector<uint64_t> tuple() {
    std::vector<uint64_t> out;
    expect('(');
    while (!accept(')')) {
      skip_space();
      uint64_t value = 0;
      const char* const begin = text_.data() + at_;
      const auto [stop, code] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (code != std::errc() || out.size() == 32) wrong();
      out.push_back(value);
      at_ += static_cast<size_t>(stop - begin);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }
  [[noreturn]] void wrong() const {
    throw fault(ErrorKind::kInput,
                "{}: the NumPy header is not understood at its byte {}; save the matrix again with "
                "numpy.save",
                where_, at_);
  }

  std::string_view text_, where_;
  size_t at_ = 0;
};

}  // namespace

NpyHeader read_npy_header(std::string_view text, std::string_view where) {
  return DictReader(text, where).read();
}

}  // namespace kith
