/* SPDX-License-Identifier: MIT */
/*
 * A lock, the lines that it guards, a ledger of its holders, and the critical section
 * of most workloads.
 *
 * The ledger is in the first guarded line, so it costs no further transfer unless a
 * section accesses no lines. Each section increments counters in its lines; lost
 * updates show that the lock does not ensure mutual exclusion.
 */
#ifndef HASP_BENCH_WORKLOADS_GUARDED_H
#define HASP_BENCH_WORKLOADS_GUARDED_H

#include "excluding.h"

struct ledger {
    uint64_t released; /* time of the last release */
    uint64_t streak;   /* consecutive acquisitions by `holder` */
    unsigned holder;   /* index + 1 of the last holder */
};

struct guarded_line {
    struct atomic_u64 count;
    struct ledger ledger; /* used in the first line only */
} __attribute__((aligned(CACHE_LINE)));

struct guarded {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    struct guarded_line lines[] __attribute__((aligned(CACHE_LINE)));
};

static inline size_t guarded_bytes(uint64_t lines)
{
    return sizeof(struct guarded) + (lines ? lines : 1) * sizeof(struct guarded_line);
}

static inline struct guarded *guarded_at(void *all, uint64_t lines, uint64_t index)
{
    return (struct guarded *)((char *)all + index * guarded_bytes(lines));
}

static inline void guarded_touch(struct guarded *guarded, uint64_t lines)
{
    for (uint64_t i = 1; i < lines; i++)
        access_ahead(&guarded->lines[i], false);
    for (uint64_t i = 0; i < lines; i++) {
        struct atomic_u64 *count = &guarded->lines[i].count;
        uint64_t value = load_relaxed(count);
        if (lines > 1)
            access_ahead(count, true);
        store_relaxed(count, value + 1);
    }
}

/* The same where the address of each line depends on the line before, so a processor
 * cannot fetch a line earlier. Counts never reach 2^63. */
static inline void guarded_chase(struct guarded *guarded, uint64_t lines)
{
    for (uint64_t i = 0; i < lines;) {
        struct atomic_u64 *count = &guarded->lines[i].count;
        uint64_t value = load_relaxed(count);
        store_relaxed(count, value + 1);
        i += 1 + (value >> 63);
    }
}

/* Records an acquisition by trylock, which has no waiting time. */
static inline void ledger_took(struct ledger *ledger, struct worker *worker)
{
    ledger->holder = worker->index + 1;
    ledger->streak = 1;
}

/* Records an acquisition that began at `wanted` and succeeded at `now`. */
static inline void ledger_acquired(struct ledger *ledger, struct run *run,
                                   struct worker *worker, uint64_t wanted, uint64_t now)
{
    bool counts = run_counts(run, now);
    if (ledger->holder == worker->index + 1) {
        ledger->streak++;
    } else {
        if (counts && ledger->holder && wanted < ledger->released &&
            now > ledger->released)
            histogram_add(&worker->statistics->handover, now - ledger->released);
        ledger_took(ledger, worker);
    }
    if (counts) {
        histogram_add(&worker->statistics->acquire, now - wanted);
        if (ledger->streak > worker->longest_run)
            worker->longest_run = ledger->streak;
    }
}

/* The parameters of a section, which are read from the knobs once. */
struct section {
    uint64_t lines, cycles, think, jitter;
    bool drain;
};

struct section section_of(const struct run *run);

/* Returns the time after a section, whose stores are then visible to all if it requires
 * that. */
static inline uint64_t section_ended(const struct section *section)
{
    return section->drain ? cycles_drained() : ticks();
}

/* Executes a critical section. Returns the time after the release. */
static inline uint64_t section_run(const struct section *section, struct run *run,
                                   struct worker *worker, struct guarded *guarded,
                                   uint64_t wanted)
{
    struct ledger *ledger = &guarded->lines[0].ledger;
    mutex_lock(run, &guarded->mutex);
    ledger_acquired(ledger, run, worker, wanted, ticks());
    guarded_touch(guarded, section->lines);
    if (section->cycles)
        pause_cycles(section->cycles);
    ledger->released = ticks();
    mutex_unlock(run, &guarded->mutex);
    return section_ended(section);
}

static inline void section_think(const struct section *section, struct worker *worker)
{
    pause_about(worker, section->think, section->jitter);
}

/* Creates `count` locks with their lines, in zeroed memory. */
void guarded_create(void *all, uint64_t count, uint64_t lines);

/* Checks that the lines of `count` locks were incremented that many times for each
 * operation. */
bool guarded_check(struct run *run, void *all, uint64_t count, uint64_t lines,
                   uint64_t holds);

#endif
