// SPDX-License-Identifier: Apache-2.0
#include "core/once.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace kith {
namespace {

TEST(Once, IsDoneOnceHoweverManyAsk) {
  Once once;
  int made = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { once([&] { ++made; }); });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
}

TEST(Once, WhatFailedIsTriedAgain) {
  Once once;
  EXPECT_THROW(once([] { throw std::runtime_error("no"); }), std::runtime_error);
  bool made = false;
  once([&] { made = true; });
  EXPECT_TRUE(made);
}

}  // namespace
}  // namespace kith
