/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#undef heavy_barrier
#define heavy_barrier() true
#define VARIANT NO_HEAVY_BARRIER
#include "wrong/biased_futex.h"
