/* SPDX-License-Identifier: MIT */
/* Parking, implemented with private futexes. */
#ifndef HASP_PLATFORM_NATIVE_FUTEX_H
#define HASP_PLATFORM_NATIVE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

/* These are inline, so that asynchronous cancellation can interrupt the system call.
 * `scope`: FUTEX_PRIVATE_FLAG or 0. */
static inline bool park_within(struct atomic_u32 *cell, uint32_t expected,
                               const struct deadline *deadline, int scope)
{
    int operation = FUTEX_WAIT_BITSET | scope;
    const struct timespec *at = NULL;
    if (deadline) {
        if (deadline->at.tv_sec < 0)
            return false; /* long past, but the kernel would return EINVAL */
        if (deadline->clock == CLOCK_REALTIME)
            operation |= FUTEX_CLOCK_REALTIME;
        at = &deadline->at;
    }
    return raw_syscall(SYS_futex, (long)&cell->raw, operation, (long)expected, (long)at,
                       0, (long)FUTEX_BITSET_MATCH_ANY) != -ETIMEDOUT;
}

static inline bool park(struct atomic_u32 *cell, uint32_t expected,
                        const struct deadline *deadline)
{
    return park_within(cell, expected, deadline, FUTEX_PRIVATE_FLAG);
}

static inline bool park_shared(struct atomic_u32 *cell, uint32_t expected,
                               const struct deadline *deadline)
{
    return park_within(cell, expected, deadline, 0);
}

static inline void unpark_shared(struct atomic_u32 *cell, uint32_t count)
{
    raw_syscall(SYS_futex, (long)&cell->raw, FUTEX_WAKE, (long)count, 0, 0, 0);
}

static inline void unpark(struct atomic_u32 *cell, uint32_t count)
{
    raw_syscall(SYS_futex, (long)&cell->raw, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
                (long)count, 0, 0, 0);
}

static inline void requeue(struct atomic_u32 *from, uint32_t expected,
                           struct atomic_u32 *to)
{
    raw_syscall(SYS_futex, (long)&from->raw, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0,
                1, (long)&to->raw, (long)expected);
}

enum { SLEEP_SLICE_NS = 1000000 };

static inline void yield(void)
{
    raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

#endif
