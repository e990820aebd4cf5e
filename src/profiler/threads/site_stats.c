/* SPDX-License-Identifier: MIT */
#include "profiler/threads/site_stats.h"

#include <string.h>

/*
 * An open-addressed table by site, operation and kind, which grows by mapping a larger
 * one. The table of thread 0 is protected by `merging`. A merged record stays in the
 * file as a spare for the next that is needed.
 */
struct site_stats_table {
    uint32_t slots; /* a power of two */
    uint32_t used;
    struct trace_site_stats *use[];
};

enum { FIRST_SLOTS = 64, SITE_STATS_MOST = 1 << 20 };

SERIES(site_stats_records, TRACE_SITE_STATS, struct trace_site_stats, SITE_STATS_MOST);

static struct atomic_u32 merging;
static struct site_stats_table *merged; /* thread 0's */
static struct trace_site_stats
    nowhere; /* shared when there is no memory; not reported */

/* Empty records, protected by `sparing`. */
static struct trace_site_stats *spare[1024];
static uint32_t spares;
static struct atomic_u32 sparing;

void site_stats_forget(void)
{
    merged = NULL; /* a few pages stay mapped */
    spares = 0;
    store_relaxed(&merging, 0);
    store_relaxed(&sparing, 0);
    series_forget(&site_stats_records);
}

static struct site_stats_table *make_table(uint32_t slots)
{
    struct site_stats_table *table =
        map_pages(sizeof *table + slots * sizeof(struct trace_site_stats *));
    if (table)
        table->slots = slots;
    return table;
}

static struct trace_site_stats **slot_of(struct site_stats_table *table, uint32_t site,
                                         uint32_t operation, uint32_t lock_kind)
{
    uint32_t at = (site * 8 + operation) * 2654435761u >> 8;
    for (;; at++) {
        struct trace_site_stats **slot = &table->use[at & (table->slots - 1)];
        if (!*slot || ((*slot)->site == site && (*slot)->operation == operation &&
                       (*slot)->lock_kind == lock_kind))
            return slot;
    }
}

/* Doubles the table. The old one stays mapped. Returns false without memory. */
static bool grow(struct site_stats_table **table)
{
    struct site_stats_table *next = make_table(2 * (*table)->slots);
    if (!next)
        return false;
    for (uint32_t i = 0; i < (*table)->slots; i++) {
        struct trace_site_stats *use = (*table)->use[i];
        if (use)
            *slot_of(next, use->site, use->operation, use->lock_kind) = use;
    }
    next->used = (*table)->used;
    *table = next;
    return true;
}

static struct trace_site_stats *take_spare(const struct trace_site_stats *like)
{
    struct trace_site_stats *use = NULL;
    if (!brief_lock(&sparing))
        return NULL;
    if (spares)
        use = spare[--spares];
    brief_unlock(&sparing);
    if (use)
        *use = *like;
    return use;
}

static struct trace_site_stats *make_use(const struct trace_site_stats *like)
{
    uint32_t number;
    struct trace_site_stats *use = take_spare(like);
    if (!use)
        use = series_append(&site_stats_records, like, &number);
    if (use)
        return use;
    add_shared(&trace->lost_site_stats, 1);
    if (!like->thread)
        return NULL;
    use = map_pages(sizeof *use); /* until it is merged */
    if (use)
        *use = *like;
    return use;
}

static struct trace_site_stats *find(struct site_stats_table **table,
                                     const struct trace_site_stats *like)
{
    if (!*table)
        *table = make_table(FIRST_SLOTS);
    if (!*table)
        return NULL;
    struct trace_site_stats **slot =
        slot_of(*table, like->site, like->operation, like->lock_kind);
    if (*slot)
        return *slot;
    if (4 * (*table)->used >= 3 * (*table)->slots) {
        if (!grow(table))
            return NULL;
        slot = slot_of(*table, like->site, like->operation, like->lock_kind);
    }
    *slot = make_use(like);
    (*table)->used += *slot != NULL;
    return *slot;
}

