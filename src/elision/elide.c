/* SPDX-License-Identifier: MIT */
#include "elision/elide.h"

#include "elision/account.h"
#include "elision/elided_lock.h"

/* For the model checker, one attempt and one skipped acquisition are enough, and sites
 * are not recorded. */
enum {
    TRIES = MODEL_CHECKED ? 1 : (int)ELISION_TRIES,
    SKIP = MODEL_CHECKED ? 1 : (int)ELISION_SKIP,
};

struct elision_settings elision_settings = {
    .tries = TRIES,
    .skip = SKIP,
    .nesting = ELISION_NESTING,
    .watchdog_ms = MODEL_CHECKED ? 1 : 200,
    .waits_first = true,
    .by_site = !MODEL_CHECKED,
    .guards_nests = true,
};

const struct elision_watcher *elision_watcher;

/* Records of sites (P4), by a hash of the address. A record is 0, and is not written,
 * until a section of its site aborts. */
enum { SITE_BITS = 12 };
static struct atomic_u32 sites[1 << SITE_BITS] __attribute__((aligned(CACHE_LINE)));

static struct atomic_u32 *site_record(const void *site)
{
    uint64_t hash = (uintptr_t)site * UINT64_C(0x9e3779b97f4a7c15);
    return &sites[hash >> (64 - SITE_BITS)];
}

/* --- deciding --- */

/* Counts down; two threads may count the same acquisition, which does not matter. */
static bool skip_one(struct atomic_u32 *left)
{
    uint32_t seen = load_relaxed(left);
    if (seen % ELISION_SITE_FAILURES == 0)
        return false;
    store_relaxed(left, seen - 1);
    return true;
}

static bool guarded(struct elision_thread *me)
{
    if (likely(!me->guard))
        return false;
    if (--me->guarded == 0) /* another thread may have released the lock */
        me->guard = NULL;
    return true;
}

/* Returns whether the thread, which elides nothing yet, should elide the lock. */
static bool may_elide(struct elision_thread *me, struct lock *lock,
                      const struct elided *as, struct atomic_u32 *site)
{
    if (has_owner(lock, as))
        return false;
    if (single_threaded() && !htm_emulated())
        return false;
    if (unlikely(guarded(me))) {
        count(&counts_of(me)->guarded, 1);
        return false;
    }
    if (skip_one(skips_of(lock, as)) || (site && skip_one(site))) {
        count(&counts_of(me)->skipped, 1);
        return false;
    }
    return true;
}

static bool wait_until_free(struct elision_thread *me, const struct lock *lock,
                            const struct elided *as)
{
    if (!elision_settings.waits_first || is_free(lock, as))
        return true;
    for (uint32_t spins = spin_limit(); spins; spins -= relax_at_most(spins))
        if (is_free(lock, as))
            return true;
    count(&counts_of(me)->busy, 1);
    return false;
}

static void give_up(struct elision_thread *me, struct lock *lock,
                    const struct elided *as, struct atomic_u32 *site, uint32_t status)
{
    const uint32_t skip = elision_settings.skip;
    if (elision_settings.guards_nests && status & HTM_NESTED) {
        me->guard = lock;
        me->guarded = ELISION_GUARDED;
    }
    if (elision_may_retry(status))
        return; /* the attempts are used up, but the next section may succeed */
    struct atomic_u32 *skips = skips_of(lock, as);
    if (load_relaxed(skips) != skip) /* a store aborts other transactions */
        store_relaxed(skips, skip);
    if (site)
        store_relaxed(site, elision_site_after_failure(load_relaxed(site), skip));
}

/* --- transactions --- */

static void push(struct elision_thread *me, struct lock *lock, const struct elided *as)
{
    if (me->count)
        add_inner(me, lock, side_of(as));
    if (as->reads)
        me->reading |= UINT32_C(1) << me->count;
    me->locks[me->count++] = lock;
    me->sections++;
    if (me->deepest < me->count)
        me->deepest = me->count;
}

/* Emulation: the transaction has aborted, and the thread keeps the locks that it
 * acquired for it. */
