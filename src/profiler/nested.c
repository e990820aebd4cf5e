/* SPDX-License-Identifier: MIT */
/* Locks that are only counted, acquired while others are held. */
#include "profiler/bugs.h"
#include "profiler/counts.h"
#include "profiler/edges.h"

bool record_counts_nested(const void *object, void *caller)
{
    struct recording *me = record_here.me;
    if (!me || !me->depth || me->depth == RECORD_HOLDS || me->until_timed <= 1 ||
        load_relaxed(&bugs_handed_over))
        return false;
    const uintptr_t key = (uintptr_t)object;
    struct trace_count *count =
        (void *)(me->counts + record_place(me, key));
    if (count->address != key || !edges_known(me, count->lock, false, caller))
        return false;
    me->until_timed--;
    count->acquisitions++;
    use_of(count)->acquisitions++;
    use_of(count)->nested++;
    counts_hold(me, count);
    return true;
}

bool record_uncounts_nested(const void *object)
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
