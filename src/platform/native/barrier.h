/* SPDX-License-Identifier: MIT */
/* The asymmetric barrier over membarrier(2), private expedited. */
#ifndef HASP_PLATFORM_NATIVE_BARRIER_H
#define HASP_PLATFORM_NATIVE_BARRIER_H

#include <stdbool.h>

#define light_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Once, while the process has one thread (3 us; 10 ms later: the kernel then waits for
 * a grace period). True when heavy_barrier() will work: the kernel has it, and no
 * seccomp filter is active that could forbid it later. */
bool barrier_register(void);

/* A filter is about to be installed: nothing may depend on membarrier any more. */
void barrier_forbid(void);

bool heavy_barrier(void);

#endif
