// SPDX-License-Identifier: Apache-2.0
#pragma once
// What files of answers and files of vectors share.

#include <span>
#include <string>
#include <string_view>

#include "core/names.h"
#include "kith/error.h"

namespace kith {

// Error(kUsage) for a name whose extension says no format.
Error unknown_extension(const std::string& path, std::span<const std::string_view> known);

// Adds a name; two films of one title are two rows, so a second one gets its number behind it.
void add_distinct(Names& names, std::string_view name);

}  // namespace kith
