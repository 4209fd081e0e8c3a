// SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"

#include <gtest/gtest.h>

namespace kith {
namespace {

// Which ratings are held out follows from these numbers, and so does whether a checkpoint fits its
// data: they must be the same in every version.
TEST(StableHash, IsTheSameForEver) {
  EXPECT_EQ(stable_hash(""), 16632441577453694612u);
  EXPECT_EQ(stable_hash("a"), 6666335665904686607u);
  EXPECT_EQ(stable_hash("user 42"), 16602082929332294147u);
  EXPECT_EQ(stable_hash("a name that is longer than eight bytes"), 900018973008354498u);
}

}  // namespace
}  // namespace kith
