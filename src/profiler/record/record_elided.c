/* SPDX-License-Identifier: MIT */
/* Elided sections, which are recorded after they have committed. */
#include "profiler/record/record.h"

#include "profiler/threads/lock_counts.h"
#include "profiler/threads/site_stats.h"

void record_before_elision(const void *object, const struct record_as *as, void *caller)
{
    struct recording *me = record_me();
    uint32_t lock;
    const uintptr_t key = record_key(object, as->operation);
    if (!me || record_fetch(me, key, &lock))
        return;
    record_enter(me);
    lock_counts_find(me, key, as, caller);
    record_leave(me);
}

uint32_t record_transactions;

static void add(struct recording *me, const void *object, const struct record_as *as,
                const struct trace_elision *more, uint32_t acquisitions)
{
    const uintptr_t key = record_key(object, as->operation);
    struct trace_lock_count *count = lock_counts_find(me, key, as, RECORD_CALLER);
    struct trace_site_stats *use = site_stats_of(count);
    count->acquisitions += acquisitions;
    use->acquisitions += acquisitions;
    if (more)
        site_stats_add_elision(use, more);
}

void record_elided(const void *object, const struct record_as *as,
                   const struct trace_elision *more, uint32_t acquisitions,
                   const struct record_acquisition *during)
{
    if (during) { /* inside already */
        add(during->me, object, as, more, acquisitions);
        return;
    }
    struct recording *me = record_me();
    if (!me)
        return;
    record_enter(me);
    add(me, object, as, more, acquisitions);
    record_leave(me);
}
