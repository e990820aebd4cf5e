/* SPDX-License-Identifier: MIT */
/* A fence in the waiter alone does not order the releaser's accesses. */
#include "platform/platform.h"

#undef heavy_barrier
#define heavy_barrier() (fence_seq_cst(), true)
#define VARIANT FENCE_FOR_BARRIER
#include "wrong/biased_futex.h"
