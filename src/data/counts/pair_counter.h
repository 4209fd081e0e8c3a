// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often words stand together in a corpus.
//
// Most pairs are of two frequent words. Those whose ranks have a small product are added up in a
// table. The others are written down, 8 bytes each; when a thread has no room for more it sorts
// them, adds up equal ones, and keeps the sums, in memory or in a scratch file. In the end all
// sums of a range of rows are brought together, range by range.
//
// Weights are whole multiples of 2^-20, so sums are exact: the counts do not depend on the number
// of threads, on the memory, or on what went to disk.
//
// Time: about 10 ns for each pair of positions. Memory: about CountOptions::count_memory, sums of
// one sort more, the counts (8 bytes a cell), and as much again while they are put together.

#include <cstdint>
#include <functional>
#include <string>

#include "core/parallel.h"
#include "data/counts/count_options.h"
#include "data/sparse.h"
#include "data/text/corpus.h"

namespace kith {

// With --within line, longer lines are counted in pieces of so many words: all pairs of a text
// without line ends would be its length squared.
inline constexpr uint64_t kLongestLine = 1000;

// words x words: cell (w, c) is how much of c stands around w. `progress` is called now and then
// on the caller's thread with the share that is done, and may throw to stop.
Sparse count_pairs(const Corpus& corpus, const CountOptions& options, const std::string& scratch,
                   const Context& context, const std::function<void(double)>& progress = {});

}  // namespace kith
