// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kith::cli {

// A script that makes a shell complete commands, flags and choices. Error(kUsage) if the shell is
// not bash, zsh or fish.
std::string completion_for(std::string_view shell);

}  // namespace kith::cli
