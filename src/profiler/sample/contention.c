/* SPDX-License-Identifier: MIT */
#include "profiler/sample/contention.h"

#include "profiler/store/lock_registry.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/threads/recordings.h"
#include "profiler/threads/sampling_rate.h"

#include <string.h>

enum { LOCKS_MOST = 1 << 14, SLOTS = 2 * LOCKS_MOST, FOLLOWED = 16 };

SERIES(sums, TRACE_CONTENTION, struct trace_contention, LOCKS_MOST);

static uint32_t slots[SLOTS]; /* numbers of records; only the sampler uses them */

/* Acquisitions of a few locks by each thread, at the previous sample. */
static struct followed {
    uint32_t lock; /* 0: free */
    bool fresh;    /* seen in the current sample */
    uint64_t acquisitions[CONTENTION_THREADS + 1];
} followed[FOLLOWED];

void contention_forget(void)
{
    if (load_relaxed(&sums.count)) { /* otherwise the pages stay untouched */
        memset(slots, 0, sizeof slots);
        memset(followed, 0, sizeof followed);
    }
    series_forget(&sums);
}

static struct trace_contention *record_of(uint32_t lock)
{
    const struct trace_contention new = {.lock = lock};
    for (uint32_t at = lock * 2654435761u % SLOTS;; at = (at + 1) % SLOTS) {
        if (!slots[at])
            return series_append(&sums, &new, &slots[at]);
        struct trace_contention *record = series_at(&sums, slots[at]);
        if (record->lock == lock)
            return record;
    }
}

static struct followed *followed_of(uint32_t lock)
{
    struct followed *free = NULL;
    for (uint32_t i = 0; i < FOLLOWED; i++) {
        if (followed[i].lock == lock)
            return &followed[i];
        if (!followed[i].lock)
            free = &followed[i];
    }
    return free;
}

/* Adds the acquisitions since the previous sample. While the thread with the most of
 * them made more than all others together, it must have followed itself. */
static void add_overtaking(struct trace_contention *record, struct followed *lock,
                           bool counts)
{
    const uintptr_t key = registry_record(record->lock)->address;
    uint64_t all = 0, most = 0;
    for (struct recording *one = recordings_first(); one; one = one->next) {
        if (one->thread > CONTENTION_THREADS)
            continue;
        uint64_t now = lock_counts_seen(one, key) + lock_counts_seen(one, key + 1);
        uint64_t before = lock->acquisitions[one->thread];
        lock->acquisitions[one->thread] = now;
        uint64_t more = now > before ? now - before : 0;
        all += more;
        most = more > most ? more : most;
    }
    if (!counts)
        return;
    record->overtaken += all;
    if (2 * most > all + 1)
        record->retaken += 2 * most - all - 1;
}

void contention_add(const struct contention *sample, uint64_t previous)
{
    struct trace_contention *record = record_of(sample->lock);
    if (!record)
        return;
    record->samples++;
    if (sample->holding_write) {
        record->reads_for_writes += sample->readers;
        record->writes_for_writes += sample->writers;
    } else if (sample->holding_read) {
        record->reads_for_reads += sample->readers;
        record->writes_for_reads += sample->writers;
    } else {
        record->for_unknown += sample->readers + sample->writers;
    }
    struct followed *lock = followed_of(sample->lock);
    if (!lock || sampling.sampled_mode)
        return;
    const bool counts = lock->lock && sample->longest_since <= previous;
    lock->lock = sample->lock;
    lock->fresh = true;
    add_overtaking(record, lock, counts);
}

void contention_end_sample(void)
{
    for (uint32_t i = 0; i < FOLLOWED; i++) {
        if (!followed[i].fresh)
            followed[i].lock = 0;
        followed[i].fresh = false;
    }
}
