/* SPDX-License-Identifier: MIT */
/*
 * Describes a reader-writer lock: its operations and its properties.
 *
 * The operations return what the functions of pthread return. read_lock and write_lock
 * wait; their timed forms give up once the deadline has passed, which they check only
 * if they have to wait.
 */
#ifndef HASP_RWLOCKS_LIST_DESCRIPTOR_H
#define HASP_RWLOCKS_LIST_DESCRIPTOR_H

#include "locks/list/descriptor.h"
#include "rwlocks/rwlock.h"

struct rwlock_operations {
    int (*read_lock)(struct rwlock *);  /* 0, or EDEADLK: the caller is the writer */
    int (*write_lock)(struct rwlock *); /* the same */
    int (*read_timedlock)(struct rwlock *, const struct deadline *); /* or ETIMEDOUT */
    int (*write_timedlock)(struct rwlock *, const struct deadline *);
    int (*read_trylock)(struct rwlock *); /* 0 or EBUSY */
    int (*write_trylock)(struct rwlock *);
    int (*read_unlock)(struct rwlock *); /* 0; any thread may call it */
    int (*write_unlock)(struct rwlock *);
    int (*unlock)(struct rwlock *);  /* of a reader or of the writer */
    int (*destroy)(struct rwlock *); /* 0; frees its memory outside the lock */
    enum rwlock_use (*use)(const struct rwlock *);
};

struct rwlock_descriptor {
    struct lock_descriptor about; /* without its operations */
    struct rwlock_operations operations;
};

/* Slots of the interposer's table of operations, one for the default and one for each
 * lock. A rwlock stores its slot in rwlock->algorithm. */
enum { RWLOCK_SLOTS = 128 };

/* In the order of rwlocks.def. Entry 0 is the pass-through, without operations. */
unsigned rwlock_count(void);
extern const unsigned rwlock_default __attribute__((visibility("hidden")));
struct rwlock_descriptor rwlock_at(unsigned index);

/* The slot of the algorithm of those locks that have slot 0. */
extern unsigned rwlock_default_slot __attribute__((visibility("hidden")));

/* Entries below this are printed by `hasp-locks`, the others with --wrapped. */
extern const unsigned rwlock_list_length __attribute__((visibility("hidden")));

/* Returns the index, below rwlock_count, of the lock with this name or alias (ignoring
 * case and the difference of '-' and '_'), or -1. */
int rwlock_find(const char *name);

#endif
