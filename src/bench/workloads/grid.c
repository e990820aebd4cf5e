/* SPDX-License-Identifier: MIT */
/*
 * A grid of cells with a lock each; every worker has a band of rows. An operation adds
 * to a cell, to its right neighbour and to the one below, under one lock at a time.
 * Most acquisitions are uncontended: workers meet only where their bands touch. The
 * grid wraps around at its edges.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

enum { CELLS_OF_AN_OPERATION = 3 };

static uint64_t cell_count(const struct run *run)
{
    return run->knobs[KNOB_SIDE] * run->knobs[KNOB_SIDE];
}

bool grid_prepare(struct run *run)
{
    uint64_t lines = run->knobs[KNOB_CS_LINES];
    if (run->threads > run->knobs[KNOB_SIDE]) {
        explain(run, "%u threads have no row each: set side to that at least",
                run->threads);
        return false;
    }
    run->shared = run_memory(run, cell_count(run) * guarded_bytes(lines));
    if (run->shared)
        guarded_create(run->shared, cell_count(run), lines);
    return run->shared != NULL;
}

void grid_work(struct run *run, struct worker *worker)
{
    const struct section section = section_of(run);
    const uint64_t side = run->knobs[KNOB_SIDE], cells = cell_count(run);
    const uint64_t first = worker->index * side / run->threads * side;
    const uint64_t end = (worker->index + 1) * side / run->threads * side;
    for (uint64_t cell = first;; cell = cell + 1 < end ? cell + 1 : first) {
        uint64_t right = cell % side + 1 < side ? cell + 1 : cell + 1 - side;
        uint64_t touched[CELLS_OF_AN_OPERATION] = {cell, right, (cell + side) % cells};
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            return;
        uint64_t wanted = start;
        for (int i = 0; i < CELLS_OF_AN_OPERATION; i++)
            wanted =
                section_run(&section, run, worker,
                            guarded_at(run->shared, section.lines, touched[i]), wanted);
        run_count(run, worker, start, wanted);
        section_think(&section, worker);
    }
}

bool grid_check(struct run *run)
{
    return guarded_check(run, run->shared, cell_count(run), run->knobs[KNOB_CS_LINES],
                         CELLS_OF_AN_OPERATION);
}