struct trace_site_stats *site_stats_find(struct recording *me, uint32_t site,
                                         enum trace_operation operation,
                                         enum trace_lock_kind lock_kind)
{
    const struct trace_site_stats like = {
        .thread = me->thread,
        .site = site,
        .operation = operation,
        .lock_kind = lock_kind,
    };
    struct trace_site_stats *use = find(&me->uses, &like);
    return use ? use : &nowhere;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_histogram(struct trace_histogram *to,
                          const struct trace_histogram *from)
{
    for (unsigned i = 0; i < TRACE_BUCKETS; i++)
        to->bucket[i] += from->bucket[i];
}

void site_stats_add_elision(struct trace_site_stats *to,
                            const struct trace_elision *more)
{
    typedef uint64_t __attribute__((may_alias)) word;
    word *sums = (word *)&to->elision;
    for (unsigned i = 0; i < sizeof *more / sizeof *sums; i++)
        sums[i] += ((const word *)more)[i];
}

static void add_use(struct trace_site_stats *to, const struct trace_site_stats *from)
{
    to->acquisitions += from->acquisitions;
    to->contended += from->contended;
    to->wait_ticks += from->wait_ticks;
    to->wait_most = larger(to->wait_most, from->wait_most);
    to->hold_ticks += from->hold_ticks;
    to->hold_most = larger(to->hold_most, from->hold_most);
    to->timed += from->timed;
    to->handovers += from->handovers;
    to->handover_ticks += from->handover_ticks;
    to->handover_most = larger(to->handover_most, from->handover_most);
    to->trylocks += from->trylocks;
    to->trylock_failures += from->trylock_failures;
    to->longest_failing_run =
        larger(to->longest_failing_run, from->longest_failing_run);
    to->timeouts += from->timeouts;
    to->signals += from->signals;
    to->broadcasts += from->broadcasts;
    to->owner_changes += from->owner_changes;
    to->node_changes += from->node_changes;
    to->samples_spinning += from->samples_spinning;
    to->samples_parked += from->samples_parked;
    to->nested += from->nested;
    to->cache_misses += from->cache_misses;
    to->counted_sections += from->counted_sections;
    to->unseen_waits += from->unseen_waits;
    to->unseen_wait_ticks += from->unseen_wait_ticks;
    to->trying_ticks += from->trying_ticks;
    to->woken_by_signal += from->woken_by_signal;
    to->woken_by_broadcast += from->woken_by_broadcast;
    to->empty_signals += from->empty_signals;
    to->futile_wakes += from->futile_wakes;
    to->taking_ticks += from->taking_ticks;
    add_histogram(&to->wait, &from->wait);
    add_histogram(&to->hold, &from->hold);
    add_histogram(&to->handover, &from->handover);
    site_stats_add_elision(to, &from->elision);
}

/* Empties a merged record, so that its sums are in the file only once. */
static void retire(struct trace_site_stats *use)
{
    memset(&use->acquisitions, 0,
           sizeof *use - offsetof(struct trace_site_stats, acquisitions));
    use->thread = 0;
    if (!brief_lock(&sparing))
        return;
    if (spares < sizeof spare / sizeof spare[0])
        spare[spares++] = use;
    brief_unlock(&sparing);
}

void site_stats_merge(struct recording *me)
{
    if (!me->uses || !brief_lock(&merging))
        return;
    for (uint32_t i = 0; i < me->uses->slots; i++) {
        struct trace_site_stats *use = me->uses->use[i];
        if (!use)
            continue;
        struct trace_site_stats like = {.site = use->site,
                                        .operation = use->operation,
                                        .lock_kind = use->lock_kind};
        struct trace_site_stats *all = find(&merged, &like);
        if (all) {
            add_use(all, use);
            retire(use);
        }
        me->uses->use[i] = NULL;
    }
    me->uses->used = 0;
    brief_unlock(&merging);
}
