/* SPDX-License-Identifier: MIT */
/*
 * The load of a recorded program, as `hasp predict` describes it in a file: whole
 * numbers, separated by blanks, in this order.
 *
 *   7                                version
 *   one_lock trylock_nests nesting   all mutexes are the same one; what elision does in
 *                                    a trylock; levels of transactions, 0: its default
 *   shapes, then for each: SHAPE_VALUES  equally likely multiples of a mean, permille
 *   sites, then for each:
 *     rwlock each_worker locks lines parts shape
 *     calls tries                      sections with a system call, and acquisitions by
 *                                      trylock, in permille
 *     meets queues                     all threads that acquire it wait for each other;
 *                                      its mutex guards a queue
 *     weighed, then that many          weights of the first locks
 *     tail                             weight of the other locks together
 *     inner, then for each: site times   sections inside, in permille of the sections
 *   roles, then for each:
 *     threads aside gap_ns gap_shape   time between sections; aside: not counted
 *     idle_ns idle_shape idle_ppm      the thread sleeps for that time, before so many
 *                                      of a million outermost sections
 *     visits, then for each: site weight   outermost sections
 *     for each site: hold_ns reads puts takes
 *                                      mean without sections inside; reads and items
 *                                      put into its queue in permille of its sections;
 *                                      takes: outermost sections take an item
 *
 * A section writes `lines` lines of one of the `parts` of its lock's data, chosen at
 * random; sections in different parts do not conflict.
 *
 * Threads that meet wait after a section until each of them has had one, as at the
 * barrier of PARSEC's streamcluster: they watch a flag, and leave by a section that
 * they enter by repeated trylock. Each section, with the one to leave, is one
 * operation.
 *
 * A thread that finds its queue empty waits on a condition variable, which is signalled
 * for each item, while the mutex is held. Queues are not bounded. Some role must take
 * from none.
 *
 * A section contains only sections of later sites, so locks are always acquired in the
 * same order. With `each_worker`, every worker has `locks` locks of its own.
 */
#ifndef HASP_BENCH_WORKLOADS_REPLAY_H
#define HASP_BENCH_WORKLOADS_REPLAY_H

#include "bench/workloads/workloads.h"

enum {
    SHAPE_VALUES = 128,
    REPLAY_VERSION = 7,
    REPLAY_LOCKS_MOST = 65536,
    REPLAY_PARTS_MOST = 4096,
};

struct replay_inner {
    unsigned site;
    uint64_t times; /* permille */
};

/* Where threads meet. Written under the lock. */
struct replay_point {
    struct atomic_u64 inside;    /* threads that have arrived and not left */
    struct atomic_u64 departing; /* 1 from the last arrival until all have left */
} __attribute__((aligned(CACHE_LINE)));

struct replay_site {
    bool rwlock, each_worker, meets, queues;
    uint64_t locks, lines, parts;
    unsigned shape;
    uint64_t calls, tries; /* permille */
    uint64_t members;      /* threads that meet */
    struct replay_point *point;
    struct replay_queue *queue;
    unsigned weighed;
    uint64_t *sums; /* cumulative weights of the first `weighed` locks */
    uint64_t tail;  /* weight of the others together */
    unsigned inner_count;
    struct replay_inner *inner;
    char *memory;      /* its locks */
    uint64_t in_total; /* locks of all workers */
};

struct replay_visit {
    unsigned site;
    uint64_t sum; /* cumulative weight */
};

struct replay_use {
    uint64_t hold, reads, puts; /* cycles; permille */
    bool takes;
};

struct replay_role {
    unsigned threads;
    bool aside, takes;
    uint64_t gap; /* cycles */
    unsigned gap_shape, idle_shape;
    uint64_t idle, idle_ppm; /* ns; of the outermost sections */
    unsigned visit_count;
    struct replay_visit *visits;
    struct replay_use *uses; /* by site */
};

struct replay_load {
    bool one_lock, trylock_nests;
    unsigned nesting;
    unsigned shape_count, site_count, role_count;
    uint64_t (*shapes)[SHAPE_VALUES]; /* permille */
    struct replay_site *sites;
    struct replay_role *roles;
};

/* Reads the file. On failure calls explain() and returns false. */
bool replay_load_read(struct run *run, struct replay_load *load);

#endif
