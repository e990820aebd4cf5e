/* SPDX-License-Identifier: MIT */
/* Acquisitions that are only counted, made while other locks are held. */
#include "profiler/record/misuse.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/threads/order_cache.h"

bool record_count_nested_lock(const void *object, void *caller)
{
    struct recording *me = record_here.me;
    if (!me || !me->depth || me->depth == RECORD_HOLDS || me->until_timed <= 1 ||
        load_relaxed(&misuse_handed_over))
        return false;
    const uintptr_t key = (uintptr_t)object;
    uint32_t lock;
    struct trace_lock_count *count = record_fetch(me, key, &lock);
    if (!count || !order_is_known(me, lock, false, caller))
        return false;
    me->until_timed--;
    record_set_pending(me, count, true);
    lock_counts_hold(me, key, lock);
    return true;
}

bool record_count_nested_unlock(const void *object)
{
    struct recording *me = record_here.me;
    if (!me || !me->depth)
        return false;
    const struct record_hold *hold = &me->hold[me->depth - 1];
    if (hold->key != (uintptr_t)object || hold->timed)
        return false;
    me->depth--;
    me->shared->depth = me->depth;
    return true;
}
