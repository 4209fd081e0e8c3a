// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a run has come, in the model file and in what `kith info` says.

#include <vector>

#include "models/model.h"
#include "train/run.h"

namespace kith {

void pack(const RunState& state, bool checkpoint, ArchiveWriter& out);
void read_run(const Archive& in, RunState& state);
// Loss, held-out scores, rollbacks.
void add_facts(const RunState& state, std::vector<Fact>& out);

}  // namespace kith
