/* SPDX-License-Identifier: MIT */
#include "profiler/record/condition_waiters.h"

#include "profiler/store/lock_registry.h"

#include <sys/mman.h>

struct waiters {
    struct atomic_u32 inside; /* waits that have not returned yet */
    struct atomic_u32 begun, woken;
};

enum { CONDITIONS_MOST = 1 << 18 }; /* higher numbers are not tracked */

static struct atomic_u64 table; /* struct waiters *, indexed by number */

static const size_t table_bytes = sizeof(struct waiters) * CONDITIONS_MOST;

static struct waiters *waiters_of(uint32_t condition)
{
    uint64_t known = load_acquire(&table);
    if (!condition || condition >= CONDITIONS_MOST)
        return NULL;
    if (!known) {
        void *made = map_pages(table_bytes);
        if (!made)
            return NULL;
        if (compare_exchange_acq_rel(&table, &known, (uintptr_t)made))
            known = (uintptr_t)made;
        else
            munmap(made, table_bytes);
    }
    return (struct waiters *)(uintptr_t)known + condition;
}

/* Counts at most `most` waits as woken, and never more than have begun. Returns how
 * many. */
static uint32_t wake(struct waiters *waiters, uint32_t most)
{
    uint32_t woken = load_relaxed(&waiters->woken), begun;
    do {
        begun = load_relaxed(&waiters->begun);
        if (begun - woken < most)
            most = begun - woken;
    } while (most && !compare_exchange_relaxed(&waiters->woken, &woken, woken + most));
    return most;
}

void condition_waiters_begin(uint32_t condition)
{
    struct waiters *waiters = waiters_of(condition);
    if (!waiters)
        return;
    fetch_add_relaxed(&waiters->inside, 1);
    fetch_add_relaxed(&waiters->begun, 1);
}

void condition_waiters_end(uint32_t condition, bool timed_out)
{
    struct waiters *waiters = waiters_of(condition);
    if (!waiters)
        return;
    if (timed_out)
        wake(waiters, 1);
    if (fetch_add_relaxed(&waiters->inside, UINT32_MAX) == 1)
        wake(waiters, UINT32_MAX);
}

uint32_t condition_waiters_wake(uint32_t condition, bool all)
{
    struct waiters *waiters = waiters_of(condition);
    return waiters ? wake(waiters, all ? UINT32_MAX : 1) : 0;
}

bool condition_waiters_left(uint32_t condition)
{
    struct waiters *waiters = waiters_of(condition);
    return waiters && load_relaxed(&waiters->inside) &&
           load_relaxed(&waiters->begun) != load_relaxed(&waiters->woken);
}

void condition_waiters_forget(void)
{
    uint64_t known = load_relaxed(&table);
    if (known)
        munmap((void *)(uintptr_t)known, table_bytes);
    store_relaxed(&table, 0);
}
