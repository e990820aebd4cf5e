/* SPDX-License-Identifier: MIT */
#include "profiler/sample/sample_waiters.h"

#include "profiler/sample/procfs.h"
#include "profiler/threads/recordings.h"
#include "profiler/store/timeline.h"

#include <string.h>

enum {
    LOCKS = 64,           /* locks per sample; others are left out */
    STATES = 16,          /* threads whose state is read */
    RECORDS_MOST = 43000, /* of the timeline, 1 MB */
};

SERIES(waiters_records, TRACE_WAITER_SAMPLES, struct trace_waiter_sample, RECORDS_MOST);

static void double_weight(void *record)
{
    struct trace_waiter_sample *waiters = record;
    if (waiters->weight < UINT16_MAX / 2)
        waiters->weight = (uint16_t)(2 * waiters->weight);
}

static struct timeline line = {&waiters_records, double_weight, 1, 0};

/* The current sample. */
static struct trace_waiter_sample seen[LOCKS];
static uint32_t seen_count;

void sample_waiters_forget(void)
{
    series_forget(&waiters_records);
    line.stride = 1;
}

/* Returns the lock that a thread waits for, or 0. Waits for events do not count. */
static uint32_t lock_waited_for(struct recording *thread)
{
    struct trace_thread *shared = thread->shared;
    uint32_t lock = load_acquire((struct atomic_u32 *)(void *)&shared->waiting_for);
    uint32_t to = shared->waiting_to;
    return thread->ended || to == TRACE_WAIT || to == TRACE_BARRIER ? 0 : lock;
}

static struct trace_waiter_sample *entry_of(uint32_t lock)
{
    for (uint32_t i = 0; i < seen_count; i++)
        if (seen[i].lock == lock)
            return &seen[i];
    if (seen_count == LOCKS)
        return NULL;
    seen[seen_count] = (struct trace_waiter_sample){.lock = lock};
    return &seen[seen_count++];
}

/* Adds the thread's state, spinning or parked, to the lock's sample and to its site. */
static void inspect_state(struct recording *thread, struct trace_waiter_sample *entry)
{
    struct trace_site_stats *use = thread->waiting_use;
    char state = procfs_state(thread->shared->tid);
    if (!state || lock_waited_for(thread) != entry->lock)
        return; /* the wait has ended */
    entry->inspected++;
    entry->spinning += state == 'R';
    if (use && state == 'R')
        use->samples_spinning++;
    else if (use)
        use->samples_parked++;
}

/* Finds the holders from published holds. */
static void find_holders(void)
{
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        const struct trace_thread *shared = thread->shared;
        uint32_t depth = thread->ended ? 0 : shared->depth;
        if (depth > TRACE_HELD)
            depth = TRACE_HELD;
        for (uint32_t i = 0; i < depth; i++)
            for (uint32_t k = 0; k < seen_count; k++)
                if (seen[k].lock == shared->held[i])
                    seen[k].holder = thread->thread;
    }
}

bool sample_waiters(uint32_t sampler_ticks)
{
    static uint32_t skipped; /* so that every waiter is inspected eventually */
    uint32_t states = 0, waiters = 0;
    const uint64_t now = ticks();
    seen_count = 0;
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        uint32_t lock = lock_waited_for(thread);
        struct trace_waiter_sample *entry = lock ? entry_of(lock) : NULL;
        if (!entry)
            continue;
        if (entry->waiters < UINT16_MAX)
            entry->waiters++;
        if (waiters++ >= skipped && states < STATES) {
            states++;
            inspect_state(thread, entry);
        }
    }
    skipped = waiters > skipped + STATES ? skipped + STATES : 0;
    trace->samples += sampler_ticks;
    if (!timeline_keeps_next(&line) || !seen_count)
        return seen_count;
    find_holders();
    for (uint32_t i = 0; i < seen_count; i++) {
        seen[i].ticks = now;
        seen[i].weight = (uint16_t)(line.stride * sampler_ticks);
        timeline_add(&line, &seen[i]);
    }
    return true;
}
