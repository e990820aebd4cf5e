/* SPDX-License-Identifier: MIT */
/* Work of a given CPU time, inside or outside a critical section. */
#ifndef HASP_BENCH_LOCKS_THINK_H
#define HASP_BENCH_LOCKS_THINK_H

#include "bench/locks/harness.h"
#include "bench/locks/operations.h"

/* Outside a section, threads work for longer than inside it. */
enum { THINK_FOR_EACH_SECTION = 3 };

/* A chain of multiplications. Loads after the release wait for it, so the chain starts
 * there; the store at its end precedes the next acquisition. */
static always_inline void think(struct worker *worker, uint64_t turns)
{
    uint64_t value = load_relaxed(&worker->thought);
    for (uint64_t n = 0; n < turns; n++)
        value = value * 6364136223846793005u + 1;
    store_relaxed(&worker->thought, value);
}

/* Returns how many turns of think() take `ns`: the fastest of several runs counts, as
 * interrupts and other programs only make a run slower. */
static inline uint64_t turns_of(unsigned ns)
{
    enum { TURNS = 10000, RUNS = 20 };
    struct worker scratch = {.index = 0};
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < RUNS; i++) {
        uint64_t before_ns = now_ns();
        think(&scratch, TURNS);
        uint64_t took_ns = now_ns() - before_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    return (uint64_t)ns * TURNS / (best_ns ? best_ns : 1);
}

#endif
