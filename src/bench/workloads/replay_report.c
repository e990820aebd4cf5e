/* SPDX-License-Identifier: MIT */
/* Reports how long each site's locks were waited for, held, and not free. */
#include "bench/workloads/list.h"
#include "bench/workloads/replay_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_spans(const void *one, const void *other)
{
    const struct span *first = one, *second = other;
    if (first->lock != second->lock)
        return first->lock < second->lock ? -1 : 1;
    return (first->from > second->from) - (first->from < second->from);
}

/* Returns the spans of all workers, by lock and time; NULL if there are none. */
static struct span *all_spans(const struct run *run, const struct replay *replay,
                              size_t *count)
{
    *count = 0;
    for (unsigned i = 0; i < run->threads; i++)
        *count += replay->players[i].span_count;
    struct span *all = *count ? malloc(*count * sizeof *all) : NULL;
    if (!all) {
        *count = 0;
        return NULL;
    }
    size_t filled = 0;
    for (unsigned i = 0; i < run->threads; i++) {
        const struct player *player = &replay->players[i];
        if (player->span_count)
            memcpy(all + filled, player->spans, player->span_count * sizeof *all);
        filled += player->span_count;
    }
    qsort(all, *count, sizeof *all, compare_spans);
    return all;
}

/* Returns the time for which the busiest lock of a site was not free: held by a writer,
 * or wanted. */
static uint64_t busiest(const struct replay_site *site, const struct span *spans,
                        size_t count)
{
    const char *first = site->memory;
    const char *end = first + site->in_total * lock_bytes(site);
    const struct replay_lock *lock = NULL;
    uint64_t most = 0, sum = 0, until = 0;
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        if ((const char *)span->lock < first || (const char *)span->lock >= end)
            continue;
        if (span->lock != lock) {
            lock = span->lock;
            sum = until = 0;
        }
        uint64_t from = span->from > until ? span->from : until;
        if (span->to > from) {
            sum += span->to - from;
            until = span->to;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static const char *const ends[TRANSACTION_ENDS] = {
    [ENDED_COMMITTED] = "committed", [ENDED_CONFLICT] = "conflict",
    [ENDED_CAPACITY] = "capacity",   [ENDED_BUSY] = "busy",
    [ENDED_TRYLOCK] = "trylock",     [ENDED_OTHER] = "other",
};

static void report_site(const struct run *run, const struct replay *replay,
                        unsigned number, uint64_t busy)
{
    struct replay_stats all = {0};
    for (unsigned i = 0; i < run->threads; i++) {
        const struct replay_stats *one =
            &replay->stats[(size_t)i * replay->load.site_count + number];
        all.acquisitions += one->acquisitions;
        all.waited += one->waited;
        all.held += one->held;
        all.elided += one->elided;
        all.releasing += one->releasing;
        all.transactions.begun += one->transactions.begun;
        for (unsigned end = 0; end < TRANSACTION_ENDS; end++)
            all.transactions.ended[end] += one->transactions.ended[end];
    }
    double ns = 1e9 / (double)cycles_per_second();
    printf("%s{\"acquisitions\":%llu,\"waited_ns\":%.3f,\"held_ns\":%.3f,"
           "\"busiest_ns\":%.3f,\"releasing_ns\":%.3f,\"elided\":%llu,\"begun\":%llu",
           number ? "," : "", (unsigned long long)all.acquisitions,
           (double)all.waited * ns, (double)all.held * ns, (double)busy * ns,
           (double)all.releasing * ns, (unsigned long long)all.elided,
           (unsigned long long)all.transactions.begun);
    for (unsigned end = 0; end < TRANSACTION_ENDS; end++)
        printf(",\"%s\":%llu", ends[end],
               (unsigned long long)all.transactions.ended[end]);
    printf("}");
}

void replay_report(const struct run *run)
{
    const struct replay *replay = run->shared;
    size_t count;
    struct span *spans = all_spans(run, replay, &count);
    printf(",\"sites\":[");
    for (unsigned i = 0; i < replay->load.site_count; i++) {
        uint64_t busy = busiest(&replay->load.sites[i], spans, count);
        report_site(run, replay, i, busy);
    }
    printf("]");
    free(spans);
}
