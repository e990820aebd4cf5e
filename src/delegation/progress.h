/* SPDX-License-Identifier: MIT */
/*
 * Progress: how waiters tell whether the thread that executes sections, the combiner,
 * still runs. A waiter spins while the combiner makes progress, and sleeps if it does
 * not: it was preempted, or its section blocks.
 *
 *   steps    incremented by the combiner as it makes progress
 *   parkers  number of threads that may be asleep (call.h: K3)
 *
 * The other members are constant, or used by the combiner only. All waiters read this
 * cache line, so every store to it takes the line back from them: the combiner must not
 * store often.
 */
#ifndef HASP_DELEGATION_PROGRESS_H
#define HASP_DELEGATION_PROGRESS_H

#include "locks/waiting/policies.h"

/* In a round, a waiter spins for as long as a sleep would cost. FIRST_ROUNDS: rounds
 * before it checks for progress; SPIN_ROUNDS: rounds after which it sleeps in any case;
 * with MANY_ the same on many CPUs. On few CPUs waiters spin less, since the combiner
 * may need the CPU of one of them. The combiner increments `steps` after SHOWN_EACH
 * sections; on many CPUs, after SHOWN_NS, and it reads the clock at least every
 * CLOCK_EACH_MOST sections. */
enum {
    FIRST_ROUNDS = HANDOVER_LIMIT == 1 ? 1 : 4,
    SPIN_ROUNDS = HANDOVER_LIMIT == 1 ? 1 : 64,
    SHOWN_EACH = 4,
    SHOWN_NS = 4000,
    CLOCK_EACH_MOST = 16,
    MANY_FIRST_ROUNDS = HANDOVER_LIMIT == 1 ? 1 : 8, /* for so many CPUs: */
    FIRST_ROUNDS_CPUS = 48,
    MANY_SPIN_ROUNDS = HANDOVER_LIMIT == 1 ? 1 : 1024,
};

/* It shares a cache line with the counters that a combiner updates at the end of each
 * hold (delegate.h). */
struct progress {
    struct atomic_u32 steps;
    struct atomic_u32 parkers; /* K3 */
    bool exact; /* on few CPUs: calls are never settled by stores; constant */
    bool holds_are_long;  /* the latest one was; combiner only */
    uint8_t first_rounds; /* before a waiter's first check; a power of two; constant */
    /* Combiner only, on many CPUs: sections between two readings of the clock, the time
     * since `steps` was incremented, and the latest reading in ticks. */
    uint8_t clock_each;
    uint32_t unshown_ns;
    uint64_t clock;
};

/* From this many CPUs on, CPUs are so far apart that answering by stores pays. */
enum { MANY_CPUS = HANDOVER_LIMIT == 1 ? 1 : 8 };

/* The more CPUs, the longer the queue ahead of a waiter, and the more waiters read the
 * line: so they first check later. */
static inline void progress_init(struct progress *progress)
{
    const uint32_t cpus = cpu_count();
    uint32_t rounds = MANY_FIRST_ROUNDS;
    while (rounds < SPIN_ROUNDS &&
           rounds * FIRST_ROUNDS_CPUS < MANY_FIRST_ROUNDS * cpus)
        rounds *= 2;
    progress->exact = cpus < MANY_CPUS;
    progress->clock_each = 1;
    progress->first_rounds = (uint8_t)(progress->exact ? FIRST_ROUNDS : rounds);
}

static inline void progress_step(struct progress *progress)
{
    if (STATISTICS)
        store_relaxed(&progress->steps, load_relaxed(&progress->steps) + 1);
}

/* Measures how long the last sections of a long hold took, and increments `steps` if
 * SHOWN_NS have passed. Short sections share an increment, because each one has to take
 * the line back from the waiters that have read it. */
static inline void progress_show_time(struct progress *progress)
{
    const uint64_t now = ticks(), ns = ticks_to_ns(now - progress->clock);
    progress->clock = now;
    if (ns > 2 * SHOWN_NS)
        progress->clock_each = 1;
    else if (ns < SHOWN_NS / 2 && progress->clock_each < CLOCK_EACH_MOST)
        progress->clock_each = (uint8_t)(2 * progress->clock_each);
    const uint64_t unshown = progress->unshown_ns + ns;
    progress->unshown_ns = unshown < SHOWN_NS ? (uint32_t)unshown : 0;
    if (unshown >= SHOWN_NS)
        progress_step(progress);
}

/* Called when the combiner has executed `served` sections in this hold. On many CPUs,
 * every long section increments `steps`; otherwise waiters would take the combiner for
 * preempted. Short holds need no increments, which would only move the line from one
 * combiner to the next. */
static inline void progress_show(struct progress *progress, uint32_t served)
{
    if (progress->exact) {
        if (served % SHOWN_EACH == 0)
            progress_step(progress);
    } else if (STATISTICS && served % progress->clock_each == 0 &&
               (served >= SHOWN_EACH || progress->holds_are_long)) {
        progress_show_time(progress);
    }
}

/* Called at the end of a hold of `served` sections. */
static inline void progress_end(struct progress *progress, uint32_t served)
{
    const bool is_long = served >= SHOWN_EACH;
    if (progress->holds_are_long != is_long)
        progress->holds_are_long = is_long;
}

/* What a waiter has seen so far. Most waiters are served before their first check. */
struct progress_view {
    uint32_t rounds, seen;
};

/* Called after each round of a waiter. Returns true if it should spin for another
 * round, because the combiner makes progress. The waiter checks after 8 rounds (on few
 * CPUs 4, on hundreds up to 64), then after 16, 32, 64, 128, 192 and so on: long
 * sections need that time, and the line must not move to every waiter in each round. */
static inline bool progress_goes_on(struct progress_view *view,
                                    const struct progress *progress)
{
    const uint32_t first = progress->first_rounds;
    const uint32_t most = progress->exact ? SPIN_ROUNDS : MANY_SPIN_ROUNDS;
    const uint32_t rounds = ++view->rounds;
    if (rounds < first ||
        (rounds < SPIN_ROUNDS ? rounds & (rounds - 1) : rounds % SPIN_ROUNDS))
        return true;
    const uint32_t seen = view->seen;
    view->seen = load_relaxed(&progress->steps);
    return rounds < most && (rounds == first || view->seen != seen);
}

#endif
