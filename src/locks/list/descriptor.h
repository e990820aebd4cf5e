/* SPDX-License-Identifier: MIT */
/*
 * The shape of a lock: its operations and what is known about it.
 *
 * Operations here are complete: they also keep the owner and, for locks whose state is
 * elsewhere, the word. None fails but by returning false: lock() always acquires,
 * trylock() says whether, timedlock() is false once the deadline has passed (checked
 * only when it has to wait).
 */
#ifndef HASP_LOCKS_LIST_DESCRIPTOR_H
#define HASP_LOCKS_LIST_DESCRIPTOR_H

#include "locks/waiting/waiter.h"

struct lock_operations {
    int (*lock)(struct lock *); /* always 0, so that pthread_mutex_lock may jump here */
    bool (*trylock)(struct lock *);
    bool (*timedlock)(struct lock *, const struct deadline *);
    int (*unlock)(struct lock *); /* always 0; by any thread */
    void (*destroy)(
        struct lock *); /* free, and nobody uses it: gives back what it holds */

    /* The holder hands over a thread that sleeps on a condition variable (its waiter's
     * cell is IN_CONDITION), instead of waking it. adopt sets the cell to PARKED and
     * queues it, or to REQUEUED and lets it sleep on; NULL: it has to be woken.
     * Afterwards that thread calls adopted() when it finds its cell GRANTED (the lock
     * is its own; the waiter is given back), relock() when REQUEUED (the waiter stays
     * its own). */
    void (*adopt)(struct lock *, struct waiter *);
    void (*adopted)(struct lock *, struct waiter *);
    void (*relock)(struct lock *);
};

struct lock_descriptor {
    const char *name;
    const char *alias;    /* name in the lock study's data sets, or "" */
    const char *category; /* competitive, direct handoff, hierarchical, load control,
                             usage fairness, system */
    const char *waiting;  /* spin, spin-then-park, park, restricted */
    bool fifo;             /* bypass_bound is 0 */
    bool bypasses;         /* a newcomer may overtake waiters */
    uint32_t bypass_bound; /* how often a queued waiter may be overtaken by threads that
                              came later; UINT32_MAX: no bound */
    bool bypass_each;      /* the bound counts for each other thread by itself */
    bool parks;
    bool numa;
    bool light;            /* suits locks that are rarely contended */
    bool trylock_hardened; /* a failing trylock does not write */
    uint32_t bytes;        /* of the lock, beyond word and owner; within the mutex */
    uint32_t waiter_bytes; /* per waiting thread, from the pool */
    uint32_t outside_bytes; /* once contended, outside the mutex, until destroyed */
    uint32_t node_bytes;    /* the same, for each NUMA node that threads came from */
    const char *summary;
    const char *source;
    const char *caution; /* when it collapses, in words; or "" */
    struct lock_operations operations;
};

/* In the order of locks.def. Entry 0 is the pass-through, whose operations are the
 * platform's own business and all NULL here. */
extern const struct lock_descriptor lock_list[] __attribute__((visibility("hidden")));
extern const unsigned lock_list_length __attribute__((visibility("hidden")));
extern const unsigned lock_default __attribute__((visibility("hidden")));

/* The default lock without its biased release, for processes where that is not to be
 * had. */
extern const struct lock_operations futex_unbiased_operations
    __attribute__((visibility("hidden")));

/* Behind the list, from lock_list_length on, stand the same locks, each wrapped for
 * concurrency restriction (gcr.h): "gcr+" and the name. */
extern const unsigned lock_count __attribute__((visibility("hidden")));
struct lock_descriptor lock_at(unsigned index);
const struct lock_operations *lock_operations_at(unsigned index);

/* Index by name or alias (case, '-' and '_' are alike), below lock_count, or -1. */
int lock_find(const char *name);

#endif
