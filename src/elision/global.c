/* SPDX-License-Identifier: MIT */
#include "elision/global_state.h"

#include "elision/account.h"
#include "elision/elide.h"
#include "locks/memory/shown_word.h"

#include <stddef.h>
#include <string.h>

/* The calling thread's record follows that of elide.c, so that transactions roll both
 * back. */
static struct member *mine(void)
{
    return (struct member *)(void *)(elision_thread() + 1);
}

static bool elided;

/* --- the one lock --- */

static struct lock_operations patient;
static struct elided one = {.inner = &patient,
                            .skips_at = offsetof(struct lock, count)};

static bool is_transaction(void)
{
    return elided && elision_depth() != 0 && !htm_emulated();
}

static int release(const void *site)
{
    return elided ? elision_unlock(&global.lock, &one, site)
                  : global.base->unlock(&global.lock);
}

/* Begins a change of the own record. Returns false if the mode has ended. */
static bool begin_change(struct member *me)
{
    if (is_transaction())
        return true; /* it has read the scope (G5) */
    store_relaxed(&me->busy, 1);
    fence_seq_cst();
    if (likely(scope_now() == GLOBAL))
        return true;
    store_release(&me->busy, 0);
    wait_for_change();
    return false;
}

static void end_change(struct member *me)
{
    if (!is_transaction())
        store_release(&me->busy, 0);
}

static void show_owner(struct lock *lock, uint32_t word)
{
    if (unlikely(shown_word_needs_owner(lock))) {
        store_relaxed(&lock->owner, word ? current_thread() : 0);
        store_relaxed(&lock->word, word);
    }
}

static void push(struct member *me, struct lock *lock)
{
    const uint32_t listed = load_relaxed(&me->listed);
    if (listed < HELD) {
        store_relaxed(&me->held[listed], (uintptr_t)lock);
        store_release(&me->listed, listed + 1); /* pairs with the load in place_of() */
    }
    me->depth++;
    show_owner(lock, 1);
    if (elided && me->depth > 1 && elision_depth())
        add_inner(elision_thread(), lock, ELISION_MUTEX);
}

/* The caller has the one lock, or a transaction. Returns false, without it, if the mode
 * has ended meanwhile. */
static bool begin(struct member *me, struct lock *lock)
{
    const bool transaction = is_transaction();
    if (!transaction) {
        store_relaxed(&me->busy, 1);
        store_release(&global.holder, (uintptr_t)me);
        store_relaxed(&global.stints, load_relaxed(&global.stints) + 1);
        fence_seq_cst();
    }
    if (likely(scope_now() == GLOBAL)) {
        me->acquired = true;
        push(me, lock);
        end_change(me);
        return true;
    }
    if (transaction)
        elision_leave(ELISION_SCOPE); /* does not return */
    store_release(&global.holder, 0);
    store_release(&me->busy, 0);
    release(NULL);
    return false;
}

/* --- operations --- */

static int lock_fine(struct lock *lock)
{
    wait_for_change();
    global.base->lock(lock);
    store_relaxed(&global.later, 1);
    return 0;
}

static int acquire_one(struct lock *lock, const void *site)
{
    if (!elided)
        return global_wait(&global.lock);
    struct elision_thread *me = elision_thread();
    me->alias = lock;
    return elision_lock(&global.lock, &one, site);
}

static int global_lock(struct lock *lock)
{
    struct member *me = mine();
    if (me->depth == 0 || unlikely(scope_now() != GLOBAL)) {
        if (scope_now() != GLOBAL ||
            acquire_one(lock, __builtin_return_address(0)) != 0 || !begin(me, lock))
            return lock_fine(lock);
        return 0;
    }
    if (unlikely(place_of(me, lock) >= 0)) {
        global_wait_for_itself(NULL);
        return lock_fine(lock);
    }
    if (!begin_change(me))
        return lock_fine(lock);
    push(me, lock);
    end_change(me);
    return 0;
}

static bool try_nested(struct member *me, struct lock *lock)
{
    if (place_of(me, lock) >= 0)
        return false;
    if (elided && !elision_settings.trylock_nests)
        elision_leave(ELISION_TRYLOCK);
    if (!begin_change(me))
        return global.base->trylock(lock);
    push(me, lock);
    end_change(me);
    return true;
}

