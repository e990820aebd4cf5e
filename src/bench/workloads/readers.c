/* SPDX-License-Identifier: MIT */
/*
 * Workers that read or write data under one reader-writer lock, as programs do that
 * look something up much more often than they change it: OpenSSL 3 takes a read lock
 * for every algorithm that it fetches.
 *
 * Writers increment a counter in each line; readers read them all. A writer that loses
 * an update, and a reader that finds two lines with different counts, show that the
 * lock does not exclude.
 */
#include "bench/workloads/list.h"

#include "sharing.h"

struct shared_line {
    struct atomic_u64 count;
} __attribute__((aligned(CACHE_LINE)));

struct readers {
    struct sharing lock __attribute__((aligned(CACHE_LINE)));
    struct shared_line lines[] __attribute__((aligned(CACHE_LINE)));
};

bool readers_prepare(struct run *run)
{
    uint64_t lines = run->knobs[KNOB_CS_LINES];
    struct readers *shared =
        run_memory(run, sizeof *shared + lines * sizeof(struct shared_line));
    run->shared = shared;
    if (shared)
        sharing_create(&shared->lock);
    return shared != NULL;
}

/* Returns whether all lines have the same count. */
static bool read_lines(struct readers *shared, uint64_t lines)
{
    bool same = true;
    for (uint64_t i = 0; i < lines; i++)
        same &= load_relaxed(&shared->lines[i].count) ==
                load_relaxed(&shared->lines[0].count);
    return same;
}

static void write_lines(struct readers *shared, uint64_t lines)
{
    for (uint64_t i = 0; i < lines; i++) {
        struct atomic_u64 *count = &shared->lines[i].count;
        store_relaxed(count, load_relaxed(count) + 1);
    }
}

void readers_work(struct run *run, struct worker *worker)
{
    struct readers *shared = run->shared;
    const uint64_t lines = run->knobs[KNOB_CS_LINES];
    const uint64_t inside = run_cycles(run, KNOB_CS_CYCLES, KNOB_CS_NS);
    const uint64_t think = run_cycles(run, KNOB_THINK_CYCLES, KNOB_THINK_NS);
    for (;;) {
        bool reads = random_below(&worker->random, 100) < run->knobs[KNOB_READ];
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            return;
        if (reads)
            sharing_read_lock(run, &shared->lock);
        else
            sharing_write_lock(run, &shared->lock);
        uint64_t acquired = ticks();
        if (!reads)
            write_lines(shared, lines);
        else if (!read_lines(shared, lines))
            worker->balance++;
        if (inside)
            pause_cycles(inside);
        sharing_unlock(run, &shared->lock);
        worker->writes += !reads;
        run_count(run, worker, start, ticks());
        if (run_counts(run, acquired))
            histogram_add(&worker->statistics->acquire, acquired - start);
        pause_about(worker, think, run->knobs[KNOB_JITTER]);
    }
}

bool readers_check(struct run *run)
{
    const struct readers *shared = run->shared;
    uint64_t written = 0, torn = 0;
    for (unsigned i = 0; i < run->threads; i++) {
        written += run->workers[i].writes;
        torn += run->workers[i].balance;
    }
    if (torn) {
        explain(run, "the lock does not exclude: %llu readers saw an unfinished update",
                (unsigned long long)torn);
        return false;
    }
    for (uint64_t i = 0; i < run->knobs[KNOB_CS_LINES]; i++) {
        uint64_t counted = load_relaxed(&shared->lines[i].count);
        if (counted == written)
            continue;
        explain(run, "the lock does not exclude: %llu of %llu updates were lost",
                (unsigned long long)(written - counted), (unsigned long long)written);
        return false;
    }
    return true;
}
