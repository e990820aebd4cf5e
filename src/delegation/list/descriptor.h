/* SPDX-License-Identifier: MIT */
/* Describes an executor: its operations and its properties. */
#ifndef HASP_DELEGATION_LIST_DESCRIPTOR_H
#define HASP_DELEGATION_LIST_DESCRIPTOR_H

#include "delegation/delegate.h"
#include "locks/list/descriptor.h"

struct executor_operations {
    bool (*init)(struct delegate *); /* of zeroed memory; false: out of memory */
    void *(*run)(struct delegate *, void *(*section)(void *), void *context);
    void (*destroy)(struct delegate *); /* no thread is in run() */
};

struct executor_descriptor {
    struct lock_descriptor about; /* without its operations */
    struct executor_operations operations;
};

/* In the order of executors.def. Entry 0 is lock:NAME. */
extern const struct executor_descriptor executor_list[]
    __attribute__((visibility("hidden")));
extern const unsigned executor_list_length __attribute__((visibility("hidden")));
extern const unsigned executor_default __attribute__((visibility("hidden")));

/* Returns the operations of the delegate's executor. */
static inline const struct executor_operations *
executor_operations_of(const struct delegate *delegate)
{
    return &executor_list[delegate->executor].operations;
}

/* Returns whether threads of servers execute the sections of this executor. */
bool executor_has_servers(const struct lock_descriptor *about)
    __attribute__((visibility("hidden")));

/* Makes the memory a delegate with an executor of the list. `lock`: the operations of
 * the lock if that is entry 0, else NULL. Returns false if memory is exhausted. */
bool delegate_init(struct delegate *delegate, unsigned index,
                   const struct lock_operations *lock);

/* The same with this server of the executor. */
bool delegate_init_at(struct delegate *delegate, unsigned index,
                      const struct lock_operations *lock, uint32_t server);

/* Returns the index of the executor with this name (ignoring case and the difference of
 * '-' and '_'), or -1. For "lock:NAME" it is 0, and `*lock` the operations of the
 * lock. */
int executor_find(const char *name, const struct lock_operations **lock);

/* The same; "NAME:2" is server 2 of an executor with servers, and "NAME" server 0. */
int executor_find_at(const char *name, const struct lock_operations **lock,
                     uint32_t *server);

#endif
