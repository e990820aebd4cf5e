/* SPDX-License-Identifier: MIT */
/* Describes a spin lock: its operations and its properties. */
#ifndef HASP_SPINLOCKS_LIST_DESCRIPTOR_H
#define HASP_SPINLOCKS_LIST_DESCRIPTOR_H

#include "locks/list/descriptor.h"
#include "spinlocks/spinlock.h"

/* As the functions of pthread: 0, and EBUSY from trylock. */
struct spinlock_operations {
    int (*init)(struct spinlock *, int shared); /* PTHREAD_PROCESS_SHARED or not */
    int (*lock)(struct spinlock *);
    int (*trylock)(struct spinlock *);
    int (*unlock)(struct spinlock *);
};

struct spinlock_descriptor {
    struct lock_descriptor about; /* without its operations */
    struct spinlock_operations operations;
};

/* In the order of spinlocks.def. Entry 0 is the pass-through, without operations. */
extern const struct spinlock_descriptor spinlock_list[]
    __attribute__((visibility("hidden")));
extern const unsigned spinlock_list_length __attribute__((visibility("hidden")));
extern const unsigned spinlock_default __attribute__((visibility("hidden")));

/* Returns the index of the spin lock with this name or alias (ignoring case and the
 * difference of '-' and '_'), or -1. */
int spinlock_find(const char *name);

#endif
