// SPDX-License-Identifier: Apache-2.0
#pragma once
// How evenly a low-rank matrix is spread over its entries. A matrix whose singular vectors are
// spread out can be recovered from few random entries; one with a spike cannot, since nothing but
// the entry itself tells of the spike.

#include "train/svd.h"

namespace kith {

// The least mu with which a (n x m, rank k) is incoherent in the sense of Candes and Tao (2010):
//
//   P = U U^T, Q = V V^T, E = U V^T
//   |p_ij| <= mu sqrt(k) / n for i != j,   |p_ii - k / n| <= mu sqrt(k) / n,   Q likewise with m
//   |e_ij| <= mu sqrt(k) / sqrt(n m)
//
// 1 or a little more at best, n / sqrt(k) at worst. Takes (n + m)^2 k operations.
double incoherence(const Svd& a, const Context& context);

}  // namespace kith
