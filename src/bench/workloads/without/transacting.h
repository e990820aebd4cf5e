/* SPDX-License-Identifier: MIT */
/* Transactions for workloads, in programs without them: there are none. */
#ifndef HASP_BENCH_WORKLOADS_TRANSACTING_H
#define HASP_BENCH_WORKLOADS_TRANSACTING_H

#include "bench/workloads/workloads.h"

enum { CAN_TRANSACT = false, TRANSACTING_SERVERS = 8, TRANSACTING_CLIENTS = 64 };

struct transacting {
    char none;
};

static inline bool transacting_needs_servers(void)
{
    return false;
}

static inline bool transacting_prepare(struct run *run, struct transacting *shared,
                                       uint32_t accesses, uint32_t servers)
{
    (void)run, (void)shared, (void)accesses, (void)servers;
    return false;
}

static inline void transacting_enter(struct transacting *shared, unsigned workers,
                                     unsigned serving)
{
    (void)shared, (void)workers, (void)serving;
}

static inline void transacting_serve(const struct transacting *shared, unsigned server)
{
    (void)shared, (void)server;
}

static inline void transacting_dismiss(const struct transacting *shared,
                                       unsigned server)
{
    (void)shared, (void)server;
}

static inline void transacting_begin(struct transacting *shared, unsigned worker)
{
    (void)shared, (void)worker;
}

static inline bool transacting_commit(struct transacting *shared, unsigned worker)
{
    (void)shared, (void)worker;
    return true;
}

static inline bool transacting_load(struct transacting *shared, unsigned worker,
                                    struct atomic_u64 *word, uint64_t *value)
{
    (void)shared, (void)worker, (void)word, (void)value;
    return true;
}

static inline bool transacting_store(struct transacting *shared, unsigned worker,
                                     struct atomic_u64 *word, uint64_t value)
{
    (void)shared, (void)worker, (void)word, (void)value;
    return true;
}

#endif
