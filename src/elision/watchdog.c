/* SPDX-License-Identifier: MIT */
/* Ends global mode when a thread waits for too long. */
#include "elision/elide.h"
#include "elision/global_state.h"
#include "locks/memory/shown_word.h"

enum { SLICE_MS = 20 };

struct global_state global;

static struct member *holder_now(void)
{
    return (struct member *)(uintptr_t)load_acquire(&global.holder);
}

/* Waits until the holder, if there is one, is not busy. One that was releasing the lock
 * is the holder no longer. */
static struct member *settled_holder(void)
{
    struct spinner spinner = {0, 0};
    for (;; spinner_spin(&spinner, NULL)) {
        struct member *holder = holder_now();
        if (!holder || (!load_acquire(&holder->busy) && holder_now() == holder))
            return holder;
    }
}

static void acquire_for(const struct member *holder)
{
    for (uint32_t i = 0; i < load_acquire(&holder->listed); i++) {
        struct lock *lock = held_at(holder, i);
        const uint32_t owner = load_relaxed(&lock->owner);
        if (shown_word_needs_owner(lock))
            store_relaxed(&lock->word, 0);
        if (global.base->trylock(lock) && shown_word_needs_owner(lock))
            store_relaxed(&lock->owner, owner);
    }
}

void global_end(const char *reason)
{
    uint32_t before = GLOBAL;
    if (!compare_exchange_acq_rel(&global.scope, &before, CHANGING)) {
        wait_for_change();
        return;
    }
    fence_seq_cst();
    struct member *holder = settled_holder();
    if (holder)
        acquire_for(holder);
    store_relaxed(&global.culprit, (uintptr_t)holder);
    store_release(&global.scope, FINE); /* pairs with the load in global_state.h */
    complain(reason, global.base_name);
}

void global_judge_culprit(void)
{
    complain("one lock for all mutexes: ",
             load_relaxed(&global.later)
                 ? "the section ended after others had run: it may have waited for "
                   "them (communicating sections)"
                 : "the section was long, and did not wait for others");
    store_relaxed(&global.culprit, 0);
}

bool global_has_ended(void)
{
    return scope_now() == FINE;
}

void global_report(void)
{
    if (scope_now() == FINE && global_culprit())
        complain("one lock for all mutexes: the section never ended: a mutex is held "
                 "for ever",
                 "");
}

struct deadline global_slice(void)
{
    return deadline_after(SLICE_MS * UINT64_C(1000000));
}

int global_wait(struct lock *lock)
{
    if (global.base->trylock(lock))
        return 0;
    uint32_t seen = load_relaxed(&global.stints), waited_ms = 0;
    for (;;) {
        const struct deadline slice = global_slice();
        if (global.base->timedlock(lock, &slice))
            return 0;
        if (scope_now() != GLOBAL)
            return ELISION_GAVE_UP;
        const uint32_t now = load_relaxed(&global.stints);
        waited_ms = now == seen ? waited_ms + SLICE_MS : 0;
        seen = now;
        if (elision_settings.watchdog_ms && waited_ms >= elision_settings.watchdog_ms) {
            global_end("one lock for all mutexes: a thread waited too long for a "
                       "section of another one; from now on, each mutex has a lock of "
                       "its own: ");
            return ELISION_GAVE_UP;
        }
    }
}

bool global_is_holders(const struct lock *lock)
{
    const struct member *holder = holder_now();
    return holder && place_of(holder, lock) >= 0;
}

bool global_wait_for_itself(const struct deadline *deadline)
{
    elision_leave(ELISION_RELOCK);
    while (scope_now() == GLOBAL) {
        if (deadline && deadline_passed(deadline))
            return false;
        const struct deadline slice = global_slice();
        global.base->timedlock(&global.lock, &slice); /* held by the caller */
    }
    return true;
}
