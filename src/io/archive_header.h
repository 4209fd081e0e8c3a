// SPDX-License-Identifier: Apache-2.0
#pragma once
// The JSON header of a safetensors file, read without trusting it. Private to src/io.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive.h"

namespace kith {

// The safetensors library refuses longer headers too.
inline constexpr uint64_t kMaxHeader = 100'000'000;

struct ArchiveHeader {
  struct Entry {
    DType dtype = DType::kF32;
    std::vector<uint64_t> shape;
    uint64_t begin = 0, end = 0;  // in bytes from the start of the data
  };
  std::map<std::string, std::string> metadata;
  std::map<std::string, Entry> tensors;
};

// Reads the header and checks it against the `data_bytes` that follow it: the tensors must fill
// them without holes or overlaps, each as long as its shape says. Throws Error(kInput).
ArchiveHeader parse_archive_header(std::string_view json, uint64_t data_bytes,
                                   std::string_view where);

}  // namespace kith
