/* SPDX-License-Identifier: MIT */
/*
 * All locks of the process: from an address to the lock's number, and what is shared
 * about a lock.
 *
 * An open-addressed table of numbers, without deletions: an address that has once held
 * a lock keeps its place, and gets another number when a lock of another origin is made
 * there. Look-ups take no lock. A lock that has no place in the tables or the file has
 * number 0: it is counted under its site only.
 */
#ifndef HASP_PROFILER_STORE_LOCK_REGISTRY_H
#define HASP_PROFILER_STORE_LOCK_REGISTRY_H

#include "profiler/store/series.h"

/* Kind and operation of an acquisition, as one constant of the hook. */
struct record_as {
    uint32_t lock_kind; /* enum trace_lock_kind */
    uint32_t operation; /* enum trace_operation */
    uint32_t bytes;     /* of the object */
    uint32_t flags;     /* of enum trace_lock_flags, that it has without an init */
};

/* Written by whoever holds the lock, for the next holder; plain stores. */
struct registry_lock {
    struct atomic_u64 address; /* 0: another has taken its place */
    uint64_t released;         /* ticks of the last timed release, or 0 */
    uint32_t site;
    uint32_t owner; /* thread that released it last, as far as was seen */
    uint32_t node;  /* of NUMA, of that */
    uint16_t dead;
    uint16_t handed_over;      /* seen unlocked by another thread than locked it */
    struct atomic_u32 waiting; /* threads, where that matters (record_hands_over) */
};

extern struct registry_lock *registry_locks RECORD_HIDDEN; /* by number; [0] spare */

/* Maps the tables; false: no memory. */
bool registry_map(void);
void registry_forget(void);

/* The lock's number, or 0 if it is not known. */
uint32_t registry_find(uintptr_t address);

/* The same for a lock in use, which is made known (TRACE_STATIC) when it is not.
 * `stack` and `site` are called upon then. */
struct registry_origin {
    const struct record_as *as;
    uint32_t flags;
    uint32_t stack, site;
    uint32_t thread;
    uint64_t born; /* ticks */
    bool created;  /* by init */
};
uint32_t registry_add(uintptr_t address, const struct registry_origin *origin);

/* True when the lock had not been destroyed before. */
bool registry_destroy(uint32_t number);

static inline bool registry_still(uint32_t number, uintptr_t address)
{
    return number && load_relaxed(&registry_locks[number].address) == address;
}

struct trace_lock *registry_record(uint32_t number);

#endif
