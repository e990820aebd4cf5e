/* SPDX-License-Identifier: MIT */
/*
 * Progress: what a thread that executes sections shows to those that wait for theirs.
 * A waiter spins on while there is progress, and sleeps when there is none: a combiner
 * that was preempted, or whose section blocks, shows none.
 *
 *   steps    counts what was shown
 *   parkers  threads that may be asleep (call.h: K3)
 *
 * The rest is constant, or belongs to the thread that executes sections. All waiters
 * read the line, so that each store to it has to wait for them: it is written seldom.
 */
#ifndef HASP_DELEGATION_PROGRESS_H
#define HASP_DELEGATION_PROGRESS_H

#include "locks/waiting/policies.h"

/* How often a waiter spins for as long as a sleep would cost: before it looks for
 * progress, and at most, while there is progress; then how many sections are shown as
 * one step, on many CPUs at least how much time, and after how many short sections it
 * is measured at the latest. On few CPUs, the thread that executes sections may need
 * the waiter's. */
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

/* Counts what a combiner has done lately. Waiters read it from time to time. It shares
 * a line with what a combiner counts at the end of each hold (delegate.h). */
struct progress {
    struct atomic_u32 steps;
    struct atomic_u32 parkers; /* K3 */
    bool exact; /* on few CPUs: calls are never settled by stores; constant */
    bool holds_are_long;  /* the latest one was; of the combiner */
    uint8_t first_rounds; /* before a waiter looks; a power of two; constant */
    /* On many CPUs, of the combiner: the sections between two looks at the clock, the
     * time that no step has shown yet, and the ticks of the latest look. */
    uint8_t clock_each;
    uint32_t unshown_ns;
    uint64_t clock;
};

/* From this many CPUs on, stores pay, because CPUs are far from each other. */
enum { MANY_CPUS = HANDOVER_LIMIT == 1 ? 1 : 8 };

/* With more CPUs, more sections come before a waiter's, and more waiters look. */
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

/* A part of a long hold on many CPUs ends. Shows short sections together: a step after
 * each would fetch the line back from the waiters that have looked meanwhile. */
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

/* The combiner has executed `served` sections in this hold. On many CPUs it shows each
 * one that takes long, or else would look like a combiner that has stopped. In short
 * holds, the line would only move from combiner to combiner. */
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

/* A hold of `served` sections ends. */
static inline void progress_end(struct progress *progress, uint32_t served)
{
    const bool is_long = served >= SHOWN_EACH;
    if (progress->holds_are_long != is_long)
        progress->holds_are_long = is_long;
}

/* A waiter's view of it. Most waiters never look. */
struct progress_view {
    uint32_t rounds, seen;
};

/* The waiter has spun for as long as a sleep would cost. Returns whether it should do
 * so again: while the combiner goes on. The waiter looks after 8 (on few CPUs 4, on
 * hundreds 32), 16, 32, 64, 128, 192 rounds and so on: long sections need that time,
 * and the line must not move to all waiters in each round. */
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
