// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kith/text.h"

namespace kith {
namespace {

TEST(ShownSource, HasNoPasswordWhateverIsInIt) {
  const auto shown = [](const char* source) { return shown_source(source); };
  EXPECT_EQ(shown("postgresql://me:secret@host:1/films"), "postgresql://me:PASSWORD@host:1/films");
  EXPECT_EQ(shown("POSTGRES://me:s/e@c:r@et@host/films"), "POSTGRES://me:PASSWORD@host/films");
  EXPECT_EQ(shown("postgres://host/films?password=s@cret&user=me"),
            "postgres://host/films?password=PASSWORD&user=me");
  EXPECT_EQ(shown("postgres://host/films?user=me&password=secret"),
            "postgres://host/films?user=me&password=PASSWORD");
}

TEST(ShownSource, IsTheSourceWhereThereIsNoPassword) {
  for (const char* source : {"films.csv", "a:b@c.csv", "postgresql://me@host:1/films",
                             "postgresql://host:1/films?user=a@b"}) {
    EXPECT_EQ(shown_source(source), source);
  }
}

}  // namespace
}  // namespace kith
