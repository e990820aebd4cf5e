/* SPDX-License-Identifier: MIT */
#include "rwlocks/algorithms/bravo.h"

struct atomic_u32 bravo_writers __attribute__((aligned(CACHE_LINE)));
struct atomic_u32 bravo_event;

void bravo_wake_writers(void)
{
    fetch_add_release(&bravo_event, 1); /* pairs with wait_for_readers() */
    unpark(&bravo_event, INT32_MAX);
}

/* A time that wraps around; 0 is not one. */
static uint32_t time_of(uint64_t at)
{
    return (uint32_t)(at >> BRAVO_TICKS_SHIFT) | 1;
}

void bravo_start(struct rwlock *lock)
{
    uint32_t until = load_relaxed(&lock->more[1]), now = time_of(ticks());
    if (until && (int32_t)(now - until) < 0)
        return;
    uint32_t none = 0; /* BRAVO_CLOSED: a writer waits */
    if (load_relaxed(&lock->bias) != 0)
        return;
    store_relaxed(&lock->more[0], now);
    /* Pairs with the load of a reader that enters by the bias (bravo.h). */
    compare_exchange_release(&lock->bias, &none, BRAVO_BIASED);
}

static bool wait_for_readers(const struct rwlock *lock, const struct deadline *deadline)
{
    uint32_t spins = spin_limit();
    for (;;) {
        uint32_t event = load_acquire(&bravo_event);
        if (!read_holds_biased(lock))
            return true;
        if (spins)
            spins -= relax_at_most(spins);
        else if (!park(&bravo_event, event, deadline))
            return !read_holds_biased(lock);
    }
}

/* The bias, which has taken `took` ticks to end, starts again after a pause. */
static void bravo_pause(struct rwlock *lock, uint64_t begin, uint64_t took)
{
    uint64_t pause = BRAVO_INHIBIT * took >> BRAVO_TICKS_SHIFT;
    uint32_t before = load_relaxed(&lock->state[3]);
    uint32_t lasted = time_of(begin) - load_relaxed(&lock->more[0]);
    if (lasted < BRAVO_WORTH && pause < BRAVO_LONGEST && pause < 2 * (uint64_t)before)
        pause = 2 * before < BRAVO_LONGEST ? 2 * before : BRAVO_LONGEST;
    uint32_t rounded = (uint32_t)pause | 1;
    store_relaxed(&lock->state[3], rounded);
    store_relaxed(&lock->more[1], (time_of(begin + took) + rounded) | 1);
}

bool bravo_revoke(struct rwlock *lock, bool wait, const struct deadline *deadline)
{
    if (!wait && read_holds_biased(lock))
        return false;
    uint64_t begin = ticks();
    store_relaxed(&lock->bias, BRAVO_CLOSED);
    if (wait)
        fetch_add_relaxed(&bravo_writers, 1);
    if (!BIASED_RELEASE || !heavy_barrier())
        fence_seq_cst();
    bool gone = wait ? wait_for_readers(lock, deadline) : !read_holds_biased(lock);
    if (wait)
        fetch_add_relaxed(&bravo_writers, UINT32_MAX);
    bravo_pause(lock, begin, ticks() - begin);
    if (gone)
        store_relaxed(&lock->bias, 0);
    return gone;
}
