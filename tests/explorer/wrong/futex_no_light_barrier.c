/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#undef light_barrier
#define light_barrier() ((void)0)
#define VARIANT NO_LIGHT_BARRIER
#include "wrong/biased_futex.h"
