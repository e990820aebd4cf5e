/* SPDX-License-Identifier: MIT */
/*
 * Phases of work that end at a barrier, whose state is under a lock. Waiters poll for
 * the end of the phase with trylock, so late arrivals contend with them. The last
 * worker to arrive decides whether another phase follows, so all workers leave after
 * the same one.
 *
 * With the knob `watch`, waiters watch a flag outside of the lock first, as in PARSEC's
 * streamcluster; then each acquires the lock by repeated trylock in order to leave. A
 * worker that is back before all have left waits for them.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

/* Percent. Polling at a fixed rate could starve the last worker to arrive. */
enum { POLL_UNEVEN = 50 };

struct fork_join {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    /* Guarded by the lock. */
    struct atomic_u64 phase __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 arrived;
    struct atomic_u32 over;
    struct atomic_u64 holds; /* number of acquisitions */
    struct ledger ledger;
    struct atomic_u32 departing; /* watch: from the last arrival until all have left */
};

bool fork_join_prepare(struct run *run)
{
    struct fork_join *shared = run->shared = run_memory(run, sizeof *shared);
    if (shared)
        mutex_create(&shared->mutex);
    return shared != NULL;
}

static void count_hold(struct fork_join *shared, struct worker *worker)
{
    store_relaxed(&shared->holds, load_relaxed(&shared->holds) + 1);
    worker->balance++;
}

static void release(struct run *run, struct fork_join *shared)
{
    shared->ledger.released = ticks();
    mutex_unlock(run, &shared->mutex);
}

/* Returns the time at which the lock was acquired. */
static uint64_t acquire(struct run *run, struct worker *worker)
{
    struct fork_join *shared = run->shared;
    uint64_t wanted = ticks();
    mutex_lock(run, &shared->mutex);
    uint64_t now = ticks();
    ledger_acquired(&shared->ledger, run, worker, wanted, now);
    count_hold(shared, worker);
    return now;
}

/* Returns true if the caller is the last one to arrive, else it has to wait. */
static bool arrive(struct run *run, struct worker *worker, uint64_t *phase)
{
    struct fork_join *shared = run->shared;
    const bool watch = run->knobs[KNOB_WATCH];
    uint64_t now = acquire(run, worker);
    while (watch && load_relaxed(&shared->departing)) {
        release(run, shared);
        spin_until(!load_relaxed(&shared->departing));
        now = acquire(run, worker);
    }
    bool over = !run_goes_on(run, now); /* at each arrival, since phases can be long */
    *phase = load_relaxed(&shared->phase);
    uint32_t before = load_relaxed(&shared->arrived);
    bool last = before + 1 == run->threads;
    store_relaxed(&shared->arrived, !last ? before + 1 : watch ? before : 0);
    if (last) {
        store_relaxed(&shared->over, over);
        store_relaxed(&shared->phase, *phase + 1);
        if (watch && before)
            store_relaxed(&shared->departing, 1);
    }
    release(run, shared);
    return last;
}

static bool phase_ended(struct run *run, struct worker *worker, uint64_t phase)
{
    struct fork_join *shared = run->shared;
    if (!mutex_trylock(run, &shared->mutex))
        return false;
    count_hold(shared, worker);
    ledger_took(&shared->ledger, worker);
    bool ended = load_relaxed(&shared->phase) != phase;
    release(run, shared);
    return ended;
}

/* Waits for the last arrival, and for the lock, in order to leave. Returns true. */
static bool leave(struct run *run, struct worker *worker)
{
    struct fork_join *shared = run->shared;
    spin_until(load_relaxed(&shared->departing));
    spin_until(mutex_trylock(run, &shared->mutex));
    count_hold(shared, worker);
    ledger_took(&shared->ledger, worker);
    uint32_t inside = load_relaxed(&shared->arrived) - 1;
    store_relaxed(&shared->arrived, inside);
    if (!inside)
        store_relaxed(&shared->departing, 0);
    release(run, shared);
    return true;
}

void fork_join_work(struct run *run, struct worker *worker)
{
    struct fork_join *shared = run->shared;
    uint64_t phase, work = run->knobs[KNOB_WORK_CYCLES];
    uint64_t poll = run->knobs[KNOB_POLL_CYCLES];
    do {
        uint64_t start = ticks();
        pause_about(worker, work, run->knobs[KNOB_UNEVEN]);
        bool done = arrive(run, worker, &phase);
        if (!done && run->knobs[KNOB_WATCH])
            done = leave(run, worker);
        while (!done && !phase_ended(run, worker, phase)) {
            full_fence(); /* makes the release visible before the pause */
            pause_about(worker, poll, POLL_UNEVEN);
        }
        run_count(run, worker, start, ticks());
        /* `over` does not change until all workers have arrived again. */
    } while (!load_relaxed(&shared->over));
}

bool fork_join_check(struct run *run)
{
    struct fork_join *shared = run->shared;
    uint64_t holds = 0, phases = load_relaxed(&shared->phase);
    for (unsigned i = 0; i < run->threads; i++) {
        holds += run->workers[i].balance;
        if (run->workers[i].operations_ever != phases) {
            explain(run, "worker %u left after %llu of %llu phases", i,
                    (unsigned long long)run->workers[i].operations_ever,
                    (unsigned long long)phases);
            return false;
        }
    }
    uint64_t counted = load_relaxed(&shared->holds);
    if (counted != holds)
        explain(run, "the lock does not exclude: %llu of %llu updates were lost",
                (unsigned long long)(holds - counted), (unsigned long long)holds);
    return counted == holds;
}
