// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace kith {

// The message of the Error that `work` throws; the test fails if its kind differs or there is none.
template <class Work>
std::string message_of(ErrorKind kind, const Work& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace kith
