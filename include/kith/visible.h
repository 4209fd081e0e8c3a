// SPDX-License-Identifier: Apache-2.0
#pragma once

// What public headers declare can be seen from outside the library; everything else is hidden.
#define KITH_VISIBLE __attribute__((visibility("default")))