static bool global_trylock(struct lock *lock)
{
    struct member *me = mine();
    if (scope_now() != GLOBAL)
        return global.base->trylock(lock);
    if (me->depth)
        return try_nested(me, lock);
    if (elided)
        elision_thread()->alias = lock;
    if (!(elided ? elision_trylock(&global.lock, &one, __builtin_return_address(0))
                 : global.base->trylock(&global.lock)))
        return false;
    return begin(me, lock) || global.base->trylock(lock);
}

static bool global_timedlock(struct lock *lock, const struct deadline *deadline)
{
    struct member *me = mine();
    if (scope_now() == GLOBAL && me->depth) {
        if (place_of(me, lock) < 0) {
            if (!begin_change(me))
                return global.base->timedlock(lock, deadline);
            push(me, lock);
            end_change(me);
            return true;
        }
        return global_wait_for_itself(deadline) &&
               global.base->timedlock(lock, deadline);
    }
    while (scope_now() == GLOBAL) {
        const struct deadline slice = global_slice();
        if (global_trylock(lock))
            return true;
        if (deadline_passed(deadline))
            return false;
        if (global.base->timedlock(&global.lock, &slice)) /* it is free: begin anew */
            global.base->unlock(&global.lock);
    }
    return global.base->timedlock(lock, deadline);
}

/* Releases the one lock after the last unlock. */
static int release_last(struct member *me, const void *site)
{
    me->acquired = false;
    if (!is_transaction()) {
        store_release(&global.holder, 0);
        end_change(me);
    }
    return release(site);
}

static int unlock_fine(struct member *me, struct lock *lock, int place)
{
    if (load_acquire(&lock->word) != 0)
        global.base->unlock(lock);
    if (place >= 0 && --me->depth == 0) {
        me->acquired = false;
        store_release(&global.holder, 0);
        release(NULL);
        if (global_culprit() == me)
            global_judge_culprit();
    }
    return 0;
}

static void remove_at(struct member *me, int place)
{
    const uint32_t left = load_relaxed(&me->listed) - 1;
    store_relaxed(&me->listed, left);
    for (uint32_t i = (uint32_t)place; i < left; i++)
        store_relaxed(&me->held[i], load_relaxed(&me->held[i + 1]));
}

/* Unlocks a mutex that is free, that another thread has locked, or that has been
 * acquired by itself. */
static int unlock_unlisted(struct member *me, struct lock *lock)
{
    if (scope_now() == GLOBAL) {
        if (!global_is_holders(lock))
            return 0;
        global_end("one lock for all mutexes: a mutex is unlocked by another thread "
                   "than its holder; from now on, each mutex has a lock of its own: ");
        store_relaxed(&global.culprit, 0);
    }
    wait_for_change();
    return unlock_fine(me, lock, -1);
}

static int global_unlock(struct lock *lock)
{
    struct member *me = mine();
    const int place = place_of(me, lock);
    if (place < 0 && me->depth == load_relaxed(&me->listed))
        return unlock_unlisted(me, lock);
    const bool goes_on = begin_change(me);
    if (place >= 0)
        remove_at(me, place);
    if (!goes_on)
        return unlock_fine(me, lock, place);
    show_owner(lock, 0);
    if (--me->depth == 0)
        return release_last(me, __builtin_return_address(0));
    end_change(me);
    return 0;
}

const struct lock_operations global_operations = {
    .lock = global_lock,
    .trylock = global_trylock,
    .timedlock = global_timedlock,
    .unlock = global_unlock,
    .destroy = destroy_nothing,
};

void global_prepare(const struct lock_operations *algorithm, const char *name,
                    bool elides)
{
    global.base = algorithm;
    global.base_name = name;
    elided = elides;
    patient = *algorithm;
    patient.lock = global_wait;
}

/* Another thread of the parent may have held the one lock. */
void global_forked(void)
{
    if (!global.base || mine()->acquired)
        return;
    memset(&global.lock, 0, sizeof global.lock);
    store_relaxed(&global.holder, 0);
    store_relaxed(&global.culprit, 0);
    if (scope_now() == CHANGING)
        store_relaxed(&global.scope, GLOBAL);
}
