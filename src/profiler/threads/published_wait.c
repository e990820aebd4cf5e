/* SPDX-License-Identifier: MIT */
#include "profiler/threads/published_wait.h"

#include "profiler/store/lock_registry.h"

#include <string.h>

bool record_hands_over;

/* Waiters by a hash of the lock's address. Most look-ups end here, in the cache. */
enum { SLOTS = 1024 };
static struct atomic_u32 waiting_at[SLOTS];

static struct atomic_u32 *slot_of(uintptr_t address)
{
    return &waiting_at[(address * 0x9e3779b97f4a7c15u >> 32) % SLOTS];
}

bool record_is_waited_for(const void *object)
{
    return load_relaxed(slot_of((uintptr_t)object)) != 0;
}

void waits_forget(void)
{
    memset(waiting_at, 0, sizeof waiting_at);
}

void wait_publish(struct recording *me, const struct record_hold *hold,
                  enum trace_operation operation)
{
    struct trace_thread *shared = me->shared;
    me->waiting_use = hold->use;
    shared->waiting_to = operation;
    shared->waiting_since = hold->asked;
    shared->stack = hold->stack;
    /* Pairs with the sampler's loads: a wait that it sees is complete. */
    store_release((struct atomic_u32 *)(void *)&shared->waiting_for, hold->lock);
}

void wait_withdraw(struct recording *me)
{
    store_relaxed((struct atomic_u32 *)(void *)&me->shared->waiting_for, 0);
}

void wait_for_lock(struct recording *me, const struct record_hold *hold,
                   enum trace_operation operation)
{
    me->waited_for = hold->lock;
    if (record_hands_over) {
        me->waits_at = slot_of(record_address(hold->key, operation));
        fetch_add_relaxed(me->waits_at, 1);
        fetch_add_relaxed(&registry_locks[hold->lock].waiting, 1);
    }
    wait_publish(me, hold, operation);
}

void wait_for_lock_ends(struct recording *me)
{
    wait_withdraw(me);
    if (!me->waits_at)
        return;
    fetch_add_relaxed(&registry_locks[me->waited_for].waiting, -1u);
    fetch_add_relaxed(me->waits_at, -1u);
    me->waits_at = NULL;
}
