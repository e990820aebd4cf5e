/* SPDX-License-Identifier: MIT */
/*
 * What auto_policy.h has measured, outside the locks. Locks that share a record restart
 * each other's epochs; that costs precision only.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_RECORD_H
#define HASP_LOCKS_ALGORITHMS_AUTO_RECORD_H

#include "locks/lock.h"

enum { AUTO_RECORDS = 512, AUTO_WAITED = 512 };

struct auto_record {
    struct atomic_u64 lock;
    struct atomic_u64 since;   /* ns; start of the epoch */
    struct atomic_u32 count;   /* uses at that time */
    struct atomic_u32 rate;    /* of the policy in use: acquisitions in 2^20 ns */
    struct atomic_u32 kind;    /* of the epoch */
    struct atomic_u32 usual;   /* the policy before a trial */
    struct atomic_u32 tried;   /* number of trials */
    struct atomic_u32 pause;   /* epochs between two trials */
    struct atomic_u32 left;    /* epochs until the next trial, or the end of a proof */
    struct atomic_u32 bad;     /* the last epoch's rate was far from the others' */
    struct atomic_u32 avoided; /* trials for which cohorts are left out; AUTO_AVOID */
    struct atomic_u32 spins;   /* AUTO_OPEN: a waiter spins, see auto.h; a hint */
    struct atomic_u32 away;    /* ns from a release by a cohort to the next use */
    struct atomic_u32 crowded; /* more threads waited than CPUs, before a trial */
    /* A bit for each thread, by a hash, that has slept or queued since a trial. Threads
     * mostly find theirs set, so the line stays in their caches. */
    struct atomic_u64 waited[AUTO_WAITED / 64] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

extern struct auto_record auto_records[AUTO_RECORDS]
    __attribute__((visibility("hidden")));

static inline struct auto_record *auto_record_of(const struct lock *lock)
{
    uintptr_t address = (uintptr_t)lock;
    return &auto_records[(address >> 3 ^ address >> 12) % AUTO_RECORDS];
}

/* The caller is about to sleep or queue. The model checker leaves it out, as it leaves
 * out the choice. A bit may be lost if two are set at once. */
static inline void auto_note_waiting(const struct lock *lock)
{
    if (MODEL_CHECKED)
        return;
    uint32_t number = current_thread() * 2654435761u >> 23;
    struct atomic_u64 *cell = &auto_record_of(lock)->waited[number / 64];
    uint64_t seen = load_relaxed(cell), bit = (uint64_t)1 << number % 64;
    if (!(seen & bit))
        store_relaxed(cell, seen | bit);
}

/* Returns about how many threads have waited. */
static inline uint32_t auto_waiting(const struct auto_record *record)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < AUTO_WAITED / 64; i++)
        bits += (uint32_t)__builtin_popcountll(load_relaxed(&record->waited[i]));
    return bits + bits * bits / (2 * AUTO_WAITED);
}

static inline void auto_forget_waiting(struct auto_record *record)
{
    for (uint32_t i = 0; i < AUTO_WAITED / 64; i++)
        store_relaxed(&record->waited[i], 0);
}

#endif
