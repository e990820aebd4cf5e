/* SPDX-License-Identifier: MIT */
/* A fence of the waiter alone does not order the releaser. */
#include "platform/platform.h"

#undef heavy_barrier
#define heavy_barrier() (fence_seq_cst(), true)
#define VARIANT FENCE_FOR_BARRIER
#include "wrong/biased_futex.h"
