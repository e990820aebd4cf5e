/* SPDX-License-Identifier: MIT */
/*
 * Sections of one object, executed by an executor of the list or under the mutex: the
 * micro-benchmark of RCL (Lozi et al., "Remote core locking", USENIX ATC 2012). The
 * pause between two sections sets the contention.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"
#include "delegating.h"

#define EXECUTOR(...)
#include "delegation/executors.def"
#undef EXECUTOR

#define EXECUTOR(id, title, ...) title,
const char *const delegate_names[] = {"lock",
#include "delegation/executors.def"
                                      NULL};
#undef EXECUTOR

struct delegated {
    struct delegate delegate;
    struct guarded *guarded;
    struct section section;
    uint64_t executor;
};

bool delegation_prepare(struct run *run)
{
    uint64_t lines = run->knobs[KNOB_CS_LINES];
    struct delegated *delegated = run_memory(run, sizeof *delegated);
    if (run->knobs[KNOB_EXECUTOR] && !CAN_DELEGATE) {
        explain(run, "this program has no executors");
        return false;
    }
    run->shared = delegated;
    if (!delegated || !(delegated->guarded = run_memory(run, guarded_bytes(lines))))
        return false;
    guarded_create(delegated->guarded, 1, lines);
    delegated->section = section_of(run);
    delegated->executor = run->knobs[KNOB_EXECUTOR];
    return true;
}

void delegation_enter(struct run *run, struct worker *worker)
{
    struct delegated *delegated = run->shared;
    if (worker->index == 0 && delegated->executor)
        delegating_init(&delegated->delegate, delegated->executor);
}

static void *section_body(void *context)
{
    const struct delegated *delegated = context;
    guarded_touch(delegated->guarded, delegated->section.lines);
    if (delegated->section.cycles)
        pause_cycles(delegated->section.cycles);
    return NULL;
}

static void section_do(struct run *run, struct delegated *delegated)
{
    if (delegated->executor) {
        delegating_run(&delegated->delegate, delegated->executor, section_body,
                       delegated);
        return;
    }
    mutex_lock(run, &delegated->guarded->mutex);
    section_body(delegated);
    mutex_unlock(run, &delegated->guarded->mutex);
}

void delegation_work(struct run *run, struct worker *worker)
{
    struct delegated *delegated = run->shared;
    for (;;) {
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            return;
        section_do(run, delegated);
        run_count(run, worker, start,
                  delegated->section.drain ? cycles_drained() : ticks());
        section_think(&delegated->section, worker);
    }
}

bool delegation_check(struct run *run)
{
    struct delegated *delegated = run->shared;
    return guarded_check(run, delegated->guarded, 1, run->knobs[KNOB_CS_LINES], 1);
}
