// SPDX-License-Identifier: Apache-2.0
#pragma once
// An encoding as a part of a model file.

#include "data/encoding.h"
#include "io/archive.h"

namespace kith {

// Views of the encoding, which must outlive `out`.
void pack(const Encoding& encoding, ArchiveWriter& out);
// Error(kInput) if the file is damaged.
Encoding read_encoding(const Archive& in);

// Appends a group, with the space that its column names or a new one. Error(kInput) if it cannot.
void add_group(Encoding& encoding, const Column& column);

}  // namespace kith
