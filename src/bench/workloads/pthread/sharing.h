/* SPDX-License-Identifier: MIT */
/* The same interface as direct/sharing.h with pthread's reader-writer locks. */
#ifndef HASP_BENCH_WORKLOADS_SHARING_H
#define HASP_BENCH_WORKLOADS_SHARING_H

#include "excluding.h"

#define DEFAULT_RWLOCK "pthread"

struct sharing {
    pthread_rwlock_t pthread;
};

static inline void sharing_create(struct sharing *sharing)
{
    excluding_must(pthread_rwlock_init(&sharing->pthread, NULL), "pthread_rwlock_init");
}

static inline void sharing_read_lock(struct run *run, struct sharing *sharing)
{
    (void)run;
    excluding_must(pthread_rwlock_rdlock(&sharing->pthread), "pthread_rwlock_rdlock");
}

static inline void sharing_write_lock(struct run *run, struct sharing *sharing)
{
    (void)run;
    excluding_must(pthread_rwlock_wrlock(&sharing->pthread), "pthread_rwlock_wrlock");
}

static inline void sharing_unlock(struct run *run, struct sharing *sharing)
{
    (void)run;
    excluding_must(pthread_rwlock_unlock(&sharing->pthread), "pthread_rwlock_unlock");
}

#endif
