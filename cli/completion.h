// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kith::cli {

// A script that makes a shell complete commands, models, flags and their values. Error(kUsage) for
// a shell that there is none for.
std::string completion_for(std::string_view shell);

}  // namespace kith::cli
