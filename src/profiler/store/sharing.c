/* SPDX-License-Identifier: MIT */
#include "profiler/store/sharing.h"

/* The bits of the word; the rest of it counts holds. */
enum { HELD = 1, WAITED = 2, OVERDUE = 4, STATE = 7, ONE_HOLD = 8, SPINS = 100 };

struct atomic_u32 system_calls_forbidden;
uint64_t brief_lock_longest_ns = 10000000000;

static struct deadline deadline_of_hold(void)
{
    const uint64_t at = now_ns() + brief_lock_longest_ns;
    return (struct deadline){CLOCK_MONOTONIC,
                             {(time_t)(at / 1000000000), (long)(at % 1000000000)}};
}

/* Sleeps while the hold that was seen lasts. Returns false when it is overdue. */
static bool wait_for(struct atomic_u32 *lock, uint32_t seen, const struct deadline *end)
{
    if (load_relaxed(&system_calls_forbidden)) {
        relax();
        return !deadline_passed(end);
    }
    if (!(seen & WAITED) && !compare_exchange_relaxed(lock, &seen, seen | WAITED))
        return true;
    return park(lock, seen | WAITED, end);
}

bool brief_lock(struct atomic_u32 *lock)
{
    struct deadline end;
    uint32_t waited = 0, hold = 0;
    for (uint32_t spins = 0;; spins++) {
        uint32_t seen = load_relaxed(lock);
        if (!(seen & STATE)) {
            const uint32_t mine = (seen + ONE_HOLD) | HELD | waited;
            if (compare_exchange_acquire(lock, &seen,
                                         mine)) /* pairs with brief_unlock */
                return true;
            continue;
        }
        if (seen & OVERDUE)
            return false;
        if (spins < SPINS) {
            relax();
            continue;
        }
        if (spins == SPINS || hold != (seen & ~(uint32_t)STATE)) {
            hold = seen & ~(uint32_t)STATE;
            end = deadline_of_hold();
        }
        waited = WAITED; /* others may be asleep, too, when this thread has the lock */
        if (!wait_for(lock, seen, &end)) {
            seen = load_relaxed(lock);
            if ((seen & ~(uint32_t)STATE) == hold && seen & HELD)
                compare_exchange_relaxed(lock, &seen, seen | OVERDUE);
        }
    }
}

void brief_unlock(struct atomic_u32 *lock)
{
    if (fetch_and_release(lock, ~(uint32_t)STATE) & WAITED)
        unpark(lock, 1);
}
