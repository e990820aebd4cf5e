/* SPDX-License-Identifier: MIT */
/*
 * Describes a lock: its operations and its properties.
 *
 * These operations are complete: they also maintain the owner and, for locks that keep
 * their state elsewhere, the word. The only failure is a return value of false: lock()
 * always acquires, trylock() returns whether it did, and timedlock() returns false once
 * the deadline has passed (which it checks only if it has to wait).
 */
#ifndef HASP_LOCKS_LIST_DESCRIPTOR_H
#define HASP_LOCKS_LIST_DESCRIPTOR_H

#include "locks/waiting/waiter.h"

#include <string.h>

struct lock_operations {
    int (*lock)(struct lock *); /* always 0, so that pthread_mutex_lock can jump here */
    bool (*trylock)(struct lock *);
    bool (*timedlock)(struct lock *, const struct deadline *);
    int (*unlock)(struct lock *); /* always 0; any thread may call it */
    void (*destroy)(
        struct lock *); /* the lock is free and unused: frees its side memory */

    /* The holder passes on a thread that sleeps on a condition variable (its waiter's
     * cell is IN_CONDITION) instead of waking it. adopt sets the cell to PARKED and
     * queues the waiter, or sets it to REQUEUED and leaves the thread asleep; NULL: the
     * thread has to be woken. When the thread then finds its cell GRANTED, it holds the
     * lock and calls adopted(), which gives the waiter back. When it finds REQUEUED, it
     * calls relock() and keeps the waiter. */
    void (*adopt)(struct lock *, struct waiter *);
    void (*adopted)(struct lock *, struct waiter *);
    void (*relock)(struct lock *);
};

/* The destroy() of every lock that has nothing to free, so that the caller can save the
 * call. */
void destroy_nothing(struct lock *lock) __attribute__((visibility("hidden")));

/* The destroy() of locks that have only a directory in state[3] (side_memory.h) to
 * free. */
void destroy_directory(struct lock *lock) __attribute__((visibility("hidden")));

/* Returns whether a lock with this destroy() has anything to free. */
static inline bool has_to_destroy(const struct lock *lock,
                                  void (*destroy)(struct lock *))
{
    return destroy != destroy_nothing &&
           (destroy != destroy_directory || load_relaxed(&lock->state[3]) != 0);
}

struct lock_descriptor {
    const char *name;
    const char *alias;     /* name in the data sets of the lock study, or "" */
    const char *category;  /* competitive, direct handoff, hierarchical, load control,
                             usage fairness, system */
    const char *waiting;   /* spin, spin-then-park, park, restricted */
    bool fifo;             /* bypass_bound is 0 */
    bool bypasses;         /* a newcomer can overtake waiters */
    uint32_t bypass_bound; /* how often later arrivals may overtake a queued waiter;
                            * UINT32_MAX: no bound */
    bool bypass_each;      /* the bound applies to each other thread separately */
    bool parks;
    bool numa;
    bool light;             /* suits locks that are rarely contended */
    bool trylock_hardened;  /* a failing trylock does not write */
    bool hands_word;        /* a handover may leave lock->word as it is */
    uint32_t bytes;         /* in the mutex, in addition to word and owner */
    uint32_t waiter_bytes;  /* for each waiting thread, from the pool */
    uint32_t outside_bytes; /* outside the mutex, from the first contention to
                             * destroy */
    uint32_t node_bytes;    /* the same, for each NUMA node whose threads contended */
    const char *summary;
    const char *source;
    const char *caution; /* when it collapses, as a sentence; or "" */
    struct lock_operations operations;
};

/* Returns whether threads that wait for the lock, or for its wrapper, sleep. */
static inline bool lock_may_park(struct lock_descriptor lock)
{
    return lock.parks || (lock.waiting && strcmp(lock.waiting, "restricted") == 0);
}

/* Slots of the interposer's table of operations, one for the default and one for each
 * lock, wrapped ones included. A mutex stores its slot in lock->algorithm. */
enum { LOCK_SLOTS = 128 };

_Static_assert(LOCK_SLOTS <= 1 << 8 * sizeof(struct atomic_u8),
               "lock->algorithm holds every slot");

/* In the order of locks.def. Entry 0 is the pass-through: its operations are up to the
 * platform, and all NULL here. */
extern const struct lock_descriptor lock_list[] __attribute__((visibility("hidden")));
extern const unsigned lock_list_length __attribute__((visibility("hidden")));
extern const unsigned lock_default __attribute__((visibility("hidden")));

/* The locks with a biased release, without it, for processes that cannot use the
 * bias. */
extern const struct lock_operations futex_unbiased_operations
    __attribute__((visibility("hidden")));
extern const struct lock_operations auto_unbiased_operations
    __attribute__((visibility("hidden")));

/* `auto` whose holders ask the scheduler for time (auto_asking.h). Native only. */
extern const struct lock_operations auto_asking_operations
    __attribute__((visibility("hidden")));

/* From lock_list_length on, the same locks again, each wrapped for concurrency
 * restriction (gcr.h) and named "gcr+" and its name. */
extern const unsigned lock_count __attribute__((visibility("hidden")));
struct lock_descriptor lock_at(unsigned index);
const struct lock_operations *lock_operations_at(unsigned index);

/* Returns the index, below lock_count, of the lock with this name or alias (ignoring
 * case and the difference of '-' and '_'), or -1. */
int lock_find(const char *name);

#endif
