/* SPDX-License-Identifier: MIT */
/*
 * Measures the acquisition of a free lock that another worker held last: worker 0
 * acquires and releases it, then worker 1 is measured. No worker waits for the lock. If
 * there is only one worker, it was the last holder itself.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

enum turn { TURN_OTHER, TURN_MEASURED, TURN_OVER };

struct uncontended {
    struct atomic_u32 turn __attribute__((aligned(CACHE_LINE)));
};

static struct guarded *guarded_of(const struct run *run)
{
    return (struct guarded *)((char *)run->shared + sizeof(struct uncontended));
}

bool uncontended_prepare(struct run *run)
{
    run->shared = run_memory(run, sizeof(struct uncontended) +
                                      guarded_bytes(run->knobs[KNOB_CS_LINES]));
    if (run->shared)
        mutex_create(&guarded_of(run)->mutex);
    return run->shared != NULL;
}

static void hold_in_turn(struct run *run, struct worker *worker)
{
    struct uncontended *shared = run->shared;
    struct guarded *guarded = guarded_of(run);
    uint64_t lines = run->knobs[KNOB_CS_LINES];
    worker->aside = true;
    for (;;) {
        uint32_t turn;
        spin_until((turn = load_acquire(&shared->turn)) != TURN_MEASURED);
        if (turn == TURN_OVER)
            return;
        mutex_lock(run, &guarded->mutex);
        guarded_touch(guarded, lines);
        mutex_unlock(run, &guarded->mutex);
        worker->operations_ever++;
        cycles_drained();
        store_release(&shared->turn, TURN_MEASURED);
    }
}

static void hold_measured(struct run *run, struct worker *worker, bool alone)
{
    struct uncontended *shared = run->shared;
    struct guarded *guarded = guarded_of(run);
    struct section section = section_of(run);
    const bool trylock = run->knobs[KNOB_TRYLOCK] != 0;
    for (;;) {
        if (!alone)
            spin_until(load_acquire(&shared->turn) == TURN_MEASURED);
        uint64_t start = cycles_ordered();
        if (!run_goes_on(run, start))
            break;
        if (!trylock)
            mutex_lock(run, &guarded->mutex);
        else if (!mutex_trylock(run, &guarded->mutex))
            worker->balance++;
        uint64_t acquired = cycles_ordered();
        guarded_touch(guarded, section.lines);
        mutex_unlock(run, &guarded->mutex);
        run_count(run, worker, start, cycles_drained());
        if (run_counts(run, acquired))
            histogram_add(&worker->statistics->acquire, acquired - start);
        section_think(&section, worker);
        if (!alone)
            store_release(&shared->turn, TURN_OTHER);
    }
    store_release(&shared->turn, TURN_OVER);
}

void uncontended_work(struct run *run, struct worker *worker)
{
    if (worker->index + 1 < run->threads)
        hold_in_turn(run, worker);
    else
        hold_measured(run, worker, run->threads == 1);
}

bool uncontended_check(struct run *run)
{
    if (run->workers[run->threads - 1].balance) {
        explain(run, "trylock did not acquire a free lock");
        return false;
    }
    return guarded_check(run, guarded_of(run), 1, run->knobs[KNOB_CS_LINES], 1);
}