static void turn_into_acquisitions(struct elision_thread *me, uint32_t status)
{
    if (me->aborted)
        return;
    if (me->count > 1)
        status |= HTM_NESTED;
    count_abort(me, status);
    time_ends(me);
    give_up(me, me->locks[0], me->outer_as, NULL, status);
    me->aborted = true;
}

/* Begins to elide a lock while the thread elides none. Returns HTM_STARTED; or, after
 * an abort anywhere in the section, its status. */
static uint32_t begin(struct elision_thread *me, struct lock *lock,
                      const struct elided *as)
{
    count(&counts_of(me)->begins, 1);
    me->outer = lock;
    me->outer_as = as;
    me->sections = me->deepest = me->inner_count = 0;
    me->aborted = false;
    uint32_t status = htm_begin();
    if (status == HTM_STARTED) {
        if (htm_emulated() ? as->inner->trylock(lock) : is_free(lock, as)) {
            push(me, lock, as);
            return HTM_STARTED;
        }
        htm_abort(ELISION_BUSY); /* continues above, unless emulated */
        status = htm_explicit(ELISION_BUSY);
    }
    me->count = 0;
    me->reading = 0;
    count_abort(me, status);
    return status;
}

static int acquire(struct elision_thread *me, struct lock *lock,
                   const struct elided *as)
{
    const bool elides = me->count != 0;
    tell_acquires(me, lock, as);
    int result = as->inner->lock(lock);
    elision_acquired(as);
    if (!elides)
        count_acquired(me, lock, as, result == 0);
    if (elides && me->aborted) { /* an open transaction would undo it */
        count(&counts_of(me)->acquired, 1);
        add_inner(me, lock, side_of(as));
    }
    return result;
}

/* Elides another lock inside the transaction. Returns false if the thread has to
 * acquire it. */
static bool nest(struct elision_thread *me, struct lock *lock, const struct elided *as)
{
    if (me->aborted || me->count == ELISION_LOCKS || has_owner(lock, as))
        return false;
    /* Levels below the deepest of the hardware begin no transaction. */
    uint32_t status = me->count < elision_settings.nesting ? htm_begin() : HTM_STARTED;
    bool elides = status == HTM_STARTED &&
                  (htm_emulated() ? as->inner->trylock(lock) : is_free(lock, as));
    if (elides) {
        push(me, lock, as);
        return true;
    }
    if (status == HTM_STARTED) {
        htm_abort(ELISION_BUSY);
        status = htm_explicit(ELISION_BUSY);
    }
    turn_into_acquisitions(me, status | HTM_NESTED);
    return false;
}

/* Ends one of the elided sections. The transaction commits when the last one ends. */
static int end(struct elision_thread *me, int place, const struct elided *as,
               const void *site)
{
    struct lock *lock = me->locks[place];
    if (unlikely(me->begun_at && (uintptr_t)site - me->begun_at <= ELISION_EMPTY_BYTES))
        elision_leave(ELISION_EMPTY); /* P6 */
    elision_remove(me, (unsigned)place);
    const bool aborted = me->aborted;
    if (unlikely(me->guard == lock)) /* emulation only */
        me->guard = NULL;
    if (!aborted && me->count < elision_settings.nesting)
        htm_commit();
    if (htm_emulated())
        as->inner->unlock(lock);
    if (me->count)
        return 0;
    if (aborted) {
        tell_watcher(me, me->outer, me->outer_as, false, true);
        return 0;
    }
    count_commit(me);
    if (unlikely(me->site != NULL)) {
        store_relaxed(me->site, 0);
        me->site = NULL;
    }
    return 0;
}

/* --- operations --- */

static struct atomic_u32 *site_of(const void *site)
{
    return elision_settings.by_site && site ? site_record(site) : NULL;
}

/* Makes up to `tries` attempts to elide a lock while the thread elides none. Returns
 * whether the thread now elides it. */
