/* SPDX-License-Identifier: MIT */
/*
 * Rounds in which worker 0 creates all locks, every worker acquires random ones a given
 * number of times, and worker 0 destroys them once all have finished. With short
 * rounds, creation dominates; with a single round, acquisition does.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

struct lives {
    struct meeting meeting __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 over __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 alive;
};

static void *locks_at(const struct run *run)
{
    return (char *)run->shared + sizeof(struct lives);
}

bool lifetimes_prepare(struct run *run)
{
    size_t each = guarded_bytes(run->knobs[KNOB_CS_LINES]);
    run->shared = run_memory(run, sizeof(struct lives) + run->knobs[KNOB_LOCKS] * each);
    return run->shared != NULL;
}

/* Called by worker 0 while all others wait. */
static void renew(struct run *run)
{
    struct lives *lives = run->shared;
    const uint64_t locks = run->knobs[KNOB_LOCKS], lines = run->knobs[KNOB_CS_LINES];
    if (load_relaxed(&lives->alive))
        for (uint64_t i = 0; i < locks; i++)
            mutex_destroy(run, &guarded_at(locks_at(run), lines, i)->mutex);
    store_relaxed(&lives->alive, 1);
    store_relaxed(&lives->over, !run_goes_on(run, ticks()));
    if (!load_relaxed(&lives->over))
        guarded_create(locks_at(run), locks, lines);
}

/* The acquisitions of one worker in one round. */
static void live(struct run *run, struct worker *worker, const struct section *section)
{
    const uint64_t life = run->knobs[KNOB_LIFE], locks = run->knobs[KNOB_LOCKS];
    for (uint64_t i = 0; life == 0 || i < life; i++) {
        uint64_t pick = random_below(&worker->random, locks);
        struct guarded *guarded = guarded_at(locks_at(run), section->lines, pick);
        uint64_t start = ticks();
        if (life == 0 && !run_goes_on(run, start))
            return;
        run_count(run, worker, start,
                  section_run(section, run, worker, guarded, start));
        section_think(section, worker);
    }
}

void lifetimes_work(struct run *run, struct worker *worker)
{
    struct lives *lives = run->shared;
    const struct section section = section_of(run);
    for (;;) {
        if (worker->index == 0)
            renew(run);
        arrive_together(&lives->meeting, run->threads);
        if (load_relaxed(&lives->over))
            return;
        live(run, worker, &section);
        arrive_together(&lives->meeting, run->threads);
    }
}

bool lifetimes_check(struct run *run)
{
    return guarded_check(run, locks_at(run), run->knobs[KNOB_LOCKS],
                         run->knobs[KNOB_CS_LINES], 1);
}
