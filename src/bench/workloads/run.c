/* SPDX-License-Identifier: MIT */
#include "bench/workloads/workloads.h"

#include <stdarg.h>
#include <stdio.h>

void explain(struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->explanation, sizeof run->explanation, format, arguments);
    va_end(arguments);
}

static void *pages_of(struct run *run, size_t bytes, int node)
{
    void *memory = shared_pages(bytes, node);
    if (!memory)
        explain(run, "cannot allocate %zu bytes on node %d", bytes, node);
    return memory;
}

void *run_memory(struct run *run, size_t bytes)
{
    return pages_of(run, bytes, (int)run->knobs[KNOB_HOME]);
}

uint64_t run_cycles(const struct run *run, enum knob cycles, enum knob ns)
{
    return run->knobs[cycles] + cycles_of_ns(run->knobs[ns]);
}

/* Called by the first worker that passes an end of the window. Natively several may
 * race here, but there are no counters to read. */
void run_take_counts(struct run *run, uint64_t now)
{
    if (!run->counting) {
        platform_counts_now(&run->counts_start);
        run->counting = true;
    }
    if (now >= run->window_end && !run->counted) {
        platform_counts_now(&run->counts_end);
        run->counted = true;
    }
}

static void work(unsigned index, void *argument)
{
    struct run *run = argument;
    struct worker *worker = &run->workers[index];
    worker->index = index;
    worker->statistics = &run->statistics[workers_take_turns() ? 0 : index];
    worker->random = run->seed;
    worker->random = random_next(&worker->random) + index; /* mixes small seeds */
    if (run->workload->enter)
        run->workload->enter(run, worker);
    arrive_together(&run->meeting, run->threads);
    if (index == 0) {
        run->started = cycles_ordered();
        run->window_start = run->started + run->warm_up;
        run->window_end = run->window_start + run->duration;
    }
    arrive_together(&run->meeting, run->threads);
    uint64_t stagger = run->knobs[KNOB_STAGGER] * run->threads;
    if (stagger > 1)
        pause_cycles(random_below(&worker->random, stagger));
    run->workload->work(run, worker);
    worker->left = cycles_ordered();
}

bool run_measure(struct run *run)
{
    run->workers = pages_of(
        run, run->threads * (sizeof *run->workers + sizeof *run->statistics), -1);
    run->statistics = (struct statistics *)(run->workers + run->threads);
    run->refused = true;
    if (!run->workers || !run->workload->prepare(run))
        return false;
    if (!run_workers(run->threads, run->cpus, work, run)) {
        explain(run, "%s", workers_error());
        return false;
    }
    run->refused = false;
    for (unsigned i = 0; i < run->threads; i++) {
        const struct worker *worker = &run->workers[i];
        run->ended = worker->left > run->ended ? worker->left : run->ended;
    }
    run_take_counts(run, run->ended);
    return run->workload->check(run);
}
