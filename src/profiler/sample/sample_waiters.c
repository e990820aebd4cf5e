/* SPDX-License-Identifier: MIT */
#include "profiler/sample/sample_waiters.h"

#include "profiler/sample/contention.h"
#include "profiler/sample/holders.h"
#include "profiler/sample/procfs.h"
#include "profiler/threads/recordings.h"
#include "profiler/store/timeline.h"

#include <string.h>

enum {
    LOCKS = 64,           /* locks per sample; others are left out */
    STATES = 16,          /* waiting threads whose state is read */
    HOLDERS = 8,          /* holders whose state is read */
    RECORDS_MOST = 32000, /* of the timeline, 1 MB */
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
static struct contention modes[LOCKS];
static uint32_t seen_count;
static uint64_t previous; /* ticks of the previous sample */

void sample_waiters_forget(void)
{
    series_forget(&waiters_records);
    holders_forget();
    contention_forget();
    line.stride = 1;
    previous = 0;
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
    modes[seen_count] = (struct contention){.lock = lock, .longest_since = UINT64_MAX};
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

/* Adds a waiting thread to the modes in which its lock is wanted. */
static void add_waiter(const struct recording *thread, uint32_t at)
{
    const struct trace_thread *shared = thread->shared;
    struct contention *mode = &modes[at];
    if (shared->waiting_to == TRACE_READ)
        mode->readers++;
    else
        mode->writers++;
    if (shared->waiting_since < mode->longest_since)
        mode->longest_since = shared->waiting_since;
}

/* A thread that holds a lock of the current sample. */
static struct holder {
    struct recording *thread;
    uint32_t index; /* of the hold */
    uint32_t at; /* in `seen` */
} holders[HOLDERS];

/* Adds a holder, found from published holds. Of more than HOLDERS, random ones are kept
 * (reservoir sampling: Vitter, TOMS 11(1), 1985, algorithm R). */
static void add_holder(struct recording *thread, uint32_t index, uint32_t at,
                       uint32_t number)
{
    static uint32_t random = 1;
    const bool reads = thread->hold[index].key & 1;
    seen[at].holder = thread->thread;
    modes[at].holding_read += reads;
    modes[at].holding_write += !reads;
    random = random * 1664525u + 1013904223u; /* Knuth's LCG */
    uint32_t slot = number < HOLDERS ? number : (random >> 8) % (number + 1);
    if (slot < HOLDERS)
        holders[slot] = (struct holder){thread, index, at};
}

static uint32_t find_holders(void)
{
    uint32_t found = 0;
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        const struct trace_thread *shared = thread->shared;
        uint32_t depth = thread->ended ? 0 : shared->depth;
        if (depth > TRACE_HELD)
            depth = TRACE_HELD;
        for (uint32_t i = 0; i < depth; i++)
            for (uint32_t k = 0; k < seen_count; k++)
                if (seen[k].lock == shared->held[i] &&
                    shared->waiting_for != seen[k].lock)
                    add_holder(thread, i, k, found++);
    }
    return found < HOLDERS ? found : HOLDERS;
}

static void find_waiters(void)
{
    static uint32_t skipped; /* so that every waiter is inspected eventually */
    uint32_t states = 0, waiters = 0;
    seen_count = 0;
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        uint32_t lock = lock_waited_for(thread);
        struct trace_waiter_sample *entry = lock ? entry_of(lock) : NULL;
        if (!entry)
            continue;
        if (entry->waiters < UINT16_MAX)
            entry->waiters++;
        add_waiter(thread, (uint32_t)(entry - seen));
        if (waiters++ >= skipped && states < STATES) {
            states++;
            inspect_state(thread, entry);
        }
    }
    skipped = waiters > skipped + STATES ? skipped + STATES : 0;
}

static void inspect_holders(void)
{
    const uint32_t count = find_holders();
    for (uint32_t i = 0; i < count; i++) {
        struct trace_waiter_sample *entry = &seen[holders[i].at];
        enum holder_place place =
            holders_inspect(holders[i].thread, holders[i].index, entry->lock, true);
        entry->holders_on_cpu += place == HOLDER_ON_CPU;
        entry->holders_off_cpu += place == HOLDER_OFF_CPU;
    }
}

static void write_timeline(uint64_t now, uint32_t sampler_ticks)
{
    for (uint32_t i = 0; i < seen_count; i++) {
        seen[i].ticks = now;
        seen[i].weight = (uint16_t)(line.stride * sampler_ticks);
        timeline_add(&line, &seen[i]);
    }
}

bool sample_waiters(uint32_t sampler_ticks)
{
    const uint64_t now = ticks();
    find_waiters();
    trace->samples += sampler_ticks;
    const bool kept = timeline_keeps_next(&line);
    if (seen_count) {
        inspect_holders();
        for (uint32_t i = 0; i < seen_count; i++)
            contention_add(&modes[i], previous);
        if (kept)
            write_timeline(now, sampler_ticks);
    }
    contention_end_sample();
    previous = now;
    return seen_count;
}

bool sample_waiters_include(uint32_t lock)
{
    for (uint32_t i = 0; i < seen_count; i++)
        if (seen[i].lock == lock)
            return true;
    return false;
}
