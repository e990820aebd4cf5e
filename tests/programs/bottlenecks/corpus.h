/* SPDX-License-Identifier: MIT */
/*
 * A program that has one lock bottleneck, or a mix of several. Its command line names
 * the parts to run. Each thread executes one step of each part in turn until the time
 * is over. corpus.toml lists the parts and knobs for each bottleneck.
 *
 * Work is counted in turns of about a nanosecond. A turn is a fixed amount of work, not
 * of time, so a thread that loses its CPU inside a critical section still has to do the
 * rest.
 */
#ifndef CORPUS_H
#define CORPUS_H

#include <stdint.h>

#include "../check.h"

struct worker {
    unsigned index;
    uint64_t random;
    uint64_t steps;
} __attribute__((aligned(128)));

struct knob {
    const char *name;
    uint64_t value; /* the default; the command line may replace it */
    uint64_t least, most;
};

enum { KNOBS_MOST = 4 };

struct part {
    const char *name, *summary;
    struct knob knobs[KNOBS_MOST];
    /* Called before the threads start, or NULL. */
    void (*prepare)(struct part *part, unsigned threads, uint64_t seed);
    /* Called once in each round of each thread. */
    void (*step)(struct part *part, struct worker *worker);
    /* Called when the time is over; afterwards no thread may wait for others. NULL if
     * no thread ever waits. */
    void (*wind_up)(struct part *part);
    /* Called after the threads have ended, with their total number of steps: checks the
     * final state. */
    void (*check)(struct part *part, uint64_t steps);
};

extern struct part hot, polled, owned, striped, queue, phases, start, churn, stream;

/* G. Marsaglia's xorshift64 (Journal of Statistical Software, 2003). Never returns
 * 0. */
static inline uint64_t random_next(struct worker *worker)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return worker->random;
}

static inline uint64_t random_below(struct worker *worker, uint64_t below)
{
    return (random_next(worker) >> 32) * below >> 32;
}

/* A chain of dependent multiplications, which cannot overlap and access no memory. */
static inline void work(uint64_t turns)
{
    uint64_t value = turns | 1;
    for (uint64_t i = 0; i < turns; i++) {
        value *= 0x9e3779b97f4a7c15u;
        __asm__ volatile("" : "+r"(value));
    }
}

/* Works for a random number of turns, from none to twice the given number. With fixed
 * numbers, two threads would fall into step, so that one always works outside while the
 * other holds the lock. */
static inline void work_about(struct worker *worker, uint64_t turns)
{
    work(random_below(worker, 2 * turns + 1));
}

#endif
