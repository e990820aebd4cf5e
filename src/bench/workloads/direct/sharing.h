/* SPDX-License-Identifier: MIT */
/*
 * The reader-writer locks of workloads: the one that the run names. For programs that
 * contain the locks; pthread/sharing.h is the same for hasp-shapes.
 *
 * A lock is created in zeroed memory.
 */
#ifndef HASP_BENCH_WORKLOADS_SHARING_H
#define HASP_BENCH_WORKLOADS_SHARING_H

#include "bench/workloads/workloads.h"

#define DEFAULT_RWLOCK "rw-futex"

struct sharing {
    struct rwlock rwlock;
};

static inline void sharing_create(struct sharing *sharing)
{
    (void)sharing; /* zeroed memory is a lock */
}

static inline void sharing_read_lock(struct run *run, struct sharing *sharing)
{
    run->rwlock.read_lock(&sharing->rwlock);
}

static inline void sharing_write_lock(struct run *run, struct sharing *sharing)
{
    run->rwlock.write_lock(&sharing->rwlock);
}

static inline void sharing_unlock(struct run *run, struct sharing *sharing)
{
    run->rwlock.unlock(&sharing->rwlock);
}

#endif
