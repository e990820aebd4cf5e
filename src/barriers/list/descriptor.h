/* SPDX-License-Identifier: MIT */
/* Describes a barrier: its operations and its properties. */
#ifndef HASP_BARRIERS_LIST_DESCRIPTOR_H
#define HASP_BARRIERS_LIST_DESCRIPTOR_H

#include "barriers/barrier.h"
#include "locks/list/descriptor.h"

struct barrier_operations {
    void (*init)(struct barrier *); /* count and kind are set, everything else is 0 */
    bool (*wait)(struct barrier *); /* true in one thread of each phase */
    void (*destroy)(struct barrier *); /* all have arrived in the last phase */
};

struct barrier_descriptor {
    struct lock_descriptor about; /* without its operations */
    struct barrier_operations operations;
};

/* In the order of barriers.def. Entry 0 is the pass-through, without operations. */
extern const struct barrier_descriptor barrier_list[]
    __attribute__((visibility("hidden")));
extern const unsigned barrier_list_length __attribute__((visibility("hidden")));
extern const unsigned barrier_default __attribute__((visibility("hidden")));

/* Makes the memory a barrier for `count` threads, with an algorithm of the list. */
void barrier_init(struct barrier *barrier, unsigned index, uint32_t count);

/* Gives the barrier's blocks back, the first time that it is called. All threads have
 * arrived in the last phase. */
void barrier_destroy(struct barrier *barrier);

/* Returns the index of the barrier with this name or alias (ignoring case and the
 * difference of '-' and '_'), or -1. */
int barrier_find(const char *name);

#endif
