/* SPDX-License-Identifier: MIT */
/*
 * All locks of the process: maps an address to the lock's number, and keeps the state
 * that threads share about a lock.
 *
 * The map is an open-addressed table of numbers without deletions. An address that once
 * held a lock keeps its slot and gets a new number when a lock of another origin is
 * created there. Look-ups take no lock. A lock that does not fit into the tables or the
 * file has number 0 and is counted under its site only.
 */
#ifndef HASP_PROFILER_STORE_LOCK_REGISTRY_H
#define HASP_PROFILER_STORE_LOCK_REGISTRY_H

#include "profiler/store/series.h"

/* Kind and operation of an acquisition, a constant in each hook. */
struct record_as {
    uint32_t lock_kind; /* enum trace_lock_kind */
    uint32_t operation; /* enum trace_operation */
    uint32_t bytes;     /* size of the object */
    uint32_t flags;     /* enum trace_lock_flags of an object without an init */
};

/* Written by the holder for the next holder, with plain stores. */
struct registry_lock {
    struct atomic_u64 address; /* 0: another lock has replaced it */
    uint64_t released;         /* ticks of the last timed release, or 0 */
    uint32_t site;
    uint32_t owner; /* the thread of the last timed release */
    uint32_t node;  /* NUMA node of that thread, plus 1 */
    uint16_t dead;
    uint16_t handed_over;      /* has been unlocked by a thread that did not hold it */
    struct atomic_u32 waiting; /* threads; only counted if record_hands_over */
};

extern struct registry_lock *registry_locks
    RECORD_HIDDEN; /* by number; [0] is unused */

/* Maps the tables. Returns false when there is no memory. */
bool registry_map(void);
void registry_forget(void);

/* Returns the lock's number, or 0 if it is not known. */
uint32_t registry_find(uintptr_t address);

/* The origin of a lock. */
struct registry_origin {
    const struct record_as *as;
    uint32_t flags;
    uint32_t stack, site;
    uint32_t thread;
    uint64_t born; /* ticks */
    bool created;  /* by an init; otherwise first used */
};
/* Adds a lock, or finds it if it was only used again. Returns its number, or 0. */
uint32_t registry_add(uintptr_t address, const struct registry_origin *origin);

/* Returns true unless the lock had been destroyed before. */
bool registry_destroy(uint32_t number);

static inline bool registry_still(uint32_t number, uintptr_t address)
{
    return number && load_relaxed(&registry_locks[number].address) == address;
}

struct trace_lock *registry_record(uint32_t number);

#endif
