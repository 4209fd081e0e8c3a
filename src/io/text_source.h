// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text in any of the encodings that people have, as a stream of UTF-8.

#include <memory>
#include <string>

#include "io/file.h"
#include "kith/text_encoding.h"

namespace kith {

// A byte-order mark is skipped, and decides whatever `encoding` says; without one UTF-16 is of the
// order that gives fewer characters above 255. UTF-8 goes through as it is, bad bytes included, and
// what is no character in UTF-16 becomes a byte that is bad in UTF-8: so bad bytes are the business
// of readers, all of whom count them. Error(kInput) for UTF-32; `where` begins its message.
std::unique_ptr<ByteSource> as_utf8(std::unique_ptr<ByteSource> source, TextEncoding encoding,
                                    std::string where);

inline std::unique_ptr<ByteSource> open_text(const std::string& path,
                                             TextEncoding encoding = TextEncoding::kUtf8) {
  return as_utf8(open_source(path), encoding, path);
}

// What a note about bytes that are not UTF-8 ends with.
inline constexpr std::string_view kIfNotUtf8 =
    "if this is not UTF-8, give its encoding, such as --encoding latin-1";

}  // namespace kith
