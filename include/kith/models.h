// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which models and kinds of data there are, and what can be set: what help, documentation and
// completion are made of.

#include <initializer_list>
#include <string_view>
#include <vector>

#include "kith/model.h"
#include "kith/settings.h"
#include "kith/visible.h"

namespace kith KITH_VISIBLE {

struct ModelDescription {
  std::string_view name, summary;
  std::string_view data;  // the kind of data it learns from: "text"; "" if it cannot be trained
  FieldGroup settings;    // its own
  std::vector<Can> can;   // what such models can be asked
};
std::vector<ModelDescription> available_models();
// One of them, or Error(kUsage) with a suggestion.
ModelDescription describe_model(std::string_view name);
bool is_model(std::string_view name);

std::vector<std::string_view> available_data();
// What can be said about data of a kind to learn from; and how sources of it are read, also where
// nothing is learned.
std::vector<FieldGroup> data_settings(std::string_view kind);
std::vector<FieldGroup> reading_settings(std::string_view kind);
// Of all kinds that models learn from which can do one of these.
std::vector<FieldGroup> reading_settings(std::initializer_list<Can> any_of);

// The kind of data that a source looks like, by its name and first bytes; a database, by the
// columns of `query`: a table's name, or a SELECT. Error if a database cannot tell them.
std::string_view guess_kind(const std::string& source, const std::string& query = "");

}  // namespace KITH_VISIBLE
