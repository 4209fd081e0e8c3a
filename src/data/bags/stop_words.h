// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace kith {

// Words of English that say nothing about what a text is about: articles, pronouns, prepositions,
// conjunctions, auxiliary verbs, and what is left of them when they are cut at an apostrophe.
std::span<const std::string_view> english_stop_words();

}  // namespace kith
