/* SPDX-License-Identifier: MIT */
/*
 * Load control for a queue lock whose waiters spin: only as many threads as there are
 * CPUs enter the queue, and the others sleep until they may. In a longer queue, most
 * hand-overs would go to a thread that is not running, and each of them would cost a
 * time slice. The others do not spin first: those in the queue need their CPUs.
 *
 *   cell  number of threads that have been admitted and have not left; in the bits
 *         above it, the number of threads that sleep or are about to
 *
 * A1. A thread is admitted by an exchange that finds fewer than `places`. It sleeps
 *     only while the cell has a value that shows no free place, so it cannot miss one.
 * A2. A thread that leaves wakes one sleeper for the free place. Another thread may
 *     take the place first; then that thread wakes a sleeper when it leaves.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_ADMISSION_H
#define HASP_RWLOCKS_ALGORITHMS_ADMISSION_H

#include "rwlocks/rwlock.h"

enum { ADMISSION_SLEEPER = 1 << 12 };

static inline uint32_t admission_count(uint32_t cell)
{
    return cell & (ADMISSION_SLEEPER - 1);
}

/* Returns how many threads to admit if `running` others need a CPU each; at least 1. */
static inline uint32_t admission_places(uint32_t running)
{
    uint32_t cpus = cpu_count();
    uint32_t places = cpus > running ? cpus - running : 1;
    return places < ADMISSION_SLEEPER / 2 ? places : ADMISSION_SLEEPER / 2;
}

/* Waits until the caller is admitted. Returns false if the deadline has passed. */
static inline bool admission_get(struct atomic_u32 *cell, uint32_t places,
                                 const struct deadline *deadline)
{
    uint32_t seen = load_relaxed(cell), sleeps = 0;
    for (;;) {
        if (admission_count(seen) < places) {
            if (compare_exchange_relaxed(cell, &seen, seen + 1 - sleeps))
                return true;
            continue;
        }
        if (!sleeps) {
            if (!compare_exchange_relaxed(cell, &seen, seen + ADMISSION_SLEEPER))
                continue;
            seen += sleeps = ADMISSION_SLEEPER;
        }
        if (!park(cell, seen, deadline)) {
            fetch_add_relaxed(cell, ~(uint32_t)ADMISSION_SLEEPER + 1);
            return false;
        }
        seen = load_relaxed(cell);
    }
}

/* Wakes a sleeper if there is one. `was`: the result of admission_leave(). */
static inline void admission_wake(struct atomic_u32 *cell, uint32_t was)
{
    if (unlikely(was >= ADMISSION_SLEEPER))
        unpark(cell, 1);
}

/* Returns the cell as it was before the caller left. */
static inline uint32_t admission_leave(struct atomic_u32 *cell)
{
    return fetch_add_relaxed(cell, UINT32_MAX);
}

#endif
