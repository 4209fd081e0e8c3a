// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file beside a model that says what the columns of its table are: written, given back, and
// removed when the model is another one. One that a person has edited is never lost.

#include <optional>
#include <string>

#include "data/table/schema.h"
#include "kith/events.h"

namespace kith {

Schema read_schema(const std::string& path);

// Writes it, unless the file says the same or was `given` by the user. What was there is put aside
// if it was edited. What a person should know.
std::optional<Note> write_schema(const std::string& path, bool given, const Schema& schema);

// For a model that has no such file: what an earlier one left is removed, or put aside if it was
// edited.
std::optional<Note> retire_schema(const std::string& path);

}  // namespace kith
