/* SPDX-License-Identifier: MIT */
/* The asymmetric barrier, implemented with membarrier(2), private expedited. */
#ifndef HASP_PLATFORM_NATIVE_BARRIER_H
#define HASP_PLATFORM_NATIVE_BARRIER_H

#include "platform/native/atomics.h"

#include <stdbool.h>

#define light_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Called once, while the process has one thread: that takes 3 us, but 10 ms with more
 * threads, because the kernel then waits for an RCU grace period. Returns true if
 * heavy_barrier() will work: the kernel supports it, and no seccomp filter is active
 * that could forbid it. With more threads, heavy_barrier_works() remains false. */
bool barrier_register(void);

/* Called before a seccomp filter is installed. heavy_barrier() fails from now on. */
void barrier_forbid(void);

bool heavy_barrier(void);

extern struct atomic_u32 barrier_works __attribute__((visibility("hidden")));

static inline bool heavy_barrier_works(void)
{
    return load_relaxed(&barrier_works) != 0;
}

#endif
