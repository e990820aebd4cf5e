/* SPDX-License-Identifier: MIT */
/*
 * The reference for locks with FIFO handover: a ring of threads that pass a baton using
 * only the parking system call. If every acquisition goes to a sleeping thread, no lock
 * can be faster.
 */
#include "bench/locks/harness.h"

struct station {
    struct atomic_u32 has_baton __attribute__((aligned(CACHE_LINE)));
};

struct ring {
    struct crew crew;
    struct station *stations;
};

static struct ring ring;

static void work_ring(struct worker *worker)
{
    struct station *mine = &ring.stations[worker->index];
    struct station *next = &ring.stations[(worker->index + 1) % ring.crew.thread_count];
    bool over = false;
    while (!over) {
        while (!load_acquire(&mine->has_baton))
            park(&mine->has_baton, 0, NULL);
        store_relaxed(&mine->has_baton, 0);
        count_one(worker);
        over = crew_stopped(&ring.crew);
        store_release(&next->has_baton, 1);
        unpark(&next->has_baton, 1);
    }
}

void measure_baton_ring(const struct options *options, struct result *result)
{
    ring.stations = map_pages(options->threads * sizeof *ring.stations);
    if (!ring.stations) {
        result_failed(result, "out of memory for %u threads", options->threads);
        return;
    }
    store_relaxed(&ring.stations[0].has_baton, 1);
    ring.crew.work = work_ring;
    crew_run(&ring.crew, options->threads, options, result);
    result->fairness = -1;
    if (result->seconds > 0)
        result->value = result->operations / result->seconds;
}
