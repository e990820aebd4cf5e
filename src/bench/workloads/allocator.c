/* SPDX-License-Identifier: MIT */
/*
 * An allocator under one lock. Each object contains a lock, which is created, acquired
 * a few times and destroyed with the object. Freed objects are reused in FIFO order, so
 * the locks move through all of the memory.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

struct allocator {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    /* Under the lock: a ring of free objects. */
    struct ledger ledger __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 taken, put;
    struct atomic_u32 free[];
};

static size_t head_bytes(const struct run *run)
{
    size_t bytes =
        sizeof(struct allocator) + run->knobs[KNOB_OBJECTS] * sizeof(struct atomic_u32);
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static void *objects_of(const struct run *run)
{
    return (char *)run->shared + head_bytes(run);
}

bool allocator_prepare(struct run *run)
{
    uint64_t objects = run->knobs[KNOB_OBJECTS];
    size_t each = guarded_bytes(run->knobs[KNOB_CS_LINES]);
    struct allocator *allocator = run_memory(run, head_bytes(run) + objects * each);
    run->shared = allocator;
    if (!allocator)
        return false;
    mutex_create(&allocator->mutex);
    for (uint64_t i = 0; i < objects; i++)
        store_relaxed(&allocator->free[i], (uint32_t)i);
    store_relaxed(&allocator->put, objects);
    return true;
}

static void acquire(struct run *run, struct worker *worker, struct allocator *allocator)
{
    uint64_t wanted = ticks();
    mutex_lock(run, &allocator->mutex);
    ledger_acquired(&allocator->ledger, run, worker, wanted, ticks());
}

static void release(struct run *run, struct allocator *allocator)
{
    allocator->ledger.released = ticks();
    mutex_unlock(run, &allocator->mutex);
}

static bool allocate(struct run *run, struct worker *worker, uint32_t *object)
{
    struct allocator *allocator = run->shared;
    acquire(run, worker, allocator);
    uint64_t taken = load_relaxed(&allocator->taken);
    bool some = load_relaxed(&allocator->put) != taken;
    if (some) {
        *object = load_relaxed(&allocator->free[taken % run->knobs[KNOB_OBJECTS]]);
        store_relaxed(&allocator->taken, taken + 1);
    }
    release(run, allocator);
    return some;
}

static void give_back(struct run *run, struct worker *worker, uint32_t object)
{
    struct allocator *allocator = run->shared;
    acquire(run, worker, allocator);
    uint64_t put = load_relaxed(&allocator->put);
    store_relaxed(&allocator->free[put % run->knobs[KNOB_OBJECTS]], object);
    store_relaxed(&allocator->put, put + 1);
    release(run, allocator);
}

void allocator_work(struct run *run, struct worker *worker)
{
    const struct section section = section_of(run);
    const uint64_t uses = run->knobs[KNOB_USES];
    for (;;) {
        uint32_t object;
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            return;
        if (!allocate(run, worker, &object))
            continue; /* all are in use, and one will be freed soon */
        struct guarded *guarded = guarded_at(objects_of(run), section.lines, object);
        mutex_create(&guarded->mutex);
        for (uint64_t i = 0; i < uses; i++)
            section_run(&section, run, worker, guarded, ticks());
        mutex_destroy(run, &guarded->mutex);
        give_back(run, worker, object);
        run_count(run, worker, start, ticks());
        section_think(&section, worker);
    }
}

bool allocator_check(struct run *run)
{
    struct allocator *allocator = run->shared;
    uint64_t objects = run->knobs[KNOB_OBJECTS], sum = 0;
    for (uint64_t i = 0; i < objects; i++)
        sum += load_relaxed(&allocator->free[i]);
    if (load_relaxed(&allocator->put) - load_relaxed(&allocator->taken) != objects ||
        sum != objects * (objects - 1) / 2) {
        explain(run, "the lock does not exclude: objects were lost or given out twice");
        return false;
    }
    return guarded_check(run, objects_of(run), objects, run->knobs[KNOB_CS_LINES],
                         run->knobs[KNOB_USES]);
}
