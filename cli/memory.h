// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much memory there is, and was used.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kith::cli {

// Bytes this process may still take: what the system calls available, what is left of the limits
// of its control groups (a container's), and of `ulimit -v`. Nothing if none of them is known.
std::optional<uint64_t> available_memory();

// "2G", "500 MB", "1.5GiB" or plain bytes; K, M, G, T are powers of 1024. Error(kUsage) otherwise,
// which says the name of the setting.
uint64_t parse_size(std::string_view name, const std::string& text);

uint64_t peak_memory();  // bytes, of this process so far
double cpu_seconds();    // of all its threads

}  // namespace kith::cli