static bool try_to_elide(struct elision_thread *me, struct lock *lock,
                         const struct elided *as, const void *caller, uint32_t tries)
{
    struct atomic_u32 *site = site_of(caller);
    if (!may_elide(me, lock, as, site))
        return false;
    me->site = site && unlikely(load_relaxed(site) != 0) ? site : NULL;
    me->begun_at = (uintptr_t)caller;
    time_begins(me);
    uint32_t status = 0;
    for (uint32_t failed = 0; failed < tries; failed++) {
        bool free = wait_until_free(me, lock, as);
        time_passes(me, &counts_of(me)->wait_ticks);
        if (!free)
            return false;
        me->failed = (uint8_t)failed;
        status = begin(me, lock, as);
        if (status == HTM_STARTED)
            return true;
        if (!elision_may_retry(status))
            break;
    }
    give_up(me, lock, as, site, status);
    return false;
}

/* Returns whether the thread now elides another lock inside its transaction. */
static __attribute__((noinline)) bool
elides_inside(struct elision_thread *me, struct lock *lock, const struct elided *as)
{
    if (may_nest(me, lock, as))
        return nest(me, lock, as);
    elision_leave(ELISION_RELOCK); /* the thread deadlocks, as POSIX says */
    return false;
}

int elision_lock(struct lock *lock, const struct elided *as, const void *site)
{
    struct elision_thread *me = elision_thread();
    bool elides = unlikely(me->count)
                      ? elides_inside(me, lock, as)
                      : try_to_elide(me, lock, as, site, elision_settings.tries);
    return elides ? 0 : acquire(me, lock, as);
}

static bool acquire_at_once(struct elision_thread *me, struct lock *lock,
                            const struct elided *as)
{
    bool acquired = as->inner->trylock(lock);
    count_acquired(me, lock, as, acquired);
    return acquired;
}

static bool try_inside(struct elision_thread *me, struct lock *lock,
                       const struct elided *as)
{
    if (elision_settings.trylock_nests) {
        if (!may_nest(me, lock, as) || !is_free(lock, as))
            return false;
        if (nest(me, lock, as))
            return true;
    } else {
        elision_leave(ELISION_TRYLOCK);
    }
    return as->inner->trylock(lock);
}

bool elision_trylock(struct lock *lock, const struct elided *as, const void *site)
{
    struct elision_thread *me = elision_thread();
    bool acquired;
    if (unlikely(me->count))
        acquired = try_inside(me, lock, as);
    else if (is_free(lock, as) && try_to_elide(me, lock, as, site, 1))
        return true;
    else
        acquired = acquire_at_once(me, lock, as);
    if (!acquired && me->guard == lock)
        me->guard = NULL;
    if (acquired && elision_place(me, lock) < 0)
        elision_acquired(as);
    return acquired;
}

bool elision_timedlock(struct lock *lock, const struct elided *as,
                       const struct deadline *deadline)
{
    struct elision_thread *me = elision_thread();
    if (unlikely(me->count) ? elides_inside(me, lock, as)
                            : is_free(lock, as) && try_to_elide(me, lock, as, NULL, 1))
        return true;
    const bool elides = me->count != 0;
    tell_acquires(me, lock, as);
    bool acquired = as->inner->timedlock(lock, deadline);
    if (acquired)
        elision_acquired(as);
    if (!elides)
        count_acquired(me, lock, as, acquired);
    return acquired;
}

int elision_unlock(struct lock *lock, const struct elided *as, const void *site)
{
    struct elision_thread *me = elision_thread();
    int place = elision_place(me, lock);
    if (place >= 0)
        return end(me, place, as, site);
    if (unlikely(me->guard == lock))
        me->guard = NULL;
    if (as->available)
        return as->inner->unlock(lock);
    if (unlikely(is_free(lock, as)))
        return 0; /* E4: the program unlocks a mutex that no thread holds */
    if (!as->own_word)
        fence_before_stores(); /* E3 */
    return as->inner->unlock(lock);
}

void elision_leave(uint8_t code)
{
    struct elision_thread *me = elision_thread();
    if (me->count == 0)
        return;
    if (!me->aborted)
        htm_abort(code);
    turn_into_acquisitions(me, htm_explicit(code));
}

void elision_thread_ends(void)
{
    struct elision_thread *me = elision_thread();
    if (me->counts)
        elision_counts_release(me->counts);
    me->counts = NULL;
}

unsigned elision_depth(void)
{
    return elision_thread()->count;
}
