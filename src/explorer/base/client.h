/* SPDX-License-Identifier: MIT */
/* A client: a small program of a few threads that use one lock: a mutex, a
 * reader-writer lock, a spin lock or a barrier. */
#ifndef HASP_EXPLORER_BASE_CLIENT_H
#define HASP_EXPLORER_BASE_CLIENT_H

#include "locks/list/descriptor.h"

struct client {
    const char *name;
    const char *summary;
    unsigned threads;
    bool (*suits)(const struct lock_descriptor *); /* NULL: every lock */
    void (*body)(unsigned thread);
    void (*finish)(void); /* runs after all threads have ended, and sees all they did */
    uint8_t nodes[4];     /* NUMA node of each thread */
    uint8_t spurious_wakeups; /* that each thread may have */
    uint8_t child; /* if not 0: the client forks, and this thread and the following ones
                      start in the child */
    bool dies; /* a thread of the client ends by thread_dies(). Elsewhere none does: a
                  waiter does not check for it, and a lost wake-up is a deadlock */
    bool every_step; /* every operation is a scheduling point: the client observes the
                        lock from outside */
    uint8_t alike; /* bit set of symmetric threads, which start in this order unless the
                      lock depends on thread ids */
    uint32_t rwlock_kind; /* as in rwlocks/rwlock.h */
    bool without_barrier; /* heavy_barrier() fails, as if membarrier were forbidden */
};

#endif
