/* SPDX-License-Identifier: MIT */
/* The locks and threads of a running load, and what is noted about them. */
#ifndef HASP_BENCH_WORKLOADS_REPLAY_RUN_H
#define HASP_BENCH_WORKLOADS_REPLAY_RUN_H

#include "bench/workloads/replay.h"
#include "excluding.h"
#include "sharing.h"

struct replay_line {
    struct atomic_u64 count;
} __attribute__((aligned(CACHE_LINE)));

struct replay_lock {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    struct sharing sharing __attribute__((aligned(CACHE_LINE)));
    struct replay_line lines[] __attribute__((aligned(CACHE_LINE)));
};

struct replay_stats {
    uint64_t acquisitions, waited, held; /* within the window; cycles */
    uint64_t writes;                     /* in the whole run */
};

/* A time during which a thread wanted or exclusively held a lock. */
struct span {
    const struct replay_lock *lock;
    uint64_t from, to;
};

/* One worker. */
struct player {
    struct run *run;
    struct worker *worker;
    struct replay *replay;
    const struct replay_role *role;
    struct replay_stats *stats; /* by site */
    struct span *spans;         /* within the window */
    size_t span_count, span_room;
    bool span_lost; /* out of memory */
};

struct replay {
    struct replay_load load;
    struct replay_stats *stats; /* by worker and site */
    struct player *players;     /* by worker */
};

static inline size_t lock_bytes(const struct replay_site *site)
{
    return sizeof(struct replay_lock) + site->lines * sizeof(struct replay_line);
}

#endif
