/* SPDX-License-Identifier: MIT */
/* Acquisitions that are more than counted. */
#include "profiler/bugs.h"
#include "profiler/counts.h"
#include "profiler/edges.h"
#include "profiler/pace.h"
#include "profiler/process.h"
#include "profiler/registry.h"
#include "profiler/stacks.h"
#include "profiler/sums.h"
#include "profiler/switches.h"
#include "profiler/waits.h"

#include <sched.h>

struct recording *record_me(void)
{
    struct recording *me = record_here.me;
    if (likely(me != NULL))
        return me;
    if (record_here.inside || record_here.ended)
        return NULL;
    return process_first_operation();
}

void record_enter(struct recording *me)
{
    me->skip = record_here.skip;
    record_here.inside++;
    light_barrier(); /* a signal's handler finds it inside, or with its memory */
    record_here.me = NULL;
    record_here.skip = RECORD_NEVER;
    record_here.watching = 0;
}

void record_leave(struct recording *me)
{
    record_here.skip = me->skip;
    record_here.watching = pace.sampled ? me->depth : 1;
    record_here.me = me;
    light_barrier();
    record_here.inside--;
}

static void prepare(struct record_acquisition *a, struct recording *me,
                    const void *object, const struct record_as *as, void *caller)
{
    uintptr_t key = record_key(object, as->operation);
    a->me = me;
    a->waits = a->tries = a->perhaps = false;
    a->operation = as->operation;
    a->caller = caller;
    a->hold = (struct record_hold){.key = key, .weight = 1};
    a->hold.count = counts_find(me, key, as, caller);
    a->hold.use = use_of(a->hold.count);
    a->hold.lock = a->hold.count->lock;
}

static void see_migration(struct recording *me)
{
    int cpu = sched_getcpu();
    me->shared->migrations += cpu != me->cpu;
    me->cpu = cpu;
}

/* It looks free, but somebody waits for it: it is on its way to them. */
static bool is_handed_over(const struct recording *me, const void *object,
                           const struct record_as *as)
{
    if (as->operation != TRACE_LOCK)
        return false;
    uint32_t lock = registry_find((uintptr_t)object);
    if (!lock || !load_relaxed(&registry_locks[lock].waiting))
        return false;
    for (uint32_t i = 0; i < me->depth; i++)
        if (me->hold[i].key == (uintptr_t)object)
            return false; /* once more by the one who has it */
    return true;
}

bool record_begin(struct record_acquisition *a, const void *object,
                  const struct record_as *as, bool busy, void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return false;
    bool perhaps = !busy && is_handed_over(me, object, as);
    busy = busy || perhaps;
    bool due = !busy && pace_is_due(me);
    if (pace.sampled && !busy && !due) { /* it only looked closer */
        record_here.skip--;
        return false;
    }
    record_enter(me);
    prepare(a, me, object, as, caller);
    struct record_hold *hold = &a->hold;
    hold->contended = busy;
    a->perhaps = perhaps;
    hold->timed = busy || due;
    if (unlikely(load_relaxed(&bugs_handed_over)))
        bugs_forget_handed_over(me);
    if (me->depth)
        edges_acquiring(me, hold->lock, caller);
    if (busy)
        bugs_before_wait(me, hold->lock, object, as, caller);
    if (!hold->timed)
        return true;
    hold->stack = stack_take(me, caller);
    see_migration(me);
    hold->asked = ticks();
    hold->paced = due;
    if (busy) {
        wait_for_lock(me, hold, as->operation);
        a->waits = true;
    } else {
        hold->weight = pace_take(me);
        if (switches_refresh(me, hold->asked))
            hold->asked = ticks();
    }
    return true;
}

/* The release that was waited for, if it was timed. */
static void see_handover(struct record_hold *hold)
{
    if (!hold->lock || !hold->contended)
        return;
    uint64_t released = registry_locks[hold->lock].released;
    if (released > hold->asked && released < hold->got)
        hold->handover = hold->got - released;
}

static void push(struct recording *me, const struct record_hold *hold)
{
    uint32_t depth = me->depth;
    if (depth == RECORD_HOLDS)
        return;
    me->hold[depth] = *hold;
    me->depth = depth + 1;
    if (depth < TRACE_HELD)
        me->shared->held[depth] = hold->lock;
    me->shared->depth = depth + 1;
}

/* Counts it; in sampled mode it stands for those that were passed over. */
static void count(struct recording *me, struct record_hold *hold)
{
    uint32_t more = pace.sampled ? hold->weight : 1;
    hold->count->acquisitions += more;
    hold->use->acquisitions += more;
    if (hold->contended) {
        record_here.careful = RECORD_CAREFUL;
        hold->count->contended++;
        hold->use->contended++;
    }
    if (me->depth)
        hold->use->nested += more;
}

void record_end(struct record_acquisition *a, enum record_result result)
{
    struct recording *me = a->me;
    struct record_hold *hold = &a->hold;
    if (hold->timed)
        hold->got = ticks();
    /* Others slept, but it was free for whoever came first. */
    if (a->perhaps && hold->got - hold->asked < RECORD_AT_ONCE)
        hold->contended = false;
    if (a->waits)
        wait_for_lock_ends(me);
    if (result == RECORD_GOT) {
        if (hold->timed)
            see_handover(hold);
        count(me, hold);
        push(me, hold);
        if (hold->contended)
            switches_refresh(me, hold->got);
        record_leave(me);
        return;
    }
    if (result == RECORD_TIMED_OUT) {
        hold->use->timeouts++;
        sum_wait(me, hold);
    }
    if (hold->paced)
        pace_adapt(me);
    record_leave(me);
}

bool record_try(struct record_acquisition *a, const void *object,
                const struct record_as *as, void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return false;
    bool due = pace_is_due(me);
    record_enter(me);
    prepare(a, me, object, as, caller);
    a->tries = true;
    a->hold.timed = a->hold.paced = due;
    if (due) {
        a->hold.weight = pace_take(me);
        a->hold.stack = stack_take(me, caller);
        a->hold.asked = ticks();
        if (switches_refresh(me, a->hold.asked))
            a->hold.asked = ticks();
    }
    return true;
}

/* How often in a row the thread's tries on locks of this site have failed. */
static void count_try(struct recording *me, struct trace_use *use, uint32_t more,
                      bool got)
{
    use->trylocks += more;
    if (got || me->failing != use) {
        me->failing = use;
        me->failing_run = 0;
    }
    if (got)
        return;
    use->trylock_failures += more;
    me->failing_run += more;
    if (me->failing_run > use->longest_failing_run)
        use->longest_failing_run = me->failing_run;
}

void record_tried(struct record_acquisition *a, bool got)
{
    struct recording *me = a->me;
    struct record_hold *hold = &a->hold;
    count_try(me, hold->use, pace.sampled ? hold->weight : 1, got);
    if (got) {
        if (me->depth)
            edges_tried(me, hold->lock, a->caller);
        if (hold->timed)
            hold->got = ticks();
        count(me, hold);
        push(me, hold);
    } else if (hold->timed) {
        pace_adapt(me);
    }
    record_leave(me);
}
