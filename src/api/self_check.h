// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kith/context.h"
#include "kith/events.h"
#include "models/model.h"

namespace kith {

// Looks at what training left: how many vectors are zero, and what three frequent names are near
// to. Nothing to see for a model without vectors.
Examples examples_of(const ModelBase& model, uint64_t seed, const Context& context);

}  // namespace kith
