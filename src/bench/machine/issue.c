/* SPDX-License-Identifier: MIT */
/*
 * The time that a store, or a load that hits the first-level cache, adds to the fast
 * path of a lock: an atomic operation, other accesses to lines that the CPU owns, and a
 * release. No address depends on a value, and every branch is predicted, so an
 * out-of-order core overlaps these accesses with the atomic operation. The latency of a
 * load, which a pointer chase measures, is several times as long.
 */
#include <stdio.h>

#include "bench/machine/measure.h"
#include "platform/workers.h"

enum { TURNS = 250, LOADS = 6, STORES = 2, FIRST = 1, WORDS = FIRST + LOADS + STORES };

struct word {
    struct atomic_u32 value __attribute__((aligned(CACHE_LINE)));
};

struct issue {
    struct word *words; /* the lock, then those read, then those written; all are 0 */
    unsigned samples;
    uint64_t *cycles;
    struct atomic_u32 wrong; /* values that were not 0; not a local variable, so that
                              * each load has a branch of its own, as in a lock */
};

/* Returns the time of TURNS pairs, each with so many of these accesses. */
static always_inline uint64_t timed(struct issue *issue, unsigned loads,
                                    unsigned stores)
{
    struct word *words = issue->words;
    const uint64_t from = cycles_ordered();
    for (unsigned turn = 0; turn < TURNS; turn++) {
        uint32_t expected = 0;
        if (unlikely(!compare_exchange_acq_rel(&words[0].value, &expected, 1)))
            store_relaxed(&issue->wrong, 1);
/* Branches of a loop would cost more than the accesses. */
#pragma GCC unroll 8
        for (unsigned i = 0; i < loads; i++)
            if (unlikely(load_acquire(&words[FIRST + i].value)))
                store_relaxed(&issue->wrong, 1);
#pragma GCC unroll 8
        for (unsigned i = 0; i < stores; i++)
            store_relaxed(&words[FIRST + LOADS + i].value, 0);
        store_release(&words[0].value, 0);
    }
    return cycles_ordered() - from;
}

static void body(unsigned index, void *argument)
{
    struct issue *issue = argument;
    (void)index;
    timed(issue, LOADS, STORES); /* warms the cache */
    for (unsigned i = 0; i < issue->samples; i++) {
        const uint64_t without = timed(issue, 0, 0);
        const uint64_t with = timed(issue, LOADS, STORES);
        issue->cycles[i] = with > without ? with - without : 0;
    }
}

bool measure_issue(const struct request *request)
{
    struct issue issue = {
        .words = shared_pages(WORDS * sizeof *issue.words, request->node),
        .samples = request->samples,
        .cycles = map_pages(request->samples * sizeof *issue.cycles),
    };
    if (!issue.words || !issue.cycles)
        refuse("out of memory");
    run_on(request, 1, body, &issue);
    printf("{\"measure\":\"issue\",\"cpu\":%d,\"batch\":%d", request->cpus[0],
           TURNS * (LOADS + STORES));
    print_numbers("cycles", issue.cycles, issue.samples);
    printf("}\n");
    return !load_relaxed(&issue.wrong);
}
