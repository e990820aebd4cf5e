/* SPDX-License-Identifier: MIT */
/*
 * Workers that acquire a lock, release it and pause: stress of one lock and of many,
 * the micro-benchmark of RCL (Lozi et al., "Remote core locking", USENIX ATC 2012), and
 * oversubscription.
 */
#include "bench/workloads/list.h"

#include "bench/workloads/guarded.h"

static uint64_t locks_of(const struct run *run)
{
    return run->knobs[KNOB_LOCKS] ? run->knobs[KNOB_LOCKS] : 1;
}

bool sections_prepare(struct run *run)
{
    uint64_t lines = run->knobs[KNOB_CS_LINES];
    run->shared = run_memory(run, locks_of(run) * guarded_bytes(lines));
    if (run->shared)
        guarded_create(run->shared, locks_of(run), lines);
    return run->shared != NULL;
}

void sections_work(struct run *run, struct worker *worker)
{
    const struct section section = section_of(run);
    const uint64_t locks = locks_of(run);
    for (;;) {
        uint64_t pick = locks == 1 ? 0 : random_below(&worker->random, locks);
        struct guarded *guarded = guarded_at(run->shared, section.lines, pick);
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            return;
        run_count(run, worker, start,
                  section_run(&section, run, worker, guarded, start));
        section_think(&section, worker);
    }
}

bool sections_check(struct run *run)
{
    return guarded_check(run, run->shared, locks_of(run), run->knobs[KNOB_CS_LINES], 1);
}
